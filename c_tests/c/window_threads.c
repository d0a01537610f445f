/* Sparse windows under MPI_THREAD_MULTIPLE: threads that share a window, and operators that use the
   window that they are applied to. TEST_LEVEL=single: the latter without threads. */
#define _GNU_SOURCE
#include "test.h"
#include <pthread.h>

static MPIX_Sparse_window window;

/* ---- operators that use their own window: errors, which change nothing */

static MPI_Comm errors_return;
static int refusals, calls;

static void refused(int code) {
  int class;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_class(code, &class);
  MPIX_Neighbor_error_string(errors_return, (int)sizeof text, text, &length);
  if (class == MPI_ERR_RMA_SYNC && strstr(text, "must not use the window that it is applied to")) refusals++;
}

static void adds_and_uses_its_window(void *in, void *inout, int *count, MPI_Datatype *type) {
  int value = 1, before;
  MPI_Aint zero = 0;
  MPIX_Sparse_window same = window;
  (void)type;
  for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
  refused(MPIX_Sparse_window_put(&value, 1, 0, &zero, window));
  refused(MPIX_Sparse_window_fetch_and_op(&value, &before, 1, 0, &zero, MPI_SUM, window));
  refused(MPIX_Sparse_window_flush(window));
  refused(MPIX_Sparse_window_fence(window));
  refused(MPIX_Sparse_window_free(&same));
  calls += 5;
}

static void operators(void) {
  MPI_Op op;
  int mine[2] = {0, 100}, value = 2, got = -1;
  MPI_Aint one = 1;
  errors_return = test_duplicate();
  MPI_Op_create(adds_and_uses_its_window, 1, &op);
  OK(MPIX_Sparse_window_create(mine, 2, MPI_INT, MPI_INFO_NULL, errors_return, &window));
  OK(MPIX_Sparse_window_add_operator(op, window));
  /* own elements, and those of others: applied in a call of the caller's, and of the target's */
  for (int p = 0; p < test_size; p++) OK(MPIX_Sparse_window_accumulate(&value, 1, p, &one, op, window));
  OK(MPIX_Sparse_window_flush(window));
  OK(MPIX_Sparse_window_fence(window));
  CHECK(mine[0] == 0 && mine[1] == 100 + 2 * test_size, "%d and %d", mine[0], mine[1]);
  CHECK(calls == 5 * test_size && refusals == calls, "%d of %d calls were refused", refusals, calls);
  /* the window goes on */
  OK(MPIX_Sparse_window_get(&got, 1, (test_rank + 1) % test_size, &one, window));
  OK(MPIX_Sparse_window_fence(window));
  CHECK(got == mine[1], "got %d", got);
  OK(MPIX_Sparse_window_free(&window));
  MPI_Op_free(&op);
  MPI_Comm_free(&errors_return);
}

/* ---- threads that share a window */

enum { THREADS = 3, TICKETS = 400 };

static int tickets[THREADS][TICKETS], failed[THREADS];

/* checks are counted by the main thread */
static void *draw(void *mine) {
  int *got = mine, value = 1, *wrong = &failed[(got - tickets[0]) / TICKETS];
  MPI_Aint zero = 0;
  for (int k = 0; k < TICKETS; k++) {
    *wrong += MPIX_Sparse_window_fetch_and_op(&value, &got[k], 1, k % test_size, &zero, MPI_SUM, window) != MPI_SUCCESS;
    if (k % 50 == 0) *wrong += MPIX_Sparse_window_flush(window) != MPI_SUCCESS;
  }
  *wrong += MPIX_Sparse_window_flush(window) != MPI_SUCCESS;
  return NULL;
}

