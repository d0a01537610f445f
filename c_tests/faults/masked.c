/* An MPI whose MPI_Testall returns success for a list of messages that have all failed, and leaves
   their requests, as Open MPI 5.0.10 does: the call fails, and later ones are right. */
#include "test.h"

/* requests that have failed, for MPI_Test alone */
static int masking, masked;

int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses) {
  if (!masking) return PMPI_Testall(count, requests, flag, statuses);
  *flag = 1;
  for (int k = 0; k < count && *flag; k++) OK(PMPI_Request_get_status(requests[k], flag, &statuses[k]));
  masked += *flag;
  return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  int code = PMPI_Test(request, flag, status);
  return masking && masked && *flag ? MPI_ERR_OTHER : code;
}

static int call_ring(void) {
  int have = -1, code = MPIX_Neighbor_alltoall(&test_rank, 1, MPI_INT, &have, 1, MPI_INT, MPI_COMM_WORLD);
  CHECK(code != MPI_SUCCESS || have == (test_rank + test_size - 1) % test_size, "%d", have);
  return code;
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_WORLD;
  int source = (test_rank + test_size - 1) % test_size, target = (test_rank + 1) % test_size;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &source, MPI_UNWEIGHTED, 1, &target, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  for (int round = 0; round < 3; round++) {
    OK(call_ring());
    masking = test_rank == 0, masked = 0;
    int code = call_ring();
    if (test_rank == 0) {
      CHECK(masked > 0, "no list was tested");
      FAILS(code, MPI_ERR_OTHER, "MPI_Test");
    } else {
      OK(code);
    }
    masking = 0;
  }
  return test_finish();
}
