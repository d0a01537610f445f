/* Compiled, not run: the header stands alone, twice, in C90, in C11 and in C++17. */
#include <mpix_neighbor.h>
#include <mpix_neighbor.h>

int main(int argc, char **argv) {
  (void)argc;
  (void)argv;
  return MPIX_Neighborhood_free(MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_REDUCE, MPI_COMM_WORLD);
}
