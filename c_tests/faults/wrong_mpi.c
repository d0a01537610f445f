/* Makes one call and ignores what it returns, as many programs do: run with the library of another
   MPI. Buffers lie in a file, so that they can be looked at when the program has ended.

     wrong_mpi CALL FILE */
#include <mpix_neighbor.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const char *which = argv[1];
  int file = open(argv[2], O_RDWR);
  int *buffer = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file < 0 || buffer == MAP_FAILED) return 2;
  int self = 0, block[1] = {7};
  void *room;
  if (!strcmp(which, "version")) MPIX_Neighbor_get_version(buffer, buffer + 1, buffer + 2);
  if (!strcmp(which, "early"))
    MPIX_Neighborhood_set(MPIX_NEIGHBOR_GATHER, 1, &self, MPI_UNWEIGHTED, 1, &self, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD);
  MPI_Init(&argc, &argv);
  if (!strcmp(which, "set"))
    MPIX_Neighborhood_set(MPIX_NEIGHBOR_GATHER, 1, &self, MPI_UNWEIGHTED, 1, &self, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD);
  if (!strcmp(which, "gather")) MPIX_Neighbor_gather(block, 1, MPI_INT, buffer, 1, MPI_INT, MPI_COMM_WORLD);
  if (!strcmp(which, "request")) memset(&room, 0, sizeof room), MPIX_Request_wait((MPIX_Request *)&room);
  if (!strcmp(which, "sparse")) {
    memset(&room, 0, sizeof room);
    MPIX_Sparse_exchange_block(1, &self, block, 1, MPI_INT, MPI_INT, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&room);
  }
  if (!strcmp(which, "loggp")) MPIX_Loggp_measure(MPI_INFO_NULL, MPI_COMM_WORLD, (void *)buffer);
  printf("went on\n");
  MPI_Finalize();
  return 0;
}
