! Sparse exchanges: forms, results, callbacks, nonblocking ones, plans.
#include "fortran_test.h"

module sparse
  use, intrinsic :: iso_c_binding
  use test
  implicit none

  integer, parameter :: wide = MPI_COUNT_KIND, address = MPI_ADDRESS_KIND
  integer :: targets(degree), sendcounts(degree), senddispls(degree), send(100), ierror
  ! what must arrive: messages, ordered by source, those of a source as they were sent
  integer :: messages, sources(100), counts(100), displs(100), elements, want(200)

  ! what the callback was told
  type :: record
    integer :: calls = 0, elements = 0, wrong = 0, stop_after = huge(0)
  end type record

contains

  subroutine plan_messages()
    integer :: from(degree), to(degree), s, i, k
    call lists(rank, from, targets)
    do i = 1, degree
      sendcounts(i) = edge(rank, i)
      ! in reverse order, with gaps
      senddispls(i) = 5 * (degree - i) + 1
      send(senddispls(i) + 1:senddispls(i) + sendcounts(i)) = [(item(rank, targets(i), i, k), k = 1, sendcounts(i))]
    end do
    messages = 0
    elements = 0
    do s = 0, ranks - 1
      call lists(s, from, to)
      do i = 1, degree
        if (to(i) /= rank) cycle
        messages = messages + 1
        sources(messages) = s
        counts(messages) = edge(s, i)
        displs(messages) = elements
        want(elements + 1:elements + edge(s, i)) = [(item(s, rank, i, k), k = 1, edge(s, i))]
        elements = elements + edge(s, i)
      end do
    end do
  end subroutine plan_messages

  ! all accessors, then free
  subroutine expect(result, text)
    type(MPIX_Sparse_result), intent(inout) :: result
    character(len=*), intent(in) :: text
    call look(result, text)
    call MPIX_Sparse_free(result, ierror)
    call ok(ierror, text // ': free')
    call check(result == MPIX_SPARSE_RESULT_NULL, text // ': a freed result is null')
    call MPIX_Sparse_free(result, ierror)
    call ok(ierror, text // ': free null')
  end subroutine expect

  subroutine look(result, text)
    type(MPIX_Sparse_result), intent(in) :: result
    character(len=*), intent(in) :: text
    integer :: n, i, source, have_sources(100), have_counts(100), have_displs(100), copy(2, 200)
    integer(wide) :: total, count, wide_counts(100)
    integer(address) :: wide_displs(100)
    type(c_ptr) :: data
    integer, pointer :: message(:)
    call check(result /= MPIX_SPARSE_RESULT_NULL, text // ': a result is not null')
    call MPIX_Sparse_get_count(result, n, total, ierror)
    call ok(ierror, text // ': get_count')
    call equal([n, int(total)], [messages, elements], text // ': messages and elements')
    do i = 1, messages
      call MPIX_Sparse_get_message(result, i, source, count, data, ierror)
      call ok(ierror, text // ': get_message')
      call equal([source, int(count)], [sources(i), counts(i)], text // ': source and count')
      call c_f_pointer(data, message, [int(count)])
      call equal(message, want(displs(i) + 1:displs(i) + counts(i)), text // ': message')
    end do
    ! messages count from 1
    do i = 0, messages + 1, messages + 1
      call MPIX_Sparse_get_message(result, i, source, count, data, ierror)
      call fails(ierror, MPI_ERR_ARG, 'MPIX_Sparse_get_message')
    end do
    call MPIX_Sparse_get_messages(result, 100, have_sources, have_counts, have_displs, ierror)
    call ok(ierror, text // ': get_messages')
    call equal(have_sources(:messages), sources(:messages), text // ': sources')
    call equal(have_counts(:messages), counts(:messages), text // ': counts')
    call equal(have_displs(:messages), displs(:messages), text // ': displacements')
    ! arrays that are not wanted, and room for less
    have_counts = -7
    call MPIX_Sparse_get_messages(result, min(1, messages), counts=have_counts, ierror=ierror)
    call ok(ierror, text // ': get_messages, counts')
    call equal(have_counts(:2), [merge(counts(1), -7, messages > 0), -7], text // ': the first count')
    call MPIX_Sparse_get_messages_c(result, 100, counts=wide_counts, displs=wide_displs)
    call equal(int(wide_counts(:messages)), counts(:messages), text // ': wide counts')
    call equal(int(wide_displs(:messages)), displs(:messages), text // ': wide displacements')
    copy = -7
    call MPIX_Sparse_copy(result, int(elements, wide), copy(1, :), ierror)
    call ok(ierror, text // ': copy')
    call equal(copy(1, :), [want(:elements), spread(-7, 1, 200 - elements)], text // ': copy')
    call equal(copy(2, :), spread(-7, 1, 200), text // ': copy, gaps')
  end subroutine look

  subroutine blocking()
    type(MPIX_Sparse_result) :: result
    integer :: rows(2, 100)
    call check(result == MPIX_SPARSE_RESULT_NULL, 'a new variable is null')
    call MPIX_Sparse_exchange(degree, targets, send, sendcounts, senddispls, MPI_INTEGER, MPI_INTEGER, MPI_INFO_NULL, &
        MPI_COMM_WORLD, result, ierror)
    call ok(ierror, 'exchange')
    call expect(result, 'exchange')
    rows = 0
    rows(2, :) = send
    call MPIX_Sparse_exchange_c(degree, targets, rows(2, :), int(sendcounts, wide), int(senddispls, address), MPI_INTEGER, &
        MPI_INTEGER, MPI_INFO_NULL, MPI_COMM_WORLD, result)
    call expect(result, 'exchange_c, a row')
  end subroutine blocking

  subroutine one_size()
    type(MPIX_Sparse_result) :: result
    HANDLE(MPI_Info) :: info
    integer :: mine(2, degree), all(2 * 100), from(degree), to(degree), i, s, n, form
    integer(wide) :: total
    character(len=800) :: text
    do i = 1, degree
      mine(:, i) = [item(rank, targets(i), i, 1), item(rank, targets(i), i, 2)]
    end do
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'mpix_sparse', 'pex', ierror)
    do form = 1, 2
      if (form == 1) call MPIX_Sparse_exchange_block(degree, targets, mine, 2, MPI_INTEGER, MPI_INTEGER, info, &
          MPI_COMM_WORLD, result, ierror)
      if (form == 2) call MPIX_Sparse_exchange_block_c(degree, targets, mine, 2_wide, MPI_INTEGER, MPI_INTEGER, info, &
          MPI_COMM_WORLD, result, ierror)
      call ok(ierror, 'exchange_block')
      call MPIX_Sparse_copy(result, 200_wide, all, ierror)
      call ok(ierror, 'copy of blocks')
      n = 0
      do s = 0, ranks - 1
        call lists(s, from, to)
        do i = 1, degree
          if (to(i) /= rank) cycle
          call equal(all(n + 1:n + 2), [item(s, rank, i, 1), item(s, rank, i, 2)], 'block')
          n = n + 2
        end do
      end do
      call MPIX_Sparse_get_count(result, i, total, ierror)
      call equal([i, int(total)], [messages, n], 'blocks')
      call MPIX_Sparse_free(result)
    end do
    call MPI_Info_free(info, ierror)
    call MPIX_Sparse_describe(MPI_COMM_WORLD, text, n, ierror)
    call ok(ierror, 'describe')
    call check(index(text, 'pex') > 0 .and. text(n + 1:) == '', 'describe: ' // trim(text))
    call MPIX_Sparse_sources(degree, targets, MPI_INFO_NULL, MPI_COMM_WORLD, result, ierror)
    call ok(ierror, 'sources')
    call MPIX_Sparse_get_messages(result, 200, sources=all, ierror=ierror)
    call equal(all(:messages), sources(:messages), 'sources')
    call MPIX_Sparse_free(result)
  end subroutine one_size

  function on_message(source, count, data, context) bind(C) result(code)
    integer(c_int), value :: source
    ! kind MPI_COUNT_KIND, by a name that gfortran knows to be C's
    integer(c_int64_t), value :: count
    type(c_ptr), value :: data, context
    integer(c_int) :: code
    type(record), pointer :: told
    integer, pointer :: message(:)
    integer :: edge, k
    call c_f_pointer(context, told)
    call c_f_pointer(data, message, [int(count)])
    told%calls = told%calls + 1
    told%elements = told%elements + int(count)
    do k = 1, int(count)
      edge = mod(message(k) / 100, 100)
      if (message(k) /= item(source, rank, edge, k)) told%wrong = told%wrong + 1
    end do
    code = merge(MPI_SUCCESS, MPI_ERR_OTHER, told%calls < told%stop_after)
  end function on_message

  subroutine each()
    type(record), target :: told
    call MPIX_Sparse_exchange_each(degree, targets, send, sendcounts, senddispls, MPI_INTEGER, MPI_INTEGER, on_message, &
        c_loc(told), MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'each')
    call equal([told%calls, told%elements, told%wrong], [messages, elements, 0], 'calls, elements, wrong ones')
    told = record(stop_after=1)
    call MPIX_Sparse_exchange_each_c(degree, targets, send, int(sendcounts, wide), int(senddispls, address), MPI_INTEGER, &
        MPI_INTEGER, on_message, c_loc(told), MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_OTHER, 'MPIX_Sparse_exchange_each_c')
    call check(told%calls == 1, 'not called again', told%calls, 1)
  end subroutine each

  subroutine nonblocking()
    type(MPIX_Sparse_request) :: request
    type(MPIX_Sparse_result) :: result
    integer, asynchronous :: buffer(100)
    logical :: flag
    buffer = send
    call check(request == MPIX_SPARSE_REQUEST_NULL, 'a new request is null')
    call MPIX_Isparse_exchange(degree, targets, buffer, sendcounts, senddispls, MPI_INTEGER, MPI_INTEGER, MPI_INFO_NULL, &
        MPI_COMM_WORLD, request, ierror)
    call ok(ierror, 'Isparse_exchange')
    call check(request /= MPIX_SPARSE_REQUEST_NULL, 'a request is not null')
    flag = .false.
    do while (.not. flag)
      call MPIX_Sparse_test(request, flag, result, ierror)
      if (ierror /= MPI_SUCCESS .or. (flag .neqv. request == MPIX_SPARSE_REQUEST_NULL)) exit
    end do
    call ok(ierror, 'test')
    call check(flag .and. request == MPIX_SPARSE_REQUEST_NULL, 'null when it is complete')
    call expect(result, 'Isparse_exchange')
    call MPIX_Isparse_exchange_c(degree, targets, buffer, int(sendcounts, wide), int(senddispls, address), MPI_INTEGER, &
        MPI_INTEGER, MPI_INFO_NULL, MPI_COMM_WORLD, request, ierror)
    call ok(ierror, 'Isparse_exchange_c')
    call MPIX_Sparse_wait(request, result, ierror)
    call ok(ierror, 'wait')
    call expect(result, 'Isparse_exchange_c')
    ! gaps cannot be copied: the copy would have to live on. The process takes part, and sends
    ! nothing
    call MPIX_Isparse_exchange(degree, targets, buffer(1:99:2), sendcounts, senddispls, MPI_INTEGER, MPI_INTEGER, MPI_INFO_NULL, &
        MPI_COMM_WORLD, request, ierror)
    call fails(ierror, MPI_ERR_BUFFER, 'Fortran array with gaps')
    call check(request == MPIX_SPARSE_REQUEST_NULL, 'no request')
  end subroutine nonblocking

  subroutine plans()
    type(MPIX_Sparse_plan) :: plan
    type(MPIX_Sparse_result) :: result
    integer, asynchronous :: buffer(100)
    logical :: flag
    integer :: form, run
    do form = 1, 2
      buffer = send
      if (form == 1) call MPIX_Sparse_plan_create(degree, targets, buffer, sendcounts, senddispls, MPI_INTEGER, MPI_INTEGER, &
          MPI_INFO_NULL, MPI_COMM_WORLD, plan, ierror)
      if (form == 2) call MPIX_Sparse_plan_create_c(degree, targets, buffer, int(sendcounts, wide), int(senddispls, address), &
          MPI_INTEGER, MPI_INTEGER, MPI_INFO_NULL, MPI_COMM_WORLD, plan, ierror)
      call ok(ierror, 'plan_create')
      call MPIX_Sparse_plan_result(plan, result, ierror)
      call ok(ierror, 'plan_result')
      call look(result, 'the first run')
      do run = 1, 2
        buffer = buffer + 1000 * 1000
        want = want + 1000 * 1000
        call MPIX_Sparse_plan_start(plan, ierror)
        call ok(ierror, 'plan_start')
        flag = .false.
        do while (run == 1 .and. .not. flag)
          call MPIX_Sparse_plan_test(plan, flag, ierror)
          if (ierror /= MPI_SUCCESS) exit
        end do
        if (run == 2) call MPIX_Sparse_plan_wait(plan, ierror)
        call ok(ierror, 'plan_wait')
        call look(result, 'a run')
      end do
      want = want - 2 * 1000 * 1000
      call MPIX_Sparse_plan_free(plan, ierror)
      call ok(ierror, 'plan_free')
      call check(plan == MPIX_SPARSE_PLAN_NULL, 'a freed plan is null')
    end do
  end subroutine plans

end module sparse

program main
  use sparse
  implicit none
  call start()
  call plan_messages()
  call blocking()
  call one_size()
  call each()
  call nonblocking()
  call plans()
  call finish()
end program main
