! Sparse windows: operations of all kinds, flush and fence.
#include "test.h"

module windows
  use, intrinsic :: iso_c_binding
  use test
  implicit none

  integer, parameter :: wide = MPI_COUNT_KIND, address = MPI_ADDRESS_KIND, elements = 10

contains

  ! second = 10 first + second
#ifdef F08
  subroutine append(first, second, length, datatype)
    type(c_ptr), value :: first, second
    integer :: length, bytes, ierror
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(first, a, [length])
    call c_f_pointer(second, b, [length])
    call MPI_Type_size(datatype, bytes, ierror)
    if (bytes == storage_size(a) / 8) b = 10 * a + b
  end subroutine append
#else
  subroutine append(a, b, length, datatype)
    integer :: length, a(length), b(length), datatype, bytes, ierror
    call MPI_Type_size(datatype, bytes, ierror)
    if (bytes == storage_size(a) / 8) b = 10 * a + b
  end subroutine append
#endif

end module windows

program main
  use windows
  implicit none
  integer, asynchronous :: mine(elements), got(2), before(1), swapped(1)
  integer :: next, from, ierror, i, class
  integer(address) :: indices(elements)
  type(MPIX_Sparse_window) :: window
  HANDLE(MPI_Op) :: own
  call start()
  next = modulo(rank + 1, ranks)
  from = modulo(rank - 1, ranks)
  indices = [(int(i - 1, address), i = 1, elements)]
  mine = 0
  call MPIX_Sparse_window_create(mine, elements, MPI_INTEGER, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierror)
  call ok(ierror, 'create')
  call check(window /= MPIX_SPARSE_WINDOW_NULL, 'a window is not null')

  ! in order, on elements of the next process alone
  call MPIX_Sparse_window_put([(100 * rank + i, i = 1, elements)], elements, next, indices, window, ierror)
  call ok(ierror, 'put')
  call MPIX_Sparse_window_accumulate([1, 2], 2, next, indices(3:4), MPI_SUM, window, ierror)
  call ok(ierror, 'accumulate')
  call MPIX_Sparse_window_get(got, 2, next, indices(3:4), window, ierror)
  call ok(ierror, 'get')
  call MPIX_Sparse_window_fetch_and_op([7], before, 1, next, indices(5:5), MPI_REPLACE, window, ierror)
  call ok(ierror, 'fetch_and_op')
  call MPIX_Sparse_window_compare_and_swap([8], [7], swapped, 1, next, indices(5:5), window, ierror)
  call ok(ierror, 'compare_and_swap')
  call MPIX_Sparse_window_flush(window, ierror)
  call ok(ierror, 'flush')
  call equal(got, [100 * rank + 4, 100 * rank + 6], 'get')
  call equal(before, [100 * rank + 5], 'fetch_and_op')
  call equal(swapped, [7], 'compare_and_swap')
  call MPIX_Sparse_window_fence(window, ierror)
  call ok(ierror, 'fence')
  call equal(mine, [100 * from + 1, 100 * from + 2, 100 * from + 4, 100 * from + 6, 8, &
      (100 * from + i, i = 6, elements)], 'after the fence')

  ! large counts
  call MPIX_Sparse_window_put_c([1, 2], 2_wide, next, indices(9:10), window, ierror)
  call ok(ierror, 'put_c')
  call MPIX_Sparse_window_accumulate_c([4], 1_wide, next, indices(9:9), MPI_SUM, window, ierror)
  call ok(ierror, 'accumulate_c')
  call MPIX_Sparse_window_get_c(got, 2_wide, next, indices(9:10), window, ierror)
  call ok(ierror, 'get_c')
  call MPIX_Sparse_window_fetch_and_op_c([1], before, 1_wide, next, indices(10:10), MPI_SUM, window, ierror)
  call ok(ierror, 'fetch_and_op_c')
  call MPIX_Sparse_window_compare_and_swap_c([0], [9], swapped, 1_wide, next, indices(10:10), window, ierror)
  call ok(ierror, 'compare_and_swap_c')
  call MPIX_Sparse_window_fence(window, ierror)
  call ok(ierror, 'fence')
  call equal([got, before, swapped, mine(9:10)], [5, 2, 2, 3, 5, 3], 'large counts')

  ! an index that is too high
  call MPIX_Sparse_window_put([1], 1, next, [int(elements, address)], window, ierror)
  call MPI_Error_class(ierror, class, i)
  call check(class == MPI_ERR_ARG, 'an index that is too high', class, MPI_ERR_ARG)

  ! an operator of the program's own, before and after it is added
  call MPI_Op_create(append, .true., own, ierror)
  call MPIX_Sparse_window_accumulate([2], 1, next, indices(1:1), own, window, ierror)
  call MPI_Error_class(ierror, class, i)
  call check(class == MPI_ERR_OP, 'an operator that was not added', class, MPI_ERR_OP)
  call MPIX_Sparse_window_add_operator(own, window, ierror)
  call ok(ierror, 'add_operator')
  mine(1) = 3
  call MPIX_Sparse_window_fence(window, ierror)
  call MPIX_Sparse_window_accumulate([2], 1, next, indices(1:1), own, window, ierror)
  call ok(ierror, 'accumulate by an operator of its own')
  call MPIX_Sparse_window_fence(window, ierror)
  call equal(mine(1:1), [23], 'accumulate by an operator of its own')

  call MPIX_Sparse_window_free(window, ierror)
  call ok(ierror, 'free')
  call check(window == MPIX_SPARSE_WINDOW_NULL, 'a freed window is null')
  call MPI_Op_free(own, ierror)

  call MPIX_Sparse_window_create_c(mine, int(elements, wide), MPI_INTEGER, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierror)
  call ok(ierror, 'create_c')
  call MPIX_Sparse_window_free(window, ierror)
  call ok(ierror, 'free')
  call finish()
end program main
