/* Threads: each with a communicator of its own, and two that complete different requests of one communicator; schedules of several rounds, so that each
   moves the other's requests forward. */
#include "test.h"
#include <pthread.h>

enum { THREADS = 2, REPEATS = 60, COUNT = 300 };

static MPI_Comm comms[THREADS + 1];
static int wrong[THREADS];

static int value(int source, int slot, int tag, int i) { return (int)(mix3(mix2(source, slot), tag, i) & 0x7fffffff); }

/* all to all: the block in slot k comes from process k, which sent it in its slot for this process */
static void fill(int *send, int tag) {
  for (int k = 0; k < test_size; k++)
    for (int i = 0; i < COUNT; i++) send[k * COUNT + i] = value(test_rank, k, tag, i);
}
static int errors_in(const int *have, int tag) {
  int bad = 0;
  for (int k = 0; k < test_size; k++)
    for (int i = 0; i < COUNT; i++) bad += have[k * COUNT + i] != value(k, test_rank, tag, i);
  return bad;
}

/* checks are counted by the main thread */
static void *own_communicator(void *argument) {
  int t = *(int *)argument;
  int *send = calloc((size_t)test_size * COUNT, sizeof(int)), *have = calloc((size_t)test_size * COUNT, sizeof(int));
  MPIX_Request plan = NULL;
  wrong[t] += MPIX_Neighbor_alltoall_plan(send, COUNT, MPI_INT, have, COUNT, MPI_INT, comms[t], MPI_INFO_NULL, &plan) != MPI_SUCCESS;
  for (int r = 0; r < REPEATS; r++) {
    fill(send, 10 * r + t);
    memset(have, 0, (size_t)test_size * COUNT * sizeof(int));
    MPIX_Request request = NULL;
    int form = (r + t) % 3, code, flag = 0;
    if (form == 0) {
      code = MPIX_Neighbor_alltoall(send, COUNT, MPI_INT, have, COUNT, MPI_INT, comms[t]);
    } else if (form == 1) {
      code = MPIX_Ineighbor_alltoall(send, COUNT, MPI_INT, have, COUNT, MPI_INT, comms[t], &request);
      while (code == MPI_SUCCESS && !flag) code = MPIX_Request_test(&request, &flag);
    } else {
      code = MPIX_Request_start(&plan);
      if (code == MPI_SUCCESS) code = MPIX_Request_wait(&plan);
    }
    wrong[t] += code != MPI_SUCCESS || errors_in(have, 10 * r + t);
  }
  wrong[t] += MPIX_Request_free(&plan) != MPI_SUCCESS;
  free(send), free(have);
  return NULL;
}

typedef struct {
  MPIX_Request request;
  int code;
} completion;

static void *complete(void *argument) {
  completion *c = argument;
  c->code = MPIX_Request_wait(&c->request);
  return NULL;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &test_size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (test_rank == 0) printf("skipped: this MPI has no MPI_THREAD_MULTIPLE\n");
    CHECK(1, "nothing to do");
    return test_finish();
  }
  int all[test_size];
  for (int r = 0; r < test_size; r++) all[r] = r;
  for (int t = 0; t <= THREADS; t++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, test_size, all, MPI_UNWEIGHTED, test_size, all, MPI_UNWEIGHTED, MPI_INFO_NULL, comms[t]));
  }
  pthread_t threads[THREADS];
  int numbers[THREADS];
  for (int t = 0; t < THREADS; t++) numbers[t] = t, pthread_create(&threads[t], NULL, own_communicator, &numbers[t]);
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  for (int t = 0; t < THREADS; t++) CHECK(wrong[t] == 0, "thread %d: %d errors", t, wrong[t]);
  int *send[THREADS], *have[THREADS];
  for (int t = 0; t < THREADS; t++) send[t] = malloc((size_t)test_size * COUNT * sizeof(int)), have[t] = malloc((size_t)test_size * COUNT * sizeof(int));
  for (int r = 0; r < REPEATS / 3; r++) {
    completion c[THREADS];
    for (int t = 0; t < THREADS; t++) {
      fill(send[t], 1000 + 10 * r + t);
      memset(have[t], 0, (size_t)test_size * COUNT * sizeof(int));
      OK(MPIX_Ineighbor_alltoall(send[t], COUNT, MPI_INT, have[t], COUNT, MPI_INT, comms[THREADS], &c[t].request));
    }
    /* on some processes the other way round */
    for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, complete, &c[(t + test_rank) % THREADS]);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++) {
      int bad = errors_in(have[t], 1000 + 10 * r + t);
      CHECK(c[t].code == MPI_SUCCESS && c[t].request == NULL && bad == 0, "request %d: code %d, %d ints are wrong", t, c[t].code, bad);
    }
  }
  for (int t = 0; t < THREADS; t++) free(send[t]), free(have[t]);
  for (int t = 0; t <= THREADS; t++) MPI_Comm_free(&comms[t]);
  return test_finish();
}
