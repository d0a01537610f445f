/* For the script `dead`: process 1 ends while the others wait for it, each in its own way.
   TEST_WHAT says where they wait, TEST_END how it ends: kill (by a signal) or exit (without
   MPI_Finalize), TEST_REFUSED that MPI knows of its end and takes no message to it. Each of the
   others prints what its call returned; none may wait for ever. TEST_SAID is an empty file, by
   which they know when all of them have. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

enum { LONG = 200000, SHORT = 8, VICTIM = 1 };

static const char *what, *end_how;
/* calls of MPI that the victim still makes before it ends, 0: not counted; how often packing or
   sending elements of `refused` still fails */
static int calls_left, failures_left;
static MPI_Datatype refused = MPI_DATATYPE_NULL;

static int is(const char *name) { return !strcmp(what, name); }

static void end_now(void) {
  if (!strcmp(end_how, "exit")) _exit(0);
  raise(SIGKILL);
}

/* waits so long in any case: a signal, as MPICH's UCX uses them, ends usleep */
static void wait_for(double seconds) {
  double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) usleep(10000);
}

/* ends all survivors when the last one has said how its call ended, as the first one that aborts
   takes all with it: each adds a byte to the file. mpirun then still has output to pass on. */
static int end_all(void) {
  const char *path = getenv("TEST_SAID");
  int file = path ? open(path, O_WRONLY | O_APPEND) : -1;
  struct stat now = {0};
  if (write(file, ".", 1) != 1) perror("TEST_SAID");
  for (double end = MPI_Wtime() + 10; MPI_Wtime() < end && now.st_size < test_size - 1; usleep(10000)) fstat(file, &now);
  wait_for(0.6);
  return MPI_Abort(MPI_COMM_WORLD, 3);
}

static void count_call(void) {
  if (calls_left && --calls_left == 0) end_now();
}

/* steps that the victim still takes where it sets, exchanges or makes a window for the first time:
   it ends in the last one, when the others are there */
static int steps_left;

static void count_step(void) {
  if (steps_left && --steps_left == 0) wait_for(0.1), end_now();
}

/* the victim's number, 0 unless it ends while another process looks at the processes of the node:
   when that has seen it, and opens the file of its environment */
static pid_t seen;

int open64(const char *path, int flags, ...) {
  static int (*next)(const char *, int, ...);
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "open64");
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  char victim[64];
  snprintf(victim, sizeof victim, "/proc/%d/environ", (int)seen);
  if (seen != 0 && !strcmp(path, victim)) {
    kill(seen, SIGUSR1);
    while (kill(seen, 0) == 0) usleep(1000);
    seen = 0;
  }
  return next(path, flags, mode);
}

static void end_on_signal(int signal) {
  (void)signal;
  end_now();
}

/* process 0 ends the victim when it reads its environment */
static void end_when_seen(void) {
  pid_t victim = getpid();
  MPI_Bcast(&victim, sizeof victim, MPI_BYTE, VICTIM, MPI_COMM_WORLD);
  if (test_rank == 0) seen = victim;
  if (test_rank == VICTIM) {
    signal(SIGUSR1, end_on_signal);
    for (;;) pause();
  }
}

static int fails(MPI_Datatype type) {
  if (!failures_left || type != refused) return 0;
  failures_left--;
  return 1;
}

/* receives from the victim cannot be cancelled, as if they had begun to come; where one of them
   goes */
static int cannot_cancel;
static char *watched;
/* the call of MPI_Pack fails, and that of MPI_Isend with a datatype that has gaps; so do, when
   `sends_left` long messages have been sent, `refusals` sends of long ones */
static int cannot_pack, sends_left, refusals;

/* notices have datatypes of other kinds */
static int has_gaps(MPI_Datatype type) {
  int integers, addresses, types, combiner;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  /* the program's, what stands for it, and several blocks together */
  return combiner == MPI_COMBINER_INDEXED || combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_CONTIGUOUS || combiner == MPI_COMBINER_STRUCT;
}

static int is_long(int count, MPI_Datatype type) {
  int size;
  return PMPI_Type_size(type, &size) == MPI_SUCCESS && (long)size * count >= LONG;
}

/* `trial`, and `trial_far`, where one survivor is no neighbor of the victim: each process is on a
   node of its own; long messages that the victim still sends */
static int trial_left;
static int is_trial(void) { return is("trial") || is("trial_far"); }
int MPI_Get_processor_name(char *name, int *length) {
  if (!what || !is_trial()) return PMPI_Get_processor_name(name, length);
  *length = sprintf(name, "node%d.site", test_rank);
  return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request *request) {
  return cannot_cancel ? MPI_ERR_OTHER : PMPI_Cancel(request);
}

/* a message that has arrived has failed, for the list that it is in; MPI leaves the others pending,
   as it may where a process has ended */
static int list_fails;
int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses) {
  for (int k = 0; list_fails && k < count; k++) {
    if (requests[k] == MPI_REQUEST_NULL) continue;
    int done = 0;
    PMPI_Test(&requests[k], &done, &statuses[k]);
    if (!done) continue;
    for (int j = 0; j < count; j++) statuses[j].MPI_ERROR = MPI_ERR_PENDING;
    statuses[k].MPI_ERROR = MPI_ERR_OTHER;
    return list_fails = 0, MPI_ERR_IN_STATUS;
  }
  return PMPI_Testall(count, requests, flag, statuses);
}

