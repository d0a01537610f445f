! Neighborhood collectives from Fortran, by mpi_f08 (F08 defined), by the module mpi (MODULE
! defined), or by mpif.h. Every result is compared with a computed one.
program preload_fortran
#if defined(F08)
  use mpi_f08
#elif defined(MODULE)
  use mpi
#endif
  implicit none
#if !defined(F08) && !defined(MODULE)
  include 'mpif.h'
#endif
#if defined(F08)
#define COMMUNICATOR type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define DATATYPE type(MPI_Datatype)
#define STATUS type(MPI_Status)
#define STATUSES(n) type(MPI_Status) :: statuses(n)
#define IERROR
#else
#define COMMUNICATOR integer
#define REQUEST integer
#define DATATYPE integer
#define IERROR , ierr
#endif
  integer :: rank, nprocs, ierr, checks = 0, failures = 0, both(2), total(2), halves(2), d
  COMMUNICATOR :: ring, torus, copy, part, graph, twin
  integer :: left, right
  integer :: degrees(2)
#if defined(F08) && !defined(MPIX_INIT)
#define LARGE
  character(8) :: argument
  type plain
    integer :: x
  end type
  type, extends(plain) :: longer
    integer :: y(3)
  end type
#endif

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ nprocs /), (/ .true. /), .false., ring, ierr)
#if defined(LARGE)
  ! ends the program, with a text
  call get_command_argument(1, argument)
  if (argument == 'gaps') call started_with_gaps(ring)
#endif
  halves = 0
  call MPI_Dims_create(nprocs, 2, halves, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, halves, (/ .true., .true. /), .false., torus, ierr)
  call MPI_Comm_dup(ring, copy, ierr)
  call MPI_Comm_dup_with_info(torus, MPI_INFO_NULL, twin, ierr)
  call MPI_Cart_sub(torus, (/ .true., .false. /), part, ierr)
  left = mod(rank + nprocs - 1, nprocs)
  right = mod(rank + 1, nprocs)
  ! to the right once, to the left twice
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, (/ left, right, right /), MPI_UNWEIGHTED, 3, (/ left, left, right /), &
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierr)
  do d = 1, 2
    call blocking(ring, 1)
    call blocking(torus, 2)
    call blocking(copy, 1)
    call blocking(twin, 2)
    call blocking(part, 1)
    call on_graph(d)
    call nonblocking(ring, 1)
    call nonblocking(torus, 2)
    call mixed(ring)
  end do
#if defined(MPIF)
  call renewed(ring)
#endif
  call strided(ring)
#if defined(LARGE)
  call large(ring)
#endif
  call lists(ring)
  call any_of_many(ring)
#if defined(MPIF)
  call persistent(ring)
