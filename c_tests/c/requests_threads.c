/* Threads: each with a communicator of its own, and two that complete different requests of one
   communicator; schedules of several rounds, so that each moves the other's requests forward. One
   that asks for a communicator's neighborhood while collectives run on it, and an operator that
   does. */
#include "test.h"
#include <pthread.h>

enum { THREADS = 2, REPEATS = 60, COUNT = 300 };

static MPI_Comm comms[THREADS + 1];
static int wrong[THREADS];

static int value(int source, int entry, int tag, int i) { return (int)(mix3(mix2(source, entry), tag, i) & 0x7fffffff); }

/* all to all: the block in entry k comes from process k, which sent it in its entry for this
   process */
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

enum { QUERIES = 200 };
static MPI_Comm asked;
static int indegree;

/* asks for all that can be asked for; returns how many answers are wrong, or differ in more than
   the choice among schedules that are measured */
static int ask(int operation) {
  static _Thread_local char text[2000];
  static _Thread_local int sources[64], targets[64], sourceweights[64], targetweights[64];
  int in = -1, out = -1, weighted = -1, length = 0, bad = 0;
  bad += MPIX_Neighborhood_get_count(operation, asked, &in, &out, &weighted) != MPI_SUCCESS || in != indegree || out != indegree || weighted != 0;
  bad += MPIX_Neighborhood_get(operation, asked, 64, sources, sourceweights, 64, targets, targetweights) != MPI_SUCCESS;
  for (int k = 0; k < in; k++) bad += sources[k] != k || targets[k] != k;
  bad += MPIX_Neighborhood_describe(operation, asked, sizeof text, text, &length) != MPI_SUCCESS;
  bad += length < 50 || !strstr(text, "schedule ") || !strstr(text, "verification off");
  return bad;
}

static int operator_errors;
static void asking_sum(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
  operator_errors += ask(MPIX_NEIGHBOR_REDUCE);
}

static void *query(void *argument) {
  int *bad = argument;
  for (int k = 0; k < QUERIES; k++) *bad += ask(MPIX_NEIGHBOR_ALLTOALL) + ask(MPIX_NEIGHBOR_REDUCE);
  return NULL;
}

static void queries(const int *all) {
  MPI_Info info;
  MPI_Info_create(&info);
  /* the first calls change the schedule */
  if (!getenv("MPIX_SCHEDULE")) MPI_Info_set(info, "mpix_schedule", "measure");
  asked = test_duplicate();
  indegree = test_size;
  int *send = malloc((size_t)test_size * COUNT * sizeof(int)), *have = malloc((size_t)test_size * COUNT * sizeof(int));
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_REDUCE, test_size, all, MPI_UNWEIGHTED, test_size, all, MPI_UNWEIGHTED, info, asked));
  MPI_Info_free(&info);
  pthread_t thread;
  int bad = 0;
  pthread_create(&thread, NULL, query, &bad);
  MPI_Op op;
  MPI_Op_create(asking_sum, 0, &op);
  for (int r = 0; r < REPEATS; r++) {
    fill(send, 5000 + r);
    OK(MPIX_Neighbor_alltoall(send, COUNT, MPI_INT, have, COUNT, MPI_INT, asked));
    CHECK(errors_in(have, 5000 + r) == 0, "call %d", r);
    int one = test_rank + 1, sum = 0;
    OK(MPIX_Neighbor_reduce(&one, 1, MPI_INT, &sum, 1, MPI_INT, op, asked));
    CHECK(sum == test_size * (test_size + 1) / 2, "%d", sum);
  }
  pthread_join(thread, NULL);
  CHECK(bad == 0, "%d answers are wrong", bad);
  CHECK(operator_errors == 0, "an operator got %d wrong answers", operator_errors);
  MPI_Op_free(&op);
  MPI_Comm_free(&asked);
  free(send), free(have);
}

int main(int argc, char **argv) {
  if (!test_init_threads(&argc, &argv)) return test_finish();
  int all[test_size];
  for (int r = 0; r < test_size; r++) all[r] = r;
  for (int t = 0; t <= THREADS; t++) {
    comms[t] = test_duplicate();
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
  queries(all);
  return test_finish();
}