/* false if memory in which MPI may still write has been given back to the system */
static int is_still_there(const char *at) {
  unsigned char state;
  uintptr_t page = (uintptr_t)at & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
  return at != NULL && (mincore((void *)page, 1, &state) == 0 || errno != ENOMEM);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
  count_call();
  if (cannot_cancel && source == VICTIM && watched == NULL) watched = buffer;
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}
int MPI_Imrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
  count_call();
  return PMPI_Imrecv(buffer, count, type, message, request);
}
/* no message to the victim is taken, as by an MPI that knows of its death */
static int refuse_victim;
int MPI_Issend(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  count_call();
  if (refuse_victim && target == VICTIM) return MPI_ERR_INTERN;
  if (fails(type)) return MPI_ERR_INTERN;
  return PMPI_Issend(buffer, count, type, target, tag, comm, request);
}
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  if (trial_left && is_long(count, type) && --trial_left == 0) end_now();
  count_step();
  if (refuse_victim && target == VICTIM) return MPI_ERR_INTERN;
  if (fails(type)) return MPI_ERR_INTERN;
  if (cannot_pack && has_gaps(type)) return MPI_ERR_INTERN;
  if (is_long(count, type)) {
    if (sends_left) sends_left--;
    if (!sends_left && refusals) return refusals--, MPI_ERR_INTERN;
  }
  return PMPI_Isend(buffer, count, type, target, tag, comm, request);
}
/* persistent sends to the victim */
static MPI_Request to_victim[8];
int MPI_Send_init(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  int code = PMPI_Send_init(buffer, count, type, target, tag, comm, request);
  for (int k = 0; target == VICTIM && k < 8; k++)
    if (to_victim[k] == 0) return to_victim[k] = *request, code;
  return code;
}
int MPI_Start(MPI_Request *request) {
  for (int k = 0; refuse_victim && k < 8; k++)
    if (*request == to_victim[k]) return MPI_ERR_INTERN;
  return PMPI_Start(request);
}
int MPI_Iallreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
  count_call(), count_step();
  return PMPI_Iallreduce(from, into, count, type, op, comm, request);
}
int MPI_Pack(const void *from, int count, MPI_Datatype type, void *into, int size, int *position, MPI_Comm comm) {
  if (fails(type) || cannot_pack) return MPI_ERR_INTERN;
  return PMPI_Pack(from, count, type, into, size, position, comm);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request) {
  count_step();
  return PMPI_Comm_idup(comm, copy, request);
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy) {
  count_step();
  return PMPI_Comm_dup(comm, copy);
}
int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *copy) {
  count_step();
  return PMPI_Comm_dup_with_info(comm, info, copy);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *part) {
  count_step();
  return PMPI_Comm_split(comm, color, key, part);
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part) {
  count_step();
  return PMPI_Comm_split_type(comm, type, key, info, part);
}
int MPI_Iallgather(const void *from, int count, MPI_Datatype type, void *into, int each, MPI_Datatype to, MPI_Comm comm, MPI_Request *request) {
  count_step();
  return PMPI_Iallgather(from, count, type, into, each, to, comm, request);
}

static MPI_Comm neighbors_on = MPI_COMM_WORLD;
static char send[8 * LONG], have[8 * LONG];
static double begin;

/* says how a call ended; an error ends all */
static void report(int code) {
  char text[MPI_MAX_ERROR_STRING] = "no error";
  int length, class = MPI_ERR_OTHER;
  double seconds = MPI_Wtime() - begin;
  if (code != MPI_SUCCESS) MPIX_Neighbor_error_string(neighbors_on, sizeof text, text, &length), MPIX_Neighbor_error_class(code, &class);
  if (class != MPI_ERR_OTHER) printf("process %d: class %d\n", test_rank, class);
  printf("process %d: %s: %.1f s: %s\n", test_rank, code == MPI_SUCCESS ? "ended" : "told", seconds, text);
  fflush(stdout);
}

/* all others are neighbors; `without` the victim where it must not matter */
static int set_all_for(int operations, int without) {
  int list[8], degree = 0;
  for (int k = 1; k < test_size; k++) {
    int rank = (test_rank + k) % test_size;
    if (!without || (rank != VICTIM && test_rank != VICTIM)) list[degree++] = rank;
  }
  return MPIX_Neighborhood_set(operations, degree, list, MPI_UNWEIGHTED, degree, list, MPI_UNWEIGHTED, MPI_INFO_NULL, neighbors_on);
}
static int set_all(int without) { return set_all_for(MPIX_NEIGHBOR_ALLTOALL, without); }
/* all are neighbors of process 0 alone */
static int set_star(void) {
  int all[8], degree = test_rank == 0 ? test_size - 1 : 1;
  for (int k = 0; k < degree; k++) all[k] = test_rank == 0 ? k + 1 : 0;
  return MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, degree, all, MPI_UNWEIGHTED, degree, all, MPI_UNWEIGHTED, MPI_INFO_NULL, neighbors_on);
}

