/* MPI_Finalize with windows that the program leaves. Freeing one takes all of its processes, and
   each process has begun to use the library's parts in another order: MPI drops them in the
   opposite one. */
#include "test.h"

/* an exchange with the process itself alone, or by a window of counters */
static void exchange(const char *protocol, MPI_Comm comm) {
  int target = comm == MPI_COMM_SELF ? 0 : (test_rank + 1) % test_size, count = 1, displ = 0, value = test_rank, messages;
  MPI_Count elements;
  MPIX_Sparse_result result;
  MPI_Info info = test_hint("mpix_sparse", protocol);
  OK(MPIX_Sparse_exchange(1, &target, &value, &count, &displ, MPI_INT, MPI_INT, info, comm, &result));
  OK(MPIX_Sparse_get_count(result, &messages, &elements));
  CHECK(messages == 1, "%s: %d messages", protocol, messages);
  OK(MPIX_Sparse_free(&result));
  MPI_Info_free(&info);
}

/* a neighborhood with a window of its own */
static void neighborhood(MPI_Comm comm) {
  int left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size, came = -1;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_transport", "rma");
  MPI_Info_set(info, "mpix_shared_memory", "0");
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  OK(MPIX_Neighbor_alltoall(&test_rank, 1, MPI_INT, &came, 1, MPI_INT, comm));
  CHECK(came == left, "%d came from %d", came, left);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  MPI_Comm first = test_duplicate(), second = test_duplicate(), third = test_duplicate();
  if (test_rank % 2 == 0) exchange("nbx", MPI_COMM_SELF);
  neighborhood(first);
  exchange("rsx", second);
  neighborhood(third);
  MPI_Barrier(MPI_COMM_WORLD);
  return test_finish();
}