#endif
  call all_to_all()
  call MPI_Comm_free(ring, ierr)
  call MPI_Comm_free(torus, ierr)
  call MPI_Comm_free(copy, ierr)
  call MPI_Comm_free(twin, ierr)
  call MPI_Comm_free(part, ierr)
  call MPI_Comm_free(graph, ierr)
  both = (/ failures, checks /)
  call MPI_Allreduce(both, total, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(i0, a, i0, a)', total(2), ' checks, ', total(1), ' failed'
  call MPI_Finalize(ierr)
  if (total(1) /= 0) call exit(1)

contains

  subroutine check(good, what, which)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    integer, intent(in) :: which
    checks = checks + 1
    if (.not. good) then
      failures = failures + 1
      if (failures <= 10) print '(a, i0, a, a, a, i0)', 'process ', rank, ': ', what, ' in entry ', which
    end if
  end subroutine

  ! what process p sends in entry i
  integer function value(p, i, k)
    integer, intent(in) :: p, i, k
    value = 1 + k + 10 * i + 1000 * p
  end function

  subroutine neighbors(comm, dims, sources, me)
    COMMUNICATOR, intent(in) :: comm
    integer, intent(in) :: dims
    integer, intent(out) :: sources(2 * dims), me
    integer :: i
    do i = 1, dims
      call MPI_Cart_shift(comm, i - 1, 1, sources(2 * i - 1), sources(2 * i), ierr)
    end do
    call MPI_Comm_rank(comm, me, ierr)
  end subroutine

  ! the entry at the other end: what goes down comes from above
  integer function opposite(i)
    integer, intent(in) :: i
    opposite = i - 1 + 2 * mod(i, 2)
  end function

  ! one status, however many requests there are
  subroutine any_of_many(comm)
    COMMUNICATOR, intent(in) :: comm
    integer, parameter :: many = 200000
    REQUEST, allocatable :: requests(:)
    integer, asynchronous :: out(4), in(4)
    integer :: which, turn
    logical :: flag
#if defined(F08)
    type(MPI_Status), save :: status
#else
    integer, save :: status(MPI_STATUS_SIZE)
#endif
    allocate (requests(many))
    requests = MPI_REQUEST_NULL
    out = rank
    do turn = 1, 2
      in = -1
      call MPI_Ineighbor_alltoall(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, comm, requests(7), ierr)
      if (turn == 1) then
        call MPI_Waitany(many, requests, which, status, ierr)
      else
        flag = .false.
        do while (.not. flag)
          call MPI_Testany(many, requests, which, flag, status, ierr)
        end do
      end if
      call check(which == 7, 'the index of many requests', which)
      call check(all(in == (/ left, left, right, right /)), 'a block of one of many requests', turn)
    end do
  end subroutine

  subroutine blocking(comm, dims)
    COMMUNICATOR, intent(in) :: comm
    integer, intent(in) :: dims
    integer :: sources(2 * dims), me, i, n
    integer :: out(2 * 2 * dims), in(2 * 2 * dims), one(2), counts(2 * dims), displs(2 * dims)
    integer(MPI_ADDRESS_KIND) :: bytes(2 * dims), absolute(2 * dims), there(2 * dims), from, to
    DATATYPE :: types(2 * dims)
    n = 2 * dims
    call neighbors(comm, dims, sources, me)
    one = (/ value(me, 0, 0), value(me, 0, 1) /)
    in = -1
    call MPI_Neighbor_allgather(one, 2, MPI_INTEGER, in, 2, MPI_INTEGER, comm IERROR)
    do i = 1, n
      call check(all_equal(in(2 * i - 1:2 * i), sources(i), 0), 'allgather', i)
    end do
    counts = 2
    displs = (/ (2 * (n - i), i = 1, n) /)
    in = -1
    call MPI_Neighbor_allgatherv(one, 2, MPI_INTEGER, in, counts, displs, MPI_INTEGER, comm, ierr)
    do i = 1, n
      call check(all_equal(in(displs(i) + 1:displs(i) + 2), sources(i), 0), 'allgatherv', i)
    end do
    do i = 1, n
      out(2 * i - 1) = value(me, i, 0)
      out(2 * i) = value(me, i, 1)
    end do
    in = -1
    call MPI_Neighbor_alltoall(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, comm, ierr)
    do i = 1, n
      call check(all_equal(in(2 * i - 1:2 * i), sources(i), opposite(i)), 'alltoall', i)
    end do
    in = -1
    call MPI_Neighbor_alltoallv(out, counts, (/ (2 * i, i = 0, n - 1) /), MPI_INTEGER, in, counts, displs, MPI_INTEGER, comm, ierr)
    do i = 1, n
      call check(all_equal(in(displs(i) + 1:displs(i) + 2), sources(i), opposite(i)), 'alltoallv', i)
    end do
    types = MPI_INTEGER
    bytes = (/ (8 * (i - 1), i = 1, n) /)
    there = 4 * displs
    in = -1
#if !defined(NO_ALLTOALLW)
    call MPI_Neighbor_alltoallw(out, counts, bytes, types, in, counts, there, types, comm, ierr)
    do i = 1, n
      call check(all_equal(in(displs(i) + 1:displs(i) + 2), sources(i), opposite(i)), 'alltoallw', i)
    end do
    call MPI_Get_address(out, from, ierr)
    call MPI_Get_address(in, to, ierr)
    absolute = from + bytes
    there = to + there
    in = -1
    call MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, absolute, types, MPI_BOTTOM, counts, there, types, comm, ierr)
    call keep(out, in)
    do i = 1, n
      call check(all_equal(in(displs(i) + 1:displs(i) + 2), sources(i), opposite(i)), 'alltoallw of addresses', i)
    end do
#endif
  end subroutine

