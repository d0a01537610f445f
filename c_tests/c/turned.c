/* Long messages of started calls where two copies are faster than one: they lie in the sender's
   memory, and come in chunks once both ends wait. Each end may do without the other one: a sender
   that has started, and one that only tests; a receiver that tests, and one that waits for
   something else first. */
#include "test.h"

enum { MOST = 3 << 20, CALLS = 6 };

static int me, n, left, right;
static MPI_Comm comm;

static char value(int from, int call, int i) { return (char)(7 * from + 11 * call + i + i / 251); }

static void fill(char *send, int bytes, int call) {
  for (int i = 0; i < bytes; i++) send[i] = value(me, call, i);
}

static void check(int line, const char *have, int bytes, int call) {
  int wrong = 0;
  for (int i = 0; i < bytes; i++) wrong += have[i] != value(left, call, i);
  CHECK(wrong == 0, "line %d, call %d: %d of %d bytes are wrong", line, call, wrong, bytes);
}

static void pause_for(double seconds) {
  for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {}
}

/* both wait, one of them later, or one of them tests, in turns */
static void waits_and_tests(void) {
  static const int lengths[] = {MOST, 1300000, 2000003, 600000, 1000003};
  char *send = malloc(MOST), *have = malloc(MOST);
  for (int k = 0; k < 5; k++) {
    int bytes = lengths[k];
    MPIX_Request plan;
    OK(MPIX_Neighbor_alltoall_plan(send, bytes, MPI_CHAR, have, bytes, MPI_CHAR, comm, MPI_INFO_NULL, &plan));
    for (int call = 0; call < 4 * CALLS; call++) {
      fill(send, bytes, call), memset(have, 0, (size_t)bytes);
      OK(MPIX_Request_start(&plan));
      if (call % 4 == 1 && me == 0) pause_for(0.003);
      if (call % 4 == 2 && me == 1) pause_for(0.0003);
      int done = call % 4 != 3 || me != call / 4 % 2;
      while (!done) OK(MPIX_Request_test(&plan, &done));
      OK(MPIX_Request_wait(&plan));
      check(__LINE__, have, bytes, call);
    }
    OK(MPIX_Request_free(&plan));
  }
  free(send), free(have);
}

/* blocking calls, of messages for which a cell has room, too: in time, or one process is late; the
   other one has only started its call, in turns */
static void blocking(void) {
  static const int lengths[] = {600000, 1000000, MOST};
  char *send = malloc(MOST), *have = malloc(MOST);
  for (int k = 0; k < 3; k++)
    for (int call = 0; call < 4 * CALLS; call++) {
      int bytes = lengths[k];
      fill(send, bytes, call), memset(have, 0, (size_t)bytes);
      if (call % 4 == 1 && me == call / 4 % 2) pause_for(0.0005);
      if (call % 4 == 2 && me == call / 4 % 2) {
        MPIX_Request request;
        OK(MPIX_Ineighbor_alltoall(send, bytes, MPI_CHAR, have, bytes, MPI_CHAR, comm, &request));
        OK(MPIX_Request_wait(&request));
      } else if (call % 4 == 3) {
        OK(MPIX_Neighbor_gather(send, bytes, MPI_CHAR, have, bytes, MPI_CHAR, comm));
      } else {
        OK(MPIX_Neighbor_alltoall(send, bytes, MPI_CHAR, have, bytes, MPI_CHAR, comm));
      }
      check(__LINE__, have, bytes, call);
    }
  free(send), free(have);
}

/* a sender has started, and waits in MPI for what its receiver sends once it has the message */
static void sender_away(void) {
  char *send = malloc(MOST), *have = malloc(MOST);
  for (int call = 0; call < CALLS; call++) {
    fill(send, MOST, call), memset(have, 0, MOST);
    MPIX_Request request;
    OK(MPIX_Ineighbor_alltoall(send, MOST, MPI_CHAR, have, MOST, MPI_CHAR, comm, &request));
    if (me == call % 2) MPI_Recv(NULL, 0, MPI_INT, right, call, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPIX_Request_wait(&request));
    if (me != call % 2) MPI_Send(NULL, 0, MPI_INT, left, call, MPI_COMM_WORLD);
    check(__LINE__, have, MOST, call);
  }
  free(send), free(have);
}

/* only process 0 sends, and waits; process 1 has started, and waits in MPI for what process 0 sends
   when its wait is over */
static void receiver_away(void) {
  MPI_Comm one_way = test_duplicate();
  int zero = 0, one = 1;
  OK(MPIX_Neighbor_alltoall_set(me == 1, &zero, MPI_UNWEIGHTED, me == 0, &one, MPI_UNWEIGHTED, MPI_INFO_NULL, one_way));
  char *send = malloc(MOST), *have = malloc(MOST);
  for (int call = 0; call < 3 && me < 2; call++) {
    fill(send, MOST, call), memset(have, 0, MOST);
    MPIX_Request request;
    OK(MPIX_Ineighbor_alltoall(send, MOST, MPI_CHAR, have, MOST, MPI_CHAR, one_way, &request));
    if (me == 1) MPI_Recv(NULL, 0, MPI_INT, 0, call, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPIX_Request_wait(&request));
    if (me == 0) MPI_Send(NULL, 0, MPI_INT, 1, call, MPI_COMM_WORLD);
    if (me == 1) check(__LINE__, have, MOST, call);
  }
  free(send), free(have);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&one_way);
}

