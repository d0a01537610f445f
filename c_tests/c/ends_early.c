/* A process that has its block goes to MPI_Finalize at once, while another target of the same block
   has not even begun its call: no message is lost, so nobody gets an error. TEST_FORM=nonblocking:
   by a request of the sender. TEST_FORM=reduce: by a reduction. */
#define _DEFAULT_SOURCE
#include "test.h"

#include <unistd.h>

enum { COUNT = 1 << 20 };

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  const int me = test_rank, n = test_size;
  const char *form = getenv("TEST_FORM") ? getenv("TEST_FORM") : "";
  int hub = 0, targets[64], count = 0, right = 0;
  for (int r = 1; r < n; r++) targets[count++] = r;
  double *send = malloc(COUNT * sizeof *send), *have = calloc(COUNT, sizeof *have);
  for (int i = 0; i < COUNT; i++) send[i] = i + me;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_REDUCE, me != hub, &hub, MPI_UNWEIGHTED, me == hub ? count : 0, targets, MPI_UNWEIGHTED,
                           MPI_INFO_NULL, MPI_COMM_WORLD));
  if (me == n - 1) usleep(600000);
  if (!strcmp(form, "reduce")) {
    OK(MPIX_Neighbor_reduce(send, COUNT, MPI_DOUBLE, have, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  } else if (!strcmp(form, "nonblocking")) {
    MPIX_Request request;
    OK(MPIX_Ineighbor_gather(send, COUNT, MPI_DOUBLE, have, COUNT, MPI_DOUBLE, MPI_COMM_WORLD, &request));
    OK(MPIX_Request_wait(&request));
  } else {
    OK(MPIX_Neighbor_gather(send, COUNT, MPI_DOUBLE, have, COUNT, MPI_DOUBLE, MPI_COMM_WORLD));
  }
  for (int i = 0; i < COUNT; i++) right += have[i] == i;
  CHECK(me == hub || right == COUNT, "%d of %d are right", right, COUNT);
  free(send), free(have);
  /* no collective of the test's, in which the first one would wait for the others */
  if (me == 0) printf("%d checks, %d failed\n", test_checks, test_failures);
  MPI_Finalize();
  return test_failures != 0;
}
