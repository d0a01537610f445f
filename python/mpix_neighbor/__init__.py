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
import typing as _typing

from . import _functions as _constants
from ._library import Error, preload
from ._library import check as _check
from ._library import functions as _functions
from ._library import path as library_path
from ._loggp import Loggp
from ._neighborhood import ACCUMULATE, ALL, ALLTOALL, GATHER, REDUCE, Neighborhood
from ._requests import Plan, Request, startall, waitall, waitany
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
    "startall",
    "waitall",
    "waitany",
]


def _version() -> str:
    numbers = (_ctypes.c_int * 3)()
    at, step = _ctypes.addressof(numbers), _ctypes.sizeof(_ctypes.c_int)
    _functions.MPIX_Neighbor_get_version(at, at + step, at + 2 * step)
    return "%d.%d.%d" % tuple(numbers)


if _typing.TYPE_CHECKING:
    # classes of errors: of processes that disagree, and what the hint "verify" finds
    ERR_MISMATCH: int
    ERR_VERIFY: int
else:

    def __getattr__(name: str) -> int:
        """Asks for a class of errors when it is needed: MPI is initialized then."""
        if name not in ("ERR_MISMATCH", "ERR_VERIFY"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = _ctypes.c_int()
        _check(_functions.MPIX_Neighbor_error_class(getattr(_constants, name), _ctypes.addressof(found)))
        return found.value


__version__ = _version()