static int alltoall(int bytes) {
  begin = MPI_Wtime();
  return MPIX_Neighbor_alltoall(send, bytes, MPI_BYTE, have, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static int ialltoall(int bytes) {
  MPIX_Request request;
  begin = MPI_Wtime();
  OK(MPIX_Ineighbor_alltoall(send, bytes, MPI_BYTE, have, bytes, MPI_BYTE, MPI_COMM_WORLD, &request));
  return MPIX_Request_wait(&request);
}

/* a request that is only tested looks at all its messages at once */
static int failed_list(void) {
  MPIX_Request request;
  int flag = 0, code = MPI_SUCCESS;
  begin = MPI_Wtime();
  OK(MPIX_Ineighbor_alltoall(send, LONG, MPI_BYTE, have, LONG, MPI_BYTE, MPI_COMM_WORLD, &request));
  for (list_fails = 1; !flag && code == MPI_SUCCESS;) code = MPIX_Request_test(&request, &flag);
  if (list_fails) printf("process %d: nothing has failed\n", test_rank);
  return code;
}

/* adds a block of each other process. After an error each block has been added, or has not */
static int accumulate(int ints) {
  int *from = malloc((size_t)test_size * LONG * sizeof(int)), *into = calloc((size_t)test_size * LONG, sizeof(int)), wrong = 0;
  /* in each call others: what one before has left is not taken for them */
  static int call;
  call++;
  for (int k = 0; k < test_size * ints; k++) from[k] = test_value(test_rank, call, k % ints);
  begin = MPI_Wtime();
  int code = MPIX_Neighbor_accumulate(from, ints, MPI_INT, into, ints, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 0; k < test_size - 1; k++) {
    int *block = into + k * ints, source = (test_rank + k + 1) % test_size, added = code == MPI_SUCCESS || block[0] != 0;
    for (int i = 0; i < ints; i++) wrong += block[i] != (added ? test_value(source, call, i) : 0);
  }
  if (wrong) printf("process %d: %d ints are wrong\n", test_rank, wrong);
  free(from), free(into);
  return code;
}

/* survivors send to each other and to the victim, from which nothing comes */
static int set_toward_victim(void) {
  int sources[8], targets[8], in = 0, out = 0;
  for (int k = 1; k < test_size; k++) {
    int rank = (test_rank + k) % test_size;
    if (test_rank != VICTIM) targets[out++] = rank;
    if (rank != VICTIM) sources[in++] = rank;
  }
  return MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, in, sources, MPI_UNWEIGHTED, out, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD);
}
/* what comes of the living, also when MPI has refused messages to the victim in an earlier call */
static int refused_calls(void) {
  int code = MPI_SUCCESS;
  refuse_victim = 1;
  for (int call = 0; call < 3; call++) {
    memset(send, 10 * call + test_rank, SHORT * 8), memset(have, -1, sizeof have);
    code = alltoall(SHORT);
    for (int k = 1, j = 0; k < test_size; k++) {
      int source = (test_rank + k) % test_size;
      if (source == VICTIM) continue;
      if (have[SHORT * j++] != 10 * call + source) printf("process %d: call %d has nothing of process %d\n", test_rank, call, source);
    }
  }
  return code;
}

/* every process sends to all others, every second byte where `gaps` */
static int exchange(int bytes, int gaps) {
  int targets[8], counts[8], displs[8], n = 0;
  MPIX_Sparse_result result = NULL;
  MPI_Datatype type = MPI_BYTE;
  if (gaps) MPI_Type_vector(bytes, 1, 2, MPI_BYTE, &type), MPI_Type_commit(&type);
  for (int k = 1; k < test_size; k++, n++) targets[n] = (test_rank + k) % test_size, counts[n] = gaps ? 1 : bytes, displs[n] = 0;
  begin = MPI_Wtime();
  int code = MPIX_Sparse_exchange(n, targets, send, counts, displs, type, type, MPI_INFO_NULL, MPI_COMM_WORLD, &result);
  if (code == MPI_SUCCESS) MPIX_Sparse_free(&result);
  if (gaps) MPI_Type_free(&type);
  return code;
}

static int plan_run(int runs) {
  static MPIX_Sparse_plan plan;
  int targets[8], counts[8], displs[8], n = 0, code = MPI_SUCCESS;
  for (int k = 1; k < test_size; k++, n++) targets[n] = (test_rank + k) % test_size, counts[n] = LONG, displs[n] = 0;
  if (!plan) OK(MPIX_Sparse_plan_create(n, targets, send, counts, displs, MPI_BYTE, MPI_BYTE, MPI_INFO_NULL, MPI_COMM_WORLD, &plan));
  for (begin = MPI_Wtime(); runs-- && code == MPI_SUCCESS;) {
    code = MPIX_Sparse_plan_start(plan);
    if (code == MPI_SUCCESS) code = MPIX_Sparse_plan_wait(plan);
  }
  /* also where its run has not ended */
  if (code != MPI_SUCCESS) {
    OK(MPIX_Sparse_plan_free(&plan));
    CHECK(plan == NULL, "the plan is still there");
  }
  return code;
}

/* every process sends elements with gaps to itself (`own`) and to the `reach` next ones, to each
   `times` times; `failures` of the victim's fail */
static int lossy_exchange(int bytes, int own, int reach, int times, int failures) {
  int targets[32], counts[32], displs[32], n = 0, messages = 0;
  MPI_Count elements = 0;
  MPIX_Sparse_result result = NULL;
  MPI_Datatype type;
  MPI_Type_vector(bytes, 1, 2, MPI_BYTE, &type), MPI_Type_commit(&type);
  for (int k = 1; k <= reach; k++)
    for (int t = 0; t < times; t++, n++) targets[n] = (test_rank + k) % test_size, counts[n] = 1, displs[n] = 0;
  if (own) targets[n] = test_rank, counts[n] = 1, displs[n++] = 0;
  refused = type, failures_left = test_rank == VICTIM ? failures : 0;
  int code = MPIX_Sparse_exchange(n, targets, send, counts, displs, type, type, MPI_INFO_NULL, MPI_COMM_WORLD, &result);
  if (failures && test_rank == VICTIM) CHECK(failures_left < failures, "nothing has failed");
  refused = MPI_DATATYPE_NULL, failures_left = 0;
  if (code == MPI_SUCCESS) {
    OK(MPIX_Sparse_get_count(result, &messages, &elements));
    CHECK(messages == n && elements == n, "%d messages of %d have come", messages, n);
    MPIX_Sparse_free(&result);
  }
  MPI_Type_free(&type);
  return code;
}

/* operations on all others, `each` of them, and what ends them */
static int window_calls(int each, int collective) {
  static MPIX_Sparse_window window;
  static double elements[SHORT];
  int code = MPI_SUCCESS;
  double value = 1;
  if (!window) code = MPIX_Sparse_window_create(elements, SHORT, MPI_DOUBLE, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int p = 0; p < test_size; p++)
    for (int k = 0; k < each && code == MPI_SUCCESS; k++) {
      MPI_Aint index = k % SHORT;
      code = MPIX_Sparse_window_accumulate(&value, 1, p, &index, MPI_SUM, window);
    }
  if (code != MPI_SUCCESS) return code;
  return collective ? MPIX_Sparse_window_fence(window) : MPIX_Sparse_window_flush(window);
}

/* MPI's end drops this process's attributes, the youngest first: when this one goes, the library
   has done all that it does there */
static char told[MPI_MAX_ERROR_STRING];
static int at_end(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  printf("process %d: told: %.1f s: %s\n", test_rank, MPI_Wtime() - begin, told);
  fflush(stdout);
  return end_all();
}

/* the victim takes none of these messages: some find no room in its memory, and are still MPI's
   when the calls, their communicator and MPI end */
static int finalize(void) {
  enum { STARTS = 12, BYTES = 60000 };
  MPIX_Request requests[STARTS];
  int length, code = MPI_SUCCESS;
  for (int k = 0; k < STARTS; k++) OK(MPIX_Ineighbor_alltoall(send, BYTES, MPI_BYTE, have, BYTES, MPI_BYTE, neighbors_on, &requests[k]));
  for (int k = 0; k < STARTS; k++) {
    int ended = MPIX_Request_wait(&requests[k]);
    if (code == MPI_SUCCESS) code = ended;
  }
  if (code != MPI_SUCCESS) MPIX_Neighbor_error_string(neighbors_on, sizeof told, told, &length);
  OK(MPI_Comm_free(&neighbors_on));
  begin = MPI_Wtime();
  return MPI_Finalize();
}

/* the same with a receiver that lives and makes no call */
static int unreceived(void) {
  enum { STARTS = 12, BYTES = 60000 };
  MPIX_Request requests[STARTS];
  int victim = VICTIM, sources[8], degree = 0;
  for (int k = 0; k < test_size; k++)
    if (k != VICTIM) sources[degree++] = k;
  int in = test_rank == VICTIM ? degree : 0, out = test_rank == VICTIM ? 0 : 1;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, in, sources, MPI_UNWEIGHTED, out, &victim, MPI_UNWEIGHTED, MPI_INFO_NULL, neighbors_on));
  for (int k = 0; k < STARTS && out; k++) OK(MPIX_Ineighbor_alltoall(send, BYTES, MPI_BYTE, have, BYTES, MPI_BYTE, neighbors_on, &requests[k]));
  for (int k = 0; k < STARTS && out; k++) OK(MPIX_Request_wait(&requests[k]));
  OK(MPI_Comm_free(&neighbors_on));
  begin = MPI_Wtime();
  return MPI_Finalize();
}

