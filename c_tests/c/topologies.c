/* Topologies that an MPI gives a communicator which has another one, or none: a distributed graph
   is one whatever it was made from (Open MPI 5 says what its parent was), and some processes of a
   grid are none (Open MPI 4 and 5 give them that of their parent). */
#include "test.h"

typedef enum { GRID, GRAPH } kind;

static MPI_Comm of_all(kind what) {
  MPI_Comm comm;
  if (what == GRID) {
    int dims[1] = {test_size}, periods[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
  } else {
    int *index = malloc(test_size * sizeof(int)), *edges = malloc(2 * test_size * sizeof(int));
    for (int p = 0; p < test_size; p++) {
      index[p] = 2 * (p + 1);
      edges[2 * p] = (p + 1) % test_size, edges[2 * p + 1] = (p + test_size - 1) % test_size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, test_size, index, edges, 0, &comm);
    free(index), free(edges);
  }
  return comm;
}

static int handled;

static void handler(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code, handled++; }

/* errors on `comm` are counted; their codes come back */
static void count_errors(MPI_Comm comm) {
  static MPI_Errhandler counting = MPI_ERRHANDLER_NULL;
  if (counting == MPI_ERRHANDLER_NULL) MPI_Comm_create_errhandler(handler, &counting);
  MPI_Comm_set_errhandler(comm, counting);
  handled = 0;
}

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

/* a distributed graph of a grid or graph is a ring in one direction, with weights */
static void made_from(kind what) {
  MPI_Comm parent = of_all(what), comm;
  int source = (test_rank + test_size - 1) % test_size, target = (test_rank + 1) % test_size, weight = 7;
  MPI_Dist_graph_create_adjacent(parent, 1, &source, &weight, 1, &target, &weight, MPI_INFO_NULL, 0, &comm);
  count_errors(comm);
  OK(MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, comm));
  int in = -1, out = -1, weighted = -1, from = -1, to = -1, weights[2] = {-1, -1};
  OK(MPIX_Neighborhood_get_count(MPIX_NEIGHBOR_ALLTOALL, comm, &in, &out, &weighted));
  CHECK(in == 1 && out == 1 && weighted, "degrees %d and %d, weighted %d", in, out, weighted);
  if (in == 1 && out == 1) {
    OK(MPIX_Neighborhood_get(MPIX_NEIGHBOR_ALLTOALL, comm, 1, &from, &weights[0], 1, &to, &weights[1]));
    CHECK(from == source && to == target, "%d and %d", from, to);
    CHECK(weights[0] == 7 && weights[1] == 7, "weights %d and %d", weights[0], weights[1]);
    call_ring(__LINE__, comm);
  }
  OK(MPIX_Neighborhood_free(MPIX_NEIGHBOR_ALLTOALL, comm));
  set_ring(comm);
  call_ring(__LINE__, comm);
  CHECK(handled == 0, "the error handler was called %d times", handled);
  MPI_Comm_free(&comm);
  /* the parent is what it was, and is asked without its error handler */
  count_errors(parent);
  OK(MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, parent));
  OK(MPIX_Neighborhood_get_count(MPIX_NEIGHBOR_ALLTOALL, parent, &in, &out, &weighted));
  CHECK(in == 2 && out == 2 && !weighted, "degrees %d and %d, weighted %d", in, out, weighted);
  CHECK(handled == 0, "the error handler was called %d times", handled);
  MPI_Comm_free(&parent);
}

/* the first half of a grid has no topology; lists serve it */
static void part(void) {
  int half = test_size / 2, range[1][3] = {{0, half - 1, 1}};
  MPI_Comm parent = of_all(GRID), comm;
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
  made_from(GRID), made_from(GRAPH);
  if (test_size > 1) part();
  return test_finish();
}
