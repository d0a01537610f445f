/* MPI alone, nothing of the library: messages between hosts, then MPI_Finalize, which MPICH 4.0.2
   over UCX's TCP does not always return from when cores are shared: one process waits in its
   disconnect for peers that have left UCX and wait for it in the launcher's barrier. `c_tests/hosts
   finalize` counts how often. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 100000, ROUNDS = 20 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int me, n, one = 1, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  char *blocks = calloc(2 * (size_t)n, BYTES);
  MPI_Request *requests = malloc(2 * (size_t)n * sizeof *requests);
  for (int round = 0; round < ROUNDS; round++) {
    int count = 0;
    for (int p = 0; p < n; p++) {
      if (p == me) continue;
      MPI_Irecv(blocks + (size_t)p * BYTES, BYTES, MPI_BYTE, p, 0, MPI_COMM_WORLD, &requests[count++]);
      MPI_Isend(blocks + (size_t)(n + p) * BYTES, BYTES, MPI_BYTE, p, 0, MPI_COMM_WORLD, &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Reduce(&one, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) printf("%d processes have exchanged all messages\n", all), fflush(stdout);
  MPI_Finalize();
  return 0;
}
