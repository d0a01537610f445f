! Buffers that compilers describe in other ways: parts of pointers to components, polymorphic
! variables, arrays of assumed size, vector subscripts.
#include "test.h"

module descriptors
  use test
  implicit none

  type pair
    double precision :: before
    integer :: value
  end type pair
  type, extends(pair) :: wide
    integer :: more(3)
  end type wide

  integer :: ierror

contains

  ! what a process sends to itself is what it receives
  subroutine shapeless(send, recv, length, text)
    type(*), intent(in) :: send(..)
    type(*) :: recv(..)
    integer, intent(in) :: length
    character(len=*), intent(in) :: text
    call MPIX_Neighbor_gather(send, length, MPI_INTEGER, recv, length, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, text)
  end subroutine shapeless

  subroutine of_any_type(send, recv, length, text)
    class(*), intent(in) :: send(:)
    class(*), intent(inout) :: recv(:)
    integer, intent(in) :: length
    character(len=*), intent(in) :: text
    call MPIX_Neighbor_gather(send, length, MPI_INTEGER, recv, length, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, text)
  end subroutine of_any_type

  subroutine matrix_of_any_type(send, recv, length, text)
    class(*), intent(in) :: send(:, :)
    class(*), intent(inout) :: recv(:, :)
    integer, intent(in) :: length
    character(len=*), intent(in) :: text
    call MPIX_Neighbor_gather(send, length, MPI_INTEGER, recv, length, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, text)
  end subroutine matrix_of_any_type

  subroutine scalar_of_any_type(send, recv, text)
    class(*), intent(in) :: send
    class(*), intent(inout) :: recv
    character(len=*), intent(in) :: text
    call MPIX_Neighbor_gather(send, 1, MPI_INTEGER, recv, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, text)
  end subroutine scalar_of_any_type

  ! how long its elements are is not told: an error, and nothing is written
  subroutine gaps_of_any_type(send, recv)
    class(*), intent(in) :: send(:)
    class(*), intent(inout) :: recv(:)
    call MPIX_Neighbor_gather(send, 0, MPI_INTEGER, recv, size(send), MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_BUFFER, 'Fortran array with gaps')
  end subroutine gaps_of_any_type

  ! a scalar of class(*) that would be in use for longer
  subroutine started_of_any_type(send, recv)
    class(*), intent(in), asynchronous :: send
    integer, asynchronous :: recv(:)
    type(MPIX_Request) :: request
    call MPIX_Ineighbor_gather(send, 1, MPI_INTEGER, recv, 1, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
    call fails(ierror, MPI_ERR_BUFFER, 'Fortran array with gaps')
  end subroutine started_of_any_type

  ! an array of the declared type, and one of a longer type, whose elements' length is not told
  subroutine of_a_class(send, recv, is_longer)
    class(pair), intent(in) :: send(:)
    class(pair), intent(inout) :: recv(:)
    logical, intent(in) :: is_longer
    integer :: bytes
    bytes = size(send) * storage_size(send) / 8
    call MPIX_Neighbor_gather(send, bytes, MPI_BYTE, recv, bytes, MPI_BYTE, MPI_COMM_WORLD, ierror)
    if (is_longer) then
      call fails(ierror, MPI_ERR_BUFFER, 'Fortran array with gaps')
    else
      call ok(ierror, 'class(pair)')
    end if
  end subroutine of_a_class

  subroutine of_assumed_size(send, recv, length)
    integer, intent(in) :: send(0:*), length
    integer, intent(inout) :: recv(2, *)
    call MPIX_Neighbor_gather(send, length, MPI_INTEGER, recv, length, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'assumed size')
  end subroutine of_assumed_size

end module descriptors

program main
  use descriptors
  implicit none
  integer :: i

  call start()
  call MPIX_Neighborhood_set(MPIX_FOR_GATHER, 1, [rank], MPI_UNWEIGHTED, 1, [rank], MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD, &
      ierror)
  call ok(ierror, 'set')
  call components()
  call started_components()
  call weights()
  call polymorphic()
  call other_arrays()
  call finish()

contains

  subroutine components()
    type(pair), target :: from(4), into(4)
    integer, pointer :: send(:), recv(:)
    from%value = [1, 2, 3, 4]
    into%value = untouched
    send => from%value
    recv => into%value
    call gather(send, recv, 4, 'pointers to components')
    call equal(into%value, [1, 2, 3, 4], 'pointers to components')
    into%value = untouched
    call MPIX_Neighbor_gather(send(2:3), 2, MPI_INTEGER, recv(3:4), 2, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'parts of pointers to components')
    call equal(into%value, [untouched, untouched, 2, 3], 'parts of pointers to components')
    into%value = untouched
    call MPIX_Neighbor_gather(send(4:1:-1), 4, MPI_INTEGER, recv, 4, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'a pointer to components, backwards')
    call equal(into%value, [4, 3, 2, 1], 'a pointer to components, backwards')
    into%value = untouched
    call MPIX_Neighbor_gather(from%value, 4, MPI_INTEGER, recv(4:1:-1), 4, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'components, received backwards')
    call equal(into%value, [4, 3, 2, 1], 'components, received backwards')
    into%value = untouched
    call shapeless(send(1:4:2), into(2:3)%value, 2, 'components through type(*)')
    call equal(into%value, [untouched, 1, 3, untouched], 'components through type(*)')
  end subroutine components

  subroutine gather(send, recv, length, text)
    integer, intent(in), pointer :: send(:)
    integer, pointer :: recv(:)
    integer, intent(in) :: length
    character(len=*), intent(in) :: text
    call MPIX_Neighbor_gather(send, length, MPI_INTEGER, recv, length, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, text)
  end subroutine gather

  ! no copy is made that would be gone when data arrive
  subroutine started_components()
    type(pair), target :: from(4)
    integer, pointer, asynchronous :: recv(:)
    integer, asynchronous :: send(4)
    type(MPIX_Request) :: request
    from%value = untouched
    send = 1
    recv => from%value
    call MPIX_Ineighbor_gather(send, 4, MPI_INTEGER, recv, 4, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
    call fails(ierror, MPI_ERR_BUFFER, 'Fortran array with gaps')
    call MPIX_Neighbor_gather_plan(send, 4, MPI_INTEGER, from%value, 4, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
    call fails(ierror, MPI_ERR_BUFFER, 'Fortran array with gaps')
    call equal(from%value, spread(untouched, 1, 4), 'written by calls that failed')
    call started_of_any_type(3, send)
  end subroutine started_components

  subroutine weights()
    type(pair), target :: from(4)
    integer, pointer :: given(:)
    integer :: sources(2), targets(2), sourceweights(2), targetweights(2)
    from%value = [1, 2, 3, 4]
    given => from%value
    call MPIX_Neighborhood_set(MPIX_FOR_ALLTOALL, 2, [rank, rank], given(2:3), 2, [rank, rank], given(2:3), MPI_INFO_NULL, &
        MPI_COMM_WORLD, ierror)
    call ok(ierror, 'set with weights')
    call MPIX_Neighborhood_get(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, 2, sources, sourceweights, 2, targets, targetweights, ierror)
    call ok(ierror, 'get')
    call equal(sourceweights, [2, 3], 'weights of sources')
    call equal(targetweights, [2, 3], 'weights of targets')
  end subroutine weights

  subroutine polymorphic()
    integer :: send(12), recv(24), block(3, 4), got(3, 4), one
    character(len=3) :: words(4), read(4)
    type(wide) :: from(3), into(3)
    type(pair) :: plain(3), short(3)
    class(pair), pointer :: pointed(:)
    send = [(i, i = 1, 12)]
    recv = untouched
    call of_any_type(send, recv(1:12), 12, 'class(*)')
    call equal(recv, [send, spread(untouched, 1, 12)], 'class(*)')
    recv = untouched
    call of_any_type(send(3:5), recv(2:4), 3, 'class(*), parts')
    call equal(recv, [untouched, 3, 4, 5, spread(untouched, 1, 20)], 'class(*), parts')
    block = reshape(send, [3, 4])
    got = untouched
    call matrix_of_any_type(block, got, 12, 'class(*), a matrix')
    call equal([got], send, 'class(*), a matrix')
    words = ['one', 'two', 'six', 'ten']
    read = ''
    call of_any_type(words, read, 3, 'class(*), strings')
    call check(all(read == words), 'class(*), strings')
    one = untouched
    call scalar_of_any_type(42, one, 'class(*), a scalar')
    call check(one == 42, 'class(*), a scalar', one, 42)
    recv = untouched
    call scalar_of_any_type(send(5), recv(7), 'class(*), an element')
    call equal(recv, [spread(untouched, 1, 6), 5, spread(untouched, 1, 17)], 'class(*), an element')
    recv = untouched
    call gaps_of_any_type(send, recv(1:24:2))
    call gaps_of_any_type(send(12:1:-1), recv(1:12))
    call gaps_of_any_type(send(1:12:4), recv(1:3))
    call equal(recv, spread(untouched, 1, 24), 'written by calls that failed')
    do i = 1, 3
      from(i) = wide(i, 10 * i, [i, i, i])
      into(i) = wide(0, 0, [0, 0, 0])
    end do
    call of_a_class(from, into, .true.)
    call equal(into%value, [0, 0, 0], 'written by calls that failed')
    plain%value = 7
    short%value = 0
    call of_a_class(plain, short, .false.)
    call equal(short%value, [7, 7, 7], 'class(pair)')
    allocate (pointed(2))
    pointed%value = 8
    call MPIX_Neighbor_gather(pointed, 32, MPI_BYTE, short, 32, MPI_BYTE, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'a pointer to a class')
    call equal(short%value, [8, 8, 7], 'a pointer to a class')
    deallocate (pointed)
  end subroutine polymorphic

  subroutine other_arrays()
    integer :: send(12), recv(12), below(-3:-1)
    send = [(i, i = 1, 12)]
    recv = untouched
    call MPIX_Neighbor_gather(send([1, 5, 9]), 3, MPI_INTEGER, recv, 3, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'vector subscripts')
    call equal(recv, [1, 5, 9, spread(untouched, 1, 9)], 'vector subscripts')
    recv = untouched
    call of_assumed_size(send, recv, 12)
    call equal(recv, send, 'assumed size')
    below = [1, 2, 3]
    recv = untouched
    call MPIX_Neighbor_gather(below, 3, MPI_INTEGER, recv(12:2:-4), 3, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'bounds below 0')
    call equal(recv(12:2:-4), [1, 2, 3], 'bounds below 0')
  end subroutine other_arrays

end program main
