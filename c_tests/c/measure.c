/* mpix_schedule=measure: the first calls compare schedules. Processes that edges connect decide
   together, and need no others: two rings on one communicator, of which the second one makes its
   first call when the first one has decided, and a process without edges makes none. */
#include "test.h"

enum { MOST_CALLS = 20000, BLOCKS = 3 };

static MPI_Comm comm;
static int left, right;

/* one call of a ring, checked; `k` is its number */
static void call(int k) {
  int send[BLOCKS], recv[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) send[i] = 1000 * test_rank + 10 * i + k % 7, recv[i] = -1;
  OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, comm));
  for (int i = 0; i < BLOCKS; i++)
    CHECK(recv[i] == 1000 * left + 10 * i + k % 7, "call %d, block %d: %d", k, i, recv[i]);
}

static int compares(void) {
  return strstr(test_described(MPIX_NEIGHBOR_ALLTOALL, comm), "the first calls compare") != NULL;
}

/* calls until the ring has decided; returns their number */
static int decide(void) {
  int calls = 0;
  while (compares() && calls < MOST_CALLS) call(calls++);
  CHECK(!compares(), "no decision after %d calls", calls);
  /* and some by the schedule that was chosen */
  for (int k = 0; k < 10; k++) call(k);
  return calls;
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  /* the last process of an odd number has no edges; the others are in the ring of the even or of
     the odd ones */
  int in_rings = test_size - test_size % 2, alone = test_rank >= in_rings;
  int sources[BLOCKS], targets[BLOCKS], degree = alone ? 0 : BLOCKS;
  left = (test_rank + in_rings - 2) % (in_rings ? in_rings : 1), right = (test_rank + 2) % (in_rings ? in_rings : 1);
  for (int i = 0; i < BLOCKS; i++) sources[i] = left, targets[i] = right;
  MPI_Info info = test_hint("mpix_schedule", "measure");
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, degree, sources, MPI_UNWEIGHTED, degree, targets, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  int first = test_rank % 2 == 0 && !alone, calls = 0;
  if (first) calls = decide();
  MPI_Barrier(comm);
  if (!first && !alone) calls = decide();
  if (!alone) CHECK(calls >= 12, "%d calls compared several schedules", calls);
  /* all processes of a ring have made the same calls */
  int theirs = -1;
  MPI_Sendrecv(&calls, 1, MPI_INT, alone ? MPI_PROC_NULL : right, 0, &theirs, 1, MPI_INT, alone ? MPI_PROC_NULL : left, 0, comm, MPI_STATUS_IGNORE);
  if (!alone) CHECK(theirs == calls, "%d calls, and %d of process %d", calls, theirs, left);
  MPI_Comm_free(&comm);
  return test_finish();
}
