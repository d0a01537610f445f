! As wrong_mpi.c: the first call of the library is the last one under another MPI.
program wrong_mpi
  use mpi_f08
  use mpix_neighbor
  implicit none
  integer :: block(1), got(1)
  call MPI_Init()
  call MPIX_Neighbor_gather_set(1, [0], MPI_UNWEIGHTED, 1, [0], MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD)
  call MPIX_Neighbor_gather(block, 1, MPI_INTEGER, got, 1, MPI_INTEGER, MPI_COMM_WORLD)
  print '(a)', 'went on'
  call MPI_Finalize()
end program
