/* For the script `dead`: process 1 ends while the others wait for it, each in its own way.
   TEST_WHAT says where they wait, TEST_END how it ends: kill (by a signal) or exit (without
   MPI_Finalize). Each of the others prints what its call returned; none may wait for ever. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
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

static void count_call(void) {
  if (calls_left && --calls_left == 0) end_now();
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
/* the call of MPI_Pack fails; so does the send of a long message when so many have been sent, which
   is under way all the same, and another one seems to be */
static int cannot_pack, sends_left, test_is_vain;

static int is_long(int count, MPI_Datatype type) {
  int size;
  return PMPI_Type_size(type, &size) == MPI_SUCCESS && (long)size * count >= LONG;
}

int MPI_Cancel(MPI_Request *request) {
  return cannot_cancel ? MPI_ERR_OTHER : PMPI_Cancel(request);
}
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  if (!test_is_vain) return PMPI_Test(request, flag, status);
  return test_is_vain = *flag = 0, MPI_SUCCESS;
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
int MPI_Issend(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  count_call();
  if (fails(type)) return MPI_ERR_INTERN;
  return PMPI_Issend(buffer, count, type, target, tag, comm, request);
}
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  if (fails(type)) return MPI_ERR_INTERN;
  if (sends_left && is_long(count, type) && --sends_left == 0) {
    PMPI_Isend(buffer, count, type, target, tag, comm, request);
    return test_is_vain = 1, MPI_ERR_INTERN;
  }
  return PMPI_Isend(buffer, count, type, target, tag, comm, request);
}
int MPI_Iallreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
  count_call();
  return PMPI_Iallreduce(from, into, count, type, op, comm, request);
}
int MPI_Pack(const void *from, int count, MPI_Datatype type, void *into, int size, int *position, MPI_Comm comm) {
  if (fails(type) || cannot_pack) return MPI_ERR_INTERN;
  return PMPI_Pack(from, count, type, into, size, position, comm);
}

static MPI_Comm neighbors_on = MPI_COMM_WORLD;
static char send[8 * LONG], have[8 * LONG];
static double begin;

/* says how a call ended; an error ends all */
static void report(int code) {
  char text[MPI_MAX_ERROR_STRING] = "no error";
  int length;
  double seconds = MPI_Wtime() - begin;
  if (code != MPI_SUCCESS) MPIX_Neighbor_error_string(neighbors_on, sizeof text, text, &length);
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

/* MPI's end drops this process's attributes, the youngest first: when this one goes, the library
   has done all that it does there */
static char told[MPI_MAX_ERROR_STRING];
static int at_end(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  printf("process %d: told: %.1f s: %s\n", test_rank, MPI_Wtime() - begin, told);
  fflush(stdout);
  usleep(2500000);
  MPI_Abort(MPI_COMM_WORLD, 3);
  return MPI_SUCCESS;
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

/* fields of short blocks, of which MPI alone packs the first, on so many edges to each process that
   their memory is the system's */
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

/* Where a start has failed half-way, each later one is an error of its process, and of its
   neighbors where calls are verified: nobody waits. The victim fails when it has posted `sends`
   messages. */
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
    sends_left = victim ? sends : 0;
    int code = run_plan(&plan);
    CHECK((code != MPI_SUCCESS) == victim && sends_left == 0, "%d where a start fails", code);
    for (int again = 0; again < 2; again++) {
      char text[MPI_MAX_ERROR_STRING] = "no error";
      int length;
      if (!victim && !verified) continue;
      code = run_plan(&plan);
      if (code != MPI_SUCCESS) MPIX_Neighbor_error_string(neighbors_on, sizeof text, text, &length);
      CHECK(strstr(text, victim ? "make the request anew" : "its arguments are in error") != NULL, "a start after one that failed: %s", text);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPIX_Request_free(&plan));
    plan = make_plan(counts, types, 0, in, out);
    memset(send, 7, sizeof send), memset(have, 0, sizeof have);
    OK(run_plan(&plan));
    CHECK(victim || (have[LONG - 1] == 7 && have[5 * LONG + 7] == 7), "the data of a plan made anew");
    OK(MPIX_Request_free(&plan));
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

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  what = getenv("TEST_WHAT"), end_how = getenv("TEST_END");
  if (what == NULL || test_size < 2 || test_size > 8) return 2;
  if (is("pack")) return check_packing();
  if (is("lost")) return check_lost();
  if (end_how == NULL) return 2;
  if (is("finalize") || is("reduce") || is("joined")) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
    if (is("finalize")) MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    /* long blocks of memory are the system's, which can be asked for them */
    mallopt(M_MMAP_THRESHOLD, LONG / 2);
    MPI_Comm_dup(MPI_COMM_WORLD, &neighbors_on);
    MPI_Comm_set_errhandler(neighbors_on, MPI_ERRORS_RETURN);
  }
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
  int neighbors = is("finalize") || is("set_later") || is("set_midway") || is("messages") || is("messages_long") || is("messages_midway") || is("requests") || is("others");
  if (neighbors) OK(set_all(is("others")));
  if (is("messages") || is("messages_long") || is("messages_midway") || is("requests"))
    for (int k = 0; k < 5; k++) OK(alltoall(is("messages") ? SHORT : LONG));
  if (is("exchange_later") || is("exchange_long") || is("exchange_midway"))
    for (int k = 0; k < 5; k++) OK(exchange(k % 2 ? SHORT : LONG, 0));
  if (is("plan")) OK(plan_run(3));
  MPI_Barrier(MPI_COMM_WORLD);
  if (victim) {
    /* the others wait by then, or begin to */
    usleep(getenv("TEST_AT_ONCE") ? 0 : 300000);
    calls_left = 1;
    if (is("exchange_midway")) exchange(LONG, 0);
    if (is("messages_midway")) alltoall(LONG);
    if (is("set_midway")) set_all(0);
    end_now();
  }
  if (getenv("TEST_AT_ONCE")) usleep(300000);
  begin = MPI_Wtime();
  if (is("finalize")) return finalize();
  if (is("set") || is("set_later") || is("set_midway")) code = set_all(0);
  else if (is("messages")) code = alltoall(SHORT);
  else if (is("messages_long") || is("messages_midway")) code = alltoall(LONG);
  else if (is("requests")) code = ialltoall(LONG);
  else if (is("exchange") || is("exchange_later")) code = exchange(SHORT, 0);
  else if (is("exchange_long") || is("exchange_midway")) code = exchange(LONG, 0);
  else if (is("plan")) code = plan_run(1);
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
      if (test_rank == 0) usleep(250000);
      code = alltoall(SHORT);
    }
  } else return 2;
  report(code);
  if (plan != NULL) OK(MPIX_Request_free(&plan));
  if (neighbors_on != MPI_COMM_WORLD) end_neighborhood();
  /* as does each later call of all */
  if (code != MPI_SUCCESS && strncmp(what, "exchange", 8) == 0) report(exchange(SHORT, 0));
  /* lets the others come to their ends, as the first one that aborts takes all with it */
  usleep(2500000);
  MPI_Abort(MPI_COMM_WORLD, 3);
}
