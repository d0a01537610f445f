! Nonblocking and persistent collectives, completion by request and by source, several fields in one
! exchange.
#include "test.h"

module requests
  use test
  implicit none

  integer, parameter :: wide = MPI_COUNT_KIND, address = MPI_ADDRESS_KIND, ints = (n + 1) * degree
  ! gather, gatherv, alltoall, alltoallv, alltoallw, reduce, reducev
  integer, parameter :: operations = 7
  integer :: sources(degree), targets(degree), ierror
  integer, dimension(degree) :: sendcounts, senddispls, recvcounts, recvdispls
  HANDLE(MPI_Datatype) :: types(degree)
  ! of each operation
  integer, asynchronous :: send(ints, operations), recv(ints, operations)
  integer :: want(ints, operations)
  ! found by their addresses alone
  integer, asynchronous :: from(ints, 2), to(ints, 2)

contains

  subroutine prepare()
    integer :: i, j, k
    types = MPI_INTEGER
    send = 0
    want = untouched
    call blocks(sendcounts, senddispls, recvcounts, recvdispls, send(:, 4), want(:, 4))
    send(:, 5) = send(:, 4)
    want(:, 5) = want(:, 4)
    send(:n, 1) = [(item(rank, 0, 0, k), k = 1, n)]
    send(:n, 2) = send(:n, 1)
    send(:n, 6) = send(:n, 1)
    send(:n * degree, 3) = [((item(rank, targets(i), i, k), k = 1, n), i = 1, degree)]
    send(:n * degree, 7) = send(:n * degree, 3)
    want(:n, 6:7) = 0
    do j = 1, degree
      if (sources(j) == MPI_PROC_NULL) cycle
      want(n * (j - 1) + 1:n * j, 1) = [(item(sources(j), 0, 0, k), k = 1, n)]
      want(recvdispls(j) + 1:recvdispls(j) + length(sources(j)), 2) = [(item(sources(j), 0, 0, k), k = 1, length(sources(j)))]
      want(n * (j - 1) + 1:n * j, 3) = [(item(sources(j), rank, partner(rank, j), k), k = 1, n)]
      want(:n, 6) = want(:n, 6) + want(n * (j - 1) + 1:n * j, 1)
      want(:n, 7) = want(:n, 7) + want(n * (j - 1) + 1:n * j, 3)
    end do
    recv = untouched
  end subroutine prepare

  ! other contents for the next run
  subroutine change()
    send = -send
    where (want /= untouched) want = -want
    recv = untouched
  end subroutine change

  subroutine expect(text)
    character(len=*), intent(in) :: text
    character(len=*), parameter :: names(operations) = &
        ['gather   ', 'gatherv  ', 'alltoall ', 'alltoallv', 'alltoallw', 'reduce   ', 'reducev  ']
    integer :: o
    do o = 1, operations
      call equal(recv(:, o), want(:, o), text // ': ' // trim(names(o)))
    end do
  end subroutine expect

  ! all seven under way at once; each array of counts is a temporary, which is gone when the call
  ! returns
  subroutine begin(r)
    type(MPIX_Request), intent(inout) :: r(operations)
    call MPIX_Ineighbor_gather(send(:, 1), n, MPI_INTEGER, recv(:, 1), n, MPI_INTEGER, MPI_COMM_WORLD, r(1), ierror)
    call ok(ierror, 'Ineighbor_gather')
    call MPIX_Ineighbor_gatherv(send(:, 2), length(rank), MPI_INTEGER, recv(:, 2), length(sources), recvdispls + 0, MPI_INTEGER, &
        MPI_COMM_WORLD, r(2), ierror)
    call ok(ierror, 'Ineighbor_gatherv')
    call MPIX_Ineighbor_alltoall(send(:, 3), n, MPI_INTEGER, recv(:, 3), n, MPI_INTEGER, MPI_COMM_WORLD, r(3), ierror)
    call ok(ierror, 'Ineighbor_alltoall')
    call MPIX_Ineighbor_alltoallv(send(:, 4), sendcounts + 0, senddispls + 0, MPI_INTEGER, recv(:, 4), recvcounts + 0, &
        recvdispls + 0, MPI_INTEGER, MPI_COMM_WORLD, r(4), ierror)
    call ok(ierror, 'Ineighbor_alltoallv')
    call MPIX_Ineighbor_alltoallw(send(:, 5), sendcounts, 4_address * senddispls, types, recv(:, 5), recvcounts, &
        4_address * recvdispls, types, MPI_COMM_WORLD, r(5), ierror)
    call ok(ierror, 'Ineighbor_alltoallw')
    call MPIX_Ineighbor_reduce(send(:, 6), n, MPI_INTEGER, recv(:, 6), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(6), ierror)
    call ok(ierror, 'Ineighbor_reduce')
    call MPIX_Ineighbor_reducev(send(:, 7), spread(n, 1, degree), dense(), MPI_INTEGER, recv(:, 7), n, MPI_INTEGER, MPI_SUM, &
        MPI_COMM_WORLD, r(7), ierror)
    call ok(ierror, 'Ineighbor_reducev')
  end subroutine begin

  subroutine begin_wide(r)
    type(MPIX_Request), intent(inout) :: r(operations)
    call MPIX_Ineighbor_gather_c(send(:, 1), int(n, wide), MPI_INTEGER, recv(:, 1), int(n, wide), MPI_INTEGER, MPI_COMM_WORLD, &
        r(1), ierror)
    call ok(ierror, 'Ineighbor_gather_c')
    call MPIX_Ineighbor_gatherv_c(send(:, 2), int(length(rank), wide), MPI_INTEGER, recv(:, 2), int(length(sources), wide), &
        int(recvdispls, address), MPI_INTEGER, MPI_COMM_WORLD, r(2), ierror)
    call ok(ierror, 'Ineighbor_gatherv_c')
    call MPIX_Ineighbor_alltoall_c(send(:, 3), int(n, wide), MPI_INTEGER, recv(:, 3), int(n, wide), MPI_INTEGER, MPI_COMM_WORLD, &
        r(3), ierror)
    call ok(ierror, 'Ineighbor_alltoall_c')
    call MPIX_Ineighbor_alltoallv_c(send(:, 4), int(sendcounts, wide), int(senddispls, address), MPI_INTEGER, recv(:, 4), &
        int(recvcounts, wide), int(recvdispls, address), MPI_INTEGER, MPI_COMM_WORLD, r(4), ierror)
    call ok(ierror, 'Ineighbor_alltoallv_c')
    call MPIX_Ineighbor_alltoallw_c(send(:, 5), int(sendcounts, wide), 4_address * senddispls, types, recv(:, 5), &
        int(recvcounts, wide), 4_address * recvdispls, types, MPI_COMM_WORLD, r(5), ierror)
    call ok(ierror, 'Ineighbor_alltoallw_c')
    call MPIX_Ineighbor_reduce_c(send(:, 6), int(n, wide), MPI_INTEGER, recv(:, 6), int(n, wide), MPI_INTEGER, MPI_SUM, &
        MPI_COMM_WORLD, r(6), ierror)
    call ok(ierror, 'Ineighbor_reduce_c')
    call MPIX_Ineighbor_reducev_c(send(:, 7), spread(int(n, wide), 1, degree), int(dense(), address), MPI_INTEGER, recv(:, 7), &
        int(n, wide), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(7), ierror)
    call ok(ierror, 'Ineighbor_reducev_c')
  end subroutine begin_wide

  ! displacements of blocks of n elements behind one another
  function dense()
    integer :: dense(degree), i
    dense = [(n * i, i = 0, degree - 1)]
  end function dense

  subroutine plan(r)
    type(MPIX_Request), intent(inout) :: r(operations)
    call MPIX_Neighbor_gather_plan(send(:, 1), n, MPI_INTEGER, recv(:, 1), n, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r(1), &
        ierror)
    call ok(ierror, 'gather_plan')
    call MPIX_Neighbor_gatherv_plan(send(:, 2), length(rank), MPI_INTEGER, recv(:, 2), length(sources), recvdispls + 0, &
        MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r(2), ierror)
    call ok(ierror, 'gatherv_plan')
    call MPIX_Neighbor_alltoall_plan(send(:, 3), n, MPI_INTEGER, recv(:, 3), n, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r(3), &
        ierror)
    call ok(ierror, 'alltoall_plan')
    call MPIX_Neighbor_alltoallv_plan(send(:, 4), sendcounts, senddispls, MPI_INTEGER, recv(:, 4), recvcounts, recvdispls, &
        MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r(4), ierror)
    call ok(ierror, 'alltoallv_plan')
    call MPIX_Neighbor_alltoallw_plan(send(:, 5), sendcounts, 4_address * senddispls, types, recv(:, 5), recvcounts, &
        4_address * recvdispls, types, MPI_COMM_WORLD, MPI_INFO_NULL, r(5), ierror)
    call ok(ierror, 'alltoallw_plan')
    call MPIX_Neighbor_reduce_plan(send(:, 6), n, MPI_INTEGER, recv(:, 6), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &
        r(6), ierror)
    call ok(ierror, 'reduce_plan')
    call MPIX_Neighbor_reducev_plan(send(:, 7), spread(n, 1, degree), dense(), MPI_INTEGER, recv(:, 7), n, MPI_INTEGER, MPI_SUM, &
        MPI_COMM_WORLD, MPI_INFO_NULL, r(7), ierror)
    call ok(ierror, 'reducev_plan')
  end subroutine plan

  subroutine plan_wide(r)
    type(MPIX_Request), intent(inout) :: r(operations)
    call MPIX_Neighbor_gather_plan_c(send(:, 1), int(n, wide), MPI_INTEGER, recv(:, 1), int(n, wide), MPI_INTEGER, &
        MPI_COMM_WORLD, MPI_INFO_NULL, r(1), ierror)
    call ok(ierror, 'gather_plan_c')
    call MPIX_Neighbor_gatherv_plan_c(send(:, 2), int(length(rank), wide), MPI_INTEGER, recv(:, 2), int(length(sources), wide), &
        int(recvdispls, address), MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r(2), ierror)
    call ok(ierror, 'gatherv_plan_c')
    call MPIX_Neighbor_alltoall_plan_c(send(:, 3), int(n, wide), MPI_INTEGER, recv(:, 3), int(n, wide), MPI_INTEGER, &
        MPI_COMM_WORLD, MPI_INFO_NULL, r(3), ierror)
    call ok(ierror, 'alltoall_plan_c')
    call MPIX_Neighbor_alltoallv_plan_c(send(:, 4), int(sendcounts, wide), int(senddispls, address), MPI_INTEGER, recv(:, 4), &
        int(recvcounts, wide), int(recvdispls, address), MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r(4), ierror)
    call ok(ierror, 'alltoallv_plan_c')
    call MPIX_Neighbor_alltoallw_plan_c(send(:, 5), int(sendcounts, wide), 4_address * senddispls, types, recv(:, 5), &
        int(recvcounts, wide), 4_address * recvdispls, types, MPI_COMM_WORLD, MPI_INFO_NULL, r(5), ierror)
    call ok(ierror, 'alltoallw_plan_c')
    call MPIX_Neighbor_reduce_plan_c(send(:, 6), int(n, wide), MPI_INTEGER, recv(:, 6), int(n, wide), MPI_INTEGER, MPI_SUM, &
        MPI_COMM_WORLD, MPI_INFO_NULL, r(6), ierror)
    call ok(ierror, 'reduce_plan_c')
    call MPIX_Neighbor_reducev_plan_c(send(:, 7), spread(int(n, wide), 1, degree), int(dense(), address), MPI_INTEGER, &
        recv(:, 7), int(n, wide), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r(7), ierror)
    call ok(ierror, 'reducev_plan_c')
  end subroutine plan_wide

  ! every way to complete several requests
  subroutine complete(r, way, persistent)
    type(MPIX_Request), intent(inout) :: r(operations)
    integer, intent(in) :: way
    logical, intent(in) :: persistent
    integer :: i, index, told(operations), outcount, indices(operations)
    logical :: flag
    flag = .false.
    select case (way)
    case (1)
      call MPIX_Request_waitall(operations, r, ierror)
      call ok(ierror, 'waitall')
    case (2)
      do while (.not. flag)
        call MPIX_Request_testall(operations, r, flag, ierror)
        if (ierror /= MPI_SUCCESS) exit
      end do
      call ok(ierror, 'testall')
    case (3)
      told = 0
      do i = 1, operations
        call MPIX_Request_waitany(operations, r, index, ierror)
        call ok(ierror, 'waitany')
        if (index < 1 .or. index > operations) exit
        told(index) = told(index) + 1
        call equal(recv(:, index), want(:, index), 'waitany: complete')
      end do
      call equal(told, spread(1, 1, operations), 'waitany: each once')
      call MPIX_Request_waitany(operations, r, index, ierror)
      call ok(ierror, 'waitany, none')
      call check(index == MPI_UNDEFINED, 'waitany, none', index, MPI_UNDEFINED)
    case (4)
      told = 0
      do
        call MPIX_Request_waitsome(operations, r, outcount, indices, ierror)
        call ok(ierror, 'waitsome')
        if (outcount == MPI_UNDEFINED) exit
        do i = 1, outcount
          told(indices(i)) = told(indices(i)) + 1
          call equal(recv(:, indices(i)), want(:, indices(i)), 'waitsome: complete')
        end do
      end do
      call equal(told, spread(1, 1, operations), 'waitsome: each once')
    case (5)
      told = 0
      do
        call MPIX_Request_testany(operations, r, index, flag, ierror)
        call ok(ierror, 'testany')
        if (flag .and. index == MPI_UNDEFINED) exit
        if (flag) told(index) = told(index) + 1
      end do
      call equal(told, spread(1, 1, operations), 'testany: each once')
      call MPIX_Request_testsome(operations, r, outcount, indices, ierror)
      call ok(ierror, 'testsome, none')
      call check(outcount == MPI_UNDEFINED, 'testsome, none', outcount, MPI_UNDEFINED)
    case (6)
      do i = operations, 1, -1
        if (mod(i, 2) == 0) call MPIX_Request_wait(r(i), ierror)
        flag = mod(i, 2) == 0
        do while (.not. flag)
          call MPIX_Request_test(r(i), flag, ierror)
          if (ierror /= MPI_SUCCESS) exit
        end do
        call ok(ierror, 'wait and test')
      end do
    end select
    do i = 1, operations
      call check(persistent .neqv. r(i) == MPIX_REQUEST_NULL, 'null when it is complete, unless it is persistent')
    end do
    ! of what is not under way, there is nothing to wait for
    call MPIX_Request_testall(operations, r, flag, ierror)
    call ok(ierror, 'testall, none')
    call check(flag, 'none is under way')
  end subroutine complete

  subroutine nonblocking()
    type(MPIX_Request) :: r(operations)
    integer :: way
    call check(r(1) == MPIX_REQUEST_NULL, 'a new request is null')
    do way = 1, 6
      if (mod(way, 2) == 1) call begin(r)
      if (mod(way, 2) == 0) call begin_wide(r)
      call check(all(r /= MPIX_REQUEST_NULL), 'requests are not null')
      call complete(r, way, .false.)
      call expect('nonblocking')
      call change()
    end do
  end subroutine nonblocking

  subroutine persistent()
    type(MPIX_Request) :: r(operations)
    integer :: form, way, i
    do form = 1, 2
      if (form == 1) call plan(r)
      if (form == 2) call plan_wide(r)
      do way = 1, 6
        if (mod(way, 2) == 1) then
          call MPIX_Request_startall(operations, r, ierror)
          call ok(ierror, 'startall')
        else
          do i = 1, operations
            call MPIX_Request_start(r(i), ierror)
            call ok(ierror, 'start')
          end do
        end if
        call complete(r, way, .true.)
        call expect('persistent')
        call change()
      end do
      do i = 1, operations
        call MPIX_Request_free(r(i), ierror)
        call ok(ierror, 'free')
        call check(r(i) == MPIX_REQUEST_NULL, 'a freed request is null')
      end do
    end do
  end subroutine persistent

  ! the block of source entry j, as it came
  subroutine arrived(j, text)
    integer, intent(in) :: j
    character(len=*), intent(in) :: text
    integer :: first, last
    first = recvdispls(j) + 1
    last = recvdispls(j) + recvcounts(j)
    call equal(recv(first:last, 4), want(first:last, 4), text)
  end subroutine arrived

  subroutine by_source()
    type(MPIX_Request) :: r
    integer :: run, j, index, told(degree), count, indices(degree)
    logical :: flag
    call MPIX_Neighbor_alltoallv_plan(send(:, 4), sendcounts, senddispls, MPI_INTEGER, recv(:, 4), recvcounts, recvdispls, &
        MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierror)
    do run = 1, 5
      call MPIX_Request_start(r, ierror)
      call ok(ierror, 'start')
      told = 0
      select case (run)
      case (1)
        do j = 1, degree
          call MPIX_Request_waitany_source(r, index, ierror)
          call ok(ierror, 'waitany_source')
          if (index < 1 .or. index > degree) exit
          told(index) = told(index) + 1
          call arrived(index, 'waitany_source: block')
        end do
        call equal(told, spread(1, 1, degree), 'waitany_source: each once')
        call MPIX_Request_waitany_source(r, index, ierror)
        call check(index == MPI_UNDEFINED, 'waitany_source, none', index, MPI_UNDEFINED)
      case (2, 3)
        do
          if (run == 2) call MPIX_Request_waitsome_source(r, count, indices, ierror)
          if (run == 3) call MPIX_Request_testsome_source(r, count, indices, ierror)
          if (ierror /= MPI_SUCCESS .or. count == MPI_UNDEFINED) exit
          do j = 1, count
            told(indices(j)) = told(indices(j)) + 1
            call arrived(indices(j), 'some sources: block')
          end do
        end do
        call ok(ierror, 'some sources')
        call equal(told, spread(1, 1, degree), 'some sources: each once')
      case (4)
        do j = degree, 1, -1
          call MPIX_Request_wait_source(r, j, ierror)
          call ok(ierror, 'wait_source')
          call arrived(j, 'wait_source: block')
        end do
      case (5)
        do j = 1, degree
          flag = .false.
          do while (.not. flag)
            call MPIX_Request_test_source(r, j, flag, ierror)
            if (ierror /= MPI_SUCCESS) exit
          end do
          call ok(ierror, 'test_source')
          call arrived(j, 'test_source: block')
        end do
        ! sources count from 1
        do j = 0, degree + 1, degree + 1
          call MPIX_Request_test_source(r, j, flag, ierror)
          call fails(ierror, MPI_ERR_ARG, 'MPIX_Request_test_source')
        end do
        ! texts have the number that C has
        call MPIX_Request_test_source(r, -7, flag, ierror)
        call fails(ierror, MPI_ERR_ARG, 'index = -8 is no index')
      end select
      call MPIX_Request_wait(r, ierror)
      call ok(ierror, 'wait')
      call equal(recv(:, 4), want(:, 4), 'by source')
      call change()
    end do
    call MPIX_Request_free(r, ierror)
  end subroutine by_source

  ! two fields of their own layouts in one exchange
  subroutine fields()
    integer :: expected(ints, 2), counts(degree, 2), back(degree, 2), form
    integer(address) :: sendbufs(2), recvbufs(2), displs(degree, 2)
    HANDLE(MPI_Datatype) :: alltypes(degree, 2)
    type(MPIX_Request) :: r
    from(:, 1) = send(:, 4)
    from(:, 2) = send(:, 4) + 1000 * 1000
    expected(:, 1) = want(:, 4)
    expected(:, 2) = merge(want(:, 4) + 1000 * 1000, untouched, want(:, 4) /= untouched)
    counts = spread(sendcounts, 2, 2)
    back = spread(recvcounts, 2, 2)
    displs = 4_address * spread(senddispls, 2, 2)
    alltypes = spread(types, 2, 2)
    call MPI_Get_address(from(1, 1), sendbufs(1), ierror)
    call MPI_Get_address(to(1, 1), recvbufs(1), ierror)
    call MPI_Get_address(from(1, 2), sendbufs(2), ierror)
    call MPI_Get_address(to(1, 2), recvbufs(2), ierror)
    do form = 1, 6
      to = untouched
      select case (form)
      case (1)
        call MPIX_Neighbor_alltoallw_fields(2, sendbufs, counts, displs, alltypes, recvbufs, back, displs, alltypes, &
            MPI_COMM_WORLD, ierror)
      case (2)
        call MPIX_Neighbor_alltoallw_fields_c(2, sendbufs, int(counts, wide), displs, alltypes, recvbufs, int(back, wide), &
            displs, alltypes, MPI_COMM_WORLD, ierror)
      case (3)
        call MPIX_Ineighbor_alltoallw_fields(2, sendbufs, counts, displs, alltypes, recvbufs, back, displs, alltypes, &
            MPI_COMM_WORLD, r, ierror)
      case (4)
        call MPIX_Ineighbor_alltoallw_fields_c(2, sendbufs, int(counts, wide), displs, alltypes, recvbufs, int(back, wide), &
            displs, alltypes, MPI_COMM_WORLD, r, ierror)
      case (5)
        call MPIX_Neighbor_alltoallw_fields_plan(2, sendbufs, counts, displs, alltypes, recvbufs, back, displs, alltypes, &
            MPI_COMM_WORLD, MPI_INFO_NULL, r, ierror)
      case (6)
        call MPIX_Neighbor_alltoallw_fields_plan_c(2, sendbufs, int(counts, wide), displs, alltypes, recvbufs, &
            int(back, wide), displs, alltypes, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierror)
      end select
      call ok(ierror, 'fields')
      if (form > 4) call MPIX_Request_start(r, ierror)
      if (form > 2) call MPIX_Request_wait(r, ierror)
      call ok(ierror, 'fields, complete')
      call equal(to(:, 1), expected(:, 1), 'first field')
      call equal(to(:, 2), expected(:, 2), 'second field')
      if (form > 4) call MPIX_Request_free(r, ierror)
    end do
    ! a field at MPI_BOTTOM is address 0
    to = untouched
    displs(:, 2) = displs(:, 2) + sendbufs(2)
    sendbufs(2) = 0
    call MPIX_Neighbor_alltoallw_fields(2, sendbufs, counts, displs, alltypes, recvbufs, back, &
        4_address * spread(recvdispls, 2, 2), alltypes, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'fields, MPI_BOTTOM')
    call equal(to(:, 2), expected(:, 2), 'second field, MPI_BOTTOM')
  end subroutine fields

  subroutine wrong()
    type(MPIX_Request) :: r
    integer, asynchronous :: rows(2, ints)
    rows = 0
    ! a copy would have to live on
    call MPIX_Ineighbor_gather(rows(1, :), n, MPI_INTEGER, recv(:, 1), n, MPI_INTEGER, MPI_COMM_WORLD, r, ierror)
    call fails(ierror, MPI_ERR_BUFFER, 'MPIX_Ineighbor_gather: sendbuf')
    call MPIX_Neighbor_alltoall_plan(send(:, 3), n, MPI_INTEGER, rows(2, :), n, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r, &
        ierror)
    call fails(ierror, MPI_ERR_BUFFER, 'MPIX_Neighbor_alltoall_plan: recvbuf')
    call check(r == MPIX_REQUEST_NULL, 'no request')
    ! part of a column has none
    rows(:, 1) = [item(rank, 0, 0, 1), item(rank, 0, 0, 2)]
    recv = untouched
    call MPIX_Ineighbor_gather(rows(:, 1:1), 2, MPI_INTEGER, recv(1:2 * degree, 1), 2, MPI_INTEGER, MPI_COMM_WORLD, r, ierror)
    call ok(ierror, 'a column')
    call MPIX_Request_free(r, ierror)
    call fails(ierror, MPI_ERR_REQUEST, 'MPIX_Request_free')
    call MPIX_Request_wait(r, ierror)
    call ok(ierror, 'wait')
    call MPIX_Request_wait(r, ierror)
    call ok(ierror, 'wait, null')
    call MPIX_Request_start(r, ierror)
    call fails(ierror, MPI_ERR_REQUEST, 'MPIX_Request_start')
    call MPIX_Request_free(r, ierror)
    call ok(ierror, 'free, null')
  end subroutine wrong

end module requests

program main
  use requests
  implicit none
  call start()
  call lists(rank, sources, targets)
  call prepare()
  call MPIX_Neighborhood_set(ior(ior(MPIX_FOR_GATHER, MPIX_FOR_ALLTOALL), MPIX_FOR_REDUCE), degree, sources, MPI_UNWEIGHTED, &
      degree, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
  call ok(ierror, 'set')
  call nonblocking()
  call persistent()
  call by_source()
  call fields()
  call wrong()
  call finish()
end program main
