/* The last process makes no call of MPI for a while. A batch for it that MPI sends only when it is
   received does not keep what is sent to others after it: process 1, which waits for it, answers
   process 0 as often as that asks, and its memory does not grow. */
#define _GNU_SOURCE
#include <malloc.h>

#include "test.h"

/* ASKED: answers of 64 KiB that were kept would take 128 MB */
enum { ELEMENTS = 20000, ASKED = 2000, AWAY_US = 2000000, MOST_KIB = 16 << 10 };

/* KiB that have been allocated, also those that nobody has written yet */
static long allocated(void) {
  struct mallinfo2 all = mallinfo2();
  return (long)((all.uordblks + all.hblkhd) / 1024);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  static long mine[ELEMENTS], values[ELEMENTS];
  static MPI_Aint indices[ELEMENTS];
  for (int i = 0; i < ELEMENTS; i++) mine[i] = 1000 * test_rank + i, values[i] = i, indices[i] = i;
  MPIX_Sparse_window window;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_node_size", "1");
  MPI_Info_set(info, "mpix_window_batch", "65536");
  OK(MPIX_Sparse_window_create(mine, ELEMENTS, MPI_LONG, info, MPI_COMM_WORLD, &window));
  OK(MPIX_Sparse_window_fence(window));
  long before = allocated();
  if (test_rank == test_size - 1) {
    usleep(AWAY_US);
  } else if (test_rank == 1) {
    OK(MPIX_Sparse_window_put(values, ELEMENTS, test_size - 1, indices, window));
  } else if (test_rank == 0) {
    double begin = MPI_Wtime();
    for (int k = 0; k < ASKED; k++) {
      long got = -1;
      MPI_Aint at = k;
      OK(MPIX_Sparse_window_get(&got, 1, 1, &at, window));
      OK(MPIX_Sparse_window_flush(window));
      CHECK(got == 1000 + k, "element %d: %ld", k, got);
    }
    double seconds = MPI_Wtime() - begin;
    CHECK(seconds < 1e-6 * AWAY_US, "the answers took %.1f s, longer than a process was away", seconds);
  }
  OK(MPIX_Sparse_window_fence(window));
  long grown = allocated() - before;
  CHECK(grown <= MOST_KIB, "%ld KiB more", grown);
  OK(MPIX_Sparse_window_fence(window));
  for (int i = 0; test_rank == test_size - 1 && i < ELEMENTS; i++) CHECK(mine[i] == i, "element %d: %ld", i, mine[i]);
  MPI_Info_free(&info);
  OK(MPIX_Sparse_window_free(&window));
  return test_finish();
}
