/* For valgrind: neighborhoods of all kinds and sparse exchanges come and go, with errors in
   between; at the end nothing of ours is left. */
#include "sparse.h"

/* every form, with results, plans and requests that outlive their communicator, and errors in
   between */
static void sparse(const char *protocol) {
  MPI_Comm comm = test_duplicate();
  MPI_Info info = test_hint("mpix_sparse", protocol);
  MPI_Datatype strided;
  MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  for (int r = 0; r < 3; r++) exchange(protocol, &MIXED_LENGTHS, r, info, comm);
  int targets[2] = {(test_rank + 1) % test_size, test_rank}, counts[2] = {2, 4}, displs[2] = {0, 1}, data[40] = {0}, bad[2] = {1, -1}, ragged[2] = {1, 1};
  MPIX_Sparse_request request;
  MPIX_Sparse_result results[2];
  MPIX_Sparse_plan plan;
  OK(MPIX_Sparse_exchange(2, targets, data, counts, displs, strided, strided, info, comm, &results[0]));
  CHECK(MPIX_Sparse_exchange(2, targets, data, bad, displs, strided, strided, info, comm, &results[1]) != MPI_SUCCESS, "a negative count");
  CHECK(MPIX_Sparse_exchange(2, targets, data, ragged, displs, MPI_INT, strided, info, comm, &results[1]) != MPI_SUCCESS, "a ragged message");
  CHECK(MPIX_Isparse_exchange(2, targets, data, bad, displs, strided, strided, info, comm, &request) != MPI_SUCCESS, "a negative count");
  CHECK(MPIX_Sparse_plan_create(2, targets, data, ragged, displs, MPI_INT, strided, info, comm, &plan) != MPI_SUCCESS, "a ragged message");
  OK(MPIX_Sparse_plan_create(2, targets, data, counts, displs, strided, strided, info, comm, &plan));
  OK(MPIX_Isparse_exchange(2, targets, data, counts, displs, strided, MPI_INT, info, comm, &request));
  MPI_Type_free(&strided);
  OK(MPIX_Sparse_wait(&request, &results[1]));
  OK(MPIX_Neighborhood_set_targets(ALL_OPERATIONS, 2, targets, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
  OK(MPIX_Sparse_plan_start(plan));
  OK(MPIX_Sparse_plan_wait(plan));
  OK(MPIX_Sparse_plan_free(&plan));
  for (int k = 0; k < 2; k++) OK(MPIX_Sparse_free(&results[k]));
}

/* requests of all kinds, with errors, some of which outlive their neighborhood or communicator;
   `left` are to be completed later */
static void requests(int in, int out, int *send, int *have, MPI_Comm comm, MPIX_Request left[2]) {
  int counts[in + out + 1], sum;
  MPI_Aint displs[in + out + 1];
  MPI_Datatype types[in + out + 1], strided, nested;
  MPIX_Request r[3];
  const void *sendbufs[2] = {send, send + 1};
  void *recvbufs[2] = {have, have + 1};
  MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  /* what it is made of is asked for and given back */
  MPI_Type_create_struct(2, (int[]){1, 0}, (MPI_Aint[]){0, 0}, (MPI_Datatype[]){strided, MPI_DOUBLE}, &nested);
  MPI_Type_commit(&nested);
  for (int k = 0; k < in + out; k++) counts[k] = 1, displs[k] = 16 * (k < out ? k : k - out), types[k] = k % 2 ? strided : nested;
  OK(MPIX_Ineighbor_alltoallw(send, counts, displs, types, have, counts, displs + out, types, comm, &r[0]));
  OK(MPIX_Neighbor_alltoallw_plan(send, counts, displs, types, have, counts, displs + out, types, comm, MPI_INFO_NULL, &r[1]));
  OK(MPIX_Ineighbor_reduce(send, 1, MPI_INT, &sum, 1, MPI_INT, MPI_SUM, comm, &r[2]));
  for (int run = 0; run < 2; run++) {
    OK(MPIX_Request_start(&r[1]));
    CHECK(MPIX_Request_start(&r[1]) != MPI_SUCCESS && MPIX_Request_free(&r[1]) != MPI_SUCCESS, "an active one");
    OK(MPIX_Request_waitall(3, r));
  }
  OK(MPIX_Request_free(&r[1]));
  int fcounts[2 * (in + out) + 1];
  MPI_Aint fdispls[2 * (in + out) + 1];
  MPI_Datatype ftypes[2 * (in + out) + 1];
  for (int k = 0; k < 2 * (in + out); k++) fcounts[k] = 1, fdispls[k] = 16 * (k % (in + out)), ftypes[k] = MPI_INT;
  OK(MPIX_Neighbor_alltoallw_fields(2, sendbufs, fcounts, fdispls, ftypes, recvbufs, fcounts, fdispls, ftypes, comm));
  if (in + out > 0)
    CHECK(MPIX_Neighbor_gather_plan(send, -1, MPI_INT, have, -1, MPI_INT, comm, MPI_INFO_NULL, &r[0]) != MPI_SUCCESS, "a negative count");
  OK(MPIX_Neighbor_alltoallw_plan(send, counts, displs, types, have, counts, displs + out, types, comm, MPI_INFO_NULL, &left[0]));
  OK(MPIX_Ineighbor_gather(send, 1, MPI_INT, have, 1, MPI_INT, comm, &left[1]));
  MPI_Type_free(&strided), MPI_Type_free(&nested);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  for (int i = 0; i < 8; i++) {
    MPI_Comm comm = test_duplicate();
    graph g = graph_random(test_size, 6, i);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_verify", i % 2 ? "true" : "false");
    MPI_Info_set(info, "mpix_reduce_order", i % 3 ? "any" : "source");
    graph_set(&g, ALL_OPERATIONS, info, comm);
    MPI_Info_free(&info);
    int in = g.indegree[test_rank], out = g.outdegree[test_rank];
    int *send = calloc(4 * (in + out) + 8, sizeof(int)), *have = calloc(4 * (in + out) + 8, sizeof(int)), sum = 0;
    MPIX_Request left[2];
    OK(MPIX_Neighbor_gather(send, 1, MPI_INT, have, 1, MPI_INT, comm));
    OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT, have, 1, MPI_INT, comm));
    OK(MPIX_Neighbor_reduce(send, 1, MPI_INT, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(MPIX_Neighborhood_set(99, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, comm) != MPI_SUCCESS, "99");
    requests(in, out, send, have, comm, left);
    if (i % 4 > 1) OK(MPIX_Neighborhood_free(ALL_OPERATIONS, comm));
    graph_free(&g);
    MPI_Comm_free(&comm);
    CHECK(MPIX_Request_wait(&left[1]) != MPI_SUCCESS && left[1] == NULL, "the communicator is gone");
    OK(MPIX_Request_free(&left[0]));
    free(send), free(have);
  }
  for (int p = 0; p < PROTOCOLS; p++) sparse(protocols[p]);
  return test_finish();
}
