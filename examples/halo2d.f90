! A 2-D heat equation on a Cartesian process grid, in Fortran: ghost cells by
! MPIX_Neighbor_alltoallw, straight in the field.
!
!   mpifort halo2d.f90 $(pkg-config --cflags --libs mpix_neighbor-fortran) -o halo2d
!   mpirun -n 4 ./halo2d --cells 400 300
!
! Each process owns a block of cells, with one layer of ghost cells around it. A step brings the
! neighbors' outermost cells into the ghost cells and then computes each cell from itself and the
! four around it. Rows of the block do not lie behind one another in memory: subarray types say
! where the cells are, and nothing is copied to and fro.
!
! The result is compared with a serial run of the same problem on process 0, and the exchange is
! timed beside Irecv, Isend and Waitall written by hand, in turns: MPI_Neighbor_alltoallw from
! Fortran on a Cartesian communicator does not work with mpi_f08 of MPICH 4.0.2, nor with Open MPI
! 4.1.4 on fewer processes than neighbors. The exit code is 0 if the results agree.
!
! No ierror is asked for, of MPI_ and MPIX_ routines alike: communicators keep the default error
! handler, MPI_ERRORS_ARE_FATAL, which this library calls as MPI does.

module heat
  use, intrinsic :: iso_fortran_env, only : error_unit, int64, output_unit, real64
  use mpi_f08
  use mpix_neighbor
  implicit none

  integer, parameter :: batches = 9

  character(len=*), parameter :: usage = &
      'usage: halo2d [options]' // new_line('a') // &
      '  --cells NX NY      cells of the whole grid (200 150); need not divide evenly' // new_line('a') // &
      '  --grid PX PY       process grid; 0 leaves a number to MPI_Dims_create (0 0)' // new_line('a') // &
      '  --open             temperature 0 outside of the box, instead of periodic boundaries' // new_line('a') // &
      '  --overlap          exchange while computing' // new_line('a') // &
      '  --steps N          steps to compute (100)' // new_line('a') // &
      '  --repeat N         exchanges to time, of each kind, in 9 batches (1000)' // new_line('a') // &
      '  --schedule NAME    the library''s schedule: info key mpix_schedule (auto)'

  type :: options
    integer :: cells(2) = [200, 150], grid(2) = 0, steps = 100, repeat = 1000
    logical :: periodic = .true., overlap = .false.
    character(len=64) :: schedule = ''
  end type options

  ! a process' cells: indices 1 to n, which are first + 1 to first + n in the whole grid
  type :: block
    integer :: n(2), first(2)
  end type block

  ! what an exchange needs: one block for each neighbor, in the order of the Cartesian communicator
  type :: halo
    type(MPI_Comm) :: comm
    type(MPI_Datatype) :: sent(4), received(4)
    integer :: counts(4) = 1
    integer(MPI_ADDRESS_KIND) :: displs(4) = 0
  end type halo

