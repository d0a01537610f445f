! Sparse (neighborhood) collective communication on any MPI: mpix_neighbor.h for Fortran.
!
! Generated from bindings/functions.toml by `make header`; do not edit.
!
! Each name takes handles of mpi_f08 as well as integer handles (module mpi, mpif.h). The C header
! and docs/reference document the arguments, and docs/fortran.md what differs in Fortran.

module mpix_neighbor
  use, intrinsic :: iso_c_binding, only : c_double, c_int, c_intptr_t, c_null_ptr, c_ptr
  use mpi_f08, only : MPI_ADDRESS_KIND, MPI_Comm, MPI_COUNT_KIND, MPI_Datatype, MPI_Group, MPI_Info, MPI_Op
  implicit none
  private

  integer, parameter, public :: MPIX_LOGGP_UNLIMITED = -1
  integer, parameter, public :: MPIX_NEIGHBOR_VERSION_MAJOR = 0
  integer, parameter, public :: MPIX_NEIGHBOR_VERSION_MINOR = 1
  integer, parameter, public :: MPIX_NEIGHBOR_VERSION_PATCH = 0
  integer, parameter, public :: MPIX_ERR_MISMATCH = 1
  integer, parameter, public :: MPIX_ERR_VERIFY = 2
  integer, parameter, public :: MPIX_FOR_GATHER = 1
  integer, parameter, public :: MPIX_FOR_ALLTOALL = 2
  integer, parameter, public :: MPIX_FOR_REDUCE = 4
  integer, parameter, public :: MPIX_FOR_ACCUMULATE = 8

  type, bind(C), public :: MPIX_Loggp
    real(c_double) :: latency
    real(c_double) :: send_overhead
    real(c_double) :: recv_overhead
    real(c_double) :: gap
    real(c_double) :: gap_per_byte
    integer(MPI_COUNT_KIND) :: eager
    real(c_double) :: deviation
  end type MPIX_Loggp

  ! handles: a variable is null until a call sets it
  type, bind(C), public :: MPIX_Request
    type(c_ptr) :: MPIX_VAL = c_null_ptr
  end type MPIX_Request
  type(MPIX_Request), parameter, public :: MPIX_REQUEST_NULL = MPIX_Request(c_null_ptr)

  type, bind(C), public :: MPIX_Sparse_result
    type(c_ptr) :: MPIX_VAL = c_null_ptr
  end type MPIX_Sparse_result
  type(MPIX_Sparse_result), parameter, public :: MPIX_SPARSE_RESULT_NULL = MPIX_Sparse_result(c_null_ptr)

  type, bind(C), public :: MPIX_Sparse_request
    type(c_ptr) :: MPIX_VAL = c_null_ptr
  end type MPIX_Sparse_request
  type(MPIX_Sparse_request), parameter, public :: MPIX_SPARSE_REQUEST_NULL = MPIX_Sparse_request(c_null_ptr)

  type, bind(C), public :: MPIX_Sparse_plan
    type(c_ptr) :: MPIX_VAL = c_null_ptr
  end type MPIX_Sparse_plan
  type(MPIX_Sparse_plan), parameter, public :: MPIX_SPARSE_PLAN_NULL = MPIX_Sparse_plan(c_null_ptr)

  type, bind(C), public :: MPIX_Sparse_window
    type(c_ptr) :: MPIX_VAL = c_null_ptr
  end type MPIX_Sparse_window
  type(MPIX_Sparse_window), parameter, public :: MPIX_SPARSE_WINDOW_NULL = MPIX_Sparse_window(c_null_ptr)

  public :: operator(==), operator(/=)
  interface operator(==)
    module procedure equal_Request
    module procedure equal_Sparse_result
    module procedure equal_Sparse_request
    module procedure equal_Sparse_plan
    module procedure equal_Sparse_window
  end interface operator(==)
  interface operator(/=)
    module procedure differ_Request
    module procedure differ_Sparse_result
    module procedure differ_Sparse_request
    module procedure differ_Sparse_plan
    module procedure differ_Sparse_window
  end interface operator(/=)

  public :: MPIX_Sparse_function
  abstract interface
    ! Called by MPIX_Sparse_exchange_each for each message.
    function MPIX_Sparse_function(source, count, data, context) bind(C) result(code)
      import
      implicit none
      integer(c_int), value :: source
      integer(MPI_COUNT_KIND), value :: count
      type(c_ptr), value :: data
      type(c_ptr), value :: context
      integer(c_int) :: code
    end function MPIX_Sparse_function
  end interface

  ! Sets a communicator's neighborhood for one or more operations, and builds the schedule that runs
  ! them.
  public :: MPIX_Neighborhood_set
  interface MPIX_Neighborhood_set
    module procedure MPIX_Neighborhood_set_f08
    module procedure MPIX_Neighborhood_set_int
  end interface MPIX_Neighborhood_set

  ! Sets a communicator's neighborhood for MPIX_NEIGHBOR_GATHER alone.
  public :: MPIX_Neighbor_gather_set
  interface MPIX_Neighbor_gather_set
    module procedure MPIX_Neighbor_gather_set_f08
    module procedure MPIX_Neighbor_gather_set_int
  end interface MPIX_Neighbor_gather_set

  ! Sets a communicator's neighborhood for MPIX_NEIGHBOR_ALLTOALL alone.
  public :: MPIX_Neighbor_alltoall_set
  interface MPIX_Neighbor_alltoall_set
    module procedure MPIX_Neighbor_alltoall_set_f08
    module procedure MPIX_Neighbor_alltoall_set_int
  end interface MPIX_Neighbor_alltoall_set

  ! Sets a communicator's neighborhood for MPIX_NEIGHBOR_REDUCE alone.
  public :: MPIX_Neighbor_reduce_set
  interface MPIX_Neighbor_reduce_set
    module procedure MPIX_Neighbor_reduce_set_f08
    module procedure MPIX_Neighbor_reduce_set_int
  end interface MPIX_Neighbor_reduce_set

  ! Sets a communicator's neighborhood from process groups instead of lists of ranks.
  public :: MPIX_Neighborhood_set_group
  interface MPIX_Neighborhood_set_group
    module procedure MPIX_Neighborhood_set_group_f08
    module procedure MPIX_Neighborhood_set_group_int
  end interface MPIX_Neighborhood_set_group

  ! Sets a communicator's neighborhood to the neighbors in its virtual topology.
  public :: MPIX_Neighborhood_set_topology
  interface MPIX_Neighborhood_set_topology
    subroutine MPIX_Neighborhood_set_topology_f08(operations, info, comm, ierror) &
        bind(C, name="mpixf_Neighborhood_set_topology")
      import
      implicit none
      integer(c_int), intent(in) :: operations
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighborhood_set_topology_f08
    subroutine MPIX_Neighborhood_set_topology_int(operations, info, comm, ierror) &
        bind(C, name="mpixf_Neighborhood_set_topology")
      import
      implicit none
      integer(c_int), intent(in) :: operations
      integer(c_int), intent(in) :: info
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighborhood_set_topology_int
  end interface MPIX_Neighborhood_set_topology

  ! Sets a communicator's neighborhood from the targets alone: a sparse exchange finds the sources.
  public :: MPIX_Neighborhood_set_targets
  interface MPIX_Neighborhood_set_targets
    module procedure MPIX_Neighborhood_set_targets_f08
    module procedure MPIX_Neighborhood_set_targets_int
  end interface MPIX_Neighborhood_set_targets

  ! Sets a communicator's neighborhood to the edges of another operation, the other way round.
  public :: MPIX_Neighborhood_reverse
  interface MPIX_Neighborhood_reverse
    subroutine MPIX_Neighborhood_reverse_f08(from, to, info, comm, ierror) &
        bind(C, name="mpixf_Neighborhood_reverse")
      import
      implicit none
      integer(c_int), intent(in) :: from
      integer(c_int), intent(in) :: to
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighborhood_reverse_f08
    subroutine MPIX_Neighborhood_reverse_int(from, to, info, comm, ierror) &
        bind(C, name="mpixf_Neighborhood_reverse")
      import
      implicit none
      integer(c_int), intent(in) :: from
      integer(c_int), intent(in) :: to
      integer(c_int), intent(in) :: info
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighborhood_reverse_int
  end interface MPIX_Neighborhood_reverse

  ! Returns the degrees of a communicator's neighborhood for an operation.
  public :: MPIX_Neighborhood_get_count
  interface MPIX_Neighborhood_get_count
    module procedure MPIX_Neighborhood_get_count_f08
    module procedure MPIX_Neighborhood_get_count_int
  end interface MPIX_Neighborhood_get_count

  ! Returns the lists of a communicator's neighborhood for an operation, as they were given.
  public :: MPIX_Neighborhood_get
  interface MPIX_Neighborhood_get
    module procedure MPIX_Neighborhood_get_f08
    module procedure MPIX_Neighborhood_get_int
  end interface MPIX_Neighborhood_get

  ! Describes a communicator's neighborhood for an operation in a few lines of text.
  public :: MPIX_Neighborhood_describe
  interface MPIX_Neighborhood_describe
    subroutine MPIX_Neighborhood_describe_f08(operation, comm, string, resultlen, ierror) &
        bind(C, name="mpixf_Neighborhood_describe")
      import
      implicit none
      integer(c_int), intent(in) :: operation
      type(MPI_Comm), intent(in) :: comm
      character(len=*) :: string
      integer(c_int), intent(out) :: resultlen
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighborhood_describe_f08
    subroutine MPIX_Neighborhood_describe_int(operation, comm, string, resultlen, ierror) &
        bind(C, name="mpixf_Neighborhood_describe")
      import
      implicit none
      integer(c_int), intent(in) :: operation
      integer(c_int), intent(in) :: comm
      character(len=*) :: string
      integer(c_int), intent(out) :: resultlen
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighborhood_describe_int
  end interface MPIX_Neighborhood_describe

  ! Removes a communicator's neighborhoods for one or more operations.
  public :: MPIX_Neighborhood_free
  interface MPIX_Neighborhood_free
    subroutine MPIX_Neighborhood_free_f08(operations, comm, ierror) &
        bind(C, name="mpixf_Neighborhood_free")
      import
      implicit none
      integer(c_int), intent(in) :: operations
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighborhood_free_f08
    subroutine MPIX_Neighborhood_free_int(operations, comm, ierror) &
        bind(C, name="mpixf_Neighborhood_free")
      import
      implicit none
      integer(c_int), intent(in) :: operations
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighborhood_free_int
  end interface MPIX_Neighborhood_free

  ! Sends one block to all targets and receives a block of equal size from each source.
  public :: MPIX_Neighbor_gather
  interface MPIX_Neighbor_gather
    module procedure MPIX_Neighbor_gather_f08
    module procedure MPIX_Neighbor_gather_int
  end interface MPIX_Neighbor_gather

  ! MPIX_Neighbor_gather with large counts.
  public :: MPIX_Neighbor_gather_c
  interface MPIX_Neighbor_gather_c
    module procedure MPIX_Neighbor_gather_c_f08
    module procedure MPIX_Neighbor_gather_c_int
  end interface MPIX_Neighbor_gather_c

  ! Starts MPIX_Neighbor_gather and returns once its messages are posted.
  public :: MPIX_Ineighbor_gather
  interface MPIX_Ineighbor_gather
    subroutine MPIX_Ineighbor_gather_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, &
        ierror) &
        bind(C, name="mpixf_Ineighbor_gather")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_gather_f08
    subroutine MPIX_Ineighbor_gather_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, &
        ierror) &
        bind(C, name="mpixf_Ineighbor_gather")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_gather_int
  end interface MPIX_Ineighbor_gather

  ! MPIX_Ineighbor_gather with large counts.
  public :: MPIX_Ineighbor_gather_c
  interface MPIX_Ineighbor_gather_c
    subroutine MPIX_Ineighbor_gather_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, &
        ierror) &
        bind(C, name="mpixf_Ineighbor_gather_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_gather_c_f08
    subroutine MPIX_Ineighbor_gather_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, &
        ierror) &
        bind(C, name="mpixf_Ineighbor_gather_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_gather_c_int
  end interface MPIX_Ineighbor_gather_c

  ! Makes a persistent MPIX_Neighbor_gather, which MPIX_Request_start runs any number of times.
  public :: MPIX_Neighbor_gather_plan
  interface MPIX_Neighbor_gather_plan
    subroutine MPIX_Neighbor_gather_plan_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, &
        request, ierror) &
        bind(C, name="mpixf_Neighbor_gather_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_gather_plan_f08
    subroutine MPIX_Neighbor_gather_plan_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, &
        request, ierror) &
        bind(C, name="mpixf_Neighbor_gather_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_gather_plan_int
  end interface MPIX_Neighbor_gather_plan

  ! MPIX_Neighbor_gather_plan with large counts.
  public :: MPIX_Neighbor_gather_plan_c
  interface MPIX_Neighbor_gather_plan_c
    subroutine MPIX_Neighbor_gather_plan_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, &
        request, ierror) &
        bind(C, name="mpixf_Neighbor_gather_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_gather_plan_c_f08
    subroutine MPIX_Neighbor_gather_plan_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, &
        request, ierror) &
        bind(C, name="mpixf_Neighbor_gather_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_gather_plan_c_int
  end interface MPIX_Neighbor_gather_plan_c

  ! Sends one block to all targets and receives a block of its own size from each source.
  public :: MPIX_Neighbor_gatherv
  interface MPIX_Neighbor_gatherv
    module procedure MPIX_Neighbor_gatherv_f08
    module procedure MPIX_Neighbor_gatherv_int
  end interface MPIX_Neighbor_gatherv

  ! MPIX_Neighbor_gatherv with large counts.
  public :: MPIX_Neighbor_gatherv_c
  interface MPIX_Neighbor_gatherv_c
    module procedure MPIX_Neighbor_gatherv_c_f08
    module procedure MPIX_Neighbor_gatherv_c_int
  end interface MPIX_Neighbor_gatherv_c

  ! Starts MPIX_Neighbor_gatherv and returns once its messages are posted.
  public :: MPIX_Ineighbor_gatherv
  interface MPIX_Ineighbor_gatherv
    subroutine MPIX_Ineighbor_gatherv_f08(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, &
        comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_gatherv")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_gatherv_f08
    subroutine MPIX_Ineighbor_gatherv_int(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, &
        comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_gatherv")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_gatherv_int
  end interface MPIX_Ineighbor_gatherv

  ! MPIX_Ineighbor_gatherv with large counts.
  public :: MPIX_Ineighbor_gatherv_c
  interface MPIX_Ineighbor_gatherv_c
    subroutine MPIX_Ineighbor_gatherv_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, &
        comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_gatherv_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_gatherv_c_f08
    subroutine MPIX_Ineighbor_gatherv_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, &
        comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_gatherv_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_gatherv_c_int
  end interface MPIX_Ineighbor_gatherv_c

  ! Makes a persistent MPIX_Neighbor_gatherv, which MPIX_Request_start runs any number of times.
  public :: MPIX_Neighbor_gatherv_plan
  interface MPIX_Neighbor_gatherv_plan
    subroutine MPIX_Neighbor_gatherv_plan_f08(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, &
        comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_gatherv_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_gatherv_plan_f08
    subroutine MPIX_Neighbor_gatherv_plan_int(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, &
        comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_gatherv_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_gatherv_plan_int
  end interface MPIX_Neighbor_gatherv_plan

  ! MPIX_Neighbor_gatherv_plan with large counts.
  public :: MPIX_Neighbor_gatherv_plan_c
  interface MPIX_Neighbor_gatherv_plan_c
    subroutine MPIX_Neighbor_gatherv_plan_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, &
        recvtype, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_gatherv_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_gatherv_plan_c_f08
    subroutine MPIX_Neighbor_gatherv_plan_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, &
        recvtype, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_gatherv_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_gatherv_plan_c_int
  end interface MPIX_Neighbor_gatherv_plan_c

  ! Sends a block of its own to each target and receives a block of equal size from each source.
  public :: MPIX_Neighbor_alltoall
  interface MPIX_Neighbor_alltoall
    module procedure MPIX_Neighbor_alltoall_f08
    module procedure MPIX_Neighbor_alltoall_int
  end interface MPIX_Neighbor_alltoall

  ! MPIX_Neighbor_alltoall with large counts.
  public :: MPIX_Neighbor_alltoall_c
  interface MPIX_Neighbor_alltoall_c
    module procedure MPIX_Neighbor_alltoall_c_f08
    module procedure MPIX_Neighbor_alltoall_c_int
  end interface MPIX_Neighbor_alltoall_c

  ! Starts MPIX_Neighbor_alltoall and returns once its messages are posted.
  public :: MPIX_Ineighbor_alltoall
  interface MPIX_Ineighbor_alltoall
    subroutine MPIX_Ineighbor_alltoall_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, &
        ierror) &
        bind(C, name="mpixf_Ineighbor_alltoall")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_alltoall_f08
    subroutine MPIX_Ineighbor_alltoall_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, &
        ierror) &
        bind(C, name="mpixf_Ineighbor_alltoall")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_alltoall_int
  end interface MPIX_Ineighbor_alltoall

  ! MPIX_Ineighbor_alltoall with large counts.
  public :: MPIX_Ineighbor_alltoall_c
  interface MPIX_Ineighbor_alltoall_c
    subroutine MPIX_Ineighbor_alltoall_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        request, ierror) &
        bind(C, name="mpixf_Ineighbor_alltoall_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_alltoall_c_f08
    subroutine MPIX_Ineighbor_alltoall_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        request, ierror) &
        bind(C, name="mpixf_Ineighbor_alltoall_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_alltoall_c_int
  end interface MPIX_Ineighbor_alltoall_c

  ! Makes a persistent MPIX_Neighbor_alltoall, which MPIX_Request_start runs any number of times.
  public :: MPIX_Neighbor_alltoall_plan
  interface MPIX_Neighbor_alltoall_plan
    subroutine MPIX_Neighbor_alltoall_plan_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, &
        request, ierror) &
        bind(C, name="mpixf_Neighbor_alltoall_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_alltoall_plan_f08
    subroutine MPIX_Neighbor_alltoall_plan_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, &
        request, ierror) &
        bind(C, name="mpixf_Neighbor_alltoall_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_alltoall_plan_int
  end interface MPIX_Neighbor_alltoall_plan

  ! MPIX_Neighbor_alltoall_plan with large counts.
  public :: MPIX_Neighbor_alltoall_plan_c
  interface MPIX_Neighbor_alltoall_plan_c
    subroutine MPIX_Neighbor_alltoall_plan_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        info, request, ierror) &
        bind(C, name="mpixf_Neighbor_alltoall_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_alltoall_plan_c_f08
    subroutine MPIX_Neighbor_alltoall_plan_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        info, request, ierror) &
        bind(C, name="mpixf_Neighbor_alltoall_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_alltoall_plan_c_int
  end interface MPIX_Neighbor_alltoall_plan_c

  ! Sends a block of its own size to each target and receives one from each source.
  public :: MPIX_Neighbor_alltoallv
  interface MPIX_Neighbor_alltoallv
    module procedure MPIX_Neighbor_alltoallv_f08
    module procedure MPIX_Neighbor_alltoallv_int
  end interface MPIX_Neighbor_alltoallv

  ! MPIX_Neighbor_alltoallv with large counts.
  public :: MPIX_Neighbor_alltoallv_c
  interface MPIX_Neighbor_alltoallv_c
    module procedure MPIX_Neighbor_alltoallv_c_f08
    module procedure MPIX_Neighbor_alltoallv_c_int
  end interface MPIX_Neighbor_alltoallv_c

  ! Starts MPIX_Neighbor_alltoallv and returns once its messages are posted.
  public :: MPIX_Ineighbor_alltoallv
  interface MPIX_Ineighbor_alltoallv
    subroutine MPIX_Ineighbor_alltoallv_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_alltoallv")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_alltoallv_f08
    subroutine MPIX_Ineighbor_alltoallv_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_alltoallv")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_alltoallv_int
  end interface MPIX_Ineighbor_alltoallv

  ! MPIX_Ineighbor_alltoallv with large counts.
  public :: MPIX_Ineighbor_alltoallv_c
  interface MPIX_Ineighbor_alltoallv_c
    subroutine MPIX_Ineighbor_alltoallv_c_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_alltoallv_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_alltoallv_c_f08
    subroutine MPIX_Ineighbor_alltoallv_c_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_alltoallv_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_alltoallv_c_int
  end interface MPIX_Ineighbor_alltoallv_c

  ! Makes a persistent MPIX_Neighbor_alltoallv, which MPIX_Request_start runs any number of times.
  public :: MPIX_Neighbor_alltoallv_plan
  interface MPIX_Neighbor_alltoallv_plan
    subroutine MPIX_Neighbor_alltoallv_plan_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_alltoallv_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_alltoallv_plan_f08
    subroutine MPIX_Neighbor_alltoallv_plan_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_alltoallv_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_alltoallv_plan_int
  end interface MPIX_Neighbor_alltoallv_plan

  ! MPIX_Neighbor_alltoallv_plan with large counts.
  public :: MPIX_Neighbor_alltoallv_plan_c
  interface MPIX_Neighbor_alltoallv_plan_c
    subroutine MPIX_Neighbor_alltoallv_plan_c_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_alltoallv_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_alltoallv_plan_c_f08
    subroutine MPIX_Neighbor_alltoallv_plan_c_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_alltoallv_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_alltoallv_plan_c_int
  end interface MPIX_Neighbor_alltoallv_plan_c

  ! Sends a block of its own size and layout to each target and receives one from each source.
  public :: MPIX_Neighbor_alltoallw
  interface MPIX_Neighbor_alltoallw
    module procedure MPIX_Neighbor_alltoallw_f08
    module procedure MPIX_Neighbor_alltoallw_int
  end interface MPIX_Neighbor_alltoallw

  ! MPIX_Neighbor_alltoallw with large counts.
  public :: MPIX_Neighbor_alltoallw_c
  interface MPIX_Neighbor_alltoallw_c
    module procedure MPIX_Neighbor_alltoallw_c_f08
    module procedure MPIX_Neighbor_alltoallw_c_int
  end interface MPIX_Neighbor_alltoallw_c

  ! Starts MPIX_Neighbor_alltoallw and returns once its messages are posted.
  public :: MPIX_Ineighbor_alltoallw
  interface MPIX_Ineighbor_alltoallw
    subroutine MPIX_Ineighbor_alltoallw_f08(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_alltoallw")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_alltoallw_f08
    subroutine MPIX_Ineighbor_alltoallw_int(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_alltoallw")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtypes(*)
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_alltoallw_int
  end interface MPIX_Ineighbor_alltoallw

  ! MPIX_Ineighbor_alltoallw with large counts.
  public :: MPIX_Ineighbor_alltoallw_c
  interface MPIX_Ineighbor_alltoallw_c
    subroutine MPIX_Ineighbor_alltoallw_c_f08(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_alltoallw_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_alltoallw_c_f08
    subroutine MPIX_Ineighbor_alltoallw_c_int(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_alltoallw_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtypes(*)
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_alltoallw_c_int
  end interface MPIX_Ineighbor_alltoallw_c

  ! Makes a persistent MPIX_Neighbor_alltoallw, which MPIX_Request_start runs any number of times.
  public :: MPIX_Neighbor_alltoallw_plan
  interface MPIX_Neighbor_alltoallw_plan
    subroutine MPIX_Neighbor_alltoallw_plan_f08(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_alltoallw_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_alltoallw_plan_f08
    subroutine MPIX_Neighbor_alltoallw_plan_int(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_alltoallw_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtypes(*)
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_alltoallw_plan_int
  end interface MPIX_Neighbor_alltoallw_plan

  ! MPIX_Neighbor_alltoallw_plan with large counts.
  public :: MPIX_Neighbor_alltoallw_plan_c
  interface MPIX_Neighbor_alltoallw_plan_c
    subroutine MPIX_Neighbor_alltoallw_plan_c_f08(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_alltoallw_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_alltoallw_plan_c_f08
    subroutine MPIX_Neighbor_alltoallw_plan_c_int(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_alltoallw_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtypes(*)
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_alltoallw_plan_c_int
  end interface MPIX_Neighbor_alltoallw_plan_c

  ! Runs MPIX_Neighbor_alltoallw on several fields in one exchange.
  public :: MPIX_Neighbor_alltoallw_fields
  interface MPIX_Neighbor_alltoallw_fields
    module procedure MPIX_Neighbor_alltoallw_fields_f08
    module procedure MPIX_Neighbor_alltoallw_fields_int
  end interface MPIX_Neighbor_alltoallw_fields

  ! MPIX_Neighbor_alltoallw_fields with large counts.
  public :: MPIX_Neighbor_alltoallw_fields_c
  interface MPIX_Neighbor_alltoallw_fields_c
    module procedure MPIX_Neighbor_alltoallw_fields_c_f08
    module procedure MPIX_Neighbor_alltoallw_fields_c_int
  end interface MPIX_Neighbor_alltoallw_fields_c

  ! Starts MPIX_Neighbor_alltoallw_fields and returns once its messages are posted.
  public :: MPIX_Ineighbor_alltoallw_fields
  interface MPIX_Ineighbor_alltoallw_fields
    module procedure MPIX_Ineighbor_alltoallw_fields_f08
    module procedure MPIX_Ineighbor_alltoallw_fields_int
  end interface MPIX_Ineighbor_alltoallw_fields

  ! MPIX_Ineighbor_alltoallw_fields with large counts.
  public :: MPIX_Ineighbor_alltoallw_fields_c
  interface MPIX_Ineighbor_alltoallw_fields_c
    module procedure MPIX_Ineighbor_alltoallw_fields_c_f08
    module procedure MPIX_Ineighbor_alltoallw_fields_c_int
  end interface MPIX_Ineighbor_alltoallw_fields_c

  ! Makes a persistent MPIX_Neighbor_alltoallw_fields, which MPIX_Request_start runs any number of
  ! times.
  public :: MPIX_Neighbor_alltoallw_fields_plan
  interface MPIX_Neighbor_alltoallw_fields_plan
    module procedure MPIX_Neighbor_alltoallw_fields_plan_f08
    module procedure MPIX_Neighbor_alltoallw_fields_plan_int
  end interface MPIX_Neighbor_alltoallw_fields_plan

  ! MPIX_Neighbor_alltoallw_fields_plan with large counts.
  public :: MPIX_Neighbor_alltoallw_fields_plan_c
  interface MPIX_Neighbor_alltoallw_fields_plan_c
    module procedure MPIX_Neighbor_alltoallw_fields_plan_c_f08
    module procedure MPIX_Neighbor_alltoallw_fields_plan_c_int
  end interface MPIX_Neighbor_alltoallw_fields_plan_c

  ! Sends one block to all targets and combines the blocks of all sources elementwise into one.
  public :: MPIX_Neighbor_reduce
  interface MPIX_Neighbor_reduce
    module procedure MPIX_Neighbor_reduce_f08
    module procedure MPIX_Neighbor_reduce_int
  end interface MPIX_Neighbor_reduce

  ! MPIX_Neighbor_reduce with large counts.
  public :: MPIX_Neighbor_reduce_c
  interface MPIX_Neighbor_reduce_c
    module procedure MPIX_Neighbor_reduce_c_f08
    module procedure MPIX_Neighbor_reduce_c_int
  end interface MPIX_Neighbor_reduce_c

  ! Starts MPIX_Neighbor_reduce and returns once its messages are posted.
  public :: MPIX_Ineighbor_reduce
  interface MPIX_Ineighbor_reduce
    subroutine MPIX_Ineighbor_reduce_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        request, ierror) &
        bind(C, name="mpixf_Ineighbor_reduce")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_reduce_f08
    subroutine MPIX_Ineighbor_reduce_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        request, ierror) &
        bind(C, name="mpixf_Ineighbor_reduce")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_reduce_int
  end interface MPIX_Ineighbor_reduce

  ! MPIX_Ineighbor_reduce with large counts.
  public :: MPIX_Ineighbor_reduce_c
  interface MPIX_Ineighbor_reduce_c
    subroutine MPIX_Ineighbor_reduce_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        request, ierror) &
        bind(C, name="mpixf_Ineighbor_reduce_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_reduce_c_f08
    subroutine MPIX_Ineighbor_reduce_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        request, ierror) &
        bind(C, name="mpixf_Ineighbor_reduce_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_reduce_c_int
  end interface MPIX_Ineighbor_reduce_c

  ! Makes a persistent MPIX_Neighbor_reduce, which MPIX_Request_start runs any number of times.
  public :: MPIX_Neighbor_reduce_plan
  interface MPIX_Neighbor_reduce_plan
    subroutine MPIX_Neighbor_reduce_plan_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        info, request, ierror) &
        bind(C, name="mpixf_Neighbor_reduce_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_reduce_plan_f08
    subroutine MPIX_Neighbor_reduce_plan_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        info, request, ierror) &
        bind(C, name="mpixf_Neighbor_reduce_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_reduce_plan_int
  end interface MPIX_Neighbor_reduce_plan

  ! MPIX_Neighbor_reduce_plan with large counts.
  public :: MPIX_Neighbor_reduce_plan_c
  interface MPIX_Neighbor_reduce_plan_c
    subroutine MPIX_Neighbor_reduce_plan_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        info, request, ierror) &
        bind(C, name="mpixf_Neighbor_reduce_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_reduce_plan_c_f08
    subroutine MPIX_Neighbor_reduce_plan_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        info, request, ierror) &
        bind(C, name="mpixf_Neighbor_reduce_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_reduce_plan_c_int
  end interface MPIX_Neighbor_reduce_plan_c

  ! Sends a block of its own to each target and combines the blocks of all sources elementwise into
  ! one.
  public :: MPIX_Neighbor_reducev
  interface MPIX_Neighbor_reducev
    module procedure MPIX_Neighbor_reducev_f08
    module procedure MPIX_Neighbor_reducev_int
  end interface MPIX_Neighbor_reducev

  ! MPIX_Neighbor_reducev with large counts.
  public :: MPIX_Neighbor_reducev_c
  interface MPIX_Neighbor_reducev_c
    module procedure MPIX_Neighbor_reducev_c_f08
    module procedure MPIX_Neighbor_reducev_c_int
  end interface MPIX_Neighbor_reducev_c

  ! Starts MPIX_Neighbor_reducev and returns once its messages are posted.
  public :: MPIX_Ineighbor_reducev
  interface MPIX_Ineighbor_reducev
    subroutine MPIX_Ineighbor_reducev_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, &
        comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_reducev")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_reducev_f08
    subroutine MPIX_Ineighbor_reducev_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, &
        comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_reducev")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_reducev_int
  end interface MPIX_Ineighbor_reducev

  ! MPIX_Ineighbor_reducev with large counts.
  public :: MPIX_Ineighbor_reducev_c
  interface MPIX_Ineighbor_reducev_c
    subroutine MPIX_Ineighbor_reducev_c_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, &
        op, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_reducev_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_reducev_c_f08
    subroutine MPIX_Ineighbor_reducev_c_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, &
        op, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_reducev_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_reducev_c_int
  end interface MPIX_Ineighbor_reducev_c

  ! Makes a persistent MPIX_Neighbor_reducev, which MPIX_Request_start runs any number of times.
  public :: MPIX_Neighbor_reducev_plan
  interface MPIX_Neighbor_reducev_plan
    subroutine MPIX_Neighbor_reducev_plan_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, &
        op, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_reducev_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_reducev_plan_f08
    subroutine MPIX_Neighbor_reducev_plan_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, &
        op, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_reducev_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_reducev_plan_int
  end interface MPIX_Neighbor_reducev_plan

  ! MPIX_Neighbor_reducev_plan with large counts.
  public :: MPIX_Neighbor_reducev_plan_c
  interface MPIX_Neighbor_reducev_plan_c
    subroutine MPIX_Neighbor_reducev_plan_c_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, &
        recvtype, op, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_reducev_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_reducev_plan_c_f08
    subroutine MPIX_Neighbor_reducev_plan_c_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, &
        recvtype, op, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_reducev_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_reducev_plan_c_int
  end interface MPIX_Neighbor_reducev_plan_c

  ! Sends a block of its own to each target and combines each source's block with what is in its
  ! place.
  public :: MPIX_Neighbor_accumulate
  interface MPIX_Neighbor_accumulate
    module procedure MPIX_Neighbor_accumulate_f08
    module procedure MPIX_Neighbor_accumulate_int
  end interface MPIX_Neighbor_accumulate

  ! MPIX_Neighbor_accumulate with large counts.
  public :: MPIX_Neighbor_accumulate_c
  interface MPIX_Neighbor_accumulate_c
    module procedure MPIX_Neighbor_accumulate_c_f08
    module procedure MPIX_Neighbor_accumulate_c_int
  end interface MPIX_Neighbor_accumulate_c

  ! Starts MPIX_Neighbor_accumulate and returns once its messages are posted.
  public :: MPIX_Ineighbor_accumulate
  interface MPIX_Ineighbor_accumulate
    subroutine MPIX_Ineighbor_accumulate_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        request, ierror) &
        bind(C, name="mpixf_Ineighbor_accumulate")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_accumulate_f08
    subroutine MPIX_Ineighbor_accumulate_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        request, ierror) &
        bind(C, name="mpixf_Ineighbor_accumulate")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_accumulate_int
  end interface MPIX_Ineighbor_accumulate

  ! MPIX_Ineighbor_accumulate with large counts.
  public :: MPIX_Ineighbor_accumulate_c
  interface MPIX_Ineighbor_accumulate_c
    subroutine MPIX_Ineighbor_accumulate_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        request, ierror) &
        bind(C, name="mpixf_Ineighbor_accumulate_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_accumulate_c_f08
    subroutine MPIX_Ineighbor_accumulate_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        request, ierror) &
        bind(C, name="mpixf_Ineighbor_accumulate_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_accumulate_c_int
  end interface MPIX_Ineighbor_accumulate_c

  ! Makes a persistent MPIX_Neighbor_accumulate, which MPIX_Request_start runs any number of times.
  public :: MPIX_Neighbor_accumulate_plan
  interface MPIX_Neighbor_accumulate_plan
    subroutine MPIX_Neighbor_accumulate_plan_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        info, request, ierror) &
        bind(C, name="mpixf_Neighbor_accumulate_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_accumulate_plan_f08
    subroutine MPIX_Neighbor_accumulate_plan_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
        info, request, ierror) &
        bind(C, name="mpixf_Neighbor_accumulate_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_accumulate_plan_int
  end interface MPIX_Neighbor_accumulate_plan

  ! MPIX_Neighbor_accumulate_plan with large counts.
  public :: MPIX_Neighbor_accumulate_plan_c
  interface MPIX_Neighbor_accumulate_plan_c
    subroutine MPIX_Neighbor_accumulate_plan_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, &
        comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_accumulate_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_accumulate_plan_c_f08
    subroutine MPIX_Neighbor_accumulate_plan_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, &
        comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_accumulate_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcount
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcount
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_accumulate_plan_c_int
  end interface MPIX_Neighbor_accumulate_plan_c

  ! Sends a block of its own size to each target and combines each source's block with what is in
  ! its place.
  public :: MPIX_Neighbor_accumulatev
  interface MPIX_Neighbor_accumulatev
    module procedure MPIX_Neighbor_accumulatev_f08
    module procedure MPIX_Neighbor_accumulatev_int
  end interface MPIX_Neighbor_accumulatev

  ! MPIX_Neighbor_accumulatev with large counts.
  public :: MPIX_Neighbor_accumulatev_c
  interface MPIX_Neighbor_accumulatev_c
    module procedure MPIX_Neighbor_accumulatev_c_f08
    module procedure MPIX_Neighbor_accumulatev_c_int
  end interface MPIX_Neighbor_accumulatev_c

  ! Starts MPIX_Neighbor_accumulatev and returns once its messages are posted.
  public :: MPIX_Ineighbor_accumulatev
  interface MPIX_Ineighbor_accumulatev
    subroutine MPIX_Ineighbor_accumulatev_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, op, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_accumulatev")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_accumulatev_f08
    subroutine MPIX_Ineighbor_accumulatev_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, op, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_accumulatev")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_accumulatev_int
  end interface MPIX_Ineighbor_accumulatev

  ! MPIX_Ineighbor_accumulatev with large counts.
  public :: MPIX_Ineighbor_accumulatev_c
  interface MPIX_Ineighbor_accumulatev_c
    subroutine MPIX_Ineighbor_accumulatev_c_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, op, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_accumulatev_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_accumulatev_c_f08
    subroutine MPIX_Ineighbor_accumulatev_c_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, op, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_accumulatev_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_accumulatev_c_int
  end interface MPIX_Ineighbor_accumulatev_c

  ! Makes a persistent MPIX_Neighbor_accumulatev, which MPIX_Request_start runs any number of times.
  public :: MPIX_Neighbor_accumulatev_plan
  interface MPIX_Neighbor_accumulatev_plan
    subroutine MPIX_Neighbor_accumulatev_plan_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, op, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_accumulatev_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_accumulatev_plan_f08
    subroutine MPIX_Neighbor_accumulatev_plan_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, op, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_accumulatev_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(c_int), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_accumulatev_plan_int
  end interface MPIX_Neighbor_accumulatev_plan

  ! MPIX_Neighbor_accumulatev_plan with large counts.
  public :: MPIX_Neighbor_accumulatev_plan_c
  interface MPIX_Neighbor_accumulatev_plan_c
    subroutine MPIX_Neighbor_accumulatev_plan_c_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, op, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_accumulatev_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_accumulatev_plan_c_f08
    subroutine MPIX_Neighbor_accumulatev_plan_c_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
        recvdispls, recvtype, op, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_accumulatev_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_accumulatev_plan_c_int
  end interface MPIX_Neighbor_accumulatev_plan_c

  ! Sends a block of its own size and layout to each target and combines each source's block with
  ! what is in its place.
  public :: MPIX_Neighbor_accumulatew
  interface MPIX_Neighbor_accumulatew
    module procedure MPIX_Neighbor_accumulatew_f08
    module procedure MPIX_Neighbor_accumulatew_int
  end interface MPIX_Neighbor_accumulatew

  ! MPIX_Neighbor_accumulatew with large counts.
  public :: MPIX_Neighbor_accumulatew_c
  interface MPIX_Neighbor_accumulatew_c
    module procedure MPIX_Neighbor_accumulatew_c_f08
    module procedure MPIX_Neighbor_accumulatew_c_int
  end interface MPIX_Neighbor_accumulatew_c

  ! Starts MPIX_Neighbor_accumulatew and returns once its messages are posted.
  public :: MPIX_Ineighbor_accumulatew
  interface MPIX_Ineighbor_accumulatew
    subroutine MPIX_Ineighbor_accumulatew_f08(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, op, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_accumulatew")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_accumulatew_f08
    subroutine MPIX_Ineighbor_accumulatew_int(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, op, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_accumulatew")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtypes(*)
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_accumulatew_int
  end interface MPIX_Ineighbor_accumulatew

  ! MPIX_Ineighbor_accumulatew with large counts.
  public :: MPIX_Ineighbor_accumulatew_c
  interface MPIX_Ineighbor_accumulatew_c
    subroutine MPIX_Ineighbor_accumulatew_c_f08(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, op, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_accumulatew_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_accumulatew_c_f08
    subroutine MPIX_Ineighbor_accumulatew_c_int(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, op, comm, request, ierror) &
        bind(C, name="mpixf_Ineighbor_accumulatew_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtypes(*)
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Ineighbor_accumulatew_c_int
  end interface MPIX_Ineighbor_accumulatew_c

  ! Makes a persistent MPIX_Neighbor_accumulatew, which MPIX_Request_start runs any number of times.
  public :: MPIX_Neighbor_accumulatew_plan
  interface MPIX_Neighbor_accumulatew_plan
    subroutine MPIX_Neighbor_accumulatew_plan_f08(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, op, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_accumulatew_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_accumulatew_plan_f08
    subroutine MPIX_Neighbor_accumulatew_plan_int(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, op, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_accumulatew_plan")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(c_int), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtypes(*)
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_accumulatew_plan_int
  end interface MPIX_Neighbor_accumulatew_plan

  ! MPIX_Neighbor_accumulatew_plan with large counts.
  public :: MPIX_Neighbor_accumulatew_plan_c
  interface MPIX_Neighbor_accumulatew_plan_c
    subroutine MPIX_Neighbor_accumulatew_plan_c_f08(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, op, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_accumulatew_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      type(MPI_Datatype), intent(in) :: recvtypes(*)
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_accumulatew_plan_c_f08
    subroutine MPIX_Neighbor_accumulatew_plan_c_int(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
        recvdispls, recvtypes, op, comm, info, request, ierror) &
        bind(C, name="mpixf_Neighbor_accumulatew_plan_c")
      import
      implicit none
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtypes(*)
      type(*), asynchronous :: recvbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
      integer(c_int), intent(in) :: recvtypes(*)
      integer(c_int), intent(in) :: op
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(in) :: info
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_accumulatew_plan_c_int
  end interface MPIX_Neighbor_accumulatew_plan_c

  ! Starts a persistent collective and returns once its messages are posted.
  public :: MPIX_Request_start
  interface
    subroutine MPIX_Request_start(request, ierror) &
        bind(C, name="mpixf_Request_start")
      import
      implicit none
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Request_start
  end interface

  ! Starts persistent collectives in the order of an array.
  public :: MPIX_Request_startall
  interface
    subroutine MPIX_Request_startall(count, requests, ierror) &
        bind(C, name="mpixf_Request_startall")
      import
      implicit none
      integer(c_int), intent(in) :: count
      type(MPIX_Request), intent(inout) :: requests(*)
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Request_startall
  end interface

  ! Tests whether a collective is complete, and completes it if so.
  public :: MPIX_Request_test

  ! Tests whether several collectives are all complete, and completes them if so.
  public :: MPIX_Request_testall

  ! Waits until a collective is complete, and completes it.
  public :: MPIX_Request_wait
  interface
    subroutine MPIX_Request_wait(request, ierror) &
        bind(C, name="mpixf_Request_wait")
      import
      implicit none
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Request_wait
  end interface

  ! Waits until several collectives are all complete, and completes them.
  public :: MPIX_Request_waitall
  interface
    subroutine MPIX_Request_waitall(count, requests, ierror) &
        bind(C, name="mpixf_Request_waitall")
      import
      implicit none
      integer(c_int), intent(in) :: count
      type(MPIX_Request), intent(inout) :: requests(*)
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Request_waitall
  end interface

  ! Waits until one of several collectives is complete, and completes it.
  public :: MPIX_Request_waitany
  interface
    subroutine MPIX_Request_waitany(count, requests, index, ierror) &
        bind(C, name="mpixf_Request_waitany")
      import
      implicit none
      integer(c_int), intent(in) :: count
      type(MPIX_Request), intent(inout) :: requests(*)
      integer(c_int), intent(out) :: index
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Request_waitany
  end interface

  ! Tests whether one of several collectives is complete, and completes it if so.
  public :: MPIX_Request_testany

  ! Waits until some of several collectives are complete, and completes them.
  public :: MPIX_Request_waitsome
  interface
    subroutine MPIX_Request_waitsome(count, requests, outcount, indices, ierror) &
        bind(C, name="mpixf_Request_waitsome")
      import
      implicit none
      integer(c_int), intent(in) :: count
      type(MPIX_Request), intent(inout) :: requests(*)
      integer(c_int), intent(out) :: outcount
      integer(c_int), intent(inout) :: indices(*)
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Request_waitsome
  end interface

  ! Completes those of several collectives that are complete.
  public :: MPIX_Request_testsome
  interface
    subroutine MPIX_Request_testsome(count, requests, outcount, indices, ierror) &
        bind(C, name="mpixf_Request_testsome")
      import
      implicit none
      integer(c_int), intent(in) :: count
      type(MPIX_Request), intent(inout) :: requests(*)
      integer(c_int), intent(out) :: outcount
      integer(c_int), intent(inout) :: indices(*)
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Request_testsome
  end interface

  ! Frees a persistent collective.
  public :: MPIX_Request_free
  interface
    subroutine MPIX_Request_free(request, ierror) &
        bind(C, name="mpixf_Request_free")
      import
      implicit none
      type(MPIX_Request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Request_free
  end interface

  ! Tests whether the block of one source has arrived, so that it may be read before the others
  ! have.
  public :: MPIX_Request_test_source

  ! Waits until the block of one source has arrived.
  public :: MPIX_Request_wait_source
  interface
    subroutine MPIX_Request_wait_source(request, index, ierror) &
        bind(C, name="mpixf_Request_wait_source")
      import
      implicit none
      type(MPIX_Request), intent(in) :: request
      integer(c_int), intent(in) :: index
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Request_wait_source
  end interface

  ! Waits until the block of a source that has not been reported yet has arrived.
  public :: MPIX_Request_waitany_source
  interface
    subroutine MPIX_Request_waitany_source(request, index, ierror) &
        bind(C, name="mpixf_Request_waitany_source")
      import
      implicit none
      type(MPIX_Request), intent(in) :: request
      integer(c_int), intent(out) :: index
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Request_waitany_source
  end interface

  ! Waits until at least one source that has not been reported yet has arrived.
  public :: MPIX_Request_waitsome_source
  interface
    subroutine MPIX_Request_waitsome_source(request, outcount, indices, ierror) &
        bind(C, name="mpixf_Request_waitsome_source")
      import
      implicit none
      type(MPIX_Request), intent(in) :: request
      integer(c_int), intent(out) :: outcount
      integer(c_int), intent(inout) :: indices(*)
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Request_waitsome_source
  end interface

  ! Returns the sources whose blocks have arrived and have not been reported since the collective
  ! was started.
  public :: MPIX_Request_testsome_source
  interface
    subroutine MPIX_Request_testsome_source(request, outcount, indices, ierror) &
        bind(C, name="mpixf_Request_testsome_source")
      import
      implicit none
      type(MPIX_Request), intent(in) :: request
      integer(c_int), intent(out) :: outcount
      integer(c_int), intent(inout) :: indices(*)
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Request_testsome_source
  end interface

  ! Sends a message to each target, and receives the messages that others send to the caller, which
  ! it need not know of.
  public :: MPIX_Sparse_exchange
  interface MPIX_Sparse_exchange
    module procedure MPIX_Sparse_exchange_f08
    module procedure MPIX_Sparse_exchange_int
  end interface MPIX_Sparse_exchange

  ! MPIX_Sparse_exchange with large counts.
  public :: MPIX_Sparse_exchange_c
  interface MPIX_Sparse_exchange_c
    module procedure MPIX_Sparse_exchange_c_f08
    module procedure MPIX_Sparse_exchange_c_int
  end interface MPIX_Sparse_exchange_c

  ! MPIX_Sparse_exchange with messages of equal size.
  public :: MPIX_Sparse_exchange_block
  interface MPIX_Sparse_exchange_block
    module procedure MPIX_Sparse_exchange_block_f08
    module procedure MPIX_Sparse_exchange_block_int
  end interface MPIX_Sparse_exchange_block

  ! MPIX_Sparse_exchange_block with large counts.
  public :: MPIX_Sparse_exchange_block_c
  interface MPIX_Sparse_exchange_block_c
    module procedure MPIX_Sparse_exchange_block_c_f08
    module procedure MPIX_Sparse_exchange_block_c_int
  end interface MPIX_Sparse_exchange_block_c

  ! Finds out which processes have the caller among their targets.
  public :: MPIX_Sparse_sources
  interface MPIX_Sparse_sources
    subroutine MPIX_Sparse_sources_f08(ntargets, targets, info, comm, result, ierror) &
        bind(C, name="mpixf_Sparse_sources")
      import
      implicit none
      integer(c_int), intent(in) :: ntargets
      integer(c_int), intent(in) :: targets(*)
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Sparse_result), intent(inout) :: result
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_sources_f08
    subroutine MPIX_Sparse_sources_int(ntargets, targets, info, comm, result, ierror) &
        bind(C, name="mpixf_Sparse_sources")
      import
      implicit none
      integer(c_int), intent(in) :: ntargets
      integer(c_int), intent(in) :: targets(*)
      integer(c_int), intent(in) :: info
      integer(c_int), intent(in) :: comm
      type(MPIX_Sparse_result), intent(inout) :: result
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_sources_int
  end interface MPIX_Sparse_sources

  ! Does what MPIX_Sparse_exchange does, calling a function for each message as it arrives instead
  ! of making a result.
  public :: MPIX_Sparse_exchange_each
  interface MPIX_Sparse_exchange_each
    module procedure MPIX_Sparse_exchange_each_f08
    module procedure MPIX_Sparse_exchange_each_int
  end interface MPIX_Sparse_exchange_each

  ! MPIX_Sparse_exchange_each with large counts.
  public :: MPIX_Sparse_exchange_each_c
  interface MPIX_Sparse_exchange_each_c
    module procedure MPIX_Sparse_exchange_each_c_f08
    module procedure MPIX_Sparse_exchange_each_c_int
  end interface MPIX_Sparse_exchange_each_c

  ! Starts MPIX_Sparse_exchange and returns; MPIX_Sparse_test and MPIX_Sparse_wait complete it.
  public :: MPIX_Isparse_exchange
  interface MPIX_Isparse_exchange
    subroutine MPIX_Isparse_exchange_f08(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, info, &
        comm, request, ierror) &
        bind(C, name="mpixf_Isparse_exchange")
      import
      implicit none
      integer(c_int), intent(in) :: ntargets
      integer(c_int), intent(in) :: targets(*)
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Sparse_request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Isparse_exchange_f08
    subroutine MPIX_Isparse_exchange_int(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, info, &
        comm, request, ierror) &
        bind(C, name="mpixf_Isparse_exchange")
      import
      implicit none
      integer(c_int), intent(in) :: ntargets
      integer(c_int), intent(in) :: targets(*)
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: info
      integer(c_int), intent(in) :: comm
      type(MPIX_Sparse_request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Isparse_exchange_int
  end interface MPIX_Isparse_exchange

  ! MPIX_Isparse_exchange with large counts.
  public :: MPIX_Isparse_exchange_c
  interface MPIX_Isparse_exchange_c
    subroutine MPIX_Isparse_exchange_c_f08(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, &
        info, comm, request, ierror) &
        bind(C, name="mpixf_Isparse_exchange_c")
      import
      implicit none
      integer(c_int), intent(in) :: ntargets
      integer(c_int), intent(in) :: targets(*)
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Sparse_request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Isparse_exchange_c_f08
    subroutine MPIX_Isparse_exchange_c_int(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, &
        info, comm, request, ierror) &
        bind(C, name="mpixf_Isparse_exchange_c")
      import
      implicit none
      integer(c_int), intent(in) :: ntargets
      integer(c_int), intent(in) :: targets(*)
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: info
      integer(c_int), intent(in) :: comm
      type(MPIX_Sparse_request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Isparse_exchange_c_int
  end interface MPIX_Isparse_exchange_c

  ! Tests whether a nonblocking sparse exchange is complete, and completes it if so.
  public :: MPIX_Sparse_test

  ! Waits until a nonblocking sparse exchange is complete, and completes it.
  public :: MPIX_Sparse_wait
  interface
    subroutine MPIX_Sparse_wait(request, result, ierror) &
        bind(C, name="mpixf_Sparse_wait")
      import
      implicit none
      type(MPIX_Sparse_request), intent(inout) :: request
      type(MPIX_Sparse_result), intent(inout) :: result
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_wait
  end interface

  ! Returns how many messages a sparse exchange brought, and how many elements.
  public :: MPIX_Sparse_get_count
  interface
    subroutine MPIX_Sparse_get_count(result, nmessages, nelements, ierror) &
        bind(C, name="mpixf_Sparse_get_count")
      import
      implicit none
      type(MPIX_Sparse_result), intent(in) :: result
      integer(c_int), intent(out) :: nmessages
      integer(MPI_COUNT_KIND), intent(out) :: nelements
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_get_count
  end interface

  ! Returns one message of a sparse exchange.
  public :: MPIX_Sparse_get_message
  interface
    subroutine MPIX_Sparse_get_message(result, index, source, count, data, ierror) &
        bind(C, name="mpixf_Sparse_get_message")
      import
      implicit none
      type(MPIX_Sparse_result), intent(in) :: result
      integer(c_int), intent(in) :: index
      integer(c_int), intent(out) :: source
      integer(MPI_COUNT_KIND), intent(out) :: count
      type(c_ptr), intent(out) :: data
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_get_message
  end interface

  ! Returns the sources, counts and displacements of all messages of a sparse exchange, as vector
  ! collectives take them.
  public :: MPIX_Sparse_get_messages
  interface
    subroutine MPIX_Sparse_get_messages(result, maxmessages, sources, counts, displs, ierror) &
        bind(C, name="mpixf_Sparse_get_messages")
      import
      implicit none
      type(MPIX_Sparse_result), intent(in) :: result
      integer(c_int), intent(in) :: maxmessages
      integer(c_int), intent(inout), optional :: sources(*)
      integer(c_int), intent(inout), optional :: counts(*)
      integer(c_int), intent(inout), optional :: displs(*)
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_get_messages
  end interface

  ! MPIX_Sparse_get_messages with large counts.
  public :: MPIX_Sparse_get_messages_c
  interface
    subroutine MPIX_Sparse_get_messages_c(result, maxmessages, sources, counts, displs, ierror) &
        bind(C, name="mpixf_Sparse_get_messages_c")
      import
      implicit none
      type(MPIX_Sparse_result), intent(in) :: result
      integer(c_int), intent(in) :: maxmessages
      integer(c_int), intent(inout), optional :: sources(*)
      integer(MPI_COUNT_KIND), intent(inout), optional :: counts(*)
      integer(MPI_ADDRESS_KIND), intent(inout), optional :: displs(*)
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_get_messages_c
  end interface

  ! Copies all messages of a sparse exchange into a buffer, one after the other, in order.
  public :: MPIX_Sparse_copy

  ! Frees the result of a sparse exchange.
  public :: MPIX_Sparse_free
  interface
    subroutine MPIX_Sparse_free(result, ierror) &
        bind(C, name="mpixf_Sparse_free")
      import
      implicit none
      type(MPIX_Sparse_result), intent(inout) :: result
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_free
  end interface

  ! Describes the sparse exchanges on a communicator in a few lines of text.
  public :: MPIX_Sparse_describe
  interface MPIX_Sparse_describe
    subroutine MPIX_Sparse_describe_f08(comm, string, resultlen, ierror) &
        bind(C, name="mpixf_Sparse_describe")
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      character(len=*) :: string
      integer(c_int), intent(out) :: resultlen
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_describe_f08
    subroutine MPIX_Sparse_describe_int(comm, string, resultlen, ierror) &
        bind(C, name="mpixf_Sparse_describe")
      import
      implicit none
      integer(c_int), intent(in) :: comm
      character(len=*) :: string
      integer(c_int), intent(out) :: resultlen
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_describe_int
  end interface MPIX_Sparse_describe

  ! Runs a sparse exchange and keeps its targets and sizes as a plan, whose further runs cost the
  ! messages alone.
  public :: MPIX_Sparse_plan_create
  interface MPIX_Sparse_plan_create
    subroutine MPIX_Sparse_plan_create_f08(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, &
        info, comm, plan, ierror) &
        bind(C, name="mpixf_Sparse_plan_create")
      import
      implicit none
      integer(c_int), intent(in) :: ntargets
      integer(c_int), intent(in) :: targets(*)
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Sparse_plan), intent(inout) :: plan
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_plan_create_f08
    subroutine MPIX_Sparse_plan_create_int(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, &
        info, comm, plan, ierror) &
        bind(C, name="mpixf_Sparse_plan_create")
      import
      implicit none
      integer(c_int), intent(in) :: ntargets
      integer(c_int), intent(in) :: targets(*)
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(c_int), intent(in) :: sendcounts(*)
      integer(c_int), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: info
      integer(c_int), intent(in) :: comm
      type(MPIX_Sparse_plan), intent(inout) :: plan
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_plan_create_int
  end interface MPIX_Sparse_plan_create

  ! MPIX_Sparse_plan_create with large counts.
  public :: MPIX_Sparse_plan_create_c
  interface MPIX_Sparse_plan_create_c
    subroutine MPIX_Sparse_plan_create_c_f08(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, &
        info, comm, plan, ierror) &
        bind(C, name="mpixf_Sparse_plan_create_c")
      import
      implicit none
      integer(c_int), intent(in) :: ntargets
      integer(c_int), intent(in) :: targets(*)
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      type(MPI_Datatype), intent(in) :: sendtype
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Sparse_plan), intent(inout) :: plan
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_plan_create_c_f08
    subroutine MPIX_Sparse_plan_create_c_int(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, &
        info, comm, plan, ierror) &
        bind(C, name="mpixf_Sparse_plan_create_c")
      import
      implicit none
      integer(c_int), intent(in) :: ntargets
      integer(c_int), intent(in) :: targets(*)
      type(*), intent(in), asynchronous :: sendbuf(..)
      integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
      integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
      integer(c_int), intent(in) :: sendtype
      integer(c_int), intent(in) :: recvtype
      integer(c_int), intent(in) :: info
      integer(c_int), intent(in) :: comm
      type(MPIX_Sparse_plan), intent(inout) :: plan
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_plan_create_c_int
  end interface MPIX_Sparse_plan_create_c

  ! Starts a run of a plan.
  public :: MPIX_Sparse_plan_start
  interface
    subroutine MPIX_Sparse_plan_start(plan, ierror) &
        bind(C, name="mpixf_Sparse_plan_start")
      import
      implicit none
      type(MPIX_Sparse_plan), intent(in) :: plan
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_plan_start
  end interface

  ! Tests whether a run of a plan is complete; its messages are then in the plan's result.
  public :: MPIX_Sparse_plan_test

  ! Waits until a run of a plan is complete; its messages are then in the plan's result.
  public :: MPIX_Sparse_plan_wait
  interface
    subroutine MPIX_Sparse_plan_wait(plan, ierror) &
        bind(C, name="mpixf_Sparse_plan_wait")
      import
      implicit none
      type(MPIX_Sparse_plan), intent(in) :: plan
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_plan_wait
  end interface

  ! Returns the result of a plan.
  public :: MPIX_Sparse_plan_result
  interface
    subroutine MPIX_Sparse_plan_result(plan, result, ierror) &
        bind(C, name="mpixf_Sparse_plan_result")
      import
      implicit none
      type(MPIX_Sparse_plan), intent(in) :: plan
      type(MPIX_Sparse_result), intent(inout) :: result
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_plan_result
  end interface

  ! Frees a plan and its result.
  public :: MPIX_Sparse_plan_free
  interface
    subroutine MPIX_Sparse_plan_free(plan, ierror) &
        bind(C, name="mpixf_Sparse_plan_free")
      import
      implicit none
      type(MPIX_Sparse_plan), intent(inout) :: plan
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_plan_free
  end interface

  ! Makes a window of elements of all processes of a communicator.
  public :: MPIX_Sparse_window_create
  interface MPIX_Sparse_window_create
    subroutine MPIX_Sparse_window_create_f08(base, count, type, info, comm, window, ierror) &
        bind(C, name="mpixf_Sparse_window_create")
      import
      implicit none
      type(*), asynchronous :: base(..)
      integer(c_int), intent(in) :: count
      type(MPI_Datatype), intent(in) :: type
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Sparse_window), intent(inout) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_create_f08
    subroutine MPIX_Sparse_window_create_int(base, count, type, info, comm, window, ierror) &
        bind(C, name="mpixf_Sparse_window_create")
      import
      implicit none
      type(*), asynchronous :: base(..)
      integer(c_int), intent(in) :: count
      integer(c_int), intent(in) :: type
      integer(c_int), intent(in) :: info
      integer(c_int), intent(in) :: comm
      type(MPIX_Sparse_window), intent(inout) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_create_int
  end interface MPIX_Sparse_window_create

  ! MPIX_Sparse_window_create with large counts.
  public :: MPIX_Sparse_window_create_c
  interface MPIX_Sparse_window_create_c
    subroutine MPIX_Sparse_window_create_c_f08(base, count, type, info, comm, window, ierror) &
        bind(C, name="mpixf_Sparse_window_create_c")
      import
      implicit none
      type(*), asynchronous :: base(..)
      integer(MPI_COUNT_KIND), intent(in) :: count
      type(MPI_Datatype), intent(in) :: type
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Sparse_window), intent(inout) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_create_c_f08
    subroutine MPIX_Sparse_window_create_c_int(base, count, type, info, comm, window, ierror) &
        bind(C, name="mpixf_Sparse_window_create_c")
      import
      implicit none
      type(*), asynchronous :: base(..)
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(c_int), intent(in) :: type
      integer(c_int), intent(in) :: info
      integer(c_int), intent(in) :: comm
      type(MPIX_Sparse_window), intent(inout) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_create_c_int
  end interface MPIX_Sparse_window_create_c

  ! Stores values in elements of a process.
  public :: MPIX_Sparse_window_put

  ! MPIX_Sparse_window_put with large counts.
  public :: MPIX_Sparse_window_put_c

  ! Reads elements of a process.
  public :: MPIX_Sparse_window_get
  interface
    subroutine MPIX_Sparse_window_get(result, count, target, indices, window, ierror) &
        bind(C, name="mpixf_Sparse_window_get")
      import
      implicit none
      type(*), asynchronous :: result(..)
      integer(c_int), intent(in) :: count
      integer(c_int), intent(in) :: target
      integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
      type(MPIX_Sparse_window), intent(in) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_get
  end interface

  ! MPIX_Sparse_window_get with large counts.
  public :: MPIX_Sparse_window_get_c
  interface
    subroutine MPIX_Sparse_window_get_c(result, count, target, indices, window, ierror) &
        bind(C, name="mpixf_Sparse_window_get_c")
      import
      implicit none
      type(*), asynchronous :: result(..)
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(c_int), intent(in) :: target
      integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
      type(MPIX_Sparse_window), intent(in) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_get_c
  end interface

  ! Combines values with elements of a process.
  public :: MPIX_Sparse_window_accumulate
  interface MPIX_Sparse_window_accumulate
    module procedure MPIX_Sparse_window_accumulate_f08
    module procedure MPIX_Sparse_window_accumulate_int
  end interface MPIX_Sparse_window_accumulate

  ! MPIX_Sparse_window_accumulate with large counts.
  public :: MPIX_Sparse_window_accumulate_c
  interface MPIX_Sparse_window_accumulate_c
    module procedure MPIX_Sparse_window_accumulate_c_f08
    module procedure MPIX_Sparse_window_accumulate_c_int
  end interface MPIX_Sparse_window_accumulate_c

  ! Reads elements of a process, and combines values with them.
  public :: MPIX_Sparse_window_fetch_and_op
  interface MPIX_Sparse_window_fetch_and_op
    subroutine MPIX_Sparse_window_fetch_and_op_f08(origin, result, count, target, indices, op, window, ierror) &
        bind(C, name="mpixf_Sparse_window_fetch_and_op")
      import
      implicit none
      type(*), intent(in) :: origin(..)
      type(*), asynchronous :: result(..)
      integer(c_int), intent(in) :: count
      integer(c_int), intent(in) :: target
      integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
      type(MPI_Op), intent(in) :: op
      type(MPIX_Sparse_window), intent(in) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_fetch_and_op_f08
    subroutine MPIX_Sparse_window_fetch_and_op_int(origin, result, count, target, indices, op, window, ierror) &
        bind(C, name="mpixf_Sparse_window_fetch_and_op")
      import
      implicit none
      type(*), intent(in) :: origin(..)
      type(*), asynchronous :: result(..)
      integer(c_int), intent(in) :: count
      integer(c_int), intent(in) :: target
      integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
      integer(c_int), intent(in) :: op
      type(MPIX_Sparse_window), intent(in) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_fetch_and_op_int
  end interface MPIX_Sparse_window_fetch_and_op

  ! MPIX_Sparse_window_fetch_and_op with large counts.
  public :: MPIX_Sparse_window_fetch_and_op_c
  interface MPIX_Sparse_window_fetch_and_op_c
    subroutine MPIX_Sparse_window_fetch_and_op_c_f08(origin, result, count, target, indices, op, window, ierror) &
        bind(C, name="mpixf_Sparse_window_fetch_and_op_c")
      import
      implicit none
      type(*), intent(in) :: origin(..)
      type(*), asynchronous :: result(..)
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(c_int), intent(in) :: target
      integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
      type(MPI_Op), intent(in) :: op
      type(MPIX_Sparse_window), intent(in) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_fetch_and_op_c_f08
    subroutine MPIX_Sparse_window_fetch_and_op_c_int(origin, result, count, target, indices, op, window, ierror) &
        bind(C, name="mpixf_Sparse_window_fetch_and_op_c")
      import
      implicit none
      type(*), intent(in) :: origin(..)
      type(*), asynchronous :: result(..)
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(c_int), intent(in) :: target
      integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
      integer(c_int), intent(in) :: op
      type(MPIX_Sparse_window), intent(in) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_fetch_and_op_c_int
  end interface MPIX_Sparse_window_fetch_and_op_c

  ! Reads elements of a process, and stores values in those that equal what they are compared with.
  public :: MPIX_Sparse_window_compare_and_swap
  interface
    subroutine MPIX_Sparse_window_compare_and_swap(origin, compare, result, count, target, indices, window, ierror) &
        bind(C, name="mpixf_Sparse_window_compare_and_swap")
      import
      implicit none
      type(*), intent(in) :: origin(..)
      type(*), intent(in) :: compare(..)
      type(*), asynchronous :: result(..)
      integer(c_int), intent(in) :: count
      integer(c_int), intent(in) :: target
      integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
      type(MPIX_Sparse_window), intent(in) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_compare_and_swap
  end interface

  ! MPIX_Sparse_window_compare_and_swap with large counts.
  public :: MPIX_Sparse_window_compare_and_swap_c
  interface
    subroutine MPIX_Sparse_window_compare_and_swap_c(origin, compare, result, count, target, indices, window, &
        ierror) &
        bind(C, name="mpixf_Sparse_window_compare_and_swap_c")
      import
      implicit none
      type(*), intent(in) :: origin(..)
      type(*), intent(in) :: compare(..)
      type(*), asynchronous :: result(..)
      integer(MPI_COUNT_KIND), intent(in) :: count
      integer(c_int), intent(in) :: target
      integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
      type(MPIX_Sparse_window), intent(in) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_compare_and_swap_c
  end interface

  ! Registers a user-defined operator with a window.
  public :: MPIX_Sparse_window_add_operator
  interface MPIX_Sparse_window_add_operator
    subroutine MPIX_Sparse_window_add_operator_f08(op, window, ierror) &
        bind(C, name="mpixf_Sparse_window_add_operator")
      import
      implicit none
      type(MPI_Op), intent(in) :: op
      type(MPIX_Sparse_window), intent(in) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_add_operator_f08
    subroutine MPIX_Sparse_window_add_operator_int(op, window, ierror) &
        bind(C, name="mpixf_Sparse_window_add_operator")
      import
      implicit none
      integer(c_int), intent(in) :: op
      type(MPIX_Sparse_window), intent(in) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_add_operator_int
  end interface MPIX_Sparse_window_add_operator

  ! Applies all operations of all processes.
  public :: MPIX_Sparse_window_fence
  interface
    subroutine MPIX_Sparse_window_fence(window, ierror) &
        bind(C, name="mpixf_Sparse_window_fence")
      import
      implicit none
      type(MPIX_Sparse_window), intent(in) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_fence
  end interface

  ! Waits until the caller's operations have been applied.
  public :: MPIX_Sparse_window_flush
  interface
    subroutine MPIX_Sparse_window_flush(window, ierror) &
        bind(C, name="mpixf_Sparse_window_flush")
      import
      implicit none
      type(MPIX_Sparse_window), intent(in) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_flush
  end interface

  ! Applies all operations of all processes, and frees a window.
  public :: MPIX_Sparse_window_free
  interface
    subroutine MPIX_Sparse_window_free(window, ierror) &
        bind(C, name="mpixf_Sparse_window_free")
      import
      implicit none
      type(MPIX_Sparse_window), intent(inout) :: window
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Sparse_window_free
  end interface

  ! Measures the LogGP parameters of the machine.
  public :: MPIX_Loggp_measure
  interface MPIX_Loggp_measure
    subroutine MPIX_Loggp_measure_f08(info, comm, parameters, ierror) &
        bind(C, name="mpixf_Loggp_measure")
      import
      implicit none
      type(MPI_Info), intent(in) :: info
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Loggp), intent(out) :: parameters
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Loggp_measure_f08
    subroutine MPIX_Loggp_measure_int(info, comm, parameters, ierror) &
        bind(C, name="mpixf_Loggp_measure")
      import
      implicit none
      integer(c_int), intent(in) :: info
      integer(c_int), intent(in) :: comm
      type(MPIX_Loggp), intent(out) :: parameters
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Loggp_measure_int
  end interface MPIX_Loggp_measure

  ! Sets the LogGP parameters of a communicator.
  public :: MPIX_Loggp_set
  interface MPIX_Loggp_set
    subroutine MPIX_Loggp_set_f08(parameters, comm, ierror) &
        bind(C, name="mpixf_Loggp_set")
      import
      implicit none
      type(MPIX_Loggp), intent(in) :: parameters
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Loggp_set_f08
    subroutine MPIX_Loggp_set_int(parameters, comm, ierror) &
        bind(C, name="mpixf_Loggp_set")
      import
      implicit none
      type(MPIX_Loggp), intent(in) :: parameters
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Loggp_set_int
  end interface MPIX_Loggp_set

  ! Returns the LogGP parameters that are in effect on a communicator where no info key says
  ! otherwise.
  public :: MPIX_Loggp_get
  interface MPIX_Loggp_get
    subroutine MPIX_Loggp_get_f08(comm, parameters, ierror) &
        bind(C, name="mpixf_Loggp_get")
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      type(MPIX_Loggp), intent(out) :: parameters
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Loggp_get_f08
    subroutine MPIX_Loggp_get_int(comm, parameters, ierror) &
        bind(C, name="mpixf_Loggp_get")
      import
      implicit none
      integer(c_int), intent(in) :: comm
      type(MPIX_Loggp), intent(out) :: parameters
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Loggp_get_int
  end interface MPIX_Loggp_get

  ! Returns the version of the library that is linked.
  public :: MPIX_Neighbor_get_version
  interface
    subroutine MPIX_Neighbor_get_version(major, minor, patch, ierror) &
        bind(C, name="mpixf_Neighbor_get_version")
      import
      implicit none
      integer(c_int), intent(out) :: major
      integer(c_int), intent(out) :: minor
      integer(c_int), intent(out) :: patch
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_get_version
  end interface

  ! Returns an error class that this library added to MPI's, for comparison with what
  ! MPI_Error_class returns.
  public :: MPIX_Neighbor_error_class
  interface
    subroutine MPIX_Neighbor_error_class(which, errorclass, ierror) &
        bind(C, name="mpixf_Neighbor_error_class")
      import
      implicit none
      integer(c_int), intent(in) :: which
      integer(c_int), intent(out) :: errorclass
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_error_class
  end interface

  ! Returns the text of the last error that a function of this library reported on a communicator.
  public :: MPIX_Neighbor_error_string
  interface MPIX_Neighbor_error_string
    subroutine MPIX_Neighbor_error_string_f08(comm, string, resultlen, ierror) &
        bind(C, name="mpixf_Neighbor_error_string")
      import
      implicit none
      type(MPI_Comm), intent(in) :: comm
      character(len=*) :: string
      integer(c_int), intent(out) :: resultlen
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_error_string_f08
    subroutine MPIX_Neighbor_error_string_int(comm, string, resultlen, ierror) &
        bind(C, name="mpixf_Neighbor_error_string")
      import
      implicit none
      integer(c_int), intent(in) :: comm
      character(len=*) :: string
      integer(c_int), intent(out) :: resultlen
      integer(c_int), intent(out), optional :: ierror
    end subroutine MPIX_Neighbor_error_string_int
  end interface MPIX_Neighbor_error_string

contains

  elemental logical function equal_Request(a, b)
    type(MPIX_Request), intent(in) :: a, b
    equal_Request = transfer(a%MPIX_VAL, 0_c_intptr_t) == transfer(b%MPIX_VAL, 0_c_intptr_t)
  end function equal_Request

  elemental logical function differ_Request(a, b)
    type(MPIX_Request), intent(in) :: a, b
    differ_Request = transfer(a%MPIX_VAL, 0_c_intptr_t) /= transfer(b%MPIX_VAL, 0_c_intptr_t)
  end function differ_Request

  elemental logical function equal_Sparse_result(a, b)
    type(MPIX_Sparse_result), intent(in) :: a, b
    equal_Sparse_result = transfer(a%MPIX_VAL, 0_c_intptr_t) == transfer(b%MPIX_VAL, 0_c_intptr_t)
  end function equal_Sparse_result

  elemental logical function differ_Sparse_result(a, b)
    type(MPIX_Sparse_result), intent(in) :: a, b
    differ_Sparse_result = transfer(a%MPIX_VAL, 0_c_intptr_t) /= transfer(b%MPIX_VAL, 0_c_intptr_t)
  end function differ_Sparse_result

  elemental logical function equal_Sparse_request(a, b)
    type(MPIX_Sparse_request), intent(in) :: a, b
    equal_Sparse_request = transfer(a%MPIX_VAL, 0_c_intptr_t) == transfer(b%MPIX_VAL, 0_c_intptr_t)
  end function equal_Sparse_request

  elemental logical function differ_Sparse_request(a, b)
    type(MPIX_Sparse_request), intent(in) :: a, b
    differ_Sparse_request = transfer(a%MPIX_VAL, 0_c_intptr_t) /= transfer(b%MPIX_VAL, 0_c_intptr_t)
  end function differ_Sparse_request

  elemental logical function equal_Sparse_plan(a, b)
    type(MPIX_Sparse_plan), intent(in) :: a, b
    equal_Sparse_plan = transfer(a%MPIX_VAL, 0_c_intptr_t) == transfer(b%MPIX_VAL, 0_c_intptr_t)
  end function equal_Sparse_plan

  elemental logical function differ_Sparse_plan(a, b)
    type(MPIX_Sparse_plan), intent(in) :: a, b
    differ_Sparse_plan = transfer(a%MPIX_VAL, 0_c_intptr_t) /= transfer(b%MPIX_VAL, 0_c_intptr_t)
  end function differ_Sparse_plan

  elemental logical function equal_Sparse_window(a, b)
    type(MPIX_Sparse_window), intent(in) :: a, b
    equal_Sparse_window = transfer(a%MPIX_VAL, 0_c_intptr_t) == transfer(b%MPIX_VAL, 0_c_intptr_t)
  end function equal_Sparse_window

  elemental logical function differ_Sparse_window(a, b)
    type(MPIX_Sparse_window), intent(in) :: a, b
    differ_Sparse_window = transfer(a%MPIX_VAL, 0_c_intptr_t) /= transfer(b%MPIX_VAL, 0_c_intptr_t)
  end function differ_Sparse_window

  subroutine MPIX_Neighborhood_set_f08(operations, indegree, sources, sourceweights, outdegree, targets, &
      targetweights, info, comm, ierror)
    integer(c_int), intent(in) :: operations
    integer(c_int), intent(in) :: indegree
    integer(c_int), intent(in) :: sources(*)
    integer(c_int), intent(in) :: sourceweights(..)
    integer(c_int), intent(in) :: outdegree
    integer(c_int), intent(in) :: targets(*)
    integer(c_int), intent(in) :: targetweights(..)
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(operations, indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, &
          ierror) &
          bind(C, name="mpixf_Neighborhood_set")
        import
        implicit none
        integer(c_int), intent(in) :: operations
        integer(c_int), intent(in) :: indegree
        integer(c_int), intent(in) :: sources(*)
        integer(c_int), intent(in) :: sourceweights(..)
        integer(c_int), intent(in) :: outdegree
        integer(c_int), intent(in) :: targets(*)
        integer(c_int), intent(in) :: targetweights(..)
        type(MPI_Info), intent(in) :: info
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(operations, indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror)
  end subroutine MPIX_Neighborhood_set_f08

  subroutine MPIX_Neighborhood_set_int(operations, indegree, sources, sourceweights, outdegree, targets, &
      targetweights, info, comm, ierror)
    integer(c_int), intent(in) :: operations
    integer(c_int), intent(in) :: indegree
    integer(c_int), intent(in) :: sources(*)
    integer(c_int), intent(in) :: sourceweights(..)
    integer(c_int), intent(in) :: outdegree
    integer(c_int), intent(in) :: targets(*)
    integer(c_int), intent(in) :: targetweights(..)
    integer(c_int), intent(in) :: info
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(operations, indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, &
          ierror) &
          bind(C, name="mpixf_Neighborhood_set")
        import
        implicit none
        integer(c_int), intent(in) :: operations
        integer(c_int), intent(in) :: indegree
        integer(c_int), intent(in) :: sources(*)
        integer(c_int), intent(in) :: sourceweights(..)
        integer(c_int), intent(in) :: outdegree
        integer(c_int), intent(in) :: targets(*)
        integer(c_int), intent(in) :: targetweights(..)
        integer(c_int), intent(in) :: info
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(operations, indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror)
  end subroutine MPIX_Neighborhood_set_int

  subroutine MPIX_Neighbor_gather_set_f08(indegree, sources, sourceweights, outdegree, targets, targetweights, info, &
      comm, ierror)
    integer(c_int), intent(in) :: indegree
    integer(c_int), intent(in) :: sources(*)
    integer(c_int), intent(in) :: sourceweights(..)
    integer(c_int), intent(in) :: outdegree
    integer(c_int), intent(in) :: targets(*)
    integer(c_int), intent(in) :: targetweights(..)
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror) &
          bind(C, name="mpixf_Neighbor_gather_set")
        import
        implicit none
        integer(c_int), intent(in) :: indegree
        integer(c_int), intent(in) :: sources(*)
        integer(c_int), intent(in) :: sourceweights(..)
        integer(c_int), intent(in) :: outdegree
        integer(c_int), intent(in) :: targets(*)
        integer(c_int), intent(in) :: targetweights(..)
        type(MPI_Info), intent(in) :: info
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror)
  end subroutine MPIX_Neighbor_gather_set_f08

  subroutine MPIX_Neighbor_gather_set_int(indegree, sources, sourceweights, outdegree, targets, targetweights, info, &
      comm, ierror)
    integer(c_int), intent(in) :: indegree
    integer(c_int), intent(in) :: sources(*)
    integer(c_int), intent(in) :: sourceweights(..)
    integer(c_int), intent(in) :: outdegree
    integer(c_int), intent(in) :: targets(*)
    integer(c_int), intent(in) :: targetweights(..)
    integer(c_int), intent(in) :: info
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror) &
          bind(C, name="mpixf_Neighbor_gather_set")
        import
        implicit none
        integer(c_int), intent(in) :: indegree
        integer(c_int), intent(in) :: sources(*)
        integer(c_int), intent(in) :: sourceweights(..)
        integer(c_int), intent(in) :: outdegree
        integer(c_int), intent(in) :: targets(*)
        integer(c_int), intent(in) :: targetweights(..)
        integer(c_int), intent(in) :: info
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror)
  end subroutine MPIX_Neighbor_gather_set_int

  subroutine MPIX_Neighbor_alltoall_set_f08(indegree, sources, sourceweights, outdegree, targets, targetweights, info, &
      comm, ierror)
    integer(c_int), intent(in) :: indegree
    integer(c_int), intent(in) :: sources(*)
    integer(c_int), intent(in) :: sourceweights(..)
    integer(c_int), intent(in) :: outdegree
    integer(c_int), intent(in) :: targets(*)
    integer(c_int), intent(in) :: targetweights(..)
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoall_set")
        import
        implicit none
        integer(c_int), intent(in) :: indegree
        integer(c_int), intent(in) :: sources(*)
        integer(c_int), intent(in) :: sourceweights(..)
        integer(c_int), intent(in) :: outdegree
        integer(c_int), intent(in) :: targets(*)
        integer(c_int), intent(in) :: targetweights(..)
        type(MPI_Info), intent(in) :: info
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror)
  end subroutine MPIX_Neighbor_alltoall_set_f08

  subroutine MPIX_Neighbor_alltoall_set_int(indegree, sources, sourceweights, outdegree, targets, targetweights, info, &
      comm, ierror)
    integer(c_int), intent(in) :: indegree
    integer(c_int), intent(in) :: sources(*)
    integer(c_int), intent(in) :: sourceweights(..)
    integer(c_int), intent(in) :: outdegree
    integer(c_int), intent(in) :: targets(*)
    integer(c_int), intent(in) :: targetweights(..)
    integer(c_int), intent(in) :: info
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoall_set")
        import
        implicit none
        integer(c_int), intent(in) :: indegree
        integer(c_int), intent(in) :: sources(*)
        integer(c_int), intent(in) :: sourceweights(..)
        integer(c_int), intent(in) :: outdegree
        integer(c_int), intent(in) :: targets(*)
        integer(c_int), intent(in) :: targetweights(..)
        integer(c_int), intent(in) :: info
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror)
  end subroutine MPIX_Neighbor_alltoall_set_int

  subroutine MPIX_Neighbor_reduce_set_f08(indegree, sources, sourceweights, outdegree, targets, targetweights, info, &
      comm, ierror)
    integer(c_int), intent(in) :: indegree
    integer(c_int), intent(in) :: sources(*)
    integer(c_int), intent(in) :: sourceweights(..)
    integer(c_int), intent(in) :: outdegree
    integer(c_int), intent(in) :: targets(*)
    integer(c_int), intent(in) :: targetweights(..)
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror) &
          bind(C, name="mpixf_Neighbor_reduce_set")
        import
        implicit none
        integer(c_int), intent(in) :: indegree
        integer(c_int), intent(in) :: sources(*)
        integer(c_int), intent(in) :: sourceweights(..)
        integer(c_int), intent(in) :: outdegree
        integer(c_int), intent(in) :: targets(*)
        integer(c_int), intent(in) :: targetweights(..)
        type(MPI_Info), intent(in) :: info
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror)
  end subroutine MPIX_Neighbor_reduce_set_f08

  subroutine MPIX_Neighbor_reduce_set_int(indegree, sources, sourceweights, outdegree, targets, targetweights, info, &
      comm, ierror)
    integer(c_int), intent(in) :: indegree
    integer(c_int), intent(in) :: sources(*)
    integer(c_int), intent(in) :: sourceweights(..)
    integer(c_int), intent(in) :: outdegree
    integer(c_int), intent(in) :: targets(*)
    integer(c_int), intent(in) :: targetweights(..)
    integer(c_int), intent(in) :: info
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror) &
          bind(C, name="mpixf_Neighbor_reduce_set")
        import
        implicit none
        integer(c_int), intent(in) :: indegree
        integer(c_int), intent(in) :: sources(*)
        integer(c_int), intent(in) :: sourceweights(..)
        integer(c_int), intent(in) :: outdegree
        integer(c_int), intent(in) :: targets(*)
        integer(c_int), intent(in) :: targetweights(..)
        integer(c_int), intent(in) :: info
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(indegree, sources, sourceweights, outdegree, targets, targetweights, info, comm, ierror)
  end subroutine MPIX_Neighbor_reduce_set_int

  subroutine MPIX_Neighborhood_set_group_f08(operations, sourcegroup, sourceweights, targetgroup, targetweights, info, &
      comm, ierror)
    integer(c_int), intent(in) :: operations
    type(MPI_Group), intent(in) :: sourcegroup
    integer(c_int), intent(in) :: sourceweights(..)
    type(MPI_Group), intent(in) :: targetgroup
    integer(c_int), intent(in) :: targetweights(..)
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(operations, sourcegroup, sourceweights, targetgroup, targetweights, info, comm, ierror) &
          bind(C, name="mpixf_Neighborhood_set_group")
        import
        implicit none
        integer(c_int), intent(in) :: operations
        type(MPI_Group), intent(in) :: sourcegroup
        integer(c_int), intent(in) :: sourceweights(..)
        type(MPI_Group), intent(in) :: targetgroup
        integer(c_int), intent(in) :: targetweights(..)
        type(MPI_Info), intent(in) :: info
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(operations, sourcegroup, sourceweights, targetgroup, targetweights, info, comm, ierror)
  end subroutine MPIX_Neighborhood_set_group_f08

  subroutine MPIX_Neighborhood_set_group_int(operations, sourcegroup, sourceweights, targetgroup, targetweights, info, &
      comm, ierror)
    integer(c_int), intent(in) :: operations
    integer(c_int), intent(in) :: sourcegroup
    integer(c_int), intent(in) :: sourceweights(..)
    integer(c_int), intent(in) :: targetgroup
    integer(c_int), intent(in) :: targetweights(..)
    integer(c_int), intent(in) :: info
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(operations, sourcegroup, sourceweights, targetgroup, targetweights, info, comm, ierror) &
          bind(C, name="mpixf_Neighborhood_set_group")
        import
        implicit none
        integer(c_int), intent(in) :: operations
        integer(c_int), intent(in) :: sourcegroup
        integer(c_int), intent(in) :: sourceweights(..)
        integer(c_int), intent(in) :: targetgroup
        integer(c_int), intent(in) :: targetweights(..)
        integer(c_int), intent(in) :: info
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(operations, sourcegroup, sourceweights, targetgroup, targetweights, info, comm, ierror)
  end subroutine MPIX_Neighborhood_set_group_int

  subroutine MPIX_Neighborhood_set_targets_f08(operations, outdegree, targets, targetweights, info, comm, ierror)
    integer(c_int), intent(in) :: operations
    integer(c_int), intent(in) :: outdegree
    integer(c_int), intent(in) :: targets(*)
    integer(c_int), intent(in) :: targetweights(..)
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(operations, outdegree, targets, targetweights, info, comm, ierror) &
          bind(C, name="mpixf_Neighborhood_set_targets")
        import
        implicit none
        integer(c_int), intent(in) :: operations
        integer(c_int), intent(in) :: outdegree
        integer(c_int), intent(in) :: targets(*)
        integer(c_int), intent(in) :: targetweights(..)
        type(MPI_Info), intent(in) :: info
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(operations, outdegree, targets, targetweights, info, comm, ierror)
  end subroutine MPIX_Neighborhood_set_targets_f08

  subroutine MPIX_Neighborhood_set_targets_int(operations, outdegree, targets, targetweights, info, comm, ierror)
    integer(c_int), intent(in) :: operations
    integer(c_int), intent(in) :: outdegree
    integer(c_int), intent(in) :: targets(*)
    integer(c_int), intent(in) :: targetweights(..)
    integer(c_int), intent(in) :: info
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(operations, outdegree, targets, targetweights, info, comm, ierror) &
          bind(C, name="mpixf_Neighborhood_set_targets")
        import
        implicit none
        integer(c_int), intent(in) :: operations
        integer(c_int), intent(in) :: outdegree
        integer(c_int), intent(in) :: targets(*)
        integer(c_int), intent(in) :: targetweights(..)
        integer(c_int), intent(in) :: info
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(operations, outdegree, targets, targetweights, info, comm, ierror)
  end subroutine MPIX_Neighborhood_set_targets_int

  subroutine MPIX_Neighborhood_get_count_f08(operation, comm, indegree, outdegree, weighted, ierror)
    integer(c_int), intent(in) :: operation
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out) :: indegree
    integer(c_int), intent(out) :: outdegree
    logical, intent(out) :: weighted
    integer(c_int), intent(out), optional :: ierror
    integer(c_int) :: weighted_in_c
    interface
      subroutine in_c(operation, comm, indegree, outdegree, weighted, ierror) &
          bind(C, name="mpixf_Neighborhood_get_count")
        import
        implicit none
        integer(c_int), intent(in) :: operation
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out) :: indegree
        integer(c_int), intent(out) :: outdegree
        integer(c_int), intent(out) :: weighted
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    weighted_in_c = 0
    call in_c(operation, comm, indegree, outdegree, weighted_in_c, ierror)
    weighted = weighted_in_c /= 0
  end subroutine MPIX_Neighborhood_get_count_f08

  subroutine MPIX_Neighborhood_get_count_int(operation, comm, indegree, outdegree, weighted, ierror)
    integer(c_int), intent(in) :: operation
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out) :: indegree
    integer(c_int), intent(out) :: outdegree
    logical, intent(out) :: weighted
    integer(c_int), intent(out), optional :: ierror
    integer(c_int) :: weighted_in_c
    interface
      subroutine in_c(operation, comm, indegree, outdegree, weighted, ierror) &
          bind(C, name="mpixf_Neighborhood_get_count")
        import
        implicit none
        integer(c_int), intent(in) :: operation
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out) :: indegree
        integer(c_int), intent(out) :: outdegree
        integer(c_int), intent(out) :: weighted
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    weighted_in_c = 0
    call in_c(operation, comm, indegree, outdegree, weighted_in_c, ierror)
    weighted = weighted_in_c /= 0
  end subroutine MPIX_Neighborhood_get_count_int

  subroutine MPIX_Neighborhood_get_f08(operation, comm, maxindegree, sources, sourceweights, maxoutdegree, targets, &
      targetweights, ierror)
    integer(c_int), intent(in) :: operation
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(in) :: maxindegree
    integer(c_int), intent(inout) :: sources(*)
    integer(c_int), intent(inout) :: sourceweights(..)
    integer(c_int), intent(in) :: maxoutdegree
    integer(c_int), intent(inout) :: targets(*)
    integer(c_int), intent(inout) :: targetweights(..)
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(operation, comm, maxindegree, sources, sourceweights, maxoutdegree, targets, targetweights, &
          ierror) &
          bind(C, name="mpixf_Neighborhood_get")
        import
        implicit none
        integer(c_int), intent(in) :: operation
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(in) :: maxindegree
        integer(c_int), intent(inout) :: sources(*)
        integer(c_int), intent(inout) :: sourceweights(..)
        integer(c_int), intent(in) :: maxoutdegree
        integer(c_int), intent(inout) :: targets(*)
        integer(c_int), intent(inout) :: targetweights(..)
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(operation, comm, maxindegree, sources, sourceweights, maxoutdegree, targets, targetweights, ierror)
  end subroutine MPIX_Neighborhood_get_f08

  subroutine MPIX_Neighborhood_get_int(operation, comm, maxindegree, sources, sourceweights, maxoutdegree, targets, &
      targetweights, ierror)
    integer(c_int), intent(in) :: operation
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(in) :: maxindegree
    integer(c_int), intent(inout) :: sources(*)
    integer(c_int), intent(inout) :: sourceweights(..)
    integer(c_int), intent(in) :: maxoutdegree
    integer(c_int), intent(inout) :: targets(*)
    integer(c_int), intent(inout) :: targetweights(..)
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(operation, comm, maxindegree, sources, sourceweights, maxoutdegree, targets, targetweights, &
          ierror) &
          bind(C, name="mpixf_Neighborhood_get")
        import
        implicit none
        integer(c_int), intent(in) :: operation
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(in) :: maxindegree
        integer(c_int), intent(inout) :: sources(*)
        integer(c_int), intent(inout) :: sourceweights(..)
        integer(c_int), intent(in) :: maxoutdegree
        integer(c_int), intent(inout) :: targets(*)
        integer(c_int), intent(inout) :: targetweights(..)
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(operation, comm, maxindegree, sources, sourceweights, maxoutdegree, targets, targetweights, ierror)
  end subroutine MPIX_Neighborhood_get_int

  subroutine MPIX_Neighbor_gather_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcount
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcount
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          comm, ierror) &
          bind(C, name="mpixf_Neighbor_gather")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcount
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcount
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_gather_f08

  subroutine MPIX_Neighbor_gather_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcount
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcount
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          comm, ierror) &
          bind(C, name="mpixf_Neighbor_gather")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcount
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcount
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_gather_int

  subroutine MPIX_Neighbor_gather_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcount
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcount
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          comm, ierror) &
          bind(C, name="mpixf_Neighbor_gather_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcount
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcount
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_gather_c_f08

  subroutine MPIX_Neighbor_gather_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcount
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcount
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          comm, ierror) &
          bind(C, name="mpixf_Neighbor_gather_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcount
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcount
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_gather_c_int

  subroutine MPIX_Neighbor_gatherv_f08(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm, &
      ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcount
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcounts(*)
    integer(c_int), intent(in) :: recvdispls(*)
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcounts, &
          recvdispls, recvtype, comm, ierror) &
          bind(C, name="mpixf_Neighbor_gatherv")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcount
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcounts(*)
        integer(c_int), intent(in) :: recvdispls(*)
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_gatherv_f08

  subroutine MPIX_Neighbor_gatherv_int(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, comm, &
      ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcount
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcounts(*)
    integer(c_int), intent(in) :: recvdispls(*)
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcounts, &
          recvdispls, recvtype, comm, ierror) &
          bind(C, name="mpixf_Neighbor_gatherv")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcount
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcounts(*)
        integer(c_int), intent(in) :: recvdispls(*)
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_gatherv_int

  subroutine MPIX_Neighbor_gatherv_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, &
      comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcount
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcounts, &
          recvdispls, recvtype, comm, ierror) &
          bind(C, name="mpixf_Neighbor_gatherv_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcount
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_gatherv_c_f08

  subroutine MPIX_Neighbor_gatherv_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvdispls, recvtype, &
      comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcount
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcounts, &
          recvdispls, recvtype, comm, ierror) &
          bind(C, name="mpixf_Neighbor_gatherv_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcount
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_gatherv_c_int

  subroutine MPIX_Neighbor_alltoall_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcount
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcount
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoall")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcount
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcount
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_alltoall_f08

  subroutine MPIX_Neighbor_alltoall_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcount
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcount
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoall")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcount
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcount
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_alltoall_int

  subroutine MPIX_Neighbor_alltoall_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcount
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcount
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoall_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcount
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcount
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_alltoall_c_f08

  subroutine MPIX_Neighbor_alltoall_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcount
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcount
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoall_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcount
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcount
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_alltoall_c_int

  subroutine MPIX_Neighbor_alltoallv_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, &
      recvtype, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(c_int), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcounts(*)
    integer(c_int), intent(in) :: recvdispls(*)
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtype, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallv")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(c_int), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcounts(*)
        integer(c_int), intent(in) :: recvdispls(*)
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_alltoallv_f08

  subroutine MPIX_Neighbor_alltoallv_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, &
      recvtype, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(c_int), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcounts(*)
    integer(c_int), intent(in) :: recvdispls(*)
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtype, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallv")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(c_int), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcounts(*)
        integer(c_int), intent(in) :: recvdispls(*)
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_alltoallv_int

  subroutine MPIX_Neighbor_alltoallv_c_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, &
      recvtype, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtype, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallv_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_alltoallv_c_f08

  subroutine MPIX_Neighbor_alltoallv_c_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, &
      recvtype, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtype, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallv_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtype, comm, ierror)
  end subroutine MPIX_Neighbor_alltoallv_c_int

  subroutine MPIX_Neighbor_alltoallw_f08(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, recvdispls, &
      recvtypes, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtypes(*)
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    type(MPI_Datatype), intent(in) :: recvtypes(*)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtypes, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtypes, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallw")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtypes(*)
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        type(MPI_Datatype), intent(in) :: recvtypes(*)
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtypes, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtypes, comm, ierror)
  end subroutine MPIX_Neighbor_alltoallw_f08

  subroutine MPIX_Neighbor_alltoallw_int(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, recvdispls, &
      recvtypes, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtypes(*)
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    integer(c_int), intent(in) :: recvtypes(*)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtypes, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtypes, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallw")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtypes(*)
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        integer(c_int), intent(in) :: recvtypes(*)
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtypes, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtypes, comm, ierror)
  end subroutine MPIX_Neighbor_alltoallw_int

  subroutine MPIX_Neighbor_alltoallw_c_f08(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
      recvdispls, recvtypes, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtypes(*)
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    type(MPI_Datatype), intent(in) :: recvtypes(*)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtypes, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtypes, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallw_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtypes(*)
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        type(MPI_Datatype), intent(in) :: recvtypes(*)
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtypes, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtypes, comm, ierror)
  end subroutine MPIX_Neighbor_alltoallw_c_f08

  subroutine MPIX_Neighbor_alltoallw_c_int(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
      recvdispls, recvtypes, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtypes(*)
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    integer(c_int), intent(in) :: recvtypes(*)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtypes, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtypes, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallw_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtypes(*)
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        integer(c_int), intent(in) :: recvtypes(*)
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtypes, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtypes, comm, ierror)
  end subroutine MPIX_Neighbor_alltoallw_c_int

  subroutine MPIX_Neighbor_alltoallw_fields_f08(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, &
      recvcounts, recvdispls, recvtypes, comm, ierror)
    integer(c_int), intent(in) :: nfields
    integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
    integer(c_int), intent(in) :: sendcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
    type(MPI_Datatype), intent(in) :: sendtypes(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
    integer(c_int), intent(in) :: recvcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
    type(MPI_Datatype), intent(in) :: recvtypes(..)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, &
          recvtypes, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallw_fields")
        import
        implicit none
        integer(c_int), intent(in) :: nfields
        integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
        integer(c_int), intent(in) :: sendcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
        type(MPI_Datatype), intent(in) :: sendtypes(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
        integer(c_int), intent(in) :: recvcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
        type(MPI_Datatype), intent(in) :: recvtypes(..)
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, recvtypes, comm, &
        ierror)
  end subroutine MPIX_Neighbor_alltoallw_fields_f08

  subroutine MPIX_Neighbor_alltoallw_fields_int(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, &
      recvcounts, recvdispls, recvtypes, comm, ierror)
    integer(c_int), intent(in) :: nfields
    integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
    integer(c_int), intent(in) :: sendcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
    integer(c_int), intent(in) :: sendtypes(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
    integer(c_int), intent(in) :: recvcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
    integer(c_int), intent(in) :: recvtypes(..)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, &
          recvtypes, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallw_fields")
        import
        implicit none
        integer(c_int), intent(in) :: nfields
        integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
        integer(c_int), intent(in) :: sendcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
        integer(c_int), intent(in) :: sendtypes(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
        integer(c_int), intent(in) :: recvcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
        integer(c_int), intent(in) :: recvtypes(..)
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, recvtypes, comm, &
        ierror)
  end subroutine MPIX_Neighbor_alltoallw_fields_int

  subroutine MPIX_Neighbor_alltoallw_fields_c_f08(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, &
      recvcounts, recvdispls, recvtypes, comm, ierror)
    integer(c_int), intent(in) :: nfields
    integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
    type(MPI_Datatype), intent(in) :: sendtypes(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
    type(MPI_Datatype), intent(in) :: recvtypes(..)
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, &
          recvtypes, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallw_fields_c")
        import
        implicit none
        integer(c_int), intent(in) :: nfields
        integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
        type(MPI_Datatype), intent(in) :: sendtypes(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
        type(MPI_Datatype), intent(in) :: recvtypes(..)
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, recvtypes, comm, &
        ierror)
  end subroutine MPIX_Neighbor_alltoallw_fields_c_f08

  subroutine MPIX_Neighbor_alltoallw_fields_c_int(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, &
      recvcounts, recvdispls, recvtypes, comm, ierror)
    integer(c_int), intent(in) :: nfields
    integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
    integer(c_int), intent(in) :: sendtypes(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
    integer(c_int), intent(in) :: recvtypes(..)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, &
          recvtypes, comm, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallw_fields_c")
        import
        implicit none
        integer(c_int), intent(in) :: nfields
        integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
        integer(c_int), intent(in) :: sendtypes(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
        integer(c_int), intent(in) :: recvtypes(..)
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, recvtypes, comm, &
        ierror)
  end subroutine MPIX_Neighbor_alltoallw_fields_c_int

  subroutine MPIX_Ineighbor_alltoallw_fields_f08(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, &
      recvcounts, recvdispls, recvtypes, comm, request, ierror)
    integer(c_int), intent(in) :: nfields
    integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
    integer(c_int), intent(in) :: sendcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
    type(MPI_Datatype), intent(in) :: sendtypes(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
    integer(c_int), intent(in) :: recvcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
    type(MPI_Datatype), intent(in) :: recvtypes(..)
    type(MPI_Comm), intent(in) :: comm
    type(MPIX_Request), intent(inout) :: request
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, &
          recvtypes, comm, request, ierror) &
          bind(C, name="mpixf_Ineighbor_alltoallw_fields")
        import
        implicit none
        integer(c_int), intent(in) :: nfields
        integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
        integer(c_int), intent(in) :: sendcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
        type(MPI_Datatype), intent(in) :: sendtypes(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
        integer(c_int), intent(in) :: recvcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
        type(MPI_Datatype), intent(in) :: recvtypes(..)
        type(MPI_Comm), intent(in) :: comm
        type(MPIX_Request), intent(inout) :: request
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, recvtypes, comm, &
        request, ierror)
  end subroutine MPIX_Ineighbor_alltoallw_fields_f08

  subroutine MPIX_Ineighbor_alltoallw_fields_int(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, &
      recvcounts, recvdispls, recvtypes, comm, request, ierror)
    integer(c_int), intent(in) :: nfields
    integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
    integer(c_int), intent(in) :: sendcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
    integer(c_int), intent(in) :: sendtypes(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
    integer(c_int), intent(in) :: recvcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
    integer(c_int), intent(in) :: recvtypes(..)
    integer(c_int), intent(in) :: comm
    type(MPIX_Request), intent(inout) :: request
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, &
          recvtypes, comm, request, ierror) &
          bind(C, name="mpixf_Ineighbor_alltoallw_fields")
        import
        implicit none
        integer(c_int), intent(in) :: nfields
        integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
        integer(c_int), intent(in) :: sendcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
        integer(c_int), intent(in) :: sendtypes(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
        integer(c_int), intent(in) :: recvcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
        integer(c_int), intent(in) :: recvtypes(..)
        integer(c_int), intent(in) :: comm
        type(MPIX_Request), intent(inout) :: request
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, recvtypes, comm, &
        request, ierror)
  end subroutine MPIX_Ineighbor_alltoallw_fields_int

  subroutine MPIX_Ineighbor_alltoallw_fields_c_f08(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, &
      recvcounts, recvdispls, recvtypes, comm, request, ierror)
    integer(c_int), intent(in) :: nfields
    integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
    type(MPI_Datatype), intent(in) :: sendtypes(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
    type(MPI_Datatype), intent(in) :: recvtypes(..)
    type(MPI_Comm), intent(in) :: comm
    type(MPIX_Request), intent(inout) :: request
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, &
          recvtypes, comm, request, ierror) &
          bind(C, name="mpixf_Ineighbor_alltoallw_fields_c")
        import
        implicit none
        integer(c_int), intent(in) :: nfields
        integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
        type(MPI_Datatype), intent(in) :: sendtypes(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
        type(MPI_Datatype), intent(in) :: recvtypes(..)
        type(MPI_Comm), intent(in) :: comm
        type(MPIX_Request), intent(inout) :: request
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, recvtypes, comm, &
        request, ierror)
  end subroutine MPIX_Ineighbor_alltoallw_fields_c_f08

  subroutine MPIX_Ineighbor_alltoallw_fields_c_int(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, &
      recvcounts, recvdispls, recvtypes, comm, request, ierror)
    integer(c_int), intent(in) :: nfields
    integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
    integer(c_int), intent(in) :: sendtypes(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
    integer(c_int), intent(in) :: recvtypes(..)
    integer(c_int), intent(in) :: comm
    type(MPIX_Request), intent(inout) :: request
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, &
          recvtypes, comm, request, ierror) &
          bind(C, name="mpixf_Ineighbor_alltoallw_fields_c")
        import
        implicit none
        integer(c_int), intent(in) :: nfields
        integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
        integer(c_int), intent(in) :: sendtypes(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
        integer(c_int), intent(in) :: recvtypes(..)
        integer(c_int), intent(in) :: comm
        type(MPIX_Request), intent(inout) :: request
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, recvtypes, comm, &
        request, ierror)
  end subroutine MPIX_Ineighbor_alltoallw_fields_c_int

  subroutine MPIX_Neighbor_alltoallw_fields_plan_f08(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, &
      recvcounts, recvdispls, recvtypes, comm, info, request, ierror)
    integer(c_int), intent(in) :: nfields
    integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
    integer(c_int), intent(in) :: sendcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
    type(MPI_Datatype), intent(in) :: sendtypes(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
    integer(c_int), intent(in) :: recvcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
    type(MPI_Datatype), intent(in) :: recvtypes(..)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    type(MPIX_Request), intent(inout) :: request
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, &
          recvtypes, comm, info, request, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallw_fields_plan")
        import
        implicit none
        integer(c_int), intent(in) :: nfields
        integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
        integer(c_int), intent(in) :: sendcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
        type(MPI_Datatype), intent(in) :: sendtypes(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
        integer(c_int), intent(in) :: recvcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
        type(MPI_Datatype), intent(in) :: recvtypes(..)
        type(MPI_Comm), intent(in) :: comm
        type(MPI_Info), intent(in) :: info
        type(MPIX_Request), intent(inout) :: request
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, recvtypes, comm, &
        info, request, ierror)
  end subroutine MPIX_Neighbor_alltoallw_fields_plan_f08

  subroutine MPIX_Neighbor_alltoallw_fields_plan_int(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, &
      recvcounts, recvdispls, recvtypes, comm, info, request, ierror)
    integer(c_int), intent(in) :: nfields
    integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
    integer(c_int), intent(in) :: sendcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
    integer(c_int), intent(in) :: sendtypes(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
    integer(c_int), intent(in) :: recvcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
    integer(c_int), intent(in) :: recvtypes(..)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(in) :: info
    type(MPIX_Request), intent(inout) :: request
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, &
          recvtypes, comm, info, request, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallw_fields_plan")
        import
        implicit none
        integer(c_int), intent(in) :: nfields
        integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
        integer(c_int), intent(in) :: sendcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
        integer(c_int), intent(in) :: sendtypes(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
        integer(c_int), intent(in) :: recvcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
        integer(c_int), intent(in) :: recvtypes(..)
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(in) :: info
        type(MPIX_Request), intent(inout) :: request
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, recvtypes, comm, &
        info, request, ierror)
  end subroutine MPIX_Neighbor_alltoallw_fields_plan_int

  subroutine MPIX_Neighbor_alltoallw_fields_plan_c_f08(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, &
      recvcounts, recvdispls, recvtypes, comm, info, request, ierror)
    integer(c_int), intent(in) :: nfields
    integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
    type(MPI_Datatype), intent(in) :: sendtypes(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
    type(MPI_Datatype), intent(in) :: recvtypes(..)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    type(MPIX_Request), intent(inout) :: request
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, &
          recvtypes, comm, info, request, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallw_fields_plan_c")
        import
        implicit none
        integer(c_int), intent(in) :: nfields
        integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
        type(MPI_Datatype), intent(in) :: sendtypes(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
        type(MPI_Datatype), intent(in) :: recvtypes(..)
        type(MPI_Comm), intent(in) :: comm
        type(MPI_Info), intent(in) :: info
        type(MPIX_Request), intent(inout) :: request
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, recvtypes, comm, &
        info, request, ierror)
  end subroutine MPIX_Neighbor_alltoallw_fields_plan_c_f08

  subroutine MPIX_Neighbor_alltoallw_fields_plan_c_int(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, &
      recvcounts, recvdispls, recvtypes, comm, info, request, ierror)
    integer(c_int), intent(in) :: nfields
    integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
    integer(c_int), intent(in) :: sendtypes(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(..)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
    integer(c_int), intent(in) :: recvtypes(..)
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(in) :: info
    type(MPIX_Request), intent(inout) :: request
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, &
          recvtypes, comm, info, request, ierror) &
          bind(C, name="mpixf_Neighbor_alltoallw_fields_plan_c")
        import
        implicit none
        integer(c_int), intent(in) :: nfields
        integer(MPI_ADDRESS_KIND), intent(in) :: sendbufs(*)
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(..)
        integer(c_int), intent(in) :: sendtypes(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvbufs(*)
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(..)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(..)
        integer(c_int), intent(in) :: recvtypes(..)
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(in) :: info
        type(MPIX_Request), intent(inout) :: request
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(nfields, sendbufs, sendcounts, senddispls, sendtypes, recvbufs, recvcounts, recvdispls, recvtypes, comm, &
        info, request, ierror)
  end subroutine MPIX_Neighbor_alltoallw_fields_plan_c_int

  subroutine MPIX_Neighbor_reduce_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcount
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcount
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_reduce")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcount
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcount
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Op), intent(in) :: op
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_reduce_f08

  subroutine MPIX_Neighbor_reduce_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcount
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcount
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: op
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_reduce")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcount
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcount
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: op
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_reduce_int

  subroutine MPIX_Neighbor_reduce_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcount
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcount
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_reduce_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcount
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcount
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Op), intent(in) :: op
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_reduce_c_f08

  subroutine MPIX_Neighbor_reduce_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcount
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcount
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: op
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_reduce_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcount
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcount
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: op
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_reduce_c_int

  subroutine MPIX_Neighbor_reducev_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, &
      comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(c_int), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcount
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvbuf, recvbuf_is_dense, &
          recvcount, recvtype, op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_reducev")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(c_int), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcount
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Op), intent(in) :: op
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_reducev_f08

  subroutine MPIX_Neighbor_reducev_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, &
      comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(c_int), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcount
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: op
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvbuf, recvbuf_is_dense, &
          recvcount, recvtype, op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_reducev")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(c_int), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcount
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: op
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_reducev_int

  subroutine MPIX_Neighbor_reducev_c_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, &
      comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcount
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvbuf, recvbuf_is_dense, &
          recvcount, recvtype, op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_reducev_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcount
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Op), intent(in) :: op
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_reducev_c_f08

  subroutine MPIX_Neighbor_reducev_c_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcount, recvtype, op, &
      comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcount
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: op
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvbuf, recvbuf_is_dense, &
          recvcount, recvtype, op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_reducev_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcount
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: op
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_reducev_c_int

  subroutine MPIX_Neighbor_accumulate_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
      ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcount
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcount
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_accumulate")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcount
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcount
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Op), intent(in) :: op
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_accumulate_f08

  subroutine MPIX_Neighbor_accumulate_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
      ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcount
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcount
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: op
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_accumulate")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcount
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcount
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: op
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_accumulate_int

  subroutine MPIX_Neighbor_accumulate_c_f08(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
      ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcount
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcount
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_accumulate_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcount
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcount
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Op), intent(in) :: op
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_accumulate_c_f08

  subroutine MPIX_Neighbor_accumulate_c_int(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, op, comm, &
      ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcount
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcount
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: op
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcount, sendtype, recvbuf, recvbuf_is_dense, recvcount, recvtype, &
          op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_accumulate_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcount
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcount
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: op
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcount, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_accumulate_c_int

  subroutine MPIX_Neighbor_accumulatev_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, &
      recvtype, op, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(c_int), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcounts(*)
    integer(c_int), intent(in) :: recvdispls(*)
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtype, op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_accumulatev")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(c_int), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcounts(*)
        integer(c_int), intent(in) :: recvdispls(*)
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Op), intent(in) :: op
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_accumulatev_f08

  subroutine MPIX_Neighbor_accumulatev_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, recvdispls, &
      recvtype, op, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(c_int), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcounts(*)
    integer(c_int), intent(in) :: recvdispls(*)
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: op
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtype, op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_accumulatev")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(c_int), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcounts(*)
        integer(c_int), intent(in) :: recvdispls(*)
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: op
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_accumulatev_int

  subroutine MPIX_Neighbor_accumulatev_c_f08(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
      recvdispls, recvtype, op, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtype, op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_accumulatev_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Op), intent(in) :: op
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_accumulatev_c_f08

  subroutine MPIX_Neighbor_accumulatev_c_int(sendbuf, sendcounts, senddispls, sendtype, recvbuf, recvcounts, &
      recvdispls, recvtype, op, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtype
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: op
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtype, op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_accumulatev_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtype
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: op
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtype, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtype, op, comm, ierror)
  end subroutine MPIX_Neighbor_accumulatev_c_int

  subroutine MPIX_Neighbor_accumulatew_f08(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
      recvdispls, recvtypes, op, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtypes(*)
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    type(MPI_Datatype), intent(in) :: recvtypes(*)
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtypes, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtypes, op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_accumulatew")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtypes(*)
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        type(MPI_Datatype), intent(in) :: recvtypes(*)
        type(MPI_Op), intent(in) :: op
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtypes, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtypes, op, comm, ierror)
  end subroutine MPIX_Neighbor_accumulatew_f08

  subroutine MPIX_Neighbor_accumulatew_int(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
      recvdispls, recvtypes, op, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtypes(*)
    type(*) :: recvbuf(..)
    integer(c_int), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    integer(c_int), intent(in) :: recvtypes(*)
    integer(c_int), intent(in) :: op
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtypes, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtypes, op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_accumulatew")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtypes(*)
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        integer(c_int), intent(in) :: recvtypes(*)
        integer(c_int), intent(in) :: op
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtypes, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtypes, op, comm, ierror)
  end subroutine MPIX_Neighbor_accumulatew_int

  subroutine MPIX_Neighbor_accumulatew_c_f08(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
      recvdispls, recvtypes, op, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtypes(*)
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    type(MPI_Datatype), intent(in) :: recvtypes(*)
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtypes, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtypes, op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_accumulatew_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtypes(*)
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        type(MPI_Datatype), intent(in) :: recvtypes(*)
        type(MPI_Op), intent(in) :: op
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtypes, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtypes, op, comm, ierror)
  end subroutine MPIX_Neighbor_accumulatew_c_f08

  subroutine MPIX_Neighbor_accumulatew_c_int(sendbuf, sendcounts, senddispls, sendtypes, recvbuf, recvcounts, &
      recvdispls, recvtypes, op, comm, ierror)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtypes(*)
    type(*) :: recvbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
    integer(c_int), intent(in) :: recvtypes(*)
    integer(c_int), intent(in) :: op
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtypes, recvbuf, recvbuf_is_dense, &
          recvcounts, recvdispls, recvtypes, op, comm, ierror) &
          bind(C, name="mpixf_Neighbor_accumulatew_c")
        import
        implicit none
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtypes(*)
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: recvcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: recvdispls(*)
        integer(c_int), intent(in) :: recvtypes(*)
        integer(c_int), intent(in) :: op
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, sendtypes, recvbuf, &
        merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), recvcounts, recvdispls, recvtypes, op, comm, ierror)
  end subroutine MPIX_Neighbor_accumulatew_c_int

  subroutine MPIX_Request_test(request, flag, ierror)
    type(MPIX_Request), intent(inout) :: request
    logical, intent(out) :: flag
    integer(c_int), intent(out), optional :: ierror
    integer(c_int) :: flag_in_c
    interface
      subroutine in_c(request, flag, ierror) &
          bind(C, name="mpixf_Request_test")
        import
        implicit none
        type(MPIX_Request), intent(inout) :: request
        integer(c_int), intent(out) :: flag
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    flag_in_c = 0
    call in_c(request, flag_in_c, ierror)
    flag = flag_in_c /= 0
  end subroutine MPIX_Request_test

  subroutine MPIX_Request_testall(count, requests, flag, ierror)
    integer(c_int), intent(in) :: count
    type(MPIX_Request), intent(inout) :: requests(*)
    logical, intent(out) :: flag
    integer(c_int), intent(out), optional :: ierror
    integer(c_int) :: flag_in_c
    interface
      subroutine in_c(count, requests, flag, ierror) &
          bind(C, name="mpixf_Request_testall")
        import
        implicit none
        integer(c_int), intent(in) :: count
        type(MPIX_Request), intent(inout) :: requests(*)
        integer(c_int), intent(out) :: flag
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    flag_in_c = 0
    call in_c(count, requests, flag_in_c, ierror)
    flag = flag_in_c /= 0
  end subroutine MPIX_Request_testall

  subroutine MPIX_Request_testany(count, requests, index, flag, ierror)
    integer(c_int), intent(in) :: count
    type(MPIX_Request), intent(inout) :: requests(*)
    integer(c_int), intent(out) :: index
    logical, intent(out) :: flag
    integer(c_int), intent(out), optional :: ierror
    integer(c_int) :: flag_in_c
    interface
      subroutine in_c(count, requests, index, flag, ierror) &
          bind(C, name="mpixf_Request_testany")
        import
        implicit none
        integer(c_int), intent(in) :: count
        type(MPIX_Request), intent(inout) :: requests(*)
        integer(c_int), intent(out) :: index
        integer(c_int), intent(out) :: flag
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    flag_in_c = 0
    call in_c(count, requests, index, flag_in_c, ierror)
    flag = flag_in_c /= 0
  end subroutine MPIX_Request_testany

  subroutine MPIX_Request_test_source(request, index, flag, ierror)
    type(MPIX_Request), intent(in) :: request
    integer(c_int), intent(in) :: index
    logical, intent(out) :: flag
    integer(c_int), intent(out), optional :: ierror
    integer(c_int) :: flag_in_c
    interface
      subroutine in_c(request, index, flag, ierror) &
          bind(C, name="mpixf_Request_test_source")
        import
        implicit none
        type(MPIX_Request), intent(in) :: request
        integer(c_int), intent(in) :: index
        integer(c_int), intent(out) :: flag
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    flag_in_c = 0
    call in_c(request, index, flag_in_c, ierror)
    flag = flag_in_c /= 0
  end subroutine MPIX_Request_test_source

  subroutine MPIX_Sparse_exchange_f08(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, info, &
      comm, result, ierror)
    integer(c_int), intent(in) :: ntargets
    integer(c_int), intent(in) :: targets(*)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(c_int), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtype
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(in) :: comm
    type(MPIX_Sparse_result), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(ntargets, targets, sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvtype, info, &
          comm, result, ierror) &
          bind(C, name="mpixf_Sparse_exchange")
        import
        implicit none
        integer(c_int), intent(in) :: ntargets
        integer(c_int), intent(in) :: targets(*)
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(c_int), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtype
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Info), intent(in) :: info
        type(MPI_Comm), intent(in) :: comm
        type(MPIX_Sparse_result), intent(inout) :: result
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(ntargets, targets, sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, &
        sendtype, recvtype, info, comm, result, ierror)
  end subroutine MPIX_Sparse_exchange_f08

  subroutine MPIX_Sparse_exchange_int(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, info, &
      comm, result, ierror)
    integer(c_int), intent(in) :: ntargets
    integer(c_int), intent(in) :: targets(*)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(c_int), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtype
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: info
    integer(c_int), intent(in) :: comm
    type(MPIX_Sparse_result), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(ntargets, targets, sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvtype, info, &
          comm, result, ierror) &
          bind(C, name="mpixf_Sparse_exchange")
        import
        implicit none
        integer(c_int), intent(in) :: ntargets
        integer(c_int), intent(in) :: targets(*)
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(c_int), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtype
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: info
        integer(c_int), intent(in) :: comm
        type(MPIX_Sparse_result), intent(inout) :: result
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(ntargets, targets, sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, &
        sendtype, recvtype, info, comm, result, ierror)
  end subroutine MPIX_Sparse_exchange_int

  subroutine MPIX_Sparse_exchange_c_f08(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, info, &
      comm, result, ierror)
    integer(c_int), intent(in) :: ntargets
    integer(c_int), intent(in) :: targets(*)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtype
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(in) :: comm
    type(MPIX_Sparse_result), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(ntargets, targets, sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvtype, info, &
          comm, result, ierror) &
          bind(C, name="mpixf_Sparse_exchange_c")
        import
        implicit none
        integer(c_int), intent(in) :: ntargets
        integer(c_int), intent(in) :: targets(*)
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtype
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Info), intent(in) :: info
        type(MPI_Comm), intent(in) :: comm
        type(MPIX_Sparse_result), intent(inout) :: result
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(ntargets, targets, sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, &
        sendtype, recvtype, info, comm, result, ierror)
  end subroutine MPIX_Sparse_exchange_c_f08

  subroutine MPIX_Sparse_exchange_c_int(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, info, &
      comm, result, ierror)
    integer(c_int), intent(in) :: ntargets
    integer(c_int), intent(in) :: targets(*)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtype
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: info
    integer(c_int), intent(in) :: comm
    type(MPIX_Sparse_result), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(ntargets, targets, sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvtype, info, &
          comm, result, ierror) &
          bind(C, name="mpixf_Sparse_exchange_c")
        import
        implicit none
        integer(c_int), intent(in) :: ntargets
        integer(c_int), intent(in) :: targets(*)
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtype
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: info
        integer(c_int), intent(in) :: comm
        type(MPIX_Sparse_result), intent(inout) :: result
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(ntargets, targets, sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, &
        sendtype, recvtype, info, comm, result, ierror)
  end subroutine MPIX_Sparse_exchange_c_int

  subroutine MPIX_Sparse_exchange_block_f08(ntargets, targets, sendbuf, sendcount, sendtype, recvtype, info, comm, &
      result, ierror)
    integer(c_int), intent(in) :: ntargets
    integer(c_int), intent(in) :: targets(*)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcount
    type(MPI_Datatype), intent(in) :: sendtype
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(in) :: comm
    type(MPIX_Sparse_result), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(ntargets, targets, sendbuf, sendbuf_is_dense, sendcount, sendtype, recvtype, info, comm, result, &
          ierror) &
          bind(C, name="mpixf_Sparse_exchange_block")
        import
        implicit none
        integer(c_int), intent(in) :: ntargets
        integer(c_int), intent(in) :: targets(*)
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcount
        type(MPI_Datatype), intent(in) :: sendtype
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Info), intent(in) :: info
        type(MPI_Comm), intent(in) :: comm
        type(MPIX_Sparse_result), intent(inout) :: result
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(ntargets, targets, sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, &
        recvtype, info, comm, result, ierror)
  end subroutine MPIX_Sparse_exchange_block_f08

  subroutine MPIX_Sparse_exchange_block_int(ntargets, targets, sendbuf, sendcount, sendtype, recvtype, info, comm, &
      result, ierror)
    integer(c_int), intent(in) :: ntargets
    integer(c_int), intent(in) :: targets(*)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcount
    integer(c_int), intent(in) :: sendtype
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: info
    integer(c_int), intent(in) :: comm
    type(MPIX_Sparse_result), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(ntargets, targets, sendbuf, sendbuf_is_dense, sendcount, sendtype, recvtype, info, comm, result, &
          ierror) &
          bind(C, name="mpixf_Sparse_exchange_block")
        import
        implicit none
        integer(c_int), intent(in) :: ntargets
        integer(c_int), intent(in) :: targets(*)
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcount
        integer(c_int), intent(in) :: sendtype
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: info
        integer(c_int), intent(in) :: comm
        type(MPIX_Sparse_result), intent(inout) :: result
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(ntargets, targets, sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, &
        recvtype, info, comm, result, ierror)
  end subroutine MPIX_Sparse_exchange_block_int

  subroutine MPIX_Sparse_exchange_block_c_f08(ntargets, targets, sendbuf, sendcount, sendtype, recvtype, info, comm, &
      result, ierror)
    integer(c_int), intent(in) :: ntargets
    integer(c_int), intent(in) :: targets(*)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcount
    type(MPI_Datatype), intent(in) :: sendtype
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(in) :: comm
    type(MPIX_Sparse_result), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(ntargets, targets, sendbuf, sendbuf_is_dense, sendcount, sendtype, recvtype, info, comm, result, &
          ierror) &
          bind(C, name="mpixf_Sparse_exchange_block_c")
        import
        implicit none
        integer(c_int), intent(in) :: ntargets
        integer(c_int), intent(in) :: targets(*)
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcount
        type(MPI_Datatype), intent(in) :: sendtype
        type(MPI_Datatype), intent(in) :: recvtype
        type(MPI_Info), intent(in) :: info
        type(MPI_Comm), intent(in) :: comm
        type(MPIX_Sparse_result), intent(inout) :: result
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(ntargets, targets, sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, &
        recvtype, info, comm, result, ierror)
  end subroutine MPIX_Sparse_exchange_block_c_f08

  subroutine MPIX_Sparse_exchange_block_c_int(ntargets, targets, sendbuf, sendcount, sendtype, recvtype, info, comm, &
      result, ierror)
    integer(c_int), intent(in) :: ntargets
    integer(c_int), intent(in) :: targets(*)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcount
    integer(c_int), intent(in) :: sendtype
    integer(c_int), intent(in) :: recvtype
    integer(c_int), intent(in) :: info
    integer(c_int), intent(in) :: comm
    type(MPIX_Sparse_result), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(ntargets, targets, sendbuf, sendbuf_is_dense, sendcount, sendtype, recvtype, info, comm, result, &
          ierror) &
          bind(C, name="mpixf_Sparse_exchange_block_c")
        import
        implicit none
        integer(c_int), intent(in) :: ntargets
        integer(c_int), intent(in) :: targets(*)
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcount
        integer(c_int), intent(in) :: sendtype
        integer(c_int), intent(in) :: recvtype
        integer(c_int), intent(in) :: info
        integer(c_int), intent(in) :: comm
        type(MPIX_Sparse_result), intent(inout) :: result
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(ntargets, targets, sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcount, sendtype, &
        recvtype, info, comm, result, ierror)
  end subroutine MPIX_Sparse_exchange_block_c_int

  subroutine MPIX_Sparse_exchange_each_f08(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, &
      function, context, info, comm, ierror)
    integer(c_int), intent(in) :: ntargets
    integer(c_int), intent(in) :: targets(*)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(c_int), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtype
    type(MPI_Datatype), intent(in) :: recvtype
    procedure(MPIX_Sparse_function) :: function
    type(c_ptr), value :: context
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(ntargets, targets, sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvtype, &
          function, context, info, comm, ierror) &
          bind(C, name="mpixf_Sparse_exchange_each")
        import
        implicit none
        integer(c_int), intent(in) :: ntargets
        integer(c_int), intent(in) :: targets(*)
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(c_int), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtype
        type(MPI_Datatype), intent(in) :: recvtype
        procedure(MPIX_Sparse_function) :: function
        type(c_ptr), value :: context
        type(MPI_Info), intent(in) :: info
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(ntargets, targets, sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, &
        sendtype, recvtype, function, context, info, comm, ierror)
  end subroutine MPIX_Sparse_exchange_each_f08

  subroutine MPIX_Sparse_exchange_each_int(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, &
      function, context, info, comm, ierror)
    integer(c_int), intent(in) :: ntargets
    integer(c_int), intent(in) :: targets(*)
    type(*), intent(in) :: sendbuf(..)
    integer(c_int), intent(in) :: sendcounts(*)
    integer(c_int), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtype
    integer(c_int), intent(in) :: recvtype
    procedure(MPIX_Sparse_function) :: function
    type(c_ptr), value :: context
    integer(c_int), intent(in) :: info
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(ntargets, targets, sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvtype, &
          function, context, info, comm, ierror) &
          bind(C, name="mpixf_Sparse_exchange_each")
        import
        implicit none
        integer(c_int), intent(in) :: ntargets
        integer(c_int), intent(in) :: targets(*)
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(c_int), intent(in) :: sendcounts(*)
        integer(c_int), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtype
        integer(c_int), intent(in) :: recvtype
        procedure(MPIX_Sparse_function) :: function
        type(c_ptr), value :: context
        integer(c_int), intent(in) :: info
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(ntargets, targets, sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, &
        sendtype, recvtype, function, context, info, comm, ierror)
  end subroutine MPIX_Sparse_exchange_each_int

  subroutine MPIX_Sparse_exchange_each_c_f08(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, &
      function, context, info, comm, ierror)
    integer(c_int), intent(in) :: ntargets
    integer(c_int), intent(in) :: targets(*)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    type(MPI_Datatype), intent(in) :: sendtype
    type(MPI_Datatype), intent(in) :: recvtype
    procedure(MPIX_Sparse_function) :: function
    type(c_ptr), value :: context
    type(MPI_Info), intent(in) :: info
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(ntargets, targets, sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvtype, &
          function, context, info, comm, ierror) &
          bind(C, name="mpixf_Sparse_exchange_each_c")
        import
        implicit none
        integer(c_int), intent(in) :: ntargets
        integer(c_int), intent(in) :: targets(*)
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        type(MPI_Datatype), intent(in) :: sendtype
        type(MPI_Datatype), intent(in) :: recvtype
        procedure(MPIX_Sparse_function) :: function
        type(c_ptr), value :: context
        type(MPI_Info), intent(in) :: info
        type(MPI_Comm), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(ntargets, targets, sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, &
        sendtype, recvtype, function, context, info, comm, ierror)
  end subroutine MPIX_Sparse_exchange_each_c_f08

  subroutine MPIX_Sparse_exchange_each_c_int(ntargets, targets, sendbuf, sendcounts, senddispls, sendtype, recvtype, &
      function, context, info, comm, ierror)
    integer(c_int), intent(in) :: ntargets
    integer(c_int), intent(in) :: targets(*)
    type(*), intent(in) :: sendbuf(..)
    integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
    integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
    integer(c_int), intent(in) :: sendtype
    integer(c_int), intent(in) :: recvtype
    procedure(MPIX_Sparse_function) :: function
    type(c_ptr), value :: context
    integer(c_int), intent(in) :: info
    integer(c_int), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(ntargets, targets, sendbuf, sendbuf_is_dense, sendcounts, senddispls, sendtype, recvtype, &
          function, context, info, comm, ierror) &
          bind(C, name="mpixf_Sparse_exchange_each_c")
        import
        implicit none
        integer(c_int), intent(in) :: ntargets
        integer(c_int), intent(in) :: targets(*)
        type(*), intent(in) :: sendbuf(..)
        integer(c_int), value :: sendbuf_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: sendcounts(*)
        integer(MPI_ADDRESS_KIND), intent(in) :: senddispls(*)
        integer(c_int), intent(in) :: sendtype
        integer(c_int), intent(in) :: recvtype
        procedure(MPIX_Sparse_function) :: function
        type(c_ptr), value :: context
        integer(c_int), intent(in) :: info
        integer(c_int), intent(in) :: comm
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(ntargets, targets, sendbuf, merge(1_c_int, 0_c_int, is_contiguous(sendbuf)), sendcounts, senddispls, &
        sendtype, recvtype, function, context, info, comm, ierror)
  end subroutine MPIX_Sparse_exchange_each_c_int

  subroutine MPIX_Sparse_test(request, flag, result, ierror)
    type(MPIX_Sparse_request), intent(inout) :: request
    logical, intent(out) :: flag
    type(MPIX_Sparse_result), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierror
    integer(c_int) :: flag_in_c
    interface
      subroutine in_c(request, flag, result, ierror) &
          bind(C, name="mpixf_Sparse_test")
        import
        implicit none
        type(MPIX_Sparse_request), intent(inout) :: request
        integer(c_int), intent(out) :: flag
        type(MPIX_Sparse_result), intent(inout) :: result
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    flag_in_c = 0
    call in_c(request, flag_in_c, result, ierror)
    flag = flag_in_c /= 0
  end subroutine MPIX_Sparse_test

  subroutine MPIX_Sparse_copy(result, maxcount, recvbuf, ierror)
    type(MPIX_Sparse_result), intent(in) :: result
    integer(MPI_COUNT_KIND), intent(in) :: maxcount
    type(*) :: recvbuf(..)
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(result, maxcount, recvbuf, recvbuf_is_dense, ierror) &
          bind(C, name="mpixf_Sparse_copy")
        import
        implicit none
        type(MPIX_Sparse_result), intent(in) :: result
        integer(MPI_COUNT_KIND), intent(in) :: maxcount
        type(*) :: recvbuf(..)
        integer(c_int), value :: recvbuf_is_dense
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(result, maxcount, recvbuf, merge(1_c_int, 0_c_int, is_contiguous(recvbuf)), ierror)
  end subroutine MPIX_Sparse_copy

  subroutine MPIX_Sparse_plan_test(plan, flag, ierror)
    type(MPIX_Sparse_plan), intent(in) :: plan
    logical, intent(out) :: flag
    integer(c_int), intent(out), optional :: ierror
    integer(c_int) :: flag_in_c
    interface
      subroutine in_c(plan, flag, ierror) &
          bind(C, name="mpixf_Sparse_plan_test")
        import
        implicit none
        type(MPIX_Sparse_plan), intent(in) :: plan
        integer(c_int), intent(out) :: flag
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    flag_in_c = 0
    call in_c(plan, flag_in_c, ierror)
    flag = flag_in_c /= 0
  end subroutine MPIX_Sparse_plan_test

  subroutine MPIX_Sparse_window_put(origin, count, target, indices, window, ierror)
    type(*), intent(in) :: origin(..)
    integer(c_int), intent(in) :: count
    integer(c_int), intent(in) :: target
    integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
    type(MPIX_Sparse_window), intent(in) :: window
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(origin, origin_is_dense, count, target, indices, window, ierror) &
          bind(C, name="mpixf_Sparse_window_put")
        import
        implicit none
        type(*), intent(in) :: origin(..)
        integer(c_int), value :: origin_is_dense
        integer(c_int), intent(in) :: count
        integer(c_int), intent(in) :: target
        integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
        type(MPIX_Sparse_window), intent(in) :: window
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(origin, merge(1_c_int, 0_c_int, is_contiguous(origin)), count, target, indices, window, ierror)
  end subroutine MPIX_Sparse_window_put

  subroutine MPIX_Sparse_window_put_c(origin, count, target, indices, window, ierror)
    type(*), intent(in) :: origin(..)
    integer(MPI_COUNT_KIND), intent(in) :: count
    integer(c_int), intent(in) :: target
    integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
    type(MPIX_Sparse_window), intent(in) :: window
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(origin, origin_is_dense, count, target, indices, window, ierror) &
          bind(C, name="mpixf_Sparse_window_put_c")
        import
        implicit none
        type(*), intent(in) :: origin(..)
        integer(c_int), value :: origin_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: count
        integer(c_int), intent(in) :: target
        integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
        type(MPIX_Sparse_window), intent(in) :: window
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(origin, merge(1_c_int, 0_c_int, is_contiguous(origin)), count, target, indices, window, ierror)
  end subroutine MPIX_Sparse_window_put_c

  subroutine MPIX_Sparse_window_accumulate_f08(origin, count, target, indices, op, window, ierror)
    type(*), intent(in) :: origin(..)
    integer(c_int), intent(in) :: count
    integer(c_int), intent(in) :: target
    integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
    type(MPI_Op), intent(in) :: op
    type(MPIX_Sparse_window), intent(in) :: window
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(origin, origin_is_dense, count, target, indices, op, window, ierror) &
          bind(C, name="mpixf_Sparse_window_accumulate")
        import
        implicit none
        type(*), intent(in) :: origin(..)
        integer(c_int), value :: origin_is_dense
        integer(c_int), intent(in) :: count
        integer(c_int), intent(in) :: target
        integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
        type(MPI_Op), intent(in) :: op
        type(MPIX_Sparse_window), intent(in) :: window
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(origin, merge(1_c_int, 0_c_int, is_contiguous(origin)), count, target, indices, op, window, ierror)
  end subroutine MPIX_Sparse_window_accumulate_f08

  subroutine MPIX_Sparse_window_accumulate_int(origin, count, target, indices, op, window, ierror)
    type(*), intent(in) :: origin(..)
    integer(c_int), intent(in) :: count
    integer(c_int), intent(in) :: target
    integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
    integer(c_int), intent(in) :: op
    type(MPIX_Sparse_window), intent(in) :: window
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(origin, origin_is_dense, count, target, indices, op, window, ierror) &
          bind(C, name="mpixf_Sparse_window_accumulate")
        import
        implicit none
        type(*), intent(in) :: origin(..)
        integer(c_int), value :: origin_is_dense
        integer(c_int), intent(in) :: count
        integer(c_int), intent(in) :: target
        integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
        integer(c_int), intent(in) :: op
        type(MPIX_Sparse_window), intent(in) :: window
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(origin, merge(1_c_int, 0_c_int, is_contiguous(origin)), count, target, indices, op, window, ierror)
  end subroutine MPIX_Sparse_window_accumulate_int

  subroutine MPIX_Sparse_window_accumulate_c_f08(origin, count, target, indices, op, window, ierror)
    type(*), intent(in) :: origin(..)
    integer(MPI_COUNT_KIND), intent(in) :: count
    integer(c_int), intent(in) :: target
    integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
    type(MPI_Op), intent(in) :: op
    type(MPIX_Sparse_window), intent(in) :: window
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(origin, origin_is_dense, count, target, indices, op, window, ierror) &
          bind(C, name="mpixf_Sparse_window_accumulate_c")
        import
        implicit none
        type(*), intent(in) :: origin(..)
        integer(c_int), value :: origin_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: count
        integer(c_int), intent(in) :: target
        integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
        type(MPI_Op), intent(in) :: op
        type(MPIX_Sparse_window), intent(in) :: window
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(origin, merge(1_c_int, 0_c_int, is_contiguous(origin)), count, target, indices, op, window, ierror)
  end subroutine MPIX_Sparse_window_accumulate_c_f08

  subroutine MPIX_Sparse_window_accumulate_c_int(origin, count, target, indices, op, window, ierror)
    type(*), intent(in) :: origin(..)
    integer(MPI_COUNT_KIND), intent(in) :: count
    integer(c_int), intent(in) :: target
    integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
    integer(c_int), intent(in) :: op
    type(MPIX_Sparse_window), intent(in) :: window
    integer(c_int), intent(out), optional :: ierror
    interface
      subroutine in_c(origin, origin_is_dense, count, target, indices, op, window, ierror) &
          bind(C, name="mpixf_Sparse_window_accumulate_c")
        import
        implicit none
        type(*), intent(in) :: origin(..)
        integer(c_int), value :: origin_is_dense
        integer(MPI_COUNT_KIND), intent(in) :: count
        integer(c_int), intent(in) :: target
        integer(MPI_ADDRESS_KIND), intent(in) :: indices(*)
        integer(c_int), intent(in) :: op
        type(MPIX_Sparse_window), intent(in) :: window
        integer(c_int), intent(out), optional :: ierror
      end subroutine in_c
    end interface
    call in_c(origin, merge(1_c_int, 0_c_int, is_contiguous(origin)), count, target, indices, op, window, ierror)
  end subroutine MPIX_Sparse_window_accumulate_c_int

end module mpix_neighbor
