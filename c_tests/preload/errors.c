/* Errors of which the library says what it knows. The argument says which: a block that is too
   long, in a `call` or a `request`, which ends the program; a `graph` for which the schedule of the
   environment cannot be, beside a line for which it can; a datatype among the `arguments` that is
   none, which the call returns. Two processes. */
#include "preload.h"

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "call";
  int out[16] = {0}, in[16];
  MPI_Request request;
  test_init(&argc, &argv);
  topology line = cartesian("line", 1, -test_size, 1, 1);
  OK(MPI_Neighbor_alltoall(out, 4, MPI_INT, in, 4, MPI_INT, line.comm));
  OK(MPI_Comm_set_name(line.comm, "halo"));
  if (strcmp(what, "graph") == 0) {
    MPI_Comm graph;
    int ranks[] = {0, 1};
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, ranks, MPI_UNWEIGHTED, 2, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    out[0] = 5 + test_rank;
    OK(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, graph));
    CHECK(in[0] == 5 && in[1] == 6, "%d and %d came", in[0], in[1]);
    OK(MPI_Comm_free(&graph));
    topology_free(&line);
    return test_finish();
  }
  if (strcmp(what, "arguments") == 0) {
    MPI_Comm_set_errhandler(line.comm, MPI_ERRORS_RETURN);
    CHECK(MPI_Neighbor_alltoall(out, 4, MPI_INT, in, 4, MPI_DATATYPE_NULL, line.comm) != MPI_SUCCESS, "a null datatype");
    OK(MPI_Neighbor_alltoall(out, 4, MPI_INT, in, 4, MPI_INT, line.comm));
    topology_free(&line);
    return test_finish();
  }
  MPI_Comm_set_errhandler(line.comm, MPI_ERRORS_ARE_FATAL);
  if (strcmp(what, "call") == 0) MPI_Neighbor_alltoall(out, 8, MPI_INT, in, 4, MPI_INT, line.comm);
  if (strcmp(what, "request") == 0) {
    MPI_Ineighbor_alltoall(out, 8, MPI_INT, in, 4, MPI_INT, line.comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  CHECK(0, "the program goes on");
  topology_free(&line);
  return test_finish();
}
