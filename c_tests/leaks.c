/* For valgrind: neighborhoods of all kinds come and go, with errors in between; at the end nothing of ours is left. */
#include "test.h"

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  for (int i = 0; i < 8; i++) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    graph g = graph_random(test_size, 6, i);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_verify", i % 2 ? "true" : "false");
    MPI_Info_set(info, "mpix_reduce_order", i % 3 ? "any" : "source");
    graph_set(&g, ALL_OPERATIONS, info, comm);
    MPI_Info_free(&info);
    int in = g.indegree[test_rank], out = g.outdegree[test_rank];
    int *send = calloc(out + 1, sizeof(int)), *have = calloc(in + 1, sizeof(int)), sum = 0;
    OK(MPIX_Neighbor_gather(send, 1, MPI_INT, have, 1, MPI_INT, comm));
    OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT, have, 1, MPI_INT, comm));
    OK(MPIX_Neighbor_reduce(send, 1, MPI_INT, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(MPIX_Neighborhood_set(99, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, comm) != MPI_SUCCESS, "99");
    if (i % 2) OK(MPIX_Neighborhood_free(ALL_OPERATIONS, comm));
    free(send), free(have);
    graph_free(&g);
    MPI_Comm_free(&comm);
  }
  return test_finish();
}