#if defined(MPIF)
  ! One variable for the old communicator and for the new one. Where an interface says that the new
  ! one is written, compilers need not keep the old one.
  subroutine renewed(comm)
    integer, intent(in) :: comm
    integer :: same
    same = comm
    call MPI_Comm_dup(same, same, ierr)
    call blocking(same, 1)
    call nonblocking(same, 1)
    call MPI_Comm_free(same, ierr)
  end subroutine
#endif

  ! buffers with gaps; counts and displacements count as if there were none
  subroutine strided(comm)
    COMMUNICATOR, intent(in) :: comm
    type pair
      integer :: x, y
    end type
    type(pair), target :: pairs(4)
    integer, target :: u(7)
    integer, asynchronous :: v(9), in(4), w(3, 4), x(4, 4)
    integer, pointer :: p(:)
    integer(MPI_ADDRESS_KIND) :: bytes(2)
    integer :: k, me, sources(2), counts(2), code, wanted(4)
    DATATYPE :: types(2)
#if defined(LARGE)
    REQUEST :: handle
    integer :: class
    type(plain) :: many_plain(4)
    type(longer) :: many_longer(4)
#endif
#if !defined(NO_ALLTOALLW)
    call neighbors(comm, 1, sources, me)
    counts = 2
    bytes = (/ 0, 8 /)
    types = MPI_INTEGER
    wanted = (/ value(sources(1), 2, 0), value(sources(1), 2, 1), value(sources(2), 1, 0), value(sources(2), 1, 1) /)
    u = -7
    u(1:7:2) = (/ value(me, 1, 0), value(me, 1, 1), value(me, 2, 0), value(me, 2, 1) /)
    in = -1
    call MPI_Neighbor_alltoallw(u(1:7:2), counts, bytes, types, in, counts, bytes, types, comm, ierr)
    call check(all(in == wanted), 'a strided send buffer', 1)
    ! backwards, by a pointer
    u(7:1:-2) = u(1:7:2)
    p => u(7:1:-2)
    in = -1
    call MPI_Neighbor_alltoallw(p, counts, bytes, types, in, counts, bytes, types, comm, ierr)
    call check(all(in == wanted), 'a strided send buffer', 2)
    ! rows
    w = -7
    w(2, :) = p
    x = -9
    call MPI_Neighbor_alltoallw(w(2, :), counts, bytes, types, x(3, :), counts, bytes, types, comm, ierr)
    call check(all(x(3, :) == wanted), 'a strided receive buffer', 1)
    call check(count(x == -9) == 12, 'gaps of a receive buffer', 1)
    v = -1
    call MPI_Neighbor_alltoallw(p, counts, bytes, types, v(2:8:2), counts, bytes, types, comm, ierr)
    call check(all(v(2:8:2) == wanted), 'a strided receive buffer', 2)
    call check(all(v(1:9:2) == -1), 'gaps of a receive buffer', 2)
    ! two columns, each without gaps
    x = -9
    x(2:3, 2:3) = reshape(p, (/ 2, 2 /))
    w = -1
    call MPI_Neighbor_alltoallw(x(2:3, 2:3), counts, bytes, types, w(1:2, 1:4:3), counts, bytes, types, comm, ierr)
    call check(all(reshape(w(1:2, 1:4:3), (/ 4 /)) == wanted), 'columns', 1)
    call check(count(w == -1) == 8, 'gaps of columns', 1)
    ! contiguous parts
    v = -1
    x(:, 2) = p
    call MPI_Neighbor_alltoallw(x(:, 2:2), counts, bytes, types, v(3:6), counts, bytes, types, comm, ierr)
    call check(all(v(3:6) == wanted), 'a contiguous part', 1)
    ! components
    pairs%x = p
    pairs%y = -7
    in = -1
    call MPI_Neighbor_alltoallw(pairs%x, counts, bytes, types, in, counts, bytes, types, comm, ierr)
    call check(all(in == wanted), 'components', 1)
    ! of assumed size, and a scalar
    in = -1
    call unsized(comm, x(:, 2), counts, bytes, types, in)
    call check(all(in == wanted), 'an array of assumed size', 1)