static int reduce(int bytes) {
  begin = MPI_Wtime();
  return MPIX_Neighbor_reduce(send, bytes, MPI_CHAR, have, bytes, MPI_CHAR, MPI_BOR, neighbors_on);
}
/* a receive from a dead process that MPI does not give back keeps its memory, also when its
   communicator ends */
static void end_neighborhood(void) {
  OK(MPI_Comm_free(&neighbors_on));
  if (!is_still_there(watched)) printf("process %d: the memory of a receive is gone\n", test_rank);
}

/* a plan of two fields: for each a count, a type, and the bytes between blocks */
enum { EDGES = 200, MOST_EDGES = 2 * 8 * EDGES };
static MPIX_Request make_plan(const int counts[2], const MPI_Datatype types[2], MPI_Aint between, int indegree, int outdegree) {
  static int in_counts[MOST_EDGES], out_counts[MOST_EDGES];
  static MPI_Aint in_displs[MOST_EDGES], out_displs[MOST_EDGES];
  static MPI_Datatype in_types[MOST_EDGES], out_types[MOST_EDGES];
  const void *from[2] = {send, send};
  void *into[2] = {have, have + 4 * LONG};
  MPIX_Request plan;
  for (int f = 0; f < 2; f++) {
    for (int k = 0; k < indegree; k++) in_counts[f * indegree + k] = counts[f], in_displs[f * indegree + k] = k * between, in_types[f * indegree + k] = types[f];
    for (int k = 0; k < outdegree; k++) out_counts[f * outdegree + k] = counts[f], out_displs[f * outdegree + k] = 0, out_types[f * outdegree + k] = types[f];
  }
  OK(MPIX_Neighbor_alltoallw_fields_plan(2, from, out_counts, out_displs, out_types, into, in_counts, in_displs, in_types, neighbors_on, MPI_INFO_NULL, &plan));
  return plan;
}
static int run_plan(MPIX_Request *plan) {
  begin = MPI_Wtime();
  int code = MPIX_Request_start(plan);
  return code == MPI_SUCCESS ? MPIX_Request_wait(plan) : code;
}

