/* MPI_Finalize with what the program leaves: neighborhoods on MPI_COMM_WORLD, whose last long
   messages MPI may still be sending, as their receivers came late. Each process must end, and have
   its data. */
#define _DEFAULT_SOURCE
#include "test.h"

#include <unistd.h>

enum { LONG = 4 << 20 };

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  int me = test_rank, n = test_size, left = (me + n - 1) % n, right = (me + 1) % n, length = 0;
  char *send = malloc(LONG), *have = calloc(1, LONG), one = (char)me, all = 0;
  memset(send, me + 1, LONG);
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD));
  MPIX_Request request;
  OK(MPIX_Ineighbor_alltoall(send, LONG, MPI_CHAR, have, LONG, MPI_CHAR, MPI_COMM_WORLD, &request));
  if (me == 0) usleep(300000);
  /* the others wait for the first one in another call */
  if (me == 0) OK(MPIX_Request_wait(&request));
  OK(MPIX_Neighbor_gather(&one, 1, MPI_CHAR, &all, 1, MPI_CHAR, MPI_COMM_WORLD));
  if (me != 0) OK(MPIX_Request_wait(&request));
  for (int i = 0; i < LONG; i++) length += have[i] == left + 1;
  CHECK(length == LONG, "%d bytes are right", length);
  CHECK(all == left, "%d from %d", all, left);
  /* no collective of the test's, which would wait for the messages */
  if (me == 0) printf("%d checks, %d failed\n", test_checks, test_failures);
  MPI_Finalize();
  return test_failures != 0;
}