#if defined(LARGE)
    ! what goes on after the call cannot be copied
    in = -1
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
    do k = 1, 4
      select case (k)
      case (1)
        call MPI_Ineighbor_alltoallw(u(1:7:2), counts, bytes, types, in, counts, bytes, types, comm, handle, code)
      case (2)
        call MPI_Ineighbor_alltoallw(in, counts, bytes, types, v(1:7:2), counts, bytes, types, comm, handle, code)
      case (3)
        call MPI_Neighbor_alltoallw_init(u(1:7:2), counts, bytes, types, in, counts, bytes, types, comm, MPI_INFO_NULL, handle, code)
      case (4)
        call MPI_Neighbor_alltoallw_init(in, counts, bytes, types, v(1:7:2), counts, bytes, types, comm, MPI_INFO_NULL, handle, code)
      end select
      class = -1
      if (code /= MPI_SUCCESS) call MPI_Error_class(code, class, ierr)
      call check(class == MPI_ERR_BUFFER, 'the error of a started call', k)
      if (code == MPI_SUCCESS .and. k < 3) call MPI_Wait(handle, MPI_STATUS_IGNORE, ierr)
    end do
    ! how long the elements are is not told
    call polymorphic(comm, many_longer, counts, bytes, types, in, MPI_ERR_BUFFER, wanted)
    many_plain%x = p
    call polymorphic(comm, many_plain, counts, bytes, types, in, MPI_SUCCESS, wanted)
    call unlimited(comm, many_longer, counts, bytes, types, in, MPI_ERR_BUFFER, wanted)
    ! elements of this type are shorter than C is told
    call unlimited(comm, x(:, 2), counts, bytes, types, in, MPI_SUCCESS, wanted)
    call unlimited(comm, u(7:1:-2), counts, bytes, types, in, MPI_SUCCESS, wanted)
    pairs%x = p
    p => pairs%x
    call pointed(comm, p, counts, bytes, types, in)
    call check(all(in == wanted), 'a pointer to components', 1)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL)
#endif
#endif
  end subroutine

#if defined(LARGE)
  subroutine polymorphic(comm, out, counts, bytes, types, in, code, wanted)
    COMMUNICATOR, intent(in) :: comm
    class(plain), intent(in) :: out(:)
    integer, intent(in) :: counts(2), code, wanted(4)
    integer(MPI_ADDRESS_KIND), intent(in) :: bytes(2)
    DATATYPE, intent(in) :: types(2)
    integer, intent(inout) :: in(:)
    integer :: got
    in = -1
    call MPI_Neighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, comm, got)
    call check(got == code, 'the code of class(plain)', got)
    if (code == MPI_SUCCESS) call check(all(in == wanted), 'class(plain)', 1)
  end subroutine

  subroutine unlimited(comm, out, counts, bytes, types, in, code, wanted)
    COMMUNICATOR, intent(in) :: comm
    class(*), intent(in) :: out(:)
    integer, intent(in) :: counts(2), code, wanted(4)
    integer(MPI_ADDRESS_KIND), intent(in) :: bytes(2)
    DATATYPE, intent(in) :: types(2)
    integer, intent(inout) :: in(:)
    integer :: got
    in = -1
    call MPI_Neighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, comm, got)
    call check(got == code, 'the code of class(*)', got)
    if (code == MPI_SUCCESS) call check(all(in == wanted), 'class(*)', 1)
  end subroutine

  subroutine pointed(comm, out, counts, bytes, types, in)
    COMMUNICATOR, intent(in) :: comm
    integer, pointer, intent(in) :: out(:)
    integer, intent(in) :: counts(2)
    integer(MPI_ADDRESS_KIND), intent(in) :: bytes(2)
    DATATYPE, intent(in) :: types(2)
    integer, intent(inout) :: in(:)
    in = -1
    call MPI_Neighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, comm, ierr)
  end subroutine

  subroutine started_with_gaps(comm)
    COMMUNICATOR, intent(in) :: comm
    integer, asynchronous :: u(7), in(4)
    REQUEST :: handle
    u = rank
    call MPI_Ineighbor_alltoallw(u(1:7:2), [2, 2], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_INTEGER], in, [2, 2], &
                                 [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_INTEGER], comm, handle)
  end subroutine
#endif

  subroutine unsized(comm, out, counts, bytes, types, in)
    COMMUNICATOR, intent(in) :: comm
    integer, intent(in) :: out(*), counts(2)
    integer(MPI_ADDRESS_KIND), intent(in) :: bytes(2)
    DATATYPE, intent(in) :: types(2)
    integer, intent(inout) :: in(*)
