/* Sparse windows: some processes free a window, or finalize MPI, while others call a fence. Each of
   those gets an error by the end of its own free, and none waits for good. */
#include "test.h"

static MPI_Comm comm;
static MPIX_Sparse_window window;
static long m[10];

static void make(void) {
  for (int i = 0; i < 10; i++) m[i] = 0;
  OK(MPIX_Sparse_window_create(m, 10, MPI_LONG, MPI_INFO_NULL, comm, &window));
}

static void add(void) {
  long one = 1;
  MPI_Aint three = 3;
  for (int p = 0; p < test_size; p++) OK(MPIX_Sparse_window_accumulate(&one, 1, p, &three, MPI_SUM, window));
}

#define FREED "freed the window, or finalized MPI"

/* bit p of `frees`: process p frees the window where others call a fence */
static void uneven(unsigned frees, int with_operations) {
  int before = (test_rank + test_size - 1) % test_size, own = frees >> test_rank & 1;
  int is_edge = own != (int)(frees >> before & 1);
  make();
  if (with_operations) add();
  OK(MPIX_Sparse_window_fence(window));
  if (with_operations) {
    CHECK(m[3] == test_size, "%ld", m[3]);
    add();
  }
  if (own) {
    int code = MPIX_Sparse_window_free(&window);
    if (is_edge) FAILS(code, MPI_ERR_RMA_SYNC, "called MPIX_Sparse_window_fence");
  } else {
    int code = MPIX_Sparse_window_fence(window);
    CHECK(code != MPI_SUCCESS || !is_edge, "the process before frees the window");
    if (code != MPI_SUCCESS) FAILS(code, MPI_ERR_RMA_SYNC, FREED);
    if (with_operations) CHECK(m[3] == 2 * test_size, "%ld", m[3]);
    /* the others are told here */
    FAILS(MPIX_Sparse_window_free(&window), MPI_ERR_RMA_SYNC, FREED);
  }
  CHECK(window == NULL, "the window is freed nevertheless");
  MPI_Barrier(comm);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  comm = test_duplicate();
  /* every set of processes that is neither empty nor all */
  for (unsigned frees = 1; test_size < 6 && frees + 1 < 1u << test_size; frees++)
    for (int with = 0; with < 2; with++) uneven(frees, with);
  /* even ones go on */
  for (int again = 0; again < 3; again++) {
    make(), add();
    OK(MPIX_Sparse_window_free(&window));
    CHECK(m[3] == test_size, "%ld", m[3]);
  }
  /* process 0 finalizes MPI with the window, the others call a fence */
  make();
  OK(MPIX_Sparse_window_fence(window));
  if (test_rank > 0) {
    FAILS(MPIX_Sparse_window_fence(window), MPI_ERR_RMA_SYNC, "process 0: it has " FREED);
    FAILS(MPIX_Sparse_window_free(&window), MPI_ERR_RMA_SYNC, "process 0: it has " FREED);
  }
  if (test_rank == 0) printf("%d checks, %d failed\n", test_checks, test_failures);
  MPI_Finalize();
  return test_failures != 0;
}
