/* Processes that share cores: many short calls in bounded time. A process that keeps its core while
   it waits costs each call milliseconds. TEST_CALLS: how many (1,000). */
#define _DEFAULT_SOURCE
#include <unistd.h>

#include "test.h"

enum { DEGREE = 3, SECONDS = 20 };

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  alarm(3 * SECONDS);
  const char *text = getenv("TEST_CALLS");
  int calls = text ? atoi(text) : 1000, sources[DEGREE], targets[DEGREE], bad = 0;
  for (int k = 0; k < DEGREE; k++) {
    targets[k] = (test_rank + k + 1) % test_size;
    sources[k] = (test_rank + 2 * test_size * DEGREE - k - 1) % test_size;
  }
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, DEGREE, sources, MPI_UNWEIGHTED, DEGREE, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD));
  double begin = MPI_Wtime();
  for (int call = 0; call < calls; call++) {
    int64_t send[DEGREE], have[DEGREE];
    for (int k = 0; k < DEGREE; k++) send[k] = call * 1000 + test_rank * 10 + k, have[k] = -1;
    OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT64_T, have, 1, MPI_INT64_T, MPI_COMM_WORLD));
    for (int k = 0; k < DEGREE; k++) bad += have[k] != call * 1000 + sources[k] * 10 + k;
  }
  double seconds = MPI_Wtime() - begin;
  CHECK(bad == 0, "%d blocks are wrong", bad);
  CHECK(seconds < SECONDS, "%d calls took %.1f s", calls, seconds);
  OK(MPIX_Neighborhood_free(MPIX_NEIGHBOR_ALLTOALL, MPI_COMM_WORLD));
  if (test_rank == 0) printf("%d processes, %d calls: %.1f us each\n", test_size, calls, 1e6 * seconds / calls);
  return test_finish();
}