#if !defined(NO_ALLTOALLW)
    call MPI_Neighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, comm, ierr)
#endif
  end subroutine

#if defined(LARGE)
  ! large counts
  subroutine large(comm)
    COMMUNICATOR, intent(in) :: comm
    integer, asynchronous :: out(7), in(7)
    integer :: sources(2), me, k, wanted(4)
    integer(MPI_COUNT_KIND) :: counts(2)
    integer(MPI_ADDRESS_KIND) :: bytes(2)
    DATATYPE :: types(2)
    REQUEST :: handle
    call neighbors(comm, 1, sources, me)
    counts = 2
    bytes = (/ 0, 8 /)
    types = MPI_INTEGER
    wanted = (/ value(sources(1), 2, 0), value(sources(1), 2, 1), value(sources(2), 1, 0), value(sources(2), 1, 1) /)
    out(1:4) = (/ value(me, 1, 0), value(me, 1, 1), value(me, 2, 0), value(me, 2, 1) /)
    in = -1
    call MPI_Neighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, comm, ierr)
    call check(all(in(1:4) == wanted), 'alltoallw with large counts', 1)
    in = -1
    call MPI_Ineighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, comm, handle, ierr)
    call MPI_Wait(handle, MPI_STATUS_IGNORE, ierr)
    call check(all(in(1:4) == wanted), 'ialltoallw with large counts', 1)
    call MPI_Neighbor_alltoallw_init(out, counts, bytes, types, in, counts, bytes, types, comm, MPI_INFO_NULL, handle, ierr)
    do k = 1, 2
      in = -1
      call MPI_Start(handle, ierr)
      call MPI_Wait(handle, MPI_STATUS_IGNORE, ierr)
      call check(all(in(1:4) == wanted), 'persistent alltoallw with large counts', k)
    end do
    call MPI_Request_free(handle, ierr)
    out(1:7:2) = out(1:4)
    in = -1
    call MPI_Neighbor_alltoallw(out(1:7:2), counts, bytes, types, in(1:7:2), counts, bytes, types, comm, ierr)
    call check(all(in(1:7:2) == wanted) .and. all(in(2:6:2) == -1), 'strided buffers with large counts', 1)
  end subroutine
#endif

  ! compilers must not think that they know what a buffer holds
  subroutine keep(a, b)
    integer, intent(inout) :: a(*), b(*)
    if (nprocs < 0) a(1) = b(1)
  end subroutine

  logical function all_equal(block, p, i)
    integer, intent(in) :: block(2), p, i
    if (p == MPI_PROC_NULL) then
      all_equal = all(block == -1)
    else
      all_equal = block(1) == value(p, i, 0) .and. block(2) == value(p, i, 1)
    end if
  end function

  subroutine on_graph(round)
    integer, intent(in) :: round
    integer :: out(6), in(6), i
    do i = 1, 3
      out(2 * i - 1) = value(rank, i, 0) * round
      out(2 * i) = value(rank, i, 1) * round
    end do
    in = -1
    call MPI_Neighbor_alltoall(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, graph, ierr)
    if (nprocs > 2) then
      call check(in(1) == value(left, 3, 0) * round, 'graph', 1)
      call check(in(3) == value(right, 1, 0) * round .and. in(4) == value(right, 1, 1) * round, 'graph', 2)
      call check(in(5) == value(right, 2, 0) * round, 'graph', 3)
    else
      ! all edges lead to one process: k-th to k-th
      do i = 1, 3
        call check(in(2 * i - 1) == value(left, i, 0) * round, 'graph', i)
      end do
    end if
  end subroutine

  subroutine nonblocking(comm, dims)
    COMMUNICATOR, intent(in) :: comm
    integer, intent(in) :: dims
    integer, asynchronous :: out(2 * 2 * dims), in(2 * 2 * dims)
    integer :: sources(2 * dims), me, i, n, counts(2 * dims), displs(2 * dims), source
    integer(MPI_ADDRESS_KIND) :: bytes(2 * dims)
    DATATYPE :: types(2 * dims)
    REQUEST :: handle
    logical :: flag
#if defined(F08)
    STATUS :: state
#else
    integer :: state(MPI_STATUS_SIZE)
