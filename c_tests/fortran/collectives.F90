! The seven collectives and their large-count forms: whole arrays, arrays with gaps, datatypes,
! MPI_BOTTOM.
#include "test.h"

module collectives
  use, intrinsic :: iso_c_binding
  use test
  implicit none

  integer, parameter :: wide = MPI_COUNT_KIND, address = MPI_ADDRESS_KIND
  integer :: sources(degree), targets(degree), ierror

contains

  ! what arrives in entry j when each process sends `n` elements on each edge
  function arrives(j) result(block)
    integer, intent(in) :: j
    integer :: block(n), k
    block = untouched
    if (sources(j) /= MPI_PROC_NULL) block = [(item(sources(j), rank, partner(rank, j), k), k = 1, n)]
  end function arrives

  ! the same when each process sends one block to all
  function gathered(j) result(block)
    integer, intent(in) :: j
    integer :: block(n), k
    block = untouched
    if (sources(j) /= MPI_PROC_NULL) block = [(item(sources(j), 0, 0, k), k = 1, n)]
  end function gathered

  subroutine gather()
    integer :: send(n), recv(n, degree), have(n, 2, degree), k, j
    send = [(item(rank, 0, 0, k), k = 1, n)]
    recv = untouched
    call MPIX_Neighbor_gather(send, n, MPI_INTEGER, recv, n, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'gather')
    do j = 1, degree
      call equal(recv(:, j), gathered(j), 'gather')
    end do
    ! without ierror, with large counts, by keywords, to every other column
    have = untouched
    call MPIX_Neighbor_gather_c(sendbuf=send, sendcount=int(n, wide), sendtype=MPI_INTEGER, recvbuf=have(:, 2, :), &
        recvcount=int(n, wide), recvtype=MPI_INTEGER, comm=MPI_COMM_WORLD)
    do j = 1, degree
      call equal(have(:, 1, j), spread(untouched, 1, n), 'gather_c: between columns')
      call equal(have(:, 2, j), gathered(j), 'gather_c')
    end do
  end subroutine gather

  subroutine gatherv()
    integer :: send(n), recv(4 * degree), want(4 * degree), counts(degree), displs(degree), j, k
    send = [(item(rank, 0, 0, k), k = 1, n)]
    counts = length(sources)
    want = untouched
    ! blocks in reverse order, with gaps between them
    do j = 1, degree
      displs(j) = 4 * (degree - j)
      if (sources(j) == MPI_PROC_NULL) cycle
      want(displs(j) + 1:displs(j) + counts(j)) = [(item(sources(j), 0, 0, k), k = 1, counts(j))]
    end do
    recv = untouched
    call MPIX_Neighbor_gatherv(send, length(rank), MPI_INTEGER, recv, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'gatherv')
    call equal(recv, want, 'gatherv')
    recv = untouched
    ! an array expression is sent
    call MPIX_Neighbor_gatherv_c(send + 0, int(length(rank), wide), MPI_INTEGER, recv, int(counts, wide), &
        int(displs, address), MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'gatherv_c')
    call equal(recv, want, 'gatherv_c')
  end subroutine gatherv

  subroutine alltoall()
    integer :: send(n, degree), recv(n, degree), rows(degree, n), have(0:2 * n, degree), i, j, k
    integer(c_int64_t) :: long(2, degree)
    character(len=4) :: words(degree), got(degree)
    do i = 1, degree
      send(:, i) = [(item(rank, targets(i), i, k), k = 1, n)]
    end do
    recv = untouched
    call MPIX_Neighbor_alltoall(send, n, MPI_INTEGER, recv, n, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'alltoall')
    do j = 1, degree
      call equal(recv(:, j), arrives(j), 'alltoall')
    end do
    ! from an expression to every other element
    have = untouched
    rows = transpose(send)
    call MPIX_Neighbor_alltoall_c(transpose(rows), int(n, wide), MPI_INTEGER, have(1::2, :), int(n, wide), MPI_INTEGER, &
        MPI_COMM_WORLD, ierror)
    call ok(ierror, 'alltoall_c')
    do j = 1, degree
      call equal(have(1::2, j), arrives(j), 'alltoall_c')
      call equal(have(0::2, j), spread(untouched, 1, n + 1), 'alltoall_c: gaps')
    end do
    have = untouched
    call backwards(send, have)
    do j = 1, degree
      call equal(have(2 * n - 1:1:-2, degree + 1 - j), arrives(j), 'alltoall, backwards')
      call equal(have(0::2, j), spread(untouched, 1, n + 1), 'alltoall, backwards: gaps')
    end do
    ! other types of elements, none of which is C's int
    long = untouched
    call MPIX_Neighbor_alltoall(int(send(1:2, :), c_int64_t), 2, MPI_INTEGER8, long, 2, MPI_INTEGER8, MPI_COMM_WORLD, ierror)
    do j = 1, degree
      recv(:, j) = arrives(j)
      call equal(int(long(:, j)), recv(1:2, j), '64 bits')
    end do
    do i = 1, degree
      write (words(i), '(i0, a, i0)') mod(rank, 10), '>', i
    end do
    got = ' '
    call MPIX_Neighbor_alltoall(words, 4, MPI_CHARACTER, got, 4, MPI_CHARACTER, MPI_COMM_WORLD, ierror)
    do j = 1, degree
      words(1) = ' '
      if (sources(j) /= MPI_PROC_NULL) write (words(1), '(i0, a, i0)') mod(sources(j), 10), '>', partner(rank, j)
      call check(got(j) == words(1), 'words: ' // got(j) // ' not ' // words(1))
    end do

  contains

    subroutine backwards(send, recv)
      integer, intent(in) :: send(:, :)
      integer, intent(inout) :: recv(0:, :)
      integer :: larger(2 * n, 2 * degree)
      larger = 0
      larger(2 * n:2:-2, 2 * degree:2:-2) = send
      call MPIX_Neighbor_alltoall(larger(2 * n:2:-2, 2 * degree:2:-2), n, MPI_INTEGER, recv(2 * n - 1:1:-2, degree:1:-1), n, &
          MPI_INTEGER, MPI_COMM_WORLD, ierror)
      call ok(ierror, 'alltoall, backwards')
    end subroutine backwards

  end subroutine alltoall

  subroutine alltoallv()
    integer, dimension(degree) :: sendcounts, senddispls, recvcounts, recvdispls
    integer, dimension((n + 1) * degree) :: send, want, recv
    integer :: rows(2, (n + 1) * degree)
    call blocks(sendcounts, senddispls, recvcounts, recvdispls, send, want)
    recv = untouched
    call MPIX_Neighbor_alltoallv(send, sendcounts, senddispls, MPI_INTEGER, recv, recvcounts, recvdispls, MPI_INTEGER, &
        MPI_COMM_WORLD, ierror)
    call ok(ierror, 'alltoallv')
    call equal(recv, want, 'alltoallv')
    ! one row of a matrix to the other one
    rows(1, :) = send
    rows(2, :) = untouched
    call MPIX_Neighbor_alltoallv_c(rows(1, :), int(sendcounts, wide), int(senddispls, address), MPI_INTEGER, rows(2, :), &
        int(recvcounts, wide), int(recvdispls, address), MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'alltoallv_c')
    call equal(rows(1, :), send, 'alltoallv_c: what is sent')
    call equal(rows(2, :), want, 'alltoallv_c')
  end subroutine alltoallv

  ! every block with a type of its own: pairs of elements that lie apart, on one side or on both
  subroutine alltoallw()
    integer, dimension(degree) :: ones, senddispls, recvdispls
    integer(address) :: from(degree), to(degree), first
    HANDLE(MPI_Datatype) :: sendtypes(degree), recvtypes(degree)
    integer, asynchronous :: send(4 * degree), recv(4 * degree)
    integer :: want(4 * degree), i
    send = 0
    want = untouched
    ones = 1
    do i = 1, degree
      senddispls(i) = 4 * (degree - i)
      recvdispls(i) = senddispls(i)
      call MPI_Type_vector(2, 1, 1 + mod(i, 3), MPI_INTEGER, sendtypes(i), ierror)
      call MPI_Type_commit(sendtypes(i), ierror)
      call MPI_Type_vector(2, 1, 1 + mod(i, 2), MPI_INTEGER, recvtypes(i), ierror)
      call MPI_Type_commit(recvtypes(i), ierror)
      send([senddispls(i) + 1, senddispls(i) + 2 + mod(i, 3)]) = [item(rank, targets(i), i, 1), item(rank, targets(i), i, 2)]
      if (sources(i) == MPI_PROC_NULL) cycle
      want([recvdispls(i) + 1, recvdispls(i) + 2 + mod(i, 2)]) = &
          [item(sources(i), rank, partner(rank, i), 1), item(sources(i), rank, partner(rank, i), 2)]
    end do
    recv = untouched
    call MPIX_Neighbor_alltoallw(send, ones, 4_address * senddispls, sendtypes, recv, ones, 4_address * recvdispls, recvtypes, &
        MPI_COMM_WORLD, ierror)
    call ok(ierror, 'alltoallw')
    call equal(recv, want, 'alltoallw')
    ! displacements that are addresses
    call MPI_Get_address(send, first, ierror)
    from = first + 4_address * senddispls
    call MPI_Get_address(recv, first, ierror)
    to = first + 4_address * recvdispls
    recv = untouched
    call MPIX_Neighbor_alltoallw(MPI_BOTTOM, ones, from, sendtypes, MPI_BOTTOM, ones, to, recvtypes, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'alltoallw, MPI_BOTTOM')
    call equal(recv, want, 'alltoallw, MPI_BOTTOM')
    recv = untouched
    call MPIX_Neighbor_alltoallw_c(MPI_BOTTOM, int(ones, wide), from, sendtypes, recv, int(ones, wide), 4_address * recvdispls, &
        recvtypes, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'alltoallw_c')
    call equal(recv, want, 'alltoallw_c')
    do i = 1, degree
      call MPI_Type_free(sendtypes(i), ierror)
      call MPI_Type_free(recvtypes(i), ierror)
    end do
  end subroutine alltoallw

  ! more neighbors than the C side keeps types of without allocating
  subroutine many_types()
    integer, parameter :: edges = 50
    integer :: list(edges), send(edges), recv(edges), i
    HANDLE(MPI_Datatype) :: types(edges)
    HANDLE(MPI_Comm) :: comm
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    list = rank
    types = MPI_INTEGER
    send = [(item(rank, rank, i, 0), i = 1, edges)]
    recv = untouched
    call MPIX_Neighbor_alltoall_set(edges, list, MPI_UNWEIGHTED, edges, list, MPI_UNWEIGHTED, MPI_INFO_NULL, comm, ierror)
    call MPIX_Neighbor_alltoallw(send, spread(1, 1, edges), [(4_address * i, i = 0, edges - 1)], types, recv, &
        spread(1, 1, edges), [(4_address * i, i = 0, edges - 1)], types, comm, ierror)
    call ok(ierror, 'many types')
    call equal(recv, send, 'many types')
    call MPI_Comm_free(comm, ierror)
  end subroutine many_types

  subroutine reduce()
    real(c_double) :: from(2), to(2)
    integer :: send(n), recv(n), want(n), j, k, larger(2, n)
    send = [(item(rank, 0, 0, k), k = 1, n)]
    want = 0
    do j = 1, degree
      if (sources(j) /= MPI_PROC_NULL) want = want + gathered(j)
    end do
    recv = untouched
    call MPIX_Neighbor_reduce(send, n, MPI_INTEGER, recv, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'reduce')
    call equal(recv, want, 'reduce')
    larger = untouched
    call MPIX_Neighbor_reduce_c(send, int(n, wide), MPI_INTEGER, larger(2, :), int(n, wide), MPI_INTEGER, MPI_SUM, &
        MPI_COMM_WORLD, ierror)
    call ok(ierror, 'reduce_c')
    call equal(larger(2, :), want, 'reduce_c')
    call equal(larger(1, :), spread(untouched, 1, n), 'reduce_c: gaps')
    from = [1.0_c_double, -1.0_c_double] * rank
    call MPIX_Neighbor_reduce(from, 2, MPI_DOUBLE_PRECISION, to, 2, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'reduce, maximum')
    call equal(nint(to), [maxval(sources), -minval(sources, sources /= MPI_PROC_NULL)], 'reduce, maximum')
  end subroutine reduce

  subroutine reducev()
    integer :: send(2 * degree, n), recv(n), want(n), displs(degree), i, j, k
    integer :: counts(degree)
    integer, asynchronous :: mine(n), have(n)
    HANDLE(MPI_Op) :: last
    HANDLE(MPI_Datatype) :: row
    type(MPIX_Request) :: request
    counts = n
    want = 0
    do i = 1, degree
      displs(i) = n * (degree - i)
    end do
    do j = 1, degree
      if (sources(j) /= MPI_PROC_NULL) want = want + arrives(j)
    end do
    ! the array without its gaps: blocks in reverse order
    call fill(send(::2, :))
    recv = untouched
    call MPIX_Neighbor_reducev(send(::2, :), counts, displs, MPI_INTEGER, recv, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'reducev')
    call equal(recv, want, 'reducev')
    ! an operator of the program's own that does not commute: the last source's block stays
    call MPI_Op_create(take_last, .false., last, ierror)
    do j = 1, degree
      if (sources(j) /= MPI_PROC_NULL) want = [(item(sources(j), rank, partner(rank, j), k), k = 1, n)]
    end do
    recv = untouched
    call MPIX_Neighbor_reducev_c(send(::2, :), int(counts, wide), int(displs, address), MPI_INTEGER, recv, int(n, wide), &
        MPI_INTEGER, last, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'reducev_c')
    call equal(recv, want, 'reducev_c')
    call MPI_Op_free(last, ierror)
    ! the same for a datatype of the program's own, which it may free at once
    call MPI_Op_create(take_last_row, .false., last, ierror)
    call MPI_Type_contiguous(n, MPI_INTEGER, row, ierror)
    call MPI_Type_commit(row, ierror)
    mine = [(1000 * rank + k, k = 1, n)]
    have = untouched
    call MPIX_Ineighbor_reduce(mine, 1, row, have, 1, row, last, MPI_COMM_WORLD, request, ierror)
    call ok(ierror, 'Ineighbor_reduce')
    call MPI_Type_free(row, ierror)
    call MPIX_Request_wait(request, ierror)
    call ok(ierror, 'Ineighbor_reduce: wait')
    do j = 1, degree
      if (sources(j) /= MPI_PROC_NULL) want = [(1000 * sources(j) + k, k = 1, n)]
    end do
    call equal(have, want, 'Ineighbor_reduce')
    call MPI_Op_free(last, ierror)

  contains

    subroutine fill(array)
      integer, intent(inout) :: array(:, :)
      integer :: blocks(n, degree)
      do i = 1, degree
        blocks(:, degree + 1 - i) = [(item(rank, targets(i), i, k), k = 1, n)]
      end do
      array = reshape(blocks, shape(array))
    end subroutine fill

  end subroutine reducev

#ifdef F08
  subroutine take_last(first, second, length, datatype)
    type(c_ptr), value :: first, second
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(first, a, [length])
    call c_f_pointer(second, b, [length])
    if (datatype == MPI_INTEGER) call last_of(a, b)
  end subroutine take_last

  subroutine take_last_row(first, second, length, datatype)
    type(c_ptr), value :: first, second
    integer :: length, bytes, ierror
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(first, a, [n * length])
    call c_f_pointer(second, b, [n * length])
    call MPI_Type_size(datatype, bytes, ierror)
    if (size(a) /= size(b) .or. bytes /= n * storage_size(n) / 8) b = 0
  end subroutine take_last_row
#else
  subroutine take_last(a, b, length, datatype)
    integer :: length, a(length), b(length), datatype
    if (datatype == MPI_INTEGER) call last_of(a, b)
  end subroutine take_last

  subroutine take_last_row(a, b, length, datatype)
    integer :: length, a(n * length), b(n * length), datatype, bytes, ierror
    call MPI_Type_size(datatype, bytes, ierror)
    if (size(a) /= size(b) .or. bytes /= n * storage_size(n) / 8) b = 0
  end subroutine take_last_row
#endif

  ! second = first op second; the operator is "the second"
  subroutine last_of(first, second)
    integer, intent(in) :: first(:)
    integer, intent(inout) :: second(:)
    if (size(first) /= size(second)) second = 0
  end subroutine last_of

end module collectives

program main
  use collectives
  implicit none
  integer :: repeat
  call start()
  call lists(rank, sources, targets)
  call MPIX_Neighborhood_set(ior(ior(MPIX_FOR_GATHER, MPIX_FOR_ALLTOALL), MPIX_FOR_REDUCE), degree, sources, MPI_UNWEIGHTED, &
      degree, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
  call ok(ierror, 'set')
  do repeat = 1, 2
    call gather()
    call gatherv()
    call alltoall()
    call alltoallv()
    call alltoallw()
    call many_types()
    call reduce()
    call reducev()
  end do
  call finish()
end program main