contains

  ! ---- options: all processes have the same arguments, so that all of them find the same error

  subroutine parse(o, wrong)
    type(options), intent(out) :: o
    character(len=:), allocatable, intent(out) :: wrong
    character(len=64) :: name
    integer :: i
    i = 1
    do while (i <= command_argument_count())
      call get_command_argument(i, name)
      i = i + 1
      select case (name)
      case ('--cells')
        call numbers(o%cells, 1)
      case ('--grid')
        call numbers(o%grid, 0)
      case ('--steps')
        call number(o%steps, 0)
      case ('--repeat')
        call number(o%repeat, 0)
      case ('--open')
        o%periodic = .false.
      case ('--overlap')
        o%overlap = .true.
      case ('--schedule')
        call get_command_argument(i, o%schedule)
        if (o%schedule == '') wrong = trim(name)
        i = i + 1
      case default
        wrong = trim(name)
      end select
      if (allocated(wrong)) return
    end do

  contains

    subroutine number(value, least)
      integer, intent(inout) :: value
      integer, intent(in) :: least
      character(len=64) :: text
      integer :: status
      call get_command_argument(i, text)
      i = i + 1
      status = 1
      if (len_trim(text) > 0 .and. verify(trim(text), '0123456789') == 0) read (text, *, iostat=status) value
      if (status /= 0 .or. value < least) wrong = trim(name)
    end subroutine number

    subroutine numbers(values, least)
      integer, intent(inout) :: values(2)
      integer, intent(in) :: least
      call number(values(1), least)
      if (.not. allocated(wrong)) call number(values(2), least)
    end subroutine numbers

  end subroutine parse

  ! ---- the problem

  ! where a process' cells are
  function owned(o, dims, coords) result(mine)
    type(options), intent(in) :: o
    integer, intent(in) :: dims(2), coords(2)
    type(block) :: mine
    integer :: rest(2)
    rest = mod(o%cells, dims)
    mine%n = o%cells / dims + merge(1, 0, coords < rest)
    mine%first = coords * (o%cells / dims) + min(coords, rest)
  end function owned

  ! temperatures at the beginning: two warm spots and a slope
  subroutine initial(o, mine, u)
    type(options), intent(in) :: o
    type(block), intent(in) :: mine
    real(real64), allocatable, intent(out) :: u(:, :)
    real(real64) :: x, y
    integer :: i, j
    allocate (u(0:mine%n(1) + 1, 0:mine%n(2) + 1), source=0.0_real64)
    do j = 1, mine%n(2)
      do i = 1, mine%n(1)
        x = (mine%first(1) + i) / real(o%cells(1), real64)
        y = (mine%first(2) + j) / real(o%cells(2), real64)
        u(i, j) = exp(-40 * ((x - 0.3_real64)**2 + (y - 0.6_real64)**2)) + 0.2_real64 * x
        if (abs(x - 0.8_real64) < 0.1_real64 .and. abs(y - 0.2_real64) < 0.1_real64) u(i, j) = 1
      end do
    end do
  end subroutine initial

  ! one step of the cells in a rectangle: the cells around them are up to date
  subroutine advance(u, next, from, to)
    real(real64), intent(in), asynchronous :: u(0:, 0:)
    real(real64), intent(inout) :: next(0:, 0:)
    integer, intent(in) :: from(2), to(2)
    real(real64), parameter :: rate = 0.2_real64
    integer :: i, j
    do j = from(2), to(2)
      do i = from(1), to(1)
        next(i, j) = u(i, j) + rate * (((u(i - 1, j) + u(i + 1, j)) + (u(i, j - 1) + u(i, j + 1))) - 4 * u(i, j))
      end do
    end do
  end subroutine advance

  ! the whole problem on one process: the ghost cells are its own cells on the other side
  subroutine serial(o, u)
    type(options), intent(in) :: o
    real(real64), allocatable, intent(out) :: u(:, :)
    real(real64), allocatable :: next(:, :)
    integer :: n(2), step
    n = o%cells
    call initial(o, block(n=n, first=[0, 0]), u)
    next = u
    do step = 1, o%steps
      if (o%periodic) then
        u(0, :) = u(n(1), :)
        u(n(1) + 1, :) = u(1, :)
        u(:, 0) = u(:, n(2))
        u(:, n(2) + 1) = u(:, 1)
      end if
      call advance(u, next, [1, 1], n)
      call swap(u, next)
    end do
  end subroutine serial

  subroutine swap(a, b)
    real(real64), allocatable, intent(inout) :: a(:, :), b(:, :)
    real(real64), allocatable :: c(:, :)
    call move_alloc(a, c)
    call move_alloc(b, a)
    call move_alloc(c, b)
  end subroutine swap

  ! ---- the exchange

  ! Neighbors come from the topology: lower and higher one in the first dimension, then those in the
  ! second. What goes to the lower neighbor are the outermost cells on the lower side, and what
  ! comes from it the ghost cells beyond them.
  function prepare(o, cart, n) result(h)
    type(options), intent(in) :: o
    type(MPI_Comm), intent(in) :: cart
    integer, intent(in) :: n(2)
    type(halo) :: h
    type(MPI_Info) :: info
    integer :: d, side, edge, length(2), from(2)
    h%comm = cart
    do d = 1, 2
      do side = 0, 1
        edge = 2 * d - 1 + side
        length = n
        length(d) = 1
        from = 1
        from(d) = merge(1, n(d), side == 0)
        call MPI_Type_create_subarray(2, n + 2, length, from, MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, h%sent(edge))
        from(d) = merge(0, n(d) + 1, side == 0)
        call MPI_Type_create_subarray(2, n + 2, length, from, MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, h%received(edge))
        call MPI_Type_commit(h%sent(edge))
        call MPI_Type_commit(h%received(edge))
      end do
    end do
    call MPI_Info_create(info)
    if (o%schedule /= '') call MPI_Info_set(info, 'mpix_schedule', trim(o%schedule))
    call MPIX_Neighborhood_set_topology(MPIX_FOR_ALLTOALL, info, cart)
    call MPI_Info_free(info)
  end function prepare

  subroutine exchange(h, u)
    type(halo), intent(in) :: h
    real(real64), intent(inout), contiguous, asynchronous :: u(:, :)
    call MPIX_Neighbor_alltoallw(u, h%counts, h%displs, h%sent, u, h%counts, h%displs, h%received, h%comm)
  end subroutine exchange

  function persistent_exchange(h, u) result(plan)
    type(halo), intent(in) :: h
    real(real64), intent(inout), contiguous, asynchronous :: u(:, :)
    type(MPIX_Request) :: plan
    call MPIX_Neighbor_alltoallw_plan(u, h%counts, h%displs, h%sent, u, h%counts, h%displs, h%received, h%comm, &
        MPI_INFO_NULL, plan)
  end function persistent_exchange

  ! one step of all cells
  subroutine advance_while_exchanging(plan, u, next, n)
    type(MPIX_Request), intent(inout) :: plan
    real(real64), intent(inout), contiguous, asynchronous :: u(0:, 0:)
    real(real64), intent(inout) :: next(0:, 0:)
    integer, intent(in) :: n(2)
    integer :: edge, d, from(2), to(2), i, j
    ! tells a compiler that does not know it yet that u is read here, and is another one below
    if (.not. MPI_ASYNC_PROTECTS_NONBLOCKING) call MPI_F_sync_reg(u)
    call MPIX_Request_start(plan)
    call advance(u, next, [2, 2], n - 1)
    do
      call MPIX_Request_waitany_source(plan, edge)
      if (edge == MPI_UNDEFINED) exit
      if (.not. MPI_ASYNC_PROTECTS_NONBLOCKING) call MPI_F_sync_reg(u)
      ! the cells on that side, but the corners, which need ghost cells of two sides
      d = (edge + 1) / 2
      from = 2
      to = n - 1
      from(d) = merge(1, n(d), mod(edge, 2) == 1)
      to(d) = from(d)
      call advance(u, next, from, to)
    end do
    do j = 1, n(2), max(n(2) - 1, 1)
      do i = 1, n(1), max(n(1) - 1, 1)
        call advance(u, next, [i, j], [i, j])
      end do
    end do
    ! what is sent may still be under way
    call MPIX_Request_wait(plan)
    if (.not. MPI_ASYNC_PROTECTS_NONBLOCKING) call MPI_F_sync_reg(u)
  end subroutine advance_while_exchanging

  ! the same as exchange, by hand: what travels toward the lower side has tag 0 or 2, and arrives on
  ! the higher side
  subroutine exchange_by_hand(h, u)
    type(halo), intent(in) :: h
    real(real64), intent(inout), contiguous, asynchronous :: u(:, :)
    type(MPI_Request) :: requests(8)
    integer :: d, low, high, edge
    do d = 1, 2
      call MPI_Cart_shift(h%comm, d - 1, 1, low, high)
      edge = 2 * d - 1
      call MPI_Irecv(u, 1, h%received(edge), low, edge, h%comm, requests(4 * d - 3))
      call MPI_Irecv(u, 1, h%received(edge + 1), high, edge - 1, h%comm, requests(4 * d - 2))
      call MPI_Isend(u, 1, h%sent(edge), low, edge - 1, h%comm, requests(4 * d - 1))
      call MPI_Isend(u, 1, h%sent(edge + 1), high, edge, h%comm, requests(4 * d))
    end do
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE)
  end subroutine exchange_by_hand

  ! microseconds for an exchange, on the slowest process
  function timed(h, u, repeat, how) result(microseconds)
    type(halo), intent(in) :: h
    real(real64), intent(inout), contiguous, asynchronous :: u(:, :)
    integer, intent(in) :: repeat
    interface
      subroutine how(h, u)
        import :: halo, real64
        type(halo), intent(in) :: h
        real(real64), intent(inout), contiguous, asynchronous :: u(:, :)
      end subroutine how
    end interface
    real(real64) :: microseconds, began
    integer :: i
    call MPI_Barrier(h%comm)
    began = MPI_Wtime()
    do i = 1, repeat
      call how(h, u)
    end do
    microseconds = 1e6_real64 * (MPI_Wtime() - began) / repeat
    call MPI_Allreduce(MPI_IN_PLACE, microseconds, 1, MPI_DOUBLE_PRECISION, MPI_MAX, h%comm)
  end function timed

  ! medians of batches in turns, after one of each kind that does not count
  subroutine compare_times(h, u, repeat, ours, by_hand)
    type(halo), intent(in) :: h
    real(real64), intent(inout), contiguous, asynchronous :: u(:, :)
    integer, intent(in) :: repeat
    real(real64), intent(out) :: ours, by_hand
    real(real64) :: times(0:batches, 2)
    integer :: b, each
    each = (repeat + batches - 1) / batches
    do b = 0, batches
      times(b, 1) = timed(h, u, each, exchange)
      times(b, 2) = timed(h, u, each, exchange_by_hand)
    end do
    ours = median(times(1:, 1))
    by_hand = median(times(1:, 2))
  end subroutine compare_times

  ! of an odd number of values: as many are smaller as larger, but for equal ones
  pure function median(values) result(middle)
    real(real64), intent(in) :: values(:)
    real(real64) :: middle
    integer :: i
    middle = 0
    do i = 1, size(values)
      middle = values(i)
      if (count(values < middle) <= size(values) / 2 .and. count(values > middle) <= size(values) / 2) exit
    end do
  end function median

