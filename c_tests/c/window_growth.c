/* 10^7 operations of each process in one epoch, on random elements of all: memory does not grow. */
#include "memory.h"
#include "test.h"

/* WARM: enough operations for the memory that processes keep for one another to reach its full
   size, however they share cores */
enum { ELEMENTS = 1000, WARM = 1000000, MANY = 10000000, MOST_KIB = 2048 };

static void operations(MPIX_Sparse_window window, int count) {
  static uint64_t results[ELEMENTS];
  const uint64_t one = 1;
  uint64_t h = (uint64_t)test_rank + 1;
  for (int i = 0; i < count; i++) {
    h = h * 6364136223846793005u + 1442695040888963407u;
    int target = (int)((h >> 33) % (uint64_t)test_size);
    MPI_Aint index = (MPI_Aint)((h >> 40) % ELEMENTS);
    /* places of results are in no order */
    if (i % 16 == 0) OK(MPIX_Sparse_window_fetch_and_op(&one, &results[(h >> 20) % ELEMENTS], 1, target, &index, MPI_SUM, window));
    else OK(MPIX_Sparse_window_accumulate(&one, 1, target, &index, MPI_SUM, window));
  }
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  static uint64_t mine[ELEMENTS];
  uint64_t sum = 0, all = 0;
  MPIX_Sparse_window window;
  OK(MPIX_Sparse_window_create(mine, ELEMENTS, MPI_UINT64_T, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  operations(window, WARM);
  long before = resident();
  operations(window, MANY);
  long after = resident();
  CHECK(after - before <= MOST_KIB, "%ld KiB more than after %d operations", after - before, WARM);
  OK(MPIX_Sparse_window_fence(window));
  for (int i = 0; i < ELEMENTS; i++) sum += mine[i];
  MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == (uint64_t)test_size * (WARM + MANY), "%llu operations", (unsigned long long)all);
  OK(MPIX_Sparse_window_free(&window));
  return test_finish();
}
