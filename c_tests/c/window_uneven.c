/* Sparse windows: some processes free a window, or finalize MPI, while others call a fence. All get
   an error, and none waits for good. */
#define _GNU_SOURCE
#include "test.h"

#define LAST_CALL "MPIX_Sparse_window_fence or MPIX_Sparse_window_free"

static MPI_Comm comm;
static MPIX_Sparse_window window;
static long m[10];
static int mismatch; /* the error class */

static void make(void) {
  for (int i = 0; i < 10; i++) m[i] = 0;
  OK(MPIX_Sparse_window_create(m, 10, MPI_LONG, MPI_INFO_NULL, comm, &window));
}

static void add(void) {
  long one = 1;
  MPI_Aint three = 3;
  for (int p = 0; p < test_size; p++) OK(MPIX_Sparse_window_accumulate(&one, 1, p, &three, MPI_SUM, window));
}

/* bit p of `frees`: process p frees the window where others call a fence, after `epochs` of them */
static void uneven(unsigned frees, int epochs) {
  make();
  for (int epoch = 0; epoch < epochs; epoch++) {
    if (epoch % 2 == 0) add();
    OK(MPIX_Sparse_window_fence(window));
  }
  long before = m[3];
  add();
  if (frees >> test_rank & 1) {
    FAILS(MPIX_Sparse_window_free(&window), mismatch, LAST_CALL);
    CHECK(m[3] == before + test_size, "%ld of %ld", m[3], before + test_size);
  } else {
    FAILS(MPIX_Sparse_window_fence(window), mismatch, LAST_CALL);
    CHECK(m[3] == before + test_size, "%ld of %ld", m[3], before + test_size);
    /* processes are not equally fast, and the window is of no more use */
    if (test_rank == test_size - 1) usleep(150000);
    long value = 1;
    MPI_Aint three = 3;
    FAILS(MPIX_Sparse_window_put(&value, 1, 0, &three, window), mismatch, LAST_CALL);
    FAILS(MPIX_Sparse_window_flush(window), mismatch, LAST_CALL);
    FAILS(MPIX_Sparse_window_fence(window), mismatch, LAST_CALL);
    FAILS(MPIX_Sparse_window_free(&window), mismatch, LAST_CALL);
  }
  CHECK(window == NULL, "the window is freed nevertheless");
  /* what may reuse what the window had */
  MPI_Comm part;
  MPI_Comm_split(comm, (int)(frees >> test_rank & 1), 0, &part);
  int size, sum = 0, one = 1;
  MPI_Comm_size(part, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part);
  CHECK(sum == size, "%d of %d", sum, size);
  MPI_Comm_free(&part);
}

/* process 0 finalizes MPI with the window, the others call a fence */
static void finalized(int epochs, int flushes) {
  make();
  for (int epoch = 0; epoch < epochs; epoch++) OK(MPIX_Sparse_window_fence(window));
  if (test_rank == 0) {
    usleep(100000);
    return;
  }
  long value = 1;
  MPI_Aint three = 3;
  if (flushes) {
    OK(MPIX_Sparse_window_put(&value, 1, 0, &three, window));
    FAILS(MPIX_Sparse_window_flush(window), mismatch, "process 0: it has finalized MPI");
  }
  FAILS(MPIX_Sparse_window_fence(window), mismatch, "process 0: it has finalized MPI");
  FAILS(MPIX_Sparse_window_free(&window), mismatch, "process 0: it has finalized MPI");
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  comm = test_duplicate();
  OK(MPIX_Neighbor_error_class(MPIX_ERR_MISMATCH, &mismatch));
  /* every set of processes that is neither empty nor all */
  for (unsigned frees = 1; frees + 1 < 1u << test_size; frees++) uneven(frees, (int)frees % 3);
  for (int again = 0; again < 3; again++) {
    make(), add();
    OK(MPIX_Sparse_window_free(&window));
    CHECK(m[3] == test_size, "%ld", m[3]);
  }
  finalized(test_size % 2, test_size > 3);
  if (test_rank == 0 || test_failures > 0) printf("%d checks, %d failed\n", test_checks, test_failures);
  MPI_Finalize();
  return test_failures != 0;
}