#endif
    n = 2 * dims
    call neighbors(comm, dims, sources, me)
    do i = 1, n
      out(2 * i - 1) = value(me, i, 0)
      out(2 * i) = value(me, i, 1)
    end do
    counts = 2
    displs = (/ (2 * (i - 1), i = 1, n) /)
    bytes = 4 * displs
    types = MPI_INTEGER
    in = -1
    call MPI_Ineighbor_alltoall(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, comm, handle, ierr)
    call MPI_Wait(handle, MPI_STATUS_IGNORE, ierr)
    call check(handle == MPI_REQUEST_NULL, 'null after wait', 0)
    do i = 1, n
      call check(all_equal(in(2 * i - 1:2 * i), sources(i), opposite(i)), 'ialltoall', i)
    end do
    in = -1
    call MPI_Ineighbor_alltoallv(out, counts, displs, MPI_INTEGER, in, counts, displs, MPI_INTEGER, comm, handle IERROR)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(handle, flag, state, ierr)
    end do
#if defined(F08)
    source = state%MPI_SOURCE
#else
    source = state(MPI_SOURCE)
#endif
    call check(source == MPI_ANY_SOURCE, 'status', 0)
    do i = 1, n
      call check(all_equal(in(2 * i - 1:2 * i), sources(i), opposite(i)), 'ialltoallv', i)
    end do
#if !defined(NO_ALLTOALLW)
    in = -1
    call MPI_Ineighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, comm, handle, ierr)
    call MPI_Wait(handle, state, ierr)
    do i = 1, n
      call check(all_equal(in(2 * i - 1:2 * i), sources(i), opposite(i)), 'ialltoallw', i)
    end do
#endif
    in = -1
    call MPI_Ineighbor_allgather(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, comm, handle, ierr)
    call MPI_Wait(handle, state, ierr)
    do i = 1, n
      call check(all_equal(in(2 * i - 1:2 * i), sources(i), 1), 'iallgather', i)
    end do
    in = -1
    call MPI_Ineighbor_allgatherv(out, 2, MPI_INTEGER, in, counts, displs, MPI_INTEGER, comm, handle, ierr)
    call MPI_Wait(handle, state, ierr)
    do i = 1, n
      call check(all_equal(in(2 * i - 1:2 * i), sources(i), 1), 'iallgatherv', i)
    end do
  end subroutine

  ! requests of both kinds in one list
  subroutine mixed(comm)
    COMMUNICATOR, intent(in) :: comm
    integer, asynchronous :: out(4), in(4, 2), got, mine
    integer :: sources(2), me, i, j
    REQUEST :: handles(4)
    call neighbors(comm, 1, sources, me)
    out = (/ value(me, 1, 0), value(me, 1, 1), value(me, 2, 0), value(me, 2, 1) /)
    in = -1
    mine = 7 * me
    call MPI_Irecv(got, 1, MPI_INTEGER, sources(1), 3, comm, handles(1), ierr)
    call MPI_Ineighbor_alltoall(out, 2, MPI_INTEGER, in(:, 1), 2, MPI_INTEGER, comm, handles(2), ierr)
    call MPI_Isend(mine, 1, MPI_INTEGER, sources(2), 3, comm, handles(3), ierr)
    call MPI_Ineighbor_alltoall(out, 2, MPI_INTEGER, in(:, 2), 2, MPI_INTEGER, comm, handles(4), ierr)
    call MPI_Waitall(4, handles, MPI_STATUSES_IGNORE, ierr)
    call check(got == 7 * sources(1), 'message beside', 0)
    do j = 1, 2
      do i = 1, 2
        call check(all_equal(in(2 * i - 1:2 * i, j), sources(i), opposite(i)), 'mixed', i)
      end do
    end do
    do i = 1, 4
      call check(handles(i) == MPI_REQUEST_NULL, 'null after waitall', i)
    end do
  end subroutine