/* fields of short blocks, of which MPI alone packs the first, on enough edges to each process for
   their memory to be the system's */
static MPIX_Request joined_plan(void) {
  enum { ELEMENTS = 900 };
  int list[8 * EDGES], degree = 0, lengths[ELEMENTS], displs[ELEMENTS], counts[2] = {1, ELEMENTS};
  for (int k = 1; k < test_size; k++)
    for (int e = 0; e < EDGES; e++) list[degree++] = (test_rank + k) % test_size;
  for (int i = 0; i < ELEMENTS; i++) lengths[i] = 1, displs[i] = 2 * i + i % 3 / 2;
  MPI_Datatype types[2] = {MPI_BYTE, MPI_BYTE};
  MPI_Type_indexed(ELEMENTS, lengths, displs, MPI_BYTE, &types[0]);
  MPI_Type_commit(&types[0]);
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, degree, list, MPI_UNWEIGHTED, degree, list, MPI_UNWEIGHTED, MPI_INFO_NULL, neighbors_on));
  MPIX_Request plan = make_plan(counts, types, 2 * ELEMENTS, degree, degree);
  MPI_Type_free(&types[0]);
  return plan;
}

/* A send that fails in the middle of a start is an error of that call at both ends of its edge, and
   of nobody else. Later ones match. */
static int check_lost(void) {
  int verified = getenv("MPIX_NEIGHBOR_VERIFY") != NULL, others[8], n = 0, source = VICTIM, counts[2] = {LONG, LONG + 8};
  MPI_Datatype types[2] = {MPI_BYTE, MPI_BYTE};
  for (int k = 0; k < test_size; k++)
    if (k != VICTIM) others[n++] = k;
  int victim = test_rank == VICTIM, in = victim ? 0 : 1, out = victim ? n : 0;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, in, &source, MPI_UNWEIGHTED, out, others, MPI_UNWEIGHTED, MPI_INFO_NULL, neighbors_on));
  for (int sends = n; sends <= (verified ? 2 * n : n); sends += n) {
    MPIX_Request plan = make_plan(counts, types, 0, in, out);
    OK(run_plan(&plan));
    MPI_Barrier(MPI_COMM_WORLD);
    sends_left = refusals = 0;
    if (victim) sends_left = sends, refusals = 1;
    int code = run_plan(&plan), mine = code != MPI_SUCCESS, all = 0;
    CHECK(refusals == 0 && (mine || !victim), "%d where a start fails", code);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == 2, "%d errors after one message could not be sent", all);
    for (int again = 0; again < 4; again++) {
      memset(send, 7 + again, sizeof send), memset(have, 0, sizeof have);
      OK(run_plan(&plan));
      CHECK(victim || (have[LONG - 1] == 7 + again && have[5 * LONG + 7] == 7 + again), "the data of start %d after one that failed", again);
      if (again != 1) continue;
      OK(MPIX_Request_free(&plan));
      plan = make_plan(counts, types, 0, in, out);
    }
    OK(MPIX_Request_free(&plan));
  }
  return test_finish();
}

/* A program under the preload library makes a topology communicator, after as many as TEST_BEFORE
   says. The victim makes it past the library, which waits for it on the others. */
static int check_made(void) {
  int left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size;
  MPI_Comm comm;
  for (int before = atoi(getenv("TEST_BEFORE")); before > 0; before--) {
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    MPI_Comm_free(&comm);
  }
  if (test_rank == VICTIM) {
    OK(PMPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    wait_for(0.3);
    end_now();
  }
  begin = MPI_Wtime();
  report(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  return end_all();
}

/* Where nothing can be sent in place of a message, the victim sends nothing more, and says so: no
   neighbor takes a message for another. Those on its node get what they wait for there. */
static int check_cut_off(void) {
  int others[8], n = 0, source = VICTIM, counts[2] = {LONG, LONG + 8}, victim = test_rank == VICTIM, ended = 0, code = MPI_SUCCESS;
  MPI_Datatype types[2] = {MPI_BYTE, MPI_BYTE};
  for (int k = 0; k < test_size; k++)
    if (k != VICTIM) others[n++] = k;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, !victim, &source, MPI_UNWEIGHTED, victim ? n : 0, others, MPI_UNWEIGHTED, MPI_INFO_NULL, neighbors_on));
  MPIX_Request plan = make_plan(counts, types, 0, !victim, victim ? n : 0);
  for (int k = 0; k < 5 && code == MPI_SUCCESS; k++) {
    memset(send, k + 1, sizeof send);
    if (victim && k == 1) sends_left = 1, refusals = 2;
    if (victim && k == 4) wait_for(0.3), end_now();
    code = run_plan(&plan);
    if (victim) {
      char text[MPI_MAX_ERROR_STRING] = "no error";
      int length;
      if (code != MPI_SUCCESS) MPIX_Neighbor_error_string(neighbors_on, sizeof text, text, &length);
      CHECK((code == MPI_SUCCESS) == (k == 0) && (k < 2 || strstr(text, "set them again")), "call %d: %s", k, text);
      code = MPI_SUCCESS;
    } else if (code == MPI_SUCCESS) {
      ended++;
      CHECK(have[LONG - 1] == k + 1 && have[5 * LONG + 7] == k + 1, "the data of call %d", k);
    }
  }
  CHECK(getenv("MPIX_NODES") == NULL || ended == (test_rank == 0 ? 4 : 1), "%d calls ended", ended);
  report(code);
  return end_all();
}

