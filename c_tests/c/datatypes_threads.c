/* Threads that use a datatype for the first time at once: it is decoded once. MPI frees an
   attribute that is set again, which another thread may be reading. */
#define _GNU_SOURCE
#include "test.h"
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 30, COUNT = 50 };

static MPI_Comm comms[THREADS];
static MPI_Datatype shared;
static pthread_barrier_t together;
static int wrong[THREADS], sets;

/* gives the other threads time to find no attribute, either */
int MPI_Type_get_attr(MPI_Datatype type, int key, void *value, int *found) {
  int code = PMPI_Type_get_attr(type, key, value, found);
  if (type == shared && !*found) usleep(2000);
  return code;
}
int MPI_Type_set_attr(MPI_Datatype type, int key, void *value) {
  if (type == shared) __atomic_fetch_add(&sets, 1, __ATOMIC_RELAXED);
  return PMPI_Type_set_attr(type, key, value);
}

static void *use(void *argument) {
  int t = *(int *)argument, send[2 * COUNT], have[COUNT];
  for (int r = 0; r < ROUNDS; r++) {
    for (int i = 0; i < 2 * COUNT; i++) send[i] = mix3(t, r, i) & 0xffff;
    memset(have, 0, sizeof have);
    pthread_barrier_wait(&together);
    for (int again = 0; again < 3; again++) wrong[t] += MPIX_Neighbor_alltoall(send, COUNT, shared, have, COUNT, MPI_INT, comms[t]) != MPI_SUCCESS;
    for (int i = 0; i < COUNT; i++) wrong[t] += have[i] != send[2 * i];
    pthread_barrier_wait(&together);
    /* the main thread makes the next datatype */
    pthread_barrier_wait(&together);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int numbers[THREADS];
  pthread_t threads[THREADS];
  if (!test_init_threads(&argc, &argv)) return test_finish();
  pthread_barrier_init(&together, NULL, THREADS + 1);
  for (int t = 0; t < THREADS; t++) {
    numbers[t] = t;
    comms[t] = test_duplicate();
    OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &test_rank, MPI_UNWEIGHTED, 1, &test_rank, MPI_UNWEIGHTED, MPI_INFO_NULL, comms[t]));
    pthread_create(&threads[t], NULL, use, &numbers[t]);
  }
  for (int r = 0; r < ROUNDS; r++) {
    MPI_Datatype plain;
    MPI_Type_vector(1, 1, 2, MPI_INT, &plain);
    MPI_Type_create_resized(plain, 0, 2 * sizeof(int), &shared);
    MPI_Type_commit(&shared);
    MPI_Type_free(&plain);
    sets = 0;
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    CHECK(sets == 1, "%d attributes were set", sets);
    MPI_Type_free(&shared);
    pthread_barrier_wait(&together);
  }
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL), MPI_Comm_free(&comms[t]);
  for (int t = 0; t < THREADS; t++) CHECK(wrong[t] == 0, "thread %d: %d", t, wrong[t]);
  return test_finish();
}
