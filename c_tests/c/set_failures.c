/* A set call in which MPI fails on one process alone fails on all of them, and the next one
   serves. */
#include "test.h"

/* communicators of one process that MPI still refuses to make */
static int refusals;

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *part) {
  int size;
  PMPI_Comm_size(comm, &size);
  if (size == 1 && refusals > 0) {
    refusals--;
    return MPI_ERR_OTHER;
  }
  return PMPI_Comm_split(comm, color, key, part);
}

static int source, target;

static int set(int operations, MPI_Comm comm) {
  return MPIX_Neighborhood_set(operations, 1, &source, MPI_UNWEIGHTED, 1, &target, MPI_UNWEIGHTED, MPI_INFO_NULL, comm);
}

static void gather(MPI_Comm comm) {
  int got = -1;
  OK(MPIX_Neighbor_gather(&test_rank, 1, MPI_INT, &got, 1, MPI_INT, comm));
  CHECK(got == source, "%d, not %d", got, source);
}

static void reduce(MPI_Comm comm) {
  int got = -1;
  OK(MPIX_Neighbor_reduce(&test_rank, 1, MPI_INT, &got, 1, MPI_INT, MPI_SUM, comm));
  CHECK(got == source, "%d, not %d", got, source);
}

/* `first`: the communicator has a neighborhood for another operation, which stays */
static void refused(int process, int first) {
  MPI_Comm comm = test_duplicate();
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (first) OK(set(MPIX_NEIGHBOR_GATHER, comm));
  refusals = test_rank == process;
  int code = set(MPIX_NEIGHBOR_REDUCE, comm);
  CHECK(refusals == 0, "MPI has not been asked");
  CHECK(code != MPI_SUCCESS, "process %d: the call has succeeded", test_rank);
  if (first) gather(comm);
  OK(set(MPIX_NEIGHBOR_REDUCE, comm));
  reduce(comm);
  OK(set(MPIX_NEIGHBOR_GATHER, comm));
  gather(comm);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  source = (test_rank + test_size - 1) % test_size, target = (test_rank + 1) % test_size;
  /* in this order: what the second communicator has would serve the next one */
  refused(0, 1);
  refused(0, 0);
  return test_finish();
}
