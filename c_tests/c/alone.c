/* Plans that match alone (mpix_match=plan): processes that are no neighbors make different numbers
   of them before another neighborhood is set, and their starts stand in any order. With
   verification, another order is found. */
#include "test.h"

static int verified;

/* `before` plans of the first pair alone, then some of all on a ring */
static void other_neighbors(MPI_Info info, int before) {
  enum { PLANS = 3 };
  int mate = test_rank ^ 1, degree = mate < test_size, left = (test_rank + test_size - 1) % test_size, send[PLANS], have[PLANS];
  MPIX_Request plans[PLANS];
  MPI_Comm comm = test_duplicate();
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, degree, &mate, MPI_UNWEIGHTED, degree, &mate, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  for (int k = 0; k < before && test_rank < 2 && degree; k++) {
    OK(MPIX_Neighbor_alltoall_plan(send, 1, MPI_INT, have, 1, MPI_INT, comm, info, plans));
    OK(MPIX_Request_free(plans));
  }
  test_ring(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, comm);
  for (int k = 0; k < PLANS; k++) {
    send[k] = 100 * k + test_rank, have[k] = -1;
    OK(MPIX_Neighbor_alltoall_plan(&send[k], 1, MPI_INT, &have[k], 1, MPI_INT, comm, info, &plans[k]));
  }
  OK(MPIX_Request_startall(PLANS, plans));
  OK(MPIX_Request_waitall(PLANS, plans));
  for (int k = 0; k < PLANS; k++) {
    CHECK(have[k] == 100 * k + left, "%d plans before, plan %d: %d", before, k, have[k]);
    OK(MPIX_Request_free(&plans[k]));
  }
  MPI_Comm_free(&comm);
}

static void any_order(MPI_Info info) {
  int left = (test_rank + test_size - 1) % test_size, send[2] = {100 + test_rank, 200 + test_rank}, have[2] = {-1, -1}, first = test_rank % 2, class, mismatch;
  OK(MPIX_Neighbor_error_class(MPIX_ERR_VERIFY, &mismatch));
  MPIX_Request plans[2];
  MPI_Comm comm = test_duplicate();
  test_ring(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, comm);
  for (int k = 0; k < 2; k++) OK(MPIX_Neighbor_alltoall_plan(&send[k], 1, MPI_INT, &have[k], 1, MPI_INT, comm, info, &plans[k]));
  OK(MPIX_Request_start(&plans[first]));
  OK(MPIX_Request_start(&plans[1 - first]));
  /* in a ring of one or two kinds of processes, all start in one order, or no neighbors do */
  int differs = test_size > 1 && test_size % 2 == 0;
  for (int k = 0; k < 2; k++) {
    int code = MPIX_Request_wait(&plans[k]);
    MPI_Error_class(code, &class);
    if (verified && differs) FAILS(code, mismatch, "of another plan (mpix_match)");
    else if (!verified) CHECK(code == MPI_SUCCESS && have[k] == 100 * (k + 1) + left, "plan %d: class %d, %d", k, class, have[k]);
  }
  for (int k = 0; k < 2; k++) OK(MPIX_Request_free(&plans[k]));
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  MPI_Info info;
  test_init(&argc, &argv);
  verified = getenv("MPIX_NEIGHBOR_VERIFY") != NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_match", "plan");
  for (int before = 0; before < 4; before++) other_neighbors(info, before);
  any_order(info);
  MPI_Info_free(&info);
  return test_finish();
}