static void threads(void) {
  pthread_t running[THREADS];
  int counter = 0, own = 0;
  OK(MPIX_Sparse_window_create(&counter, 1, MPI_INT, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  for (int t = 0; t < THREADS; t++) pthread_create(&running[t], NULL, draw, tickets[t]);
  for (int t = 0; t < THREADS; t++) pthread_join(running[t], NULL);
  OK(MPIX_Sparse_window_fence(window));
  for (int k = 0; k < TICKETS; k++) own += k % test_size == test_rank;
  CHECK(counter == own * THREADS * test_size, "%d tickets, not %d", counter, own * THREADS * test_size);
  for (int t = 0; t < THREADS; t++) CHECK(failed[t] == 0, "%d calls of thread %d failed", failed[t], t);
  for (int t = 0; t < THREADS; t++)
    for (int k = test_size; k < TICKETS; k++)
      CHECK(tickets[t][k] > tickets[t][k - test_size], "thread %d: ticket %d after %d", t, tickets[t][k], tickets[t][k - test_size]);
  OK(MPIX_Sparse_window_free(&window));
}

/* ---- one thread flushes, or fences, and another one uses the window */

static void *flush(void *value) {
  MPI_Aint zero = 0;
  failed[0] = MPIX_Sparse_window_put(value, 1, 1, &zero, window) != MPI_SUCCESS;
  failed[0] += MPIX_Sparse_window_flush(window) != MPI_SUCCESS;
  return NULL;
}

/* process 1 serves nobody before it has heard of the main thread of process 0, whose puts must not
   wait for the flush of the other thread */
static void beside_a_flush(void) {
  enum { PUTS = 100 };
  int mine[1 + PUTS] = {0}, value = 7, go = 1;
  pthread_t running;
  OK(MPIX_Sparse_window_create(mine, 1 + PUTS, MPI_INT, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  OK(MPIX_Sparse_window_fence(window));
  if (test_rank == 0) {
    pthread_create(&running, NULL, flush, &value);
    usleep(100000);
    for (MPI_Aint k = 1; k <= PUTS; k++) OK(MPIX_Sparse_window_put(&value, 1, k % 2, &k, window));
    MPI_Send(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    pthread_join(running, NULL);
    CHECK(failed[0] == 0, "%d calls of the other thread failed", failed[0]);
    OK(MPIX_Sparse_window_flush(window));
  } else if (test_rank == 1) {
    MPI_Recv(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  OK(MPIX_Sparse_window_fence(window));
  int bad = test_rank == 1 && mine[0] != value;
  for (int k = 1; k <= PUTS; k++) bad += mine[k] != (test_rank == k % 2 && test_rank < 2 ? value : 0);
  CHECK(bad == 0, "%d elements are wrong", bad);
  OK(MPIX_Sparse_window_free(&window));
}

/* both threads flush, each what the other one may have sent */
static void *flushes(void *value) {
  MPI_Aint one = 1;
  int got;
  for (int k = 0; k < 500; k++) {
    failed[0] += MPIX_Sparse_window_fetch_and_op(value, &got, 1, 1, &one, MPI_SUM, window) != MPI_SUCCESS;
    failed[0] += MPIX_Sparse_window_flush(window) != MPI_SUCCESS;
    failed[1] += got != k;
  }
  return NULL;
}

static void two_flushes(void) {
  int mine[2] = {0, 0}, value = 1, got, bad = 0;
  MPI_Aint zero = 0;
  pthread_t running;
  memset(failed, 0, sizeof failed);
  OK(MPIX_Sparse_window_create(mine, 2, MPI_INT, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  if (test_rank == 0) {
    pthread_create(&running, NULL, flushes, &value);
    for (int k = 0; k < 500; k++) {
      OK(MPIX_Sparse_window_fetch_and_op(&value, &got, 1, 1, &zero, MPI_SUM, window));
      OK(MPIX_Sparse_window_flush(window));
      bad += got != k;
    }
    pthread_join(running, NULL);
    CHECK(bad == 0 && failed[0] == 0 && failed[1] == 0, "%d wrong, %d calls failed, %d wrong there", bad, failed[0], failed[1]);
  }
  OK(MPIX_Sparse_window_fence(window));
  CHECK(test_rank != 1 || (mine[0] == 500 && mine[1] == 500), "%d and %d", mine[0], mine[1]);
  OK(MPIX_Sparse_window_free(&window));
}

/* how a call fails in another thread's fence */
static int is_in_use(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class == MPI_ERR_RMA_SYNC;
}

static void *frees(void *rank) {
  MPI_Aint zero = 0;
  MPIX_Sparse_window same = window;
  int value = 3, go = 1;
  memset(failed, 0, sizeof failed);
  while (!is_in_use(MPIX_Sparse_window_put(&value, 1, *(int *)rank, &zero, window))) continue;
  failed[0] = !is_in_use(MPIX_Sparse_window_free(&same)) || same != window;
  failed[1] = !is_in_use(MPIX_Sparse_window_flush(window));
  for (int p = 1; p < test_size; p++) MPI_Send(&go, 1, MPI_INT, p, 0, MPI_COMM_WORLD);
  return NULL;
}

static void freed_in_a_fence(void) {
  int mine[1] = {0}, go;
  pthread_t running;
  OK(MPIX_Sparse_window_create(mine, 1, MPI_INT, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  if (test_rank == 0) pthread_create(&running, NULL, frees, &test_rank);
  else MPI_Recv(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  OK(MPIX_Sparse_window_fence(window));
  if (test_rank == 0) {
    pthread_join(running, NULL);
    CHECK(failed[0] == 0 && failed[1] == 0, "free %d, flush %d", failed[0], failed[1]);
  }
  OK(MPIX_Sparse_window_fence(window));
  OK(MPIX_Sparse_window_free(&window));
}

int main(int argc, char **argv) {
  const char *level = getenv("TEST_LEVEL");
  int single = level && !strcmp(level, "single"), provided;
  MPI_Init_thread(&argc, &argv, single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
  test_init(&argc, &argv);
  operators();
  if (!single && provided == MPI_THREAD_MULTIPLE) {
    threads();
    if (test_size > 1) beside_a_flush(), two_flushes(), freed_in_a_fence();
  }
  return test_finish();
}
