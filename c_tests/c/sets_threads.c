/* Threads that set neighborhoods at the same time, each on communicators of its own, of which many
   are alive. MPICH 4.0.2 hangs now and then where MPI_COMM_SELF is duplicated by MPI_Comm_idup
   meanwhile, as it does by MPI alone. The library uses MPI_COMM_SELF for one collective at a
   time. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "test.h"

enum { THREADS = 2, COMMS = 120 };

/* collectives on MPI_COMM_SELF, and those that began during another one */
static int running, overlaps;
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *part) {
  int counts = comm == MPI_COMM_SELF;
  if (counts && __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST) > 1) overlaps++;
  if (counts) usleep(500);
  int code = PMPI_Comm_split(comm, color, key, part);
  if (counts) __atomic_sub_fetch(&running, 1, __ATOMIC_SEQ_CST);
  return code;
}

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
  CHECK(overlaps == 0, "%d collectives on MPI_COMM_SELF during another one", overlaps);
  return test_finish();
}
