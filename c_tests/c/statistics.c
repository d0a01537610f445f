/* Calls whose messages and bytes are known, on three processes; c_tests/statistics compares them
   with what the library has counted. Environment: TEST_END = "kill": process 2 ends without a word
   after its calls; "refuse": MPI refuses the report of process 1 to process 0; "compare": sparse
   exchanges whose protocols are compared. */
#include "test.h"

#include <signal.h>

enum { LONG = 100000 };

/* the tag of reports */
enum { REPORT = 31013 };
static int refuses;
int MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
  if (refuses && tag == REPORT && to == 0) return MPI_ERR_OTHER;
  return PMPI_Isend(from, count, type, to, tag, comm, request);
}

/* so that no message finds an earlier one in its place, and waits for long */
static void step(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void sparse(MPI_Comm comm, const char *protocol) {
  int right = (test_rank + 1) % test_size, targets[2] = {right, test_rank}, values[2] = {1, 2}, counts[2] = {1, 1}, displs[2] = {0, 1};
  MPI_Info info = test_hint("mpix_sparse", protocol);
  for (int i = 0; i < 5; i++) {
    MPIX_Sparse_result result;
    OK(MPIX_Sparse_exchange(2, targets, values, counts, displs, MPI_INT, MPI_INT, info, comm, &result));
    OK(MPIX_Sparse_free(&result));
    step();
  }
  MPI_Info_free(&info);
}

/* two epochs, and the one that the end of the window ends */
static void window(MPI_Comm comm) {
  int mine[3] = {0}, values[3] = {1, 2, 3}, got[2], right = (test_rank + 1) % test_size;
  MPI_Aint indices[3] = {0, 1, 2};
  MPIX_Sparse_window window;
  MPI_Info info = test_hint("mpix_sparse", "inbox");
  OK(MPIX_Sparse_window_create(mine, 3, MPI_INT, info, comm, &window));
  MPI_Info_free(&info);
  /* a batch and its acknowledgement, a batch and its answer */
  OK(MPIX_Sparse_window_put(values, 3, right, indices, window));
  OK(MPIX_Sparse_window_accumulate(values, 1, test_rank, indices, MPI_SUM, window));
  OK(MPIX_Sparse_window_flush(window));
  OK(MPIX_Sparse_window_get(got, 2, right, indices, window));
  OK(MPIX_Sparse_window_flush(window));
  OK(MPIX_Sparse_window_fence(window));
  /* a batch that travels with the exchange, and its answer */
  OK(MPIX_Sparse_window_fetch_and_op(values, got, 1, right, indices, MPI_SUM, window));
  OK(MPIX_Sparse_window_compare_and_swap(values, values, got + 1, 1, right, indices + 1, window));
  OK(MPIX_Sparse_window_fence(window));
  OK(MPIX_Sparse_window_free(&window));
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  const char *end = getenv("TEST_END");
  int me = test_rank, right = (me + 1) % test_size, left = (me + test_size - 1) % test_size;
  int sources[2] = {left, right}, targets[2] = {right, left}, out[8] = {0}, in[8];

  if (end != NULL && strcmp(end, "compare") == 0) {
    MPIX_Sparse_result result;
    for (int i = 0; i < 500; i++) {
      OK(MPIX_Sparse_exchange_block(1, &right, out, 1, MPI_INT, MPI_INT, MPI_INFO_NULL, MPI_COMM_WORLD, &result));
      OK(MPIX_Sparse_free(&result));
    }
    return test_finish();
  }
  if (end != NULL && strcmp(end, "refuse") == 0) {
    MPI_Comm part, all = test_duplicate();
    OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, all));
    OK(MPI_Comm_split(MPI_COMM_WORLD, me > 0, 0, &part));
    int other = me > 0 ? 2 - me : 0;
    OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, part));
    MPI_Comm_free(&part), MPI_Comm_free(&all);
    refuses = me == 1;
    return test_finish();
  }

  /* set 1: a ring, by all forms */
  MPI_Comm ring = test_duplicate();
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, ring));
  for (int i = 0; i < 10; i++) {
    OK(MPIX_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, ring));
    step();
  }
  MPIX_Request request;
  for (int i = 0; i < 4; i++) {
    OK(MPIX_Ineighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, ring, &request));
    OK(MPIX_Request_wait(&request));
    step();
  }
  OK(MPIX_Neighbor_alltoall_plan(out, 2, MPI_INT, in, 2, MPI_INT, ring, MPI_INFO_NULL, &request));
  for (int i = 0; i < 5; i++) {
    OK(MPIX_Request_start(&request));
    OK(MPIX_Request_wait(&request));
    step();
  }
  OK(MPIX_Request_free(&request));
  if (end != NULL && strcmp(end, "kill") == 0) {
    /* until its part of the trace has been begun, and the others' too */
    step();
    if (me == 2) raise(SIGKILL);
    MPI_Finalize();
    return 0;
  }
  /* set 2: the process itself, and the one to the right */
  MPI_Comm own = test_duplicate();
  int own_sources[2] = {me, left}, own_targets[2] = {me, right};
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 2, own_sources, MPI_UNWEIGHTED, 2, own_targets, MPI_UNWEIGHTED, MPI_INFO_NULL, own));
  for (int i = 0; i < 3; i++) {
    OK(MPIX_Neighbor_alltoall(out, 4, MPI_INT, in, 4, MPI_INT, own));
    step();
  }
  /* what is freed before the end is counted too */
  MPI_Comm_free(&own);
  /* set 3: both neighbors, several operations */
  MPI_Comm halo = test_duplicate();
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, halo));
  for (int i = 0; i < 6; i++) {
    OK(MPIX_Neighbor_gather(out, 1, MPI_INT, in, 1, MPI_INT, halo));
    step();
  }
  double send[2] = {1, 2}, sum = 0;
  for (int i = 0; i < 2; i++) {
    OK(MPIX_Neighbor_reduce(send, 1, MPI_DOUBLE, &sum, 1, MPI_DOUBLE, MPI_SUM, halo));
    step();
  }
  double sums[2] = {0, 0};
  for (int i = 0; i < 4; i++) {
    OK(MPIX_Neighbor_accumulate(send, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, MPI_SUM, halo));
    step();
  }
  char *from = calloc(2, LONG), *into = calloc(2, LONG);
  OK(MPIX_Neighbor_alltoall(from, LONG, MPI_CHAR, into, LONG, MPI_CHAR, halo));
  free(from);
  free(into);
  /* sparse exchanges: set 4 of the same processes */
  MPI_Comm dynamic = test_duplicate();
  sparse(dynamic, "nbx");
  sparse(dynamic, "pex");
  sparse(dynamic, "inbox");
  sparse(dynamic, "pcx_library");
  sparse(dynamic, "rsx");
  int one[2] = {1, 1}, displs[2] = {0, 1}, both[2] = {right, me};
  MPIX_Sparse_plan plan;
  MPI_Info info = test_hint("mpix_sparse", "pex");
  OK(MPIX_Sparse_plan_create(2, both, out, one, displs, MPI_INT, MPI_INT, info, dynamic, &plan));
  MPI_Info_free(&info);
  for (int i = 0; i < 2; i++) {
    OK(MPIX_Sparse_plan_start(plan));
    OK(MPIX_Sparse_plan_wait(plan));
    step();
  }
  OK(MPIX_Sparse_plan_free(&plan));
  /* set 5 */
  window(dynamic);
  /* processes 0 and 2; process 1 by itself: tables of their own */
  MPI_Comm part;
  OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &part));
  int there = me == 1 ? 0 : me == 0;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &there, MPI_UNWEIGHTED, 1, &there, MPI_UNWEIGHTED, MPI_INFO_NULL, part));
  for (int i = 0; i < 7; i++) {
    OK(MPIX_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, part));
    step();
  }
  MPI_Comm_free(&part);
  MPI_Comm_free(&ring);
  return test_finish();
}
