/* Communicators of a session, in a program that does not call MPI_Init: the library says that it
   needs that, returns a code, and leaves the program and its messages alone. */
#include "test.h"

int main(int argc, char **argv) {
#if MPI_VERSION >= 4
  (void)argc, (void)argv;
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "sessions", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_rank(comm, &test_rank);
  MPI_Comm_size(comm, &test_size);
  int left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size, mine = test_rank, have = -1;
  MPIX_Sparse_result result = NULL;
  for (int turn = 0; turn < 2; turn++) {
    int code = MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm);
    CHECK(code != MPI_SUCCESS, "a neighborhood without MPI_Init");
    CHECK(MPIX_Neighbor_gather(&mine, 1, MPI_INT, &have, 1, MPI_INT, comm) != MPI_SUCCESS && have == -1, "%d", have);
    CHECK(MPIX_Sparse_exchange_block(1, &right, &mine, 1, MPI_INT, MPI_INT, MPI_INFO_NULL, comm, &result) != MPI_SUCCESS && !result, "a sparse exchange");
    MPI_Sendrecv(&mine, 1, MPI_INT, right, 1, &have, 1, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE);
    CHECK(have == left, "%d", have);
    have = -1;
  }
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  if (test_rank == 0) printf("%d checks, %d failed\n", test_checks, test_failures);
  MPI_Session_finalize(&session);
  return test_failures != 0;
#else
  test_init(&argc, &argv);
  CHECK(1, "this MPI has no sessions");
  return test_finish();
#endif
}
