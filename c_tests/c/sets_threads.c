/* Threads that set neighborhoods at the same time, each on communicators of its own, of which many
   are alive. MPICH 4.0.2 hangs now and then where MPI_COMM_SELF is duplicated by MPI_Comm_idup
   meanwhile, as it does by MPI alone. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "test.h"

enum { THREADS = 2, COMMS = 120 };

static MPI_Comm own[THREADS];
static int wrong[THREADS];

static void *set(void *argument) {
  int t = *(int *)argument, left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size;
  MPI_Comm comms[COMMS];
  for (int k = 0; k < COMMS; k++) {
    MPI_Comm_dup(own[t], &comms[k]);
    int sum = -1, code = MPIX_Neighborhood_set(MPIX_NEIGHBOR_REDUCE, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, comms[k]);
    if (code == MPI_SUCCESS) code = MPIX_Neighbor_reduce(&test_rank, 1, MPI_INT, &sum, 1, MPI_INT, MPI_SUM, comms[k]);
    wrong[t] += code != MPI_SUCCESS || sum != left;
  }
  for (int k = 0; k < COMMS; k++) MPI_Comm_free(&comms[k]);
  return NULL;
}

int main(int argc, char **argv) {
  if (!test_init_threads(&argc, &argv)) return test_finish();
  alarm(60);
  pthread_t threads[THREADS];
  int ids[THREADS];
  for (int t = 0; t < THREADS; t++) MPI_Comm_dup(MPI_COMM_WORLD, &own[t]);
  for (int t = 0; t < THREADS; t++) ids[t] = t, pthread_create(&threads[t], NULL, set, &ids[t]);
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  for (int t = 0; t < THREADS; t++) {
    CHECK(wrong[t] == 0, "thread %d: %d neighborhoods", t, wrong[t]);
    MPI_Comm_free(&own[t]);
  }
  return test_finish();
}