/* a collective in which the victim cannot pack or send its blocks is an error of all that they are
   for, whichever way they go; the next one is as if nothing had been */
static int check_blocks(void) {
  enum { GAPS = (1 << 18) + 5, FORMS = 4 };
  static const int lengths[] = {32, 900, 9000, LONG};
  static int ones[GAPS], displs[GAPS];
  int list[8], victim = test_rank == VICTIM, degree = 0;
  for (int k = 1; k < test_size; k++) list[degree++] = (test_rank + k) % test_size;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_GATHER, degree, list, MPI_UNWEIGHTED, degree, list, MPI_UNWEIGHTED, MPI_INFO_NULL, neighbors_on));
  for (int l = 0; l < 4; l++) {
    /* of more numbers than are looked at */
    int bytes = lengths[l], counts[2] = {1, 1};
    for (int i = 0; i < GAPS; i++) ones[i] = i < bytes, displs[i] = i < bytes ? 2 * i + i % 3 / 2 : 0;
    MPI_Datatype type, types[2];
    MPI_Type_indexed(GAPS, ones, displs, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    types[0] = types[1] = type;
    MPIX_Request plan = make_plan(counts, types, 2 * LONG, degree, degree);
    for (int form = 0; form < FORMS; form++)
      for (int round = 0; round < 4; round++) {
        int fails_now = round == 1, code = MPI_SUCCESS, typed = form == 3, good = 1;
        MPIX_Request request = NULL;
        char text[MPI_MAX_ERROR_STRING] = "no error";
        for (int i = 0; i < (int)sizeof send; i++) send[i] = (char)(i * 7 + test_rank + round);
        memset(have, 0, sizeof have);
        cannot_pack = fails_now && victim;
        begin = MPI_Wtime();
        if (form == 0) code = MPIX_Neighbor_alltoallw(send, (int[8]){1, 1, 1, 1, 1, 1, 1, 1}, (MPI_Aint[8]){0}, (MPI_Datatype[8]){type, type, type, type, type, type, type, type}, have, (int[8]){bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes}, (MPI_Aint[8]){0, LONG, 2 * LONG, 3 * LONG, 4 * LONG, 5 * LONG, 6 * LONG}, (MPI_Datatype[8]){MPI_BYTE, MPI_BYTE, MPI_BYTE, MPI_BYTE, MPI_BYTE, MPI_BYTE, MPI_BYTE, MPI_BYTE}, neighbors_on);
        if (form == 1) code = MPIX_Neighbor_gather(send, 1, type, have, bytes, MPI_BYTE, neighbors_on);
        if (form == 2) code = MPIX_Ineighbor_gather(send, 1, type, have, bytes, MPI_BYTE, neighbors_on, &request);
        if (form == 3) code = MPIX_Request_start(&plan);
        if (code == MPI_SUCCESS && (form == 2 || form == 3)) code = MPIX_Request_wait(form == 2 ? &request : &plan);
        cannot_pack = 0;
        int length;
        if (code != MPI_SUCCESS) MPIX_Neighbor_error_string(neighbors_on, sizeof text, text, &length);
        CHECK((code != MPI_SUCCESS) == fails_now, "%d bytes, form %d, round %d: %s", bytes, form, round, text);
        CHECK(MPI_Wtime() - begin < 5, "%d bytes, form %d: %.1f s", bytes, form, MPI_Wtime() - begin);
        for (int k = 0; k < degree && !fails_now; k++)
          for (int i = 0; i < bytes && k < 2; i++) {
            int at = typed ? k * 2 * LONG + displs[i] : form == 0 ? k * LONG + i : k * bytes + i;
            good &= have[at] == (char)(displs[i] * 7 + list[k] + round);
          }
        CHECK(good, "%d bytes, form %d, round %d: wrong data", bytes, form, round);
      }
    OK(MPIX_Request_free(&plan));
    MPI_Type_free(&type);
  }
  return test_finish();
}

/* an exchange that ended with a loss is not ended again, not even by a wait that comes while
   another exchange runs */
