"""mpi4py's own neighborhood collectives: what a program uses that does not know of the package."""

import numpy as np
from checks import check, comm, finish

me, n = comm.rank, comm.size
ring = comm.Create_cart([n], [True])
left, right = ring.Shift(0, 1)
for length in (1, 100, 100_000):
    got = np.zeros(2 * length)
    ring.Neighbor_alltoall(np.repeat([10.0 * me, 10.0 * me + 1], length), got)
    check(np.array_equal(got, np.repeat([10.0 * left + 1, 10.0 * right], length)), f"alltoall of {length}")
    ring.Neighbor_allgather(np.full(length, float(me)), got)
    check(np.array_equal(got, np.repeat([float(left), float(right)], length)), f"allgather of {length}")
    ring.Neighbor_alltoallv([np.full(2 * length, me), [length, length]], [got.view("i8"), [length, length]])
    check(np.array_equal(got.view("i8"), np.repeat([left, right], length)), f"alltoallv of {length}")
ring.Free()
finish()