end module heat

program halo2d
  use heat
  implicit none
  type(options) :: o
  type(block) :: mine
  type(halo) :: h
  type(MPI_Comm) :: cart
  type(MPIX_Request) :: plans(2)
  real(real64), allocatable, asynchronous :: u(:, :), next(:, :)
  real(real64), allocatable :: whole(:, :), expected(:, :)
  real(real64) :: ours, by_hand, unused
  integer :: rank, ranks, dims(2), coords(2), step, length, edge, different
  ! the processes of dimensions that are given; may exceed 32 bits
  integer(int64) :: least
  character(len=:), allocatable :: wrong
  character(len=1000) :: text

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call parse(o, wrong)
  if (.not. allocated(wrong)) then
    dims = o%grid
    least = product(int(max(dims, 1), int64))
    if (mod(int(ranks, int64), least) /= 0 .or. (all(dims > 0) .and. least /= ranks)) then
      wrong = '--grid'
    else
      call MPI_Dims_create(ranks, 2, dims)
      if (any(dims > o%cells)) wrong = '--cells'
    end if
  end if
  if (allocated(wrong)) then
    if (rank == 0) write (error_unit, '(3a)') 'halo2d: ', wrong, ' is not possible', usage
    call MPI_Finalize()
    stop 2, quiet=.true.
  end if

  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [o%periodic, o%periodic], .false., cart)
  call MPI_Comm_rank(cart, rank)
  call MPI_Cart_coords(cart, rank, 2, coords)
  mine = owned(o, dims, coords)
  h = prepare(o, cart, mine%n)
  call initial(o, mine, u)
  next = u
  if (o%overlap) then
    plans(1) = persistent_exchange(h, u)
    plans(2) = persistent_exchange(h, next)
  end if
  do step = 1, o%steps
    if (o%overlap) then
      call advance_while_exchanging(plans(1 + mod(step + 1, 2)), u, next, mine%n)
    else
      call exchange(h, u)
      call advance(u, next, [1, 1], mine%n)
    end if
    call swap(u, next)
  end do
  if (o%overlap) then
    do step = 1, 2
      call MPIX_Request_free(plans(step))
    end do
  end if

  ! all other processes' cells are 0: the sum is the whole grid
  allocate (whole(o%cells(1), o%cells(2)), source=0.0_real64)
  whole(mine%first(1) + 1:mine%first(1) + mine%n(1), mine%first(2) + 1:mine%first(2) + mine%n(2)) = &
      u(1:mine%n(1), 1:mine%n(2))
  if (rank == 0) then
    call MPI_Reduce(MPI_IN_PLACE, whole, size(whole), MPI_DOUBLE_PRECISION, MPI_SUM, 0, cart)
  else
    call MPI_Reduce(whole, unused, size(whole), MPI_DOUBLE_PRECISION, MPI_SUM, 0, cart)
  end if
  if (o%repeat > 0) call compare_times(h, u, o%repeat, ours, by_hand)

  different = 0
  if (rank == 0) then
    call serial(o, expected)
    ! counts NaN, which maxval would leave out
    different = count(.not. abs(whole - expected(1:o%cells(1), 1:o%cells(2))) <= 0)
    write (output_unit, '(5(i0, a), a)') o%cells(1), ' x ', o%cells(2), ' cells, ', dims(1), ' x ', dims(2), &
        ' processes, ', o%steps, ' steps, boundaries ', merge('periodic', 'open    ', o%periodic)
    call MPIX_Neighborhood_describe(MPIX_FOR_ALLTOALL, cart, text, length)
    write (output_unit, '(a)', advance='no') text(1:min(length, len(text)))
    if (o%repeat > 0) write (output_unit, '(2(a, f0.1), a)') 'exchange: MPIX_Neighbor_alltoallw ', ours, &
        ' us, Irecv, Isend and Waitall ', by_hand, ' us'
    if (different == 0) then
      write (output_unit, '(a)') 'results agree with the serial run'
    else
      write (output_unit, '(a, i0, a)') 'RESULTS DIFFER from the serial run in ', different, ' cells'
    end if
  end if
  call MPI_Bcast(different, 1, MPI_INTEGER, 0, cart)
  do edge = 1, 4
    call MPI_Type_free(h%sent(edge))
    call MPI_Type_free(h%received(edge))
  end do
  call MPI_Comm_free(cart)
  call MPI_Finalize()
  if (different > 0) stop 1, quiet=.true.
end program halo2d
