"""Sparse (neighborhood) communication for mpi4py.

`Neighborhood` sets the processes that a process receives from and sends to, once, and runs
collectives among them any number of times; `sparse_exchange` sends to processes that do not know
who sends to them, and `SparsePlan` does so many times; `SparseWindow` works on single elements of
other processes' arrays.

    from mpi4py import MPI
    import numpy as np
    from mpix_neighbor import Neighborhood

    comm = MPI.COMM_WORLD
    left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    with Neighborhood(comm, sources=[left, right], targets=[left, right]) as ring:
        received = np.empty(2)
        ring.Alltoall(np.full(2, float(comm.rank)), received)
"""

import ctypes as _ctypes

from ._library import Error, preload
from ._library import functions as _functions
from ._library import path as library_path
from ._loggp import Loggp
from ._neighborhood import ACCUMULATE, ALL, ALLTOALL, GATHER, REDUCE, Neighborhood
from ._requests import Plan, Request
from ._sparse import SparsePlan, sparse_exchange, sparse_sources
from ._window import SparseWindow

__all__ = [
    "ACCUMULATE",
    "ALL",
    "ALLTOALL",
    "GATHER",
    "REDUCE",
    "Error",
    "Loggp",
    "Neighborhood",
    "Plan",
    "Request",
    "SparsePlan",
    "SparseWindow",
    "library_path",
    "preload",
    "sparse_exchange",
    "sparse_sources",
]


def _version() -> str:
    numbers = (_ctypes.c_int * 3)()
    at, step = _ctypes.addressof(numbers), _ctypes.sizeof(_ctypes.c_int)
    _functions.MPIX_Neighbor_get_version(at, at + step, at + 2 * step)
    return "%d.%d.%d" % tuple(numbers)


__version__ = _version()
