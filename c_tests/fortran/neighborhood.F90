! Neighborhoods: set, asked for, described, freed.
#include "test.h"

program neighborhood
  use test
  implicit none
  integer, parameter :: all = ior(ior(MPIX_FOR_GATHER, MPIX_FOR_ALLTOALL), MPIX_FOR_REDUCE)
  integer :: sources(degree), targets(degree), weights(degree), ierror

  call start()
  call lists(rank, sources, targets)
  ! the same weight at both ends of an edge
  weights = 3
  call with_weights()
  call without_weights()
  call weights_with_gaps()
  call no_edges()
  call groups()
  call grid()
  call sources_found()
  call texts()
  call versions()
  call finish()

contains

  ! what a communicator has for an operation is what was set, whole lists and the first entries of
  ! them
  subroutine expect(operation, comm, in, out, in_weights, out_weights, weighted, text)
    integer, intent(in) :: operation, in(:), out(:), in_weights(:), out_weights(:)
    HANDLE(MPI_Comm), intent(in) :: comm
    logical, intent(in) :: weighted
    character(len=*), intent(in) :: text
    integer :: indegree, outdegree, have(9), have_weights(9), targets_have(9), target_weights(9)
    logical :: is_weighted
    is_weighted = .not. weighted
    call MPIX_Neighborhood_get_count(operation, comm, indegree, outdegree, is_weighted, ierror)
    call ok(ierror, text // ': get_count')
    call check(indegree == size(in), text // ': indegree', indegree, size(in))
    call check(outdegree == size(out), text // ': outdegree', outdegree, size(out))
    call check(is_weighted .eqv. weighted, text // ': weighted')
    have = -7
    have_weights = -7
    targets_have = -7
    target_weights = -7
    call MPIX_Neighborhood_get(operation, comm, size(in), have, have_weights, size(out), targets_have, target_weights, ierror)
    call ok(ierror, text // ': get')
    call equal(have, [in, spread(-7, 1, 9 - size(in))], text // ': sources')
    call equal(have_weights, [in_weights, spread(-7, 1, 9 - size(in))], text // ': source weights')
    call equal(targets_have, [out, spread(-7, 1, 9 - size(out))], text // ': targets')
    call equal(target_weights, [out_weights, spread(-7, 1, 9 - size(out))], text // ': target weights')
  end subroutine expect

  subroutine with_weights()
    integer :: have(2), every_other(5)
    call MPIX_Neighborhood_set(all, degree, sources, weights, degree, targets, weights, MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'set')
    call expect(MPIX_FOR_GATHER, MPI_COMM_WORLD, sources, targets, weights, weights, .true., 'gather')
    call expect(MPIX_FOR_REDUCE, MPI_COMM_WORLD, sources, targets, weights, weights, .true., 'reduce')
    ! a part, without weights, without the other side, and by keywords
    have = -7
    call MPIX_Neighborhood_get(operation=MPIX_FOR_ALLTOALL, comm=MPI_COMM_WORLD, maxindegree=2, sources=have, &
        sourceweights=MPI_UNWEIGHTED, maxoutdegree=0, targets=have, targetweights=MPI_UNWEIGHTED, ierror=ierror)
    call ok(ierror, 'get a part')
    call equal(have, sources(1:2), 'the first two sources')
    ! every other entry of arrays: the ones between stay
    every_other = -7
    call MPIX_Neighborhood_get(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, 2, every_other(1:3:2), MPI_UNWEIGHTED, 0, have, MPI_UNWEIGHTED)
    call equal(every_other, [sources(1), -7, sources(2), -7, -7], 'sources with gaps')
    every_other = -7
    call MPIX_Neighborhood_get(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, 2, have, every_other(5:1:-2), 0, have, MPI_UNWEIGHTED)
    call equal(every_other, [-7, -7, 3, -7, 3], 'weights with gaps, backwards')
    ! one operation goes, the others stay
    call MPIX_Neighborhood_free(MPIX_FOR_GATHER, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'free')
    call expect(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, sources, targets, weights, weights, .true., 'alltoall')
    call MPIX_Neighborhood_get(MPIX_FOR_GATHER, MPI_COMM_WORLD, 0, have, MPI_UNWEIGHTED, 0, have, MPI_UNWEIGHTED, ierror)
    call fails(ierror, MPI_ERR_TOPOLOGY, 'MPIX_Neighborhood_get')
  end subroutine with_weights

  subroutine without_weights()
    integer :: ones(degree)
    ones = 1
    call MPIX_Neighborhood_set(all, degree, sources, MPI_UNWEIGHTED, degree, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, &
        MPI_COMM_WORLD, ierror)
    call ok(ierror, 'set without weights')
    call expect(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, sources, targets, ones, ones, .false., 'unweighted')
    ! without ierror
    call MPIX_Neighbor_gather_set(1, [rank], [5], 1, [rank], [5], MPI_INFO_NULL, MPI_COMM_WORLD)
    call expect(MPIX_FOR_GATHER, MPI_COMM_WORLD, [rank], [rank], [5], [5], .true., 'gather_set')
    call MPIX_Neighbor_alltoall_set(1, [rank], MPI_UNWEIGHTED, 1, [rank], MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD)
    call expect(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, [rank], [rank], [1], [1], .false., 'alltoall_set')
    call MPIX_Neighbor_reduce_set(0, [0], [0], 0, [0], [0], MPI_INFO_NULL, MPI_COMM_WORLD)
    call expect(MPIX_FOR_REDUCE, MPI_COMM_WORLD, [integer ::], [integer ::], [integer ::], [integer ::], .false., 'reduce_set')
  end subroutine without_weights

  ! a row of a matrix, and one that goes backwards
  subroutine weights_with_gaps()
    integer :: matrix(3, degree), row(degree), i
    matrix = -1
    ! weights of the two ends of an edge may differ
    row = [(i, i = 1, degree)]
    matrix(2, :) = row
    matrix(1, degree:1:-1) = row
    call MPIX_Neighborhood_set(all, degree, sources, matrix(2, :), degree, targets, matrix(1, degree:1:-1), MPI_INFO_NULL, &
        MPI_COMM_WORLD, ierror)
    call ok(ierror, 'set with rows')
    call expect(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, sources, targets, row, row, .true., 'rows')
  end subroutine weights_with_gaps

  subroutine no_edges()
    integer :: none(0)
    call MPIX_Neighborhood_set(all, 0, none, MPI_WEIGHTS_EMPTY, 0, none, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'set without edges')
    call expect(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, none, none, none, none, .false., 'no edges')
  end subroutine no_edges

  subroutine groups()
    HANDLE(MPI_Group) :: world, from, to
    integer :: left, right
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
    call MPI_Group_incl(world, 1, [left], from, ierror)
    call MPI_Group_incl(world, 1, [right], to, ierror)
    call MPIX_Neighborhood_set_group(MPIX_FOR_ALLTOALL, from, [2], to, [4], MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'set_group')
    call MPI_Group_free(from, ierror)
    call MPI_Group_free(to, ierror)
    call MPI_Group_free(world, ierror)
    call expect(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, [left], [right], [2], [4], .true., 'groups')
    call MPIX_Neighborhood_set_group(MPIX_FOR_ALLTOALL, MPI_GROUP_EMPTY, MPI_UNWEIGHTED, MPI_GROUP_EMPTY, MPI_UNWEIGHTED, &
        MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'set_group, empty')
  end subroutine groups

  subroutine grid()
    HANDLE(MPI_Comm) :: cart
    HANDLE(MPI_Info) :: info
    integer :: dims(2), low(2), high(2), length, d
    character(len=600) :: text
    dims = 0
    call MPI_Dims_create(ranks, 2, dims, ierror)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., cart, ierror)
    do d = 1, 2
      call MPI_Cart_shift(cart, d - 1, 1, low(d), high(d), ierror)
    end do
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'mpix_schedule', 'dimension_order', ierror)
    call MPIX_Neighborhood_set_topology(all, info, cart, ierror)
    call ok(ierror, 'set_topology')
    call expect(MPIX_FOR_ALLTOALL, cart, [low(1), high(1), low(2), high(2)], [low(1), high(1), low(2), high(2)], [1, 1, 1, 1], &
        [1, 1, 1, 1], .false., 'grid')
    call MPIX_Neighborhood_reverse(MPIX_FOR_ALLTOALL, MPIX_FOR_REDUCE, info, cart, ierror)
    call ok(ierror, 'reverse')
    call expect(MPIX_FOR_REDUCE, cart, [low(1), high(1), low(2), high(2)], [low(1), high(1), low(2), high(2)], [1, 1, 1, 1], &
        [1, 1, 1, 1], .false., 'reversed')
    call MPI_Info_free(info, ierror)
    call MPIX_Neighborhood_describe(MPIX_FOR_ALLTOALL, cart, text, length, ierror)
    call ok(ierror, 'describe')
    call check(index(text, 'dimension_order') > 0, 'the hint counts: ' // trim(text))
    call MPI_Comm_free(cart, ierror)
    call MPIX_Neighborhood_set_topology(all, MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
    call fails(ierror, MPI_ERR_TOPOLOGY, 'MPIX_Neighborhood_set_topology')
  end subroutine grid

  subroutine sources_found()
    integer :: i, expected(degree), n
    call MPIX_Neighborhood_set_targets(MPIX_FOR_ALLTOALL, degree, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD, ierror)
    call ok(ierror, 'set_targets')
    ! by rank; nothing comes from where there is no process
    n = 0
    do i = 0, ranks - 1
      expected(n + 1:n + count(sources == i)) = i
      n = n + count(sources == i)
    end do
    call expect(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, expected(:n), targets, spread(1, 1, n), spread(1, 1, degree), .false., 'found')
  end subroutine sources_found

  ! texts are padded with blanks, or cut off
  subroutine texts()
    character(len=2000) :: long
    character(len=5) :: short
    character(len=:), allocatable :: exact
    integer :: length, again
    long = repeat('x', len(long))
    call MPIX_Neighborhood_describe(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, long, length, ierror)
    call ok(ierror, 'describe')
    call check(length > 5 .and. long(length + 1:) == '' .and. index(long, achar(0)) == 0, 'padded: ' // long(1:100))
    short = 'xxxxx'
    call MPIX_Neighborhood_describe(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, short, again, ierror)
    call ok(ierror, 'describe, short')
    call check(short == long(1:5) .and. again == length, 'cut off: ' // short, again, length)
    allocate (character(len=length) :: exact)
    call MPIX_Neighborhood_describe(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, exact, again, ierror)
    call check(exact == long(1:length), 'to the last character')
    call MPIX_Neighborhood_describe(MPIX_FOR_ALLTOALL, MPI_COMM_WORLD, exact(1:0), again, ierror)
    call ok(ierror, 'describe, no room')
    call check(again == length, 'length without room', again, length)
    ! nothing is written where a call fails
    short = 'xxxxx'
    call MPIX_Neighborhood_describe(99, MPI_COMM_WORLD, short, again, ierror)
    call fails(ierror, MPI_ERR_ARG, 'MPIX_Neighborhood_describe')
    call check(short == 'xxxxx', 'written by a call that failed')
  end subroutine texts

  subroutine versions()
    integer :: major, minor, patch
    call MPIX_Neighbor_get_version(major, minor, patch, ierror)
    call ok(ierror, 'get_version')
    call equal([major, minor, patch], [MPIX_NEIGHBOR_VERSION_MAJOR, MPIX_NEIGHBOR_VERSION_MINOR, MPIX_NEIGHBOR_VERSION_PATCH], &
        'version')
  end subroutine versions

end program neighborhood
