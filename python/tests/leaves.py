"""A program that ends while what it has started is under way: memory stays until MPI ends."""

import numpy as np
from checks import comm
from mpi4py import MPI

from mpix_neighbor import Neighborhood, SparsePlan

me, n = comm.rank, comm.size
after, before = (me + 1) % n, (me - 1) % n
plan = SparsePlan(comm, {after: np.full(2_000_000, float(me))})
ring = Neighborhood(comm, [before], [after])
comm.Barrier()
plan.start()
request = ring.Ialltoall(np.full(2_000_000, float(me)), np.empty(2_000_000))
# the processes leave one after the other
if me == n - 1 and n > 1:
    comm.recv(source=0)
if me == 0:
    print("1 checks, 0 failed", flush=True)
    if n > 1:
        comm.send(None, dest=n - 1)
assert MPI.Is_initialized()
