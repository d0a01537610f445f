"""Buffers in the forms that mpi4py takes, and those that are errors."""

import numpy as np
from checks import check, comm, finish, raises
from mpi4py import MPI

from mpix_neighbor import Neighborhood

me, n = comm.rank, comm.size


def forms(collective, send, recv):
    """Runs a collective in its three forms; yields before each check."""
    getattr(hood, collective)(send, recv)
    yield "blocking"
    getattr(hood, "I" + collective.lower())(send, recv).wait()
    yield "nonblocking"
    with getattr(hood, collective + "_plan")(send, recv) as plan:
        plan.run()
        yield "plan"


# three edges to the next process: block k of the previous one is the source's block k
left, right = (me - 1) % n, (me + 1) % n
send, want = 10.0 * me + np.arange(6), 10.0 * left + np.arange(6)
with Neighborhood(comm, [left] * 3, [right] * 3, info={"verify": True}) as hood:
    # one integer for all blocks: their length, and their distance
    got, counts = np.zeros(6), [2] * 3
    for count in 2, np.int16(2), np.array(2), None:
        for spec in (
            [send, count],
            [send, count, None],
            [send, count, MPI.DOUBLE],
            (send, count, None, "d"),
            [send, count, 2, MPI.DOUBLE],
            [send, count, np.array(2), None],
            [send, (count, None)],
            [send, (count, [0, 2, 4]), MPI.DOUBLE],
            [send, (counts, 2), None],
        ):
            hood.Alltoallv(spec, [got, counts])
            check(np.array_equal(got, want), f"{spec}: {got}")
            got[:] = 0
    for form in forms("Alltoallv", [send, 2], [got, 2, 2, MPI.DOUBLE]):
        check(np.array_equal(got, want), f"Alltoallv, {form}: {got}")
        got[:] = 0
    for form in forms("Gatherv", send[:2], [got, 2]):
        check(np.array_equal(got, np.tile(want[:2], 3)), f"Gatherv, {form}: {got}")
        got[:] = 0
    for form in forms("Reducev", [send, 2], got[:2]):
        check(np.array_equal(got[:2], want.reshape(3, 2).sum(0)), f"Reducev, {form}: {got}")
        got[:] = 0
    hood.Accumulatev([send, 2], [got, 2])
    hood.Accumulatev([send, (2, None)], [got, (2, None)])
    check(np.array_equal(got, 2 * want), f"Accumulatev: {got}")
    apart = np.zeros(12)
    hood.Alltoallv(send, [apart, 2, 4, None])
    check(np.array_equal(apart.reshape(3, 4)[:, :2].ravel(), want), f"a distance: {apart}")
    # what is written there is seen by the next call
    count, distance = np.array(2), np.array(4)
    for length in 2, 1:
        count[...] = length
        for step in 4, 3:
            distance[...], apart[:] = step, -1
            hood.Alltoallv([send, count, 2, None], [apart, count, distance, None])
            found = [apart[step * i : step * i + length] for i in range(3)]
            check(np.array_equal(found, want.reshape(3, 2)[:, :length]), f"{length} and {step}, written: {apart}")
    for _ in range(2):
        hood.Alltoallv([None, 0, MPI.DOUBLE], [None, 0, MPI.DOUBLE])

    for spec, name in (
        # two counts of two blocks, or a count and a distance
        ([send, (2, 2)], "counts: (2, 2)"),
        ([send, (2, 2), MPI.DOUBLE], "counts: (2, 2)"),
        ([send, 2.0], "counts"),
        ([send, 2, 2.0, None], "displs"),
        ([send, 1 << 63], "counts"),
        ([send, 0, 1 << 62, None], "displs"),
        ([send, [[2, 2, 2]]], "counts"),
        ([send, 2, None, None, None], "list of 5"),
        ([send, 2, 2, None, MPI.DOUBLE], "list of 5"),
        ([], "list of 0"),
        # mpi4py makes the first blocks longer
        ([send[1:], None, MPI.DOUBLE], "blocks"),
    ):
        error = raises((TypeError, ValueError, OverflowError), lambda: hood.Alltoallv(spec, [got, 2]))
        check("sendbuf" in str(error) and name in str(error), f"{spec}: {error}")
    for spec in [send, 2, 0, MPI.DOUBLE], [send, (2, 0)], [send, (2, [0])]:
        error = raises(ValueError, lambda: hood.Alltoall(spec, got))
        check("sendbuf" in str(error) and "displacement" in str(error), str(error))
    got[:] = 0
    hood.Alltoall([send, (2, None), None], [got, 2, None])
    check(np.array_equal(got, want), f"Alltoall: {got}")

    # types alone: one element of each, where the data begin
    parts = [MPI.DOUBLE.Create_subarray([6], [2], [2 * k]).Commit() for k in range(3)]
    got[:] = 0
    for spec in [got, parts], (got, None, None, parts), [got, (None, None), parts]:
        for form in forms("Alltoallw", [send, parts], spec):
            check(np.array_equal(got, want), f"Alltoallw, {form}: {got}")
            got[:] = 0
    hood.Alltoallw_fields([[send, parts]], [[got, parts]])
    check(np.array_equal(got, want), f"Alltoallw_fields: {got}")
    for spec, name in (
        ([send, 1, [0, 0, 0], parts], "counts"),
        ([send, [1] * 3, None, parts], "displs"),
        ([send, None, parts], "layouts"),
        ([send, 1, parts], "layouts"),
        ([send, parts[:2]], "types"),
        ([send], "layouts"),
        (send, "layouts"),
    ):
        error = raises((TypeError, ValueError), lambda: hood.Alltoallw(spec, [got, parts]))
        check("sendbuf" in str(error) and name in str(error), str(error))
    for part in parts:
        part.Free()

# two counts are a list, or come with displacements
with Neighborhood(comm, [left] * 2, [right] * 2) as hood:
    for spec in [send, [2, 4]], [send, (2, 4), None, MPI.DOUBLE], [send, (2, 4), (0, 2)], [send, ((2, 4), (0, 2))]:
        got[:] = 0
        hood.Alltoallv(spec, [got, [2, 4]])
        check(np.array_equal(got, want), f"{spec}: {got}")
with Neighborhood(comm, [], []) as hood:
    hood.Alltoallv([np.empty(0), 3], [np.empty(0), 3, 5, None])
finish()
