/* MPI alone, nothing of the library: what puts with active targets rest on (docs/transport.md),
   that bytes may be written again when MPI_Win_complete has returned, also where a process has an
   epoch of its own for each target.

   That of MPICH 4.0.2 over UCX is wrong with eight processes on two cores, in about half of the
   runs: targets get what has been written since. An epoch for all targets, and MPI_Win_flush,
   have not been seen to fail.

     win_complete [mpi]: also what is known to be wrong */
#include "flaws.h"

enum { CALLS = 200, BYTES = 1 << 16, ANSWER = 5 };

static char value(int from, int call) { return (char)(7 * call + from); }

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  if (argc < 2 && are_epochs_flawed()) return skip();
  int others = 0, wrong = 0, *ranks = malloc((size_t)test_size * sizeof *ranks);
  for (int r = 0; r < test_size; r++)
    if (r != test_rank) ranks[others++] = r;
  char *slots, *send = malloc(BYTES);
  MPI_Win window;
  MPI_Win_allocate((MPI_Aint)test_size * BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &slots, &window);
  MPI_Group all, sources, *targets = malloc((size_t)test_size * sizeof *targets);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, others, ranks, &sources);
  for (int k = 0; k < others; k++) MPI_Group_incl(all, 1, &ranks[k], &targets[k]);
  MPI_Request *answers = malloc((size_t)test_size * sizeof *answers);
  for (int call = 0; call < CALLS; call++) {
    int over = 0;
    memset(send, value(test_rank, call), BYTES);
    MPI_Win_post(sources, EPOCH, window);
    /* a target answers when it has posted */
    for (int k = 0; k < others; k++) MPI_Irecv(NULL, 0, MPI_INT, ranks[k], ANSWER, MPI_COMM_WORLD, &answers[k]);
    for (int k = 0; k < others; k++) MPI_Send(NULL, 0, MPI_INT, ranks[k], ANSWER, MPI_COMM_WORLD);
    for (int left = others, k; left > 0; left--) {
      MPI_Waitany(others, answers, &k, MPI_STATUS_IGNORE);
      MPI_Win_start(targets[k], EPOCH, window);
      MPI_Put(send, BYTES, MPI_BYTE, ranks[k], (MPI_Aint)test_rank * BYTES, BYTES, MPI_BYTE, window);
      MPI_Win_complete(window);
    }
    memset(send, value(test_rank, call + 1), BYTES);
    while (!over) MPI_Win_test(window, &over);
    for (int k = 0; k < others; k++) {
      const char *slot = slots + (size_t)ranks[k] * BYTES, expected = value(ranks[k], call);
      wrong += slot[0] != expected || memcmp(slot, slot + 1, BYTES - 1) != 0;
    }
  }
  CHECK(wrong == 0, "%d puts sent what was written after their epoch", wrong);
  for (int k = 0; k < others; k++) MPI_Group_free(&targets[k]);
  MPI_Group_free(&sources);
  MPI_Group_free(&all);
  MPI_Win_free(&window);
  free(answers), free(targets), free(send), free(ranks);
  return test_finish();
}
