! mpif.h beside module mpix_neighbor in one program unit: integer handles, and constants that are told by their addresses.
      program fortran_mpif
      use mpix_neighbor
      implicit none
      include 'mpif.h'
      integer rank, ranks, left, right, ierror, length, all(2)
      integer indegree, outdegree, checks, failures
      integer (kind=MPI_ADDRESS_KIND) from(1), to(1)
      logical weighted
      character*500 text
!     what MPI finds by its address alone
      integer sent(2), got(2)
      common /fields/ sent, got

      checks = 0
      failures = 0
      call MPI_INIT(ierror)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
      call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN,
     &  ierror)
      left = modulo(rank - 1, ranks)
      right = modulo(rank + 1, ranks)

      call MPIX_NEIGHBOR_ALLTOALL_SET(1, [left], MPI_UNWEIGHTED, 1,
     &  [right], MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
      call check(ierror .eq. MPI_SUCCESS, 'set')
      weighted = .true.
      call MPIX_NEIGHBORHOOD_GET_COUNT(MPIX_FOR_ALLTOALL,
     &  MPI_COMM_WORLD, indegree, outdegree, weighted, ierror)
      call check(indegree .eq. 1 .and. outdegree .eq. 1, 'degrees')
      call check(.not. weighted, 'MPI_UNWEIGHTED')

      sent = [100 * rank + right, -rank]
      got = -7
      call MPIX_NEIGHBOR_ALLTOALL(sent, 2, MPI_INTEGER, got, 2,
     &  MPI_INTEGER, MPI_COMM_WORLD, ierror)
      call check(ierror .eq. MPI_SUCCESS, 'alltoall')
      call check(got(1) .eq. 100 * left + rank, 'alltoall, first')
      call check(got(2) .eq. -left, 'alltoall, second')

      call MPI_GET_ADDRESS(sent, from, ierror)
      call MPI_GET_ADDRESS(got, to, ierror)
      got = -7
      call MPIX_NEIGHBOR_ALLTOALLW(MPI_BOTTOM, [2], from,
     &  [MPI_INTEGER], MPI_BOTTOM, [2], to, [MPI_INTEGER],
     &  MPI_COMM_WORLD, ierror)
      call check(ierror .eq. MPI_SUCCESS, 'MPI_BOTTOM')
      call check(got(1) .eq. 100 * left + rank, 'MPI_BOTTOM, first')
      call check(got(2) .eq. -left, 'MPI_BOTTOM, second')

      call MPIX_NEIGHBOR_ALLTOALL(MPI_IN_PLACE, 2, MPI_INTEGER, got, 2,
     &  MPI_INTEGER, MPI_COMM_WORLD, ierror)
      call check(ierror .ne. MPI_SUCCESS, 'MPI_IN_PLACE')
      call MPIX_NEIGHBOR_ERROR_STRING(MPI_COMM_WORLD, text, length)
      call check(index(text, 'MPI_IN_PLACE') .gt. 0, 'text')

      call MPI_ALLREDUCE([failures, checks], all, 2, MPI_INTEGER,
     &  MPI_SUM, MPI_COMM_WORLD, ierror)
      if (rank .eq. 0) write (*, 10) all(2), all(1)
   10 format (i0, ' checks, ', i0, ' failed')
      call MPI_FINALIZE(ierror)
      if (all(1) .ne. 0) stop 1

      contains

      subroutine check(condition, what)
      logical condition
      character*(*) what
      checks = checks + 1
      if (condition) return
      failures = failures + 1
      write (*, 20) rank, ranks, what
   20 format ('process ', i0, ' of ', i0, ': ', a)
      end subroutine check

      end program fortran_mpif
