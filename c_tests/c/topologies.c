/* Topologies that an MPI gives a communicator which has none: some processes of a grid are none
   (Open MPI 4 and 5 give them that of their parent). */
#include "test.h"

/* each process receives the rank of the one before it */
static void call_ring(int line, MPI_Comm comm) {
  int rank, size, have = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  OK(MPIX_Neighbor_alltoall(&rank, 1, MPI_INT, &have, 1, MPI_INT, comm));
  CHECK(have == (rank + size - 1) % size, "line %d: %d", line, have);
}

static void set_ring(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int source = (rank + size - 1) % size, target = (rank + 1) % size;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &source, MPI_UNWEIGHTED, 1, &target, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
}

/* the first half of a grid has no topology; lists serve it */
static void part(void) {
  int half = test_size / 2, range[1][3] = {{0, half - 1, 1}};
  MPI_Comm parent, comm;
  int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &parent);
  MPI_Group all, first;
  MPI_Comm_group(parent, &all);
  MPI_Group_range_incl(all, 1, range, &first);
  if (test_rank < half) {
    MPI_Comm_create_group(parent, first, 1, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    FAILS(MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, comm), MPI_ERR_TOPOLOGY, "has no Cartesian, graph");
    set_ring(comm);
    call_ring(__LINE__, comm);
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&first);
  MPI_Comm_free(&parent);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  part();
  return test_finish();
}
