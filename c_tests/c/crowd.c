/* Processes that share cores: many short calls in bounded time. A process that keeps its core while
   it waits costs each call 4 ms. Where other programs keep the cores for a while, the calls are
   made once more. */
#define _DEFAULT_SOURCE
#include <unistd.h>

#include "test.h"

enum { DEGREE = 3, CALLS = 1000, SECONDS = 3, TRIES = 3 };

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  alarm(60);
  int sources[DEGREE], targets[DEGREE], bad = 0;
  for (int k = 0; k < DEGREE; k++) {
    targets[k] = (test_rank + k + 1) % test_size;
    sources[k] = (test_rank + 2 * test_size * DEGREE - k - 1) % test_size;
  }
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, DEGREE, sources, MPI_UNWEIGHTED, DEGREE, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD));
  double seconds = SECONDS;
  for (int try = 0; try < TRIES && seconds >= SECONDS; try++) {
    double begin = MPI_Wtime();
    for (int call = 0; call < CALLS; call++) {
      int64_t send[DEGREE], have[DEGREE];
      for (int k = 0; k < DEGREE; k++) send[k] = call * 1000 + test_rank * 10 + k, have[k] = -1;
      OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT64_T, have, 1, MPI_INT64_T, MPI_COMM_WORLD));
      for (int k = 0; k < DEGREE; k++) bad += have[k] != call * 1000 + sources[k] * 10 + k;
    }
    double mine = MPI_Wtime() - begin;
    MPI_Allreduce(&mine, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  CHECK(bad == 0, "%d blocks are wrong", bad);
  CHECK(seconds < SECONDS, "%d calls took %.1f s", CALLS, seconds);
  OK(MPIX_Neighborhood_free(MPIX_NEIGHBOR_ALLTOALL, MPI_COMM_WORLD));
  if (test_rank == 0) printf("%d processes, %d calls: %.1f us each\n", test_size, CALLS, 1e6 * seconds / CALLS);
  return test_finish();
}