#if defined(MPIF)
#if defined(MPIX_INIT)
#define PLAN MPIX_Neighbor_alltoall_init
#define PLANW MPIX_Neighbor_alltoallw_init
#else
#define PLAN MPI_Neighbor_alltoall_init
#define PLANW MPI_Neighbor_alltoallw_init
#endif
  ! started together, any number of times
  subroutine persistent(comm)
    integer, intent(in) :: comm
    integer, asynchronous :: out(4), in(4, 2)
    integer :: sources(2), me, i, round, handles(2), kept(2), ones(2), counts(2), types(2)
    integer(MPI_ADDRESS_KIND) :: bytes(2)
    call neighbors(comm, 1, sources, me)
    counts = 2
    types = MPI_INTEGER
    bytes = (/ 0, 8 /)
    call PLAN(out, 2, MPI_INTEGER, in(:, 1), 2, MPI_INTEGER, comm, MPI_INFO_NULL, handles(1), ierr)
    call PLANW(out, counts, bytes, types, in(:, 2), counts, bytes, types, comm, MPI_INFO_NULL, handles(2), ierr)
    kept = handles
    do round = 1, 3
      out = (/ value(me, 1, 0), value(me, 1, 1), value(me, 2, 0), value(me, 2, 1) /) * round
      in = -1
      if (round == 2) then
        call MPI_Start(handles(2), ierr)
        call MPI_Start(handles(1), ierr)
        call MPI_Wait(handles(1), MPI_STATUS_IGNORE, ierr)
        call MPI_Wait(handles(2), MPI_STATUS_IGNORE, ierr)
      else
        call MPI_Startall(2, handles, ierr)
        call MPI_Waitall(2, handles, MPI_STATUSES_IGNORE, ierr)
      end if
      do i = 1, 2
        ones = in(2 * i - 1:2 * i, 1) / round
        call check(all_equal(ones, sources(i), opposite(i)), 'persistent alltoall', i)
        ones = in(2 * i - 1:2 * i, 2) / round
        call check(all_equal(ones, sources(i), opposite(i)), 'persistent alltoallw', i)
      end do
      call check(all(handles == kept), 'persistent handles', round)
    end do
    do i = 1, 2
      call MPI_Request_free(handles(i), ierr)
      call check(handles(i) == MPI_REQUEST_NULL, 'freed', i)
    end do
  end subroutine
#endif

  ! any and some: places count from one
  subroutine lists(comm)
    COMMUNICATOR, intent(in) :: comm
    integer, asynchronous :: out(4), in(4, 3)
    integer :: sources(2), me, i, j, which, many, some(3), seen(3)
    REQUEST :: handles(3)
    logical :: flag
    call neighbors(comm, 1, sources, me)
    out = (/ value(me, 1, 0), value(me, 1, 1), value(me, 2, 0), value(me, 2, 1) /)
    do j = 1, 4
      in = -1
      seen = 0
      do i = 1, 3
        call MPI_Ineighbor_alltoall(out, 2, MPI_INTEGER, in(:, i), 2, MPI_INTEGER, comm, handles(i), ierr)
      end do
      select case (j)
      case (1)
        do i = 1, 3
          call MPI_Waitany(3, handles, which, MPI_STATUS_IGNORE, ierr)
          seen(which) = seen(which) + 1
        end do
      case (2)
        do while (sum(seen) < 3)
          call MPI_Testany(3, handles, which, flag, MPI_STATUS_IGNORE, ierr)
          if (flag) seen(which) = seen(which) + 1
        end do
      case (3)
        do while (sum(seen) < 3)
          call MPI_Waitsome(3, handles, many, some, MPI_STATUSES_IGNORE, ierr)
          seen(some(1:many)) = seen(some(1:many)) + 1
        end do
      case (4)
        flag = .false.
        do while (.not. flag)
          call MPI_Testall(3, handles, flag, MPI_STATUSES_IGNORE, ierr)
        end do
        seen = 1
      end select
      do i = 1, 3
        call check(seen(i) == 1, 'list', i)
        call check(handles(i) == MPI_REQUEST_NULL, 'null in list', i)
        call check(all_equal(in(1:2, i), sources(1), 2) .and. all_equal(in(3:4, i), sources(2), 1), 'block of list', i)
      end do
    end do
  end subroutine

  ! a ring by way of MPI_Alltoallv
  subroutine all_to_all()
    integer :: out(2), in(2), zeros(nprocs), sends(nprocs), receives(nprocs)
    out = (/ value(rank, 5, 0), value(rank, 5, 1) /)
    in = -1
    zeros = 0
    sends = 0
    receives = 0
    sends(right + 1) = 2
    receives(left + 1) = 2
    call MPI_Alltoallv(out, sends, zeros, MPI_INTEGER, in, receives, zeros, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(all_equal(in, left, 5), 'all to all', 0)
  end subroutine
end program
