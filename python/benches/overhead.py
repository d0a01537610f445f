"""What a call costs beside mpi4py's own, on one process that is its own neighbor.

Prints microseconds of a call, the least of several runs, and the ratio to mpi4py.
"""

import time

import numpy as np
from mpi4py import MPI

from mpix_neighbor import Neighborhood

comm = MPI.COMM_SELF.Create_cart([1], [True])
send, recv = np.zeros(4), np.zeros(4)
counts, displs = np.array([2, 2], dtype="i"), np.array([0, 2], dtype="i")
sends, recvs = [send, counts, displs, MPI.DOUBLE], [recv, counts, displs, MPI.DOUBLE]


def least(*calls, runs=25, repeats=2000):
    """Returns the least time of each call; the runs take turns."""
    times = [1e9] * len(calls)
    for _ in range(runs):
        for i, call in enumerate(calls):
            begin = time.perf_counter()
            for _ in range(repeats):
                call()
            times[i] = min(times[i], (time.perf_counter() - begin) / repeats)
    return [1e6 * t for t in times]


with Neighborhood.from_topology(comm) as ring, ring.Alltoallv_plan(sends, recvs) as plan:
    theirs, ours, planned = least(
        lambda: comm.Neighbor_alltoallv(sends, recvs), lambda: ring.Alltoallv(sends, recvs), plan.run
    )
    print(
        f"alltoallv: mpi4py {theirs:.2f} us, here {ours:.2f} us ({ours / theirs:.2f}), plan {planned:.2f} us ({planned / theirs:.2f})"
    )
    theirs, ours = least(lambda: comm.Neighbor_alltoall(send, recv), lambda: ring.Alltoall(send, recv))
    print(f"alltoall:  mpi4py {theirs:.2f} us, here {ours:.2f} us ({ours / theirs:.2f})")
