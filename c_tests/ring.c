/* Gathers from the left neighbor of a ring: the program that the tests of installed libraries
   compile, as C and as C++. It includes nothing of the tests. */
#include <mpix_neighbor.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, got = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPIX_Neighbor_gather_set(1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD);
  MPIX_Neighbor_gather(&rank, 1, MPI_INT, &got, 1, MPI_INT, MPI_COMM_WORLD);
  if (got == left) printf("ring: %d from %d\n", rank, got);
  MPI_Finalize();
  return got != left;
}
