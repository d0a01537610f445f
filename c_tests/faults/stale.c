/* A process says that MPI keeps it from putting, although what it has put has arrived: nobody looks
   for that word, which has the tag of the message 8,192 later. That one is late, so that its target
   looks for refusals, and must not take the old one for its own. */
#define _GNU_SOURCE
#include <mpi.h>

#include "flaws.h"

enum { AGAIN = 8192, REFUSED = 3 };
static int refuse, refused;
int MPI_Win_complete(MPI_Win win) {
  int code = PMPI_Win_complete(win);
  return refuse ? refuse = 0, refused++, MPI_ERR_OTHER : code;
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  if (are_epochs_flawed()) return skip();
  MPI_Comm comm = test_duplicate();
  MPI_Info info;
  int other = 1 - test_rank, peers = test_rank < 2, from, into;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_transport", "rma");
  MPI_Info_set(info, "mpix_shared_memory", "0");
  MPI_Info_set(info, "mpix_schedule", "direct");
  OK(MPIX_Neighbor_alltoall_set(peers, &other, MPI_UNWEIGHTED, peers, &other, MPI_UNWEIGHTED, info, comm));
  for (int call = 1; call < REFUSED + AGAIN + 5; call++) {
    from = 2 * call + test_rank, into = -1;
    if (test_rank == 0) {
      refuse = call == REFUSED;
      if (call == REFUSED + AGAIN) usleep(300000);
    }
    int code = MPIX_Neighbor_alltoall(&from, 1, MPI_INT, &into, 1, MPI_INT, comm);
    /* the process that was refused knows no better */
    if (call == REFUSED && test_rank == 0) continue;
    CHECK(code == MPI_SUCCESS, "call %d: %s", call, test_message(code));
    CHECK(!peers || into == 2 * call + other, "call %d: %d", call, into);
  }
  CHECK(refused == (test_rank == 0), "%d refused", refused);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
  return test_finish();
}