/* several calls under way, completed in another order on each process; blocking calls among them */
static void several(void) {
  enum { TOGETHER = 3 };
  char *send = malloc((size_t)TOGETHER * MOST), *have = malloc((size_t)TOGETHER * MOST);
  for (int call = 0; call < CALLS; call++) {
    MPIX_Request requests[TOGETHER];
    for (int k = 0; k < TOGETHER; k++) {
      fill(send + (size_t)k * MOST, MOST, TOGETHER * call + k), memset(have + (size_t)k * MOST, 0, MOST);
      if (k == 1 && (me + call) % 2) {
        OK(MPIX_Neighbor_alltoall(send + MOST, MOST, MPI_CHAR, have + MOST, MOST, MPI_CHAR, comm));
        requests[k] = NULL;
      } else {
        OK(MPIX_Ineighbor_alltoall(send + (size_t)k * MOST, MOST, MPI_CHAR, have + (size_t)k * MOST, MOST, MPI_CHAR, comm, &requests[k]));
      }
    }
    for (int k = 0; k < TOGETHER; k++) OK(MPIX_Request_wait(&requests[(me + call) % 2 ? k : TOGETHER - 1 - k]));
    for (int k = 0; k < TOGETHER; k++) check(__LINE__, have + (size_t)k * MOST, MOST, TOGETHER * call + k);
  }
  free(send), free(have);
}

/* blocks with gaps, several for one process, and sums */
static void layouts(void) {
  enum { INTS = 400000 };
  MPI_Datatype every_other;
  MPI_Type_vector(INTS, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  int *send = malloc(2 * INTS * sizeof(int)), *have = malloc(2 * INTS * sizeof(int)), *sum = malloc(INTS * sizeof(int));
  int counts[1] = {1};
  MPI_Aint displs[1] = {0};
  MPIX_Request plan;
  OK(MPIX_Neighbor_alltoallw_plan(send, counts, displs, &every_other, have, counts, displs, &every_other, comm, MPI_INFO_NULL, &plan));
  for (int call = 0; call < CALLS; call++) {
    int wrong = 0;
    for (int i = 0; i < 2 * INTS; i++) send[i] = test_value(me, call, i), have[i] = -1;
    OK(MPIX_Request_start(&plan));
    OK(MPIX_Request_wait(&plan));
    for (int i = 0; i < 2 * INTS - 1; i++) wrong += have[i] != (i % 2 ? -1 : test_value(left, call, i));
    CHECK(wrong == 0, "call %d: %d ints are wrong", call, wrong);
    MPIX_Request request;
    OK(MPIX_Ineighbor_reduce(send, INTS, MPI_INT, sum, INTS, MPI_INT, MPI_SUM, comm, &request));
    OK(MPIX_Request_wait(&request));
    wrong = 0;
    for (int i = 0; i < INTS; i++) wrong += sum[i] != test_value(left, call, i);
    CHECK(wrong == 0, "call %d: %d sums are wrong", call, wrong);
  }
  OK(MPIX_Request_free(&plan));
  MPI_Type_free(&every_other);
  free(send), free(have), free(sum);
}

/* a message that is longer than its place: an error there, and the next ones are right */
static void too_long(void) {
  char *send = malloc(MOST), *have = malloc(MOST);
  int counts[1] = {MOST}, short_counts[1] = {MOST / 2}, displs[1] = {0};
  for (int call = 0; call < CALLS; call++) {
    int class = MPI_SUCCESS, fails = call % 2 && me == 0;
    fill(send, MOST, call), memset(have, 0, MOST);
    MPIX_Request request;
    OK(MPIX_Ineighbor_alltoallv(send, counts, displs, MPI_CHAR, have, fails ? short_counts : counts, displs, MPI_CHAR, comm, &request));
    MPI_Error_class(MPIX_Request_wait(&request), &class);
    CHECK(class == (fails ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "call %d: class %d", call, class);
    if (!fails) check(__LINE__, have, MOST, call);
    else CHECK(have[MOST / 2] == 0, "the block was overrun");
  }
  free(send), free(have);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size, left = (me + n - 1) % n, right = (me + 1) % n;
  comm = test_duplicate();
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  CHECK(strstr(text, "mpix_single_copy = away"), "%s", text);
  waits_and_tests();
  blocking();
  if (n == 2) sender_away();
  receiver_away();
  several();
  layouts();
  too_long();
  MPI_Comm_free(&comm);
  return test_finish();
}
