/* Sets an empty neighborhood and expects that to fail: run with the library of another MPI. No MPI handle that the library makes is used. */
#include <mpix_neighbor.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rc = MPIX_Neighborhood_set(MPIX_NEIGHBOR_GATHER, 0, 0, 0, 0, 0, 0, MPI_INFO_NULL, MPI_COMM_WORLD);
  MPI_Finalize();
  return rc == MPI_SUCCESS;
}
