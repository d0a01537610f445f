! Errors: codes in ierror, texts, the communicator's error handler.
#include "test.h"

module errors
  use test
  implicit none
  integer :: calls = 0, last_code = MPI_SUCCESS
contains
  subroutine handler(comm, code)
    HANDLE(MPI_Comm) :: comm
    integer :: code
    if (comm /= MPI_COMM_NULL) calls = calls + 1
    last_code = code
  end subroutine handler
end module errors

program main
  use errors
  implicit none
  integer, parameter :: wide = MPI_COUNT_KIND, address = MPI_ADDRESS_KIND
  integer :: ierror, class, have, send(2), recv(2), none(0)
  type(MPIX_Sparse_result) :: result

  call start()
  call no_neighborhood()
  call MPIX_Neighborhood_set(ior(ior(MPIX_FOR_GATHER, MPIX_FOR_ALLTOALL), MPIX_FOR_REDUCE), 1, [rank], MPI_UNWEIGHTED, 1, [rank], &
      MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
  call ok(ierror, 'set')
  send = [1, 2]
  recv = -7
  call in_place()
  call bad_arguments()
  call null_communicator()
  call mismatch()
  call handlers()
  ! an error handler that only returns, and nobody who asks: as in MPI
  call MPIX_Neighbor_alltoall(send, -1, MPI_INTEGER, recv, 1, MPI_INTEGER, MPI_COMM_WORLD)
  call equal(recv, [-7, -7], 'written by calls that failed')
  call finish()

contains

  subroutine no_neighborhood()
    call MPIX_Neighbor_alltoall(send, 1, MPI_INTEGER, recv, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_TOPOLOGY, 'MPIX_Neighbor_alltoall')
    ! this one looks for its degrees first
    call MPIX_Neighbor_alltoallw(send, [1], [0_address], [MPI_INTEGER], recv, [1], [0_address], [MPI_INTEGER], MPI_COMM_WORLD, &
        ierror)
    call fails(ierror, MPI_ERR_TOPOLOGY, 'no neighborhood for MPIX_NEIGHBOR_ALLTOALL')
    call MPIX_Neighborhood_free(MPIX_FOR_GATHER, MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_TOPOLOGY, 'MPIX_Neighborhood_free')
  end subroutine no_neighborhood

  ! the constant of module mpi_f08 and that of module mpi are other variables
  subroutine in_place()
    call MPIX_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INTEGER, recv, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_BUFFER, 'sendbuf is MPI_IN_PLACE')
    call MPIX_Neighbor_gather_c(send, 1_wide, MPI_INTEGER, MPI_IN_PLACE, 1_wide, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_BUFFER, 'recvbuf is MPI_IN_PLACE')
    call MPIX_Neighbor_reduce(MPI_IN_PLACE, 1, MPI_INTEGER, recv, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_BUFFER, 'sendbuf is MPI_IN_PLACE')
    call MPIX_Neighbor_alltoallw(send, [1], [0_address], [MPI_INTEGER], MPI_IN_PLACE, [1], [0_address], [MPI_INTEGER], &
        MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_BUFFER, 'recvbuf is MPI_IN_PLACE')
    call MPIX_Sparse_exchange(1, [rank], MPI_IN_PLACE, [1], [0], MPI_INTEGER, MPI_INTEGER, MPI_INFO_NULL, MPI_COMM_WORLD, result, &
        ierror)
    call fails(ierror, MPI_ERR_BUFFER, 'sendbuf is MPI_IN_PLACE')
    call MPIX_Sparse_exchange(1, [rank], send, [1], [0], MPI_INTEGER, MPI_INTEGER, MPI_INFO_NULL, MPI_COMM_WORLD, result, ierror)
    call MPIX_Sparse_copy(result, 1_wide, MPI_IN_PLACE, ierror)
    call fails(ierror, MPI_ERR_BUFFER, 'recvbuf is MPI_IN_PLACE')
    call MPIX_Sparse_free(result)
  end subroutine in_place

  subroutine bad_arguments()
    call MPIX_Neighbor_alltoall(send, -1, MPI_INTEGER, recv, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_COUNT, 'sendcount = -1')
    call MPIX_Neighbor_gather(send, 1, MPI_DATATYPE_NULL, recv, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_TYPE, 'sendtype is MPI_DATATYPE_NULL')
    call MPIX_Neighbor_reduce(send, 1, MPI_INTEGER, recv, 1, MPI_INTEGER, MPI_OP_NULL, MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_OP, 'op is MPI_OP_NULL')
    call MPIX_Neighbor_alltoallw(send, [1], [0_address], [MPI_DATATYPE_NULL], recv, [1], [0_address], [MPI_INTEGER], &
        MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_TYPE, 'sendtypes[0]')
    call MPIX_Neighborhood_set(MPIX_FOR_GATHER, 1, [ranks], MPI_UNWEIGHTED, 0, none, MPI_UNWEIGHTED, MPI_INFO_NULL, &
        MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_RANK, 'is not a rank of this communicator')
    call MPIX_Neighborhood_set(0, 0, none, MPI_UNWEIGHTED, 0, none, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_ARG, 'operations')
    call MPIX_Neighbor_error_class(3, class, ierror)
    call fails(ierror, MPI_ERR_ARG, 'MPIX_Neighbor_error_class')
    result = MPIX_SPARSE_RESULT_NULL
    call MPIX_Sparse_copy(result, 1_wide, recv, ierror)
    call fails(ierror, MPI_ERR_ARG, 'result is NULL')
  end subroutine bad_arguments

  ! reported on MPI_COMM_WORLD
  subroutine null_communicator()
    call MPIX_Neighbor_alltoall(send, 1, MPI_INTEGER, recv, 1, MPI_INTEGER, MPI_COMM_NULL, ierror)
    call fails(ierror, MPI_ERR_COMM, 'comm is MPI_COMM_NULL')
    call MPIX_Neighbor_alltoallw(send, [1], [0_address], [MPI_INTEGER], recv, [1], [0_address], [MPI_INTEGER], MPI_COMM_NULL, &
        ierror)
    call fails(ierror, MPI_ERR_COMM, 'comm is MPI_COMM_NULL')
  end subroutine null_communicator

  subroutine mismatch()
    HANDLE(MPI_Comm) :: comm
    character(len=500) :: text
    integer :: length, code
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
    call MPIX_Neighbor_error_string(comm, text, length, ierror)
    call check(length == 0 .and. text == '', 'no error yet: ' // trim(text))
    ! a target that does not have the process as a source
    call MPIX_Neighbor_gather_set(0, none, MPI_UNWEIGHTED, 1, [rank], MPI_UNWEIGHTED, MPI_INFO_NULL, comm, code)
    call MPIX_Neighbor_error_class(MPIX_ERR_MISMATCH, class, ierror)
    call ok(ierror, 'error_class')
    call MPI_Error_class(code, have, ierror)
    call check(have == class .and. class /= MPI_SUCCESS .and. class /= MPI_ERR_OTHER, 'mismatch', have, class)
    call MPIX_Neighbor_error_string(comm, text, length, ierror)
    call check(length > 0 .and. index(text, 'MPIX_Neighbor_gather_set') == 1, 'text of the mismatch: ' // trim(text))
    call MPI_Comm_free(comm, ierror)
  end subroutine mismatch

  ! a handler of the program's own is called, once, with the code that is returned
  subroutine handlers()
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Errhandler) :: own
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_create_errhandler(handler, own, ierror)
    call MPI_Comm_set_errhandler(comm, own, ierror)
    call MPIX_Neighbor_alltoall(send, 1, MPI_INTEGER, recv, 1, MPI_INTEGER, comm, ierror)
    call check(calls == 1, 'calls of the handler', calls, 1)
    call check(ierror /= MPI_SUCCESS .and. last_code == ierror, 'what the handler is told', last_code, ierror)
    call MPIX_Neighbor_alltoallw(send, [1], [0_address], [MPI_INTEGER], recv, [1], [0_address], [MPI_INTEGER], comm, ierror)
    call check(calls == 2, 'calls of the handler, alltoallw', calls, 2)
    call MPI_Errhandler_free(own, ierror)
    call MPI_Comm_free(comm, ierror)
  end subroutine handlers

end program main
