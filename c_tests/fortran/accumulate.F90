! Blocks received are combined with what is there: all three functions and their large-count,
! nonblocking and persistent forms; arrays with gaps; places that are one and the same.
#include "test.h"

module accumulates
  use, intrinsic :: iso_c_binding
  use test
  implicit none

  integer, parameter :: wide = MPI_COUNT_KIND, address = MPI_ADDRESS_KIND
  integer :: sources(degree), targets(degree), ierror
  integer :: send(n, degree)

contains

  ! what arrives in entry j
  function arrives(j) result(block)
    integer, intent(in) :: j
    integer :: block(n), k
    block = 0
    if (sources(j) /= MPI_PROC_NULL) block = [(item(sources(j), rank, partner(rank, j), k), k = 1, n)]
  end function arrives

  subroutine prepare()
    integer :: i, k
    do i = 1, degree
      send(:, i) = [(item(rank, targets(i), i, k), k = 1, n)]
    end do
  end subroutine prepare

  ! each block has a place
  subroutine own_places()
    integer, asynchronous :: have(n, degree)
    integer :: want(n, degree), larger(n, 2, degree), j
    type(MPIX_Request) :: request
    do j = 1, degree
      want(:, j) = 5 + arrives(j)
    end do
    have = 5
    call MPIX_Neighbor_accumulate(send, n, MPI_INTEGER, have, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'accumulate')
    call equal(reshape(have, [n * degree]), reshape(want, [n * degree]), 'accumulate')
    ! what is between the columns stays, and what is in them counts
    larger = 5
    call MPIX_Neighbor_accumulate_c(send, int(n, wide), MPI_INTEGER, larger(:, 2, :), int(n, wide), MPI_INTEGER, MPI_SUM, &
        MPI_COMM_WORLD, ierror)
    call ok(ierror, 'accumulate_c')
    call equal(reshape(larger(:, 2, :), [n * degree]), reshape(want, [n * degree]), 'accumulate_c')
    call equal(reshape(larger(:, 1, :), [n * degree]), spread(5, 1, n * degree), 'accumulate_c: gaps')
    have = 5
    call MPIX_Ineighbor_accumulate(send, n, MPI_INTEGER, have, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    call ok(ierror, 'Ineighbor_accumulate')
    call MPIX_Request_wait(request, ierror)
    call ok(ierror, 'Ineighbor_accumulate, wait')
    call equal(reshape(have, [n * degree]), reshape(want, [n * degree]), 'Ineighbor_accumulate')
    have = 5
    call MPIX_Neighbor_accumulate_plan(send, n, MPI_INTEGER, have, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &
        request, ierror)
    call ok(ierror, 'accumulate_plan')
    do j = 1, 2
      call MPIX_Request_start(request, ierror)
      call MPIX_Request_wait(request, ierror)
      call ok(ierror, 'accumulate_plan, wait')
    end do
    call MPIX_Request_free(request, ierror)
    call equal(reshape(have, [n * degree]), reshape(2 * want - 5, [n * degree]), 'accumulate_plan, twice')
  end subroutine own_places

  ! all blocks have one place
  subroutine one_place()
    integer :: have(n), want(n), row(2, n), counts(degree), displs(degree), j
    counts = n
    displs = [(n * (j - 1), j = 1, degree)]
    want = 7
    do j = 1, degree
      want = want + arrives(j)
    end do
    have = 7
    call MPIX_Neighbor_accumulatev(send, counts, displs, MPI_INTEGER, have, counts, spread(0, 1, degree), MPI_INTEGER, MPI_SUM, &
        MPI_COMM_WORLD, ierror)
    call ok(ierror, 'accumulatev')
    call equal(have, want, 'accumulatev')
    row = 7
    call MPIX_Neighbor_accumulatev_c(send, int(counts, wide), int(displs, address), MPI_INTEGER, row(2, :), int(counts, wide), &
        spread(0_address, 1, degree), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'accumulatev_c')
    call equal(row(2, :), want, 'accumulatev_c')
    call equal(row(1, :), spread(7, 1, n), 'accumulatev_c: gaps')
  end subroutine one_place

  ! every other element of the place
  subroutine layouts()
    integer :: have(2 * n), want(2 * n), j
    integer(address) :: displs(degree)
    HANDLE(MPI_Datatype) :: apart, plain(degree), types(degree)
    call MPI_Type_vector(n, 1, 2, MPI_INTEGER, apart, ierror)
    call MPI_Type_commit(apart, ierror)
    types = apart
    plain = MPI_INTEGER
    displs = [(4_address * n * (j - 1), j = 1, degree)]
    want = 9
    do j = 1, degree
      want(1::2) = want(1::2) + arrives(j)
    end do
    have = 9
    call MPIX_Neighbor_accumulatew(send, spread(n, 1, degree), displs, plain, have, spread(1, 1, degree), &
        spread(0_address, 1, degree), types, MPI_SUM, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'accumulatew')
    call equal(have, want, 'accumulatew')
    have = 9
    call MPIX_Neighbor_accumulatew_c(send, spread(int(n, wide), 1, degree), displs, plain, have, spread(1_wide, 1, degree), &
        spread(0_address, 1, degree), types, MPI_SUM, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'accumulatew_c')
    call equal(have, want, 'accumulatew_c')
    call MPI_Type_free(apart, ierror)
  end subroutine layouts

end module accumulates

program main
  use accumulates
  implicit none
  call start()
  call lists(rank, sources, targets)
  call MPIX_Neighborhood_set(MPIX_FOR_ACCUMULATE, degree, sources, MPI_UNWEIGHTED, degree, targets, MPI_UNWEIGHTED, &
      MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
  call ok(ierror, 'set')
  call prepare()
  call own_places()
  call one_place()
  call layouts()
  call finish()
end program main
