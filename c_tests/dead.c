/* For the script `dead`: process 1 ends while the others wait for it, each in its own way. TEST_WHAT says where they wait, TEST_END how it ends: kill (by a signal) or
   exit (without MPI_Finalize). Each of the others prints what its call returned; none may wait for ever. */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "test.h"

enum { LONG = 200000, SHORT = 8, VICTIM = 1 };

static const char *what, *end_how;
/* calls of MPI that the victim still makes before it ends, 0: not counted; how often packing or sending elements of `refused` still fails */
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

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
  count_call();
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
  return PMPI_Isend(buffer, count, type, target, tag, comm, request);
}
int MPI_Iallreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
  count_call();
  return PMPI_Iallreduce(from, into, count, type, op, comm, request);
}
int MPI_Pack(const void *from, int count, MPI_Datatype type, void *into, int size, int *position, MPI_Comm comm) {
  if (fails(type)) return MPI_ERR_INTERN;
  return PMPI_Pack(from, count, type, into, size, position, comm);
}

static char send[8 * LONG], have[8 * LONG];
static double begin;

/* says how a call ended; an error ends all */
static void report(int code) {
  char text[MPI_MAX_ERROR_STRING] = "no error";
  int length;
  double seconds = MPI_Wtime() - begin;
  if (code != MPI_SUCCESS) MPIX_Neighbor_error_string(MPI_COMM_WORLD, sizeof text, text, &length);
  printf("process %d: %s: %.1f s: %s\n", test_rank, code == MPI_SUCCESS ? "ended" : "told", seconds, text);
  fflush(stdout);
}

static MPI_Comm neighbors_on = MPI_COMM_WORLD;

/* all others are neighbors; `without` the victim where it must not matter */
static int set_all(int without) {
  int list[8], degree = 0;
  for (int k = 1; k < test_size; k++) {
    int rank = (test_rank + k) % test_size;
    if (!without || (rank != VICTIM && test_rank != VICTIM)) list[degree++] = rank;
  }
  return MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, degree, list, MPI_UNWEIGHTED, degree, list, MPI_UNWEIGHTED, MPI_INFO_NULL, neighbors_on);
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

/* every process sends elements with gaps to itself (`own`) and to the `reach` next ones, to each `times` times; `failures` of the victim's fail */
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

/* MPI's end drops this process's attributes, the youngest first: when this one goes, the library has done all that it does there */
static char told[MPI_MAX_ERROR_STRING];
static int at_end(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  printf("process %d: told: %.1f s: %s\n", test_rank, MPI_Wtime() - begin, told);
  fflush(stdout);
  usleep(2500000);
  MPI_Abort(MPI_COMM_WORLD, 3);
  return MPI_SUCCESS;
}

/* the victim takes none of these messages: some find no room in its memory, and are still MPI's when the calls, their communicator and MPI end */
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

/* a message that cannot be packed or sent is an error of its sender and of its target, and nobody else's; later exchanges are as before */
static int check_packing(void) {
  int next = (VICTIM + 1) % test_size, concerned = test_rank == VICTIM || test_rank == next;
  /* elements that fit an inbox, a slot, a head, and such that do not */
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
  return test_finish();
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  what = getenv("TEST_WHAT"), end_how = getenv("TEST_END");
  if (what == NULL || test_size < 2 || test_size > 8) return 2;
  if (is("pack")) return check_packing();
  if (end_how == NULL) return 2;
  if (is("finalize")) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &neighbors_on);
    MPI_Comm_set_errhandler(neighbors_on, MPI_ERRORS_RETURN);
  }
  int victim = test_rank == VICTIM, code = MPI_SUCCESS;
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
  /* as does each later call of all */
  if (code != MPI_SUCCESS && strncmp(what, "exchange", 8) == 0) report(exchange(SHORT, 0));
  /* lets the others come to their ends, as the first one that aborts takes all with it */
  usleep(2500000);
  MPI_Abort(MPI_COMM_WORLD, 3);
}