static void check_second_wait(void) {
  int one = 1, none = 0, next = (test_rank + 1) % test_size, messages = 0;
  MPI_Count elements = 0;
  MPIX_Sparse_request first = NULL, second = NULL, third = NULL;
  MPIX_Sparse_result result = NULL;
  MPI_Datatype type;
  MPI_Type_vector(64, 1, 2, MPI_BYTE, &type), MPI_Type_commit(&type);
  /* the request has a handle of its own for the datatype */
  cannot_pack = test_rank == VICTIM;
  OK(MPIX_Isparse_exchange(1, &test_rank, send, &one, &none, type, type, MPI_INFO_NULL, MPI_COMM_WORLD, &first));
  cannot_pack = 0;
  int code = MPIX_Sparse_wait(&first, &result);
  CHECK((code != MPI_SUCCESS) == (test_rank == VICTIM), "%d after the loss of a message to itself", code);
  if (code == MPI_SUCCESS) OK(MPIX_Sparse_free(&result));
  /* no exchange ends before all processes have begun it */
  if (test_rank != VICTIM) MPI_Barrier(MPI_COMM_WORLD);
  OK(MPIX_Isparse_exchange(1, &next, send, &one, &none, type, type, MPI_INFO_NULL, MPI_COMM_WORLD, &second));
  if (test_rank == VICTIM) {
    if (MPIX_Sparse_wait(&first, &result) == MPI_SUCCESS) OK(MPIX_Sparse_free(&result));
    code = MPIX_Isparse_exchange(1, &next, send, &one, &none, type, type, MPI_INFO_NULL, MPI_COMM_WORLD, &third);
    CHECK(code != MPI_SUCCESS, "two exchanges run on one communicator");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  OK(MPIX_Sparse_wait(&second, &result));
  OK(MPIX_Sparse_get_count(result, &messages, &elements));
  CHECK(messages == 1 && elements == 1, "%d messages", messages);
  OK(MPIX_Sparse_free(&result));
  OK(exchange(64, 0));
  MPI_Type_free(&type);
}

/* a message that cannot be packed or sent is an error of its sender and of its target, and nobody
   else's; later exchanges are as before */
static int check_packing(void) {
  int next = (VICTIM + 1) % test_size, concerned = test_rank == VICTIM || test_rank == next;
  /* elements that fit an inbox, a cell, a head, and such that do not */
  int lengths[] = {64, 6000, LONG};
  for (int round = 0; round < 6; round++) {
    int bytes = lengths[round % 3];
    OK(lossy_exchange(bytes, 1, test_size - 1, 2, 0));
    CHECK(lossy_exchange(bytes, 0, test_size - 1, 1, 1000) != MPI_SUCCESS, "no error of messages that could not be sent, of %d bytes", bytes);
    int code = lossy_exchange(bytes, 0, 1, 1, 1000);
    CHECK((code != MPI_SUCCESS) == concerned, "%d after the loss of one message of %d bytes", code, bytes);
    OK(lossy_exchange(bytes, 1, test_size - 1, 2, 0));
    code = lossy_exchange(bytes, 0, test_size - 1, 2, 1);
    /* which one is sent first is the protocol's choice */
    int mine = code != MPI_SUCCESS, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == 2 && (mine || test_rank != VICTIM), "%d errors after the loss of one of several messages of %d bytes", all, bytes);
    OK(lossy_exchange(bytes, 1, 1, 1, 0));
    code = lossy_exchange(bytes, 1, 0, 0, 1);
    CHECK((code != MPI_SUCCESS) == (test_rank == VICTIM), "%d after the loss of a message to itself of %d bytes", code, bytes);
    OK(exchange(bytes, 0));
  }
  check_second_wait();
  return test_finish();
}

/* a process that shows a title where its environment was, and comes late, is not taken for one that
   has ended */
