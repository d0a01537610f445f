/* For the script `privileged`: sets a neighborhood, and prints whether the program has more rights
   than its user, and which hints are in effect. */
#include <sys/auxv.h>

#include "test.h"

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  char text[4000];
  int length;
  int code = MPIX_Neighbor_gather_set(1, &test_rank, MPI_UNWEIGHTED, 1, &test_rank, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD);
  if (code == MPI_SUCCESS) OK(MPIX_Neighborhood_describe(MPIX_NEIGHBOR_GATHER, MPI_COMM_WORLD, sizeof text, text, &length));
  else OK(MPIX_Neighbor_error_string(MPI_COMM_WORLD, sizeof text, text, &length));
  printf("privileged: %s\n%s\n", getauxval(AT_SECURE) ? "yes" : "no", text);
  return test_finish();
}
