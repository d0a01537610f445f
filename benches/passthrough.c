/* The cost of calls that the preload library passes on, in nanoseconds: compare a run under it with
   one without. On one process:

     make preload build/mpicc/passthrough
     mpirun -n 1 build/mpicc/passthrough
     LIBRARY=$PWD/target/mpicc/release/libmpix_neighbor_preload.so
     mpirun -n 1 -x LD_PRELOAD=$LIBRARY build/mpicc/passthrough

   Each line is the least of several batches. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 15 };

static int compare(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

#define MEASURE(what, calls, call)                                                                         \
  do {                                                                                                     \
    double times[BATCHES];                                                                                 \
    for (int batch = 0; batch < BATCHES; batch++) {                                                        \
      double begin = MPI_Wtime();                                                                          \
      for (int i = 0; i < (calls); i++) call;                                                              \
      times[batch] = (MPI_Wtime() - begin) / (calls)*1e9;                                                  \
    }                                                                                                      \
    qsort(times, BATCHES, sizeof *times, compare);                                                         \
    printf("%-50s %7.1f ns, median %7.1f\n", what, times[0], times[BATCHES / 2]);                          \
  } while (0)

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Request null = MPI_REQUEST_NULL, list[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int flag, dims[1] = {1}, periods[1] = {1}, out[2] = {1, 2}, in[2], zero = 0;
  MPI_Comm plain, made, unseen;
  MPI_Request later;
  MPI_Comm_dup(MPI_COMM_SELF, &plain);
  MPI_Cart_create(plain, 1, dims, periods, 0, &made);
  /* a communicator whose making the library does not see */
  MPI_Comm_idup(made, &unseen, &later);
  MPI_Wait(&later, MPI_STATUS_IGNORE);
  MEASURE("MPI_Test of a null request", 1000000, MPI_Test(&null, &flag, MPI_STATUS_IGNORE));
  MEASURE("MPI_Wait of a null request", 1000000, MPI_Wait(&null, MPI_STATUS_IGNORE));
  MEASURE("MPI_Waitall of 4 null requests", 1000000, MPI_Waitall(4, list, MPI_STATUSES_IGNORE));
  MEASURE("MPI_Alltoallv of nothing", 100000, MPI_Alltoallv(out, &zero, &zero, MPI_INT, in, &zero, &zero, MPI_INT, plain));
  MEASURE("MPI_Neighbor_alltoall, communicator not seen", 100000, MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, unseen));
  MEASURE("MPI_Neighbor_alltoall, taken over", 100000, MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, made));
  /* requests of the MPI, while one of the library's is there */
  MPI_Request ours, real[4];
  MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, made, &ours);
  for (int k = 0; k < 4; k++) MPI_Recv_init(out, 1, MPI_INT, MPI_PROC_NULL, 0, plain, &real[k]);
  MEASURE("MPI_Test of an inactive request, one of ours alive", 1000000, MPI_Test(&real[0], &flag, MPI_STATUS_IGNORE));
  MEASURE("MPI_Waitall of 4 inactive ones, one of ours alive", 1000000, MPI_Waitall(4, real, MPI_STATUSES_IGNORE));
  for (int k = 0; k < 4; k++) MPI_Request_free(&real[k]);
  MPI_Wait(&ours, MPI_STATUS_IGNORE);
  MPI_Comm_free(&unseen);
  MPI_Comm_free(&made);
  MPI_Comm_free(&plain);
  MPI_Finalize();
  return 0;
}
