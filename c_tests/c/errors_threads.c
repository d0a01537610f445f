/* Requests of one communicator fail in several threads at a time, and calls without a communicator
   beside them: each gets its code, and each text that a thread reads is a whole one. */
#define _DEFAULT_SOURCE
#include "test.h"

#include <pthread.h>

enum { THREADS = 3 };
static MPI_Comm comm;
static MPIX_Request requests[THREADS];
static pthread_barrier_t together;
static int rounds, codes[THREADS], torn;

static void read_text(MPI_Comm of) {
  char text[2000] = "";
  int length = -1;
  MPIX_Neighbor_error_string(of, sizeof text, text, &length);
  if (length != (int)strlen(text) || (length && strncmp(text, "MPIX_", 5))) __atomic_fetch_add(&torn, 1, __ATOMIC_RELAXED);
}

static void *fail(void *number) {
  int k = (int)(intptr_t)number, count;
  MPI_Count elements;
  for (int round = 0; round < rounds; round++) {
    pthread_barrier_wait(&together);
    if (MPIX_Request_wait(&requests[k]) != MPI_SUCCESS) codes[k]++;
    read_text(comm);
    MPIX_Sparse_get_count(NULL, &count, &elements);
    read_text(MPI_COMM_WORLD);
    pthread_barrier_wait(&together);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int send[2] = {1, 2}, have[THREADS][1];
  if (!test_init_threads(&argc, &argv)) return test_finish();
  comm = test_duplicate();
  int left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  rounds = argc > 1 ? atoi(argv[1]) : test_size > 2 ? 300 : 3000;
  pthread_t threads[THREADS];
  pthread_barrier_init(&together, NULL, THREADS + 1);
  for (int k = 0; k < THREADS; k++) pthread_create(&threads[k], NULL, fail, (void *)(intptr_t)k);
  for (int round = 0; round < rounds; round++) {
    /* truncated */
    for (int k = 0; k < THREADS; k++) OK(MPIX_Ineighbor_alltoall(send, 2, MPI_INT, have[k], 1, MPI_INT, comm, &requests[k]));
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
  }
  for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
  for (int k = 0; k < THREADS; k++) CHECK(codes[k] == rounds, "thread %d: %d of %d calls failed", k, codes[k], rounds);
  CHECK(torn == 0, "%d texts are not whole", torn);
  MPI_Comm_free(&comm);
  return test_finish();
}