static int check_renamed(void) {
  if (test_rank == VICTIM) {
    int count = 0;
    while (environ[count]) count++;
    char **moved = calloc((size_t)count + 1, sizeof *moved);
    for (int k = 0; k < count; k++) {
      moved[k] = strdup(environ[k]);
      memset(environ[k], ' ', strlen(environ[k]));
    }
    environ = moved;
    wait_for(1);
  }
  OK(set_all(0));
  OK(alltoall(SHORT));
  return test_finish();
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  what = getenv("TEST_WHAT"), end_how = getenv("TEST_END");
  if (what == NULL || test_size < 2 || test_size > 8) return 2;
  if (is("pack")) return check_packing();
  if (is("renamed")) return check_renamed();
  if (is("lost")) return check_lost();
  if (is("blocks")) return check_blocks();
  if (end_how == NULL) return 2;
  if (is("made")) return check_made();
  if (is("cut_off")) return check_cut_off();
  if (is("finalize") || is("unreceived") || is("reduce") || is("joined")) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
    if (is("finalize") || (is("unreceived") && test_rank != VICTIM)) MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    /* long blocks of memory are the system's, which can be asked for them */
    mallopt(M_MMAP_THRESHOLD, LONG / 2);
    neighbors_on = test_duplicate();
  }
  if (is("unreceived")) return unreceived();
  int victim = test_rank == VICTIM, code = MPI_SUCCESS;
  MPIX_Request plan = NULL;
  if (is("reduce")) {
    OK(set_all_for(MPIX_NEIGHBOR_REDUCE, 0));
    OK(reduce(LONG));
  }
  if (is("joined")) {
    plan = joined_plan();
    OK(run_plan(&plan));
  }
  int neighbors = is("finalize") || is("set_later") || is("set_third") || is("set_midway") || is("messages") || is("messages_long") || is("messages_midway") || is("requests") || is("requests_begun") || is("requests_failed") || is("planned") || is("others");
  if (neighbors) OK(set_all(is("others")));
  if (is("set_third")) OK(set_all(0));
  if (is("refused")) OK(set_toward_victim());
  if (is("accumulate")) {
    OK(set_all_for(MPIX_NEIGHBOR_ACCUMULATE, 0));
    for (int k = 0; k < 3; k++) OK(accumulate(k % 2 ? SHORT : LONG));
  }
  if (is("messages") || is("messages_long") || is("messages_midway") || is("requests") || is("requests_begun") || is("requests_failed"))
    for (int k = 0; k < 5; k++) OK(alltoall(is("messages") ? SHORT : LONG));
  if (is("exchange_later") || is("exchange_long") || is("exchange_midway"))
    for (int k = 0; k < 5; k++) OK(exchange(k % 2 ? SHORT : LONG, 0));
  if (is("plan")) OK(plan_run(3));
  if (is("planned")) {
    OK(MPIX_Neighbor_alltoall_plan(send, LONG, MPI_BYTE, have, LONG, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, &plan));
    for (int k = 0; k < 3; k++) OK(run_plan(&plan));
  }
  if (!strncmp(what, "window", 6) && !is("window_first")) OK(window_calls(100, 1));
  MPI_Barrier(MPI_COMM_WORLD);
  if (is("exchange_seen")) end_when_seen();
  if (victim) {
    /* the others wait by then, or begin to */
    wait_for(getenv("TEST_AT_ONCE") ? 0 : 0.3);
    if (is("requests_begun")) {
      MPIX_Request request;
      OK(MPIX_Ineighbor_alltoall(send, LONG, MPI_BYTE, have, LONG, MPI_BYTE, MPI_COMM_WORLD, &request));
      end_now();
    }
    if (getenv("TEST_STEPS")) {
      steps_left = atoi(getenv("TEST_STEPS"));
      if (is("set")) set_all(0);
      if (is("exchange")) exchange(SHORT, 0);
      if (is("window_first")) window_calls(100, 1);
    }
    calls_left = 1;
    if (is("exchange_midway")) exchange(LONG, 0);
    if (is("messages_midway")) alltoall(LONG);
    if (is("set_midway")) set_all(0);
    /* some of these are of the measurement, for which nothing can be counted from its beginning */
    if (is("learn")) calls_left = 60, set_all(0);
    if (is("trial")) calls_left = 0, trial_left = 5, set_all(0);
    if (is("trial_far")) calls_left = 0, trial_left = 5, set_star();
    if (is("window_midway")) window_calls(100, 1);
    end_now();
  }
  if (getenv("TEST_AT_ONCE")) wait_for(0.3);
  refuse_victim = getenv("TEST_REFUSED") != NULL;
  /* what the victim has started lies there, and it has ended */
  if (is("requests_begun")) wait_for(0.6);
  begin = MPI_Wtime();
  if (is("finalize")) return finalize();
  if (is("set") || is("set_later") || is("set_third") || is("set_midway") || is("learn") || is("trial")) code = set_all(0);
  else if (is("trial_far")) code = set_star();
  else if (is("messages")) code = alltoall(SHORT);
  else if (is("messages_long") || is("messages_midway")) code = alltoall(LONG);
  else if (is("refused")) code = refused_calls();
  else if (is("accumulate")) {
    report(accumulate(SHORT));
    code = accumulate(LONG);
  } else if (is("requests") || is("requests_begun")) code = ialltoall(LONG);
  else if (is("requests_failed")) code = failed_list();
  else if (is("exchange") || is("exchange_seen") || is("exchange_later")) code = exchange(SHORT, 0);
  else if (is("exchange_long") || is("exchange_midway")) code = exchange(LONG, 0);
  else if (is("plan")) code = plan_run(1);
  else if (is("planned")) {
    report(run_plan(&plan));
    begin = MPI_Wtime();
    code = run_plan(&plan);
  }
  else if (is("window_fence") || is("window_midway") || is("window_first")) code = window_calls(100, 1);
  else if (is("window_flush")) code = window_calls(1, 0);
  /* more than may be under way to one process */
  else if (is("window_full")) code = window_calls(20000, 1);
  else if (is("reduce")) {
    cannot_cancel = 1;
    report(reduce(LONG));
    code = reduce(2 * LONG);
  } else if (is("joined")) {
    cannot_cancel = cannot_pack = 1;
    CHECK(run_plan(&plan) != MPI_SUCCESS, "nothing has failed");
    cannot_pack = 0;
    report(run_plan(&plan));
    code = run_plan(&plan);
  }
  else if (is("measure")) {
    MPIX_Loggp parameters;
    code = MPIX_Loggp_measure(MPI_INFO_NULL, MPI_COMM_WORLD, &parameters);
  } else if (is("others")) {
    /* whose neighbors all live goes on, however long ago another process has ended */
    double until = MPI_Wtime() + 1;
    while (code == MPI_SUCCESS && MPI_Wtime() < until) {
      if (test_rank == 0) wait_for(0.25);
      code = alltoall(SHORT);
    }
  } else return 2;
  report(code);
  if (plan != NULL) OK(MPIX_Request_free(&plan));
  if (neighbors_on != MPI_COMM_WORLD) end_neighborhood();
  /* as does each later call of all */
  if (code != MPI_SUCCESS && strncmp(what, "exchange", 8) == 0) report(exchange(SHORT, 0));
  return end_all();
}
