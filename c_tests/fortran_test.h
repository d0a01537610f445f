! What the Fortran test programs share. Each is compiled for module mpi_f08 (-DF08) and for module mpi.
#ifdef F08
#define MPI_MODULE mpi_f08
#define HANDLE(t) type(t)
#else
#define MPI_MODULE mpi
#define HANDLE(t) integer
#endif

module test
  use MPI_MODULE
  use mpix_neighbor
  implicit none

  ! edges of the neighborhood of `lists`; the most elements of a block; what receive buffers hold before
  integer, parameter :: degree = 6, n = 3, untouched = -7

  integer :: rank, ranks, failures = 0, checks = 0

contains

  subroutine start()
    integer :: ierror
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    ! errors come back as codes: a failed check tells more than an abort
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  end subroutine start

  ! one condition; the text goes with the first failures of a process
  subroutine check(condition, text, have, want)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: text
    integer, intent(in), optional :: have, want
    checks = checks + 1
    if (condition) return
    failures = failures + 1
    if (failures > 10) return
    if (present(have)) then
      write (*, '(a, i0, a, i0, 3a, i0, a, i0)') 'process ', rank, ' of ', ranks, ': ', text, ': ', have, ', not ', want
    else
      write (*, '(a, i0, a, i0, 2a)') 'process ', rank, ' of ', ranks, ': ', text
    end if
  end subroutine check

  subroutine equal(have, want, text)
    integer, intent(in) :: have(:), want(:)
    character(len=*), intent(in) :: text
    integer :: i
    call check(size(have) == size(want), text // ': sizes', size(have), size(want))
    do i = 1, size(want)
      if (have(i) /= want(i)) then
        call check(.false., text, have(i), want(i))
        return
      end if
    end do
    call check(.true., text)
  end subroutine equal

  subroutine ok(code, text)
    integer, intent(in) :: code
    character(len=*), intent(in) :: text
    character(len=MPI_MAX_ERROR_STRING) :: string
    integer :: length, ierror
    string = ''
    if (code /= MPI_SUCCESS) call MPI_Error_string(code, string, length, ierror)
    call check(code == MPI_SUCCESS, text // ': ' // trim(string), code, MPI_SUCCESS)
  end subroutine ok

  ! a code of this class, and a text of the last error on MPI_COMM_WORLD that holds these words
  subroutine fails(code, class, words)
    integer, intent(in) :: code, class
    character(len=*), intent(in) :: words
    character(len=500) :: string
    integer :: have, length, ierror
    call MPI_Error_class(code, have, ierror)
    call check(have == class, words // ': class', have, class)
    call MPIX_Neighbor_error_string(MPI_COMM_WORLD, string, length, ierror)
    call ok(ierror, 'error_string')
    call check(index(string, words) > 0 .and. length == len_trim(string), words // ' in: ' // trim(string))
  end subroutine fails

  ! Ends the program: exit code 1 if any check failed on any process, or if there was none.
  subroutine finish()
    integer :: all(2), ierror
    call MPI_Allreduce([failures, checks], all, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (rank == 0) write (*, '(i0, a, i0, a)') all(2), ' checks, ', all(1), ' failed'
    call MPI_Finalize(ierror)
    if (all(1) /= 0 .or. all(2) == 0) stop 1, quiet=.true.
  end subroutine finish

  ! A neighborhood with repeated edges, an edge to the process itself and one that leads nowhere: sources and targets of process r.
  subroutine lists(r, sources, targets)
    integer, intent(in) :: r
    integer, intent(out) :: sources(degree), targets(degree)
    integer :: left, right
    left = modulo(r - 1, ranks)
    right = modulo(r + 1, ranks)
    targets = [right, left, MPI_PROC_NULL, right, r, right]
    sources = [right, left, r, MPI_PROC_NULL, left, left]
  end subroutine lists

  ! The target entry of the process in source entry j of process r whose block arrives there: repeated edges match k-th to k-th.
  integer function partner(r, j)
    integer, intent(in) :: r, j
    integer :: sources(degree), targets(degree), k
    call lists(r, sources, targets)
    k = count(sources(1:j) == sources(j))
    call lists(sources(j), sources, targets)
    do partner = 1, degree
      if (targets(partner) == r) k = k - 1
      if (k == 0) return
    end do
    error stop 'the lists do not match'
  end function partner

  ! element k of what process s sends to process r in target entry i
  elemental integer function item(s, r, i, k)
    integer, intent(in) :: s, r, i, k
    item = 1000000 * (s + 1) + 10000 * (r + 1) + 100 * i + k
  end function item

  ! how many elements a process sends in gatherv
  elemental integer function length(r)
    integer, intent(in) :: r
    length = merge(0, 1 + mod(r, n), r == MPI_PROC_NULL)
  end function length

  ! elements on the edge that leaves process s in target entry i
  elemental integer function edge(s, i)
    integer, intent(in) :: s, i
    edge = mod(s + i, n + 1)
  end function edge

  ! alltoallv: counts, and displacements in elements; blocks of up to n elements in reverse order, a gap before each
  subroutine blocks(sendcounts, senddispls, recvcounts, recvdispls, send, want)
    integer, intent(out) :: sendcounts(degree), senddispls(degree), recvcounts(degree), recvdispls(degree)
    integer, intent(out) :: send((n + 1) * degree), want((n + 1) * degree)
    integer :: sources(degree), targets(degree), i, k
    call lists(rank, sources, targets)
    send = 0
    want = untouched
    do i = 1, degree
      sendcounts(i) = edge(rank, i)
      senddispls(i) = (n + 1) * (degree - i) + 1
      send(senddispls(i) + 1:senddispls(i) + sendcounts(i)) = [(item(rank, targets(i), i, k), k = 1, sendcounts(i))]
      recvdispls(i) = senddispls(i)
      recvcounts(i) = 0
      if (sources(i) == MPI_PROC_NULL) cycle
      recvcounts(i) = edge(sources(i), partner(rank, i))
      want(recvdispls(i) + 1:recvdispls(i) + recvcounts(i)) = &
          [(item(sources(i), rank, partner(rank, i), k), k = 1, recvcounts(i))]
    end do
  end subroutine blocks

end module test
