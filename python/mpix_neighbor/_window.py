"""Sparse windows: operations on single elements of arrays of other processes."""

import ctypes

import numpy as np
from mpi4py import MPI

from ._buffers import address, hints
from ._library import check, functions, handle

__all__ = ["SparseWindow"]


class SparseWindow:
    """The elements of an array of each process, for all processes of a communicator.

    comm
        An intracommunicator. Every process of it makes the window, and frees it.
    array
        The process's own elements, a NumPy array in one piece; of the same dtype on all processes,
        of any length.
    info
        Hints: an `MPI.Info`, or a dict such as `{"window_batch": 16384}`.

    Operations travel in batches and have been applied when `flush` or `fence` returns. A process
    applies what others do to its elements while it is in a call of this package. As a context
    manager the window is freed at the end of the block.
    """

    def __init__(self, comm, array: np.ndarray, info=None):
        if not (isinstance(array, np.ndarray) and array.flags.c_contiguous and array.flags.writeable):
            raise TypeError("a window needs a NumPy array that is in one piece and can be written")
        self.array, self.comm = array, comm
        self._type = MPI.Datatype.fromcode(array.dtype.char)
        self._window = ctypes.c_void_p()
        with hints(info) as given:
            code = functions.MPIX_Sparse_window_create_c(
                address(array),
                array.size,
                handle(self._type),
                given,
                handle(comm),
                ctypes.addressof(self._window),
            )
        check(code, comm)

    def _check(self, code: int) -> None:
        if code:
            check(code, self.comm)

    def _indices(self, indices) -> np.ndarray:
        return np.atleast_1d(np.ascontiguousarray(indices, dtype=np.intp))

    def _values(self, values, indices) -> np.ndarray:
        """Returns as many values as indices; one value serves all."""
        return np.ascontiguousarray(np.broadcast_to(np.asarray(values, self.array.dtype), indices.shape))

    def put(self, target: int, indices, values) -> None:
        """Writes elements of a process."""
        indices = self._indices(indices)
        values = self._values(values, indices)
        self._check(
            functions.MPIX_Sparse_window_put_c(
                address(values), indices.size, target, address(indices), self._window
            )
        )

    def accumulate(self, target: int, indices, values, op: MPI.Op = MPI.SUM) -> None:
        """Combines values with elements of a process."""
        indices = self._indices(indices)
        values = self._values(values, indices)
        self._check(
            functions.MPIX_Sparse_window_accumulate_c(
                address(values), indices.size, target, address(indices), handle(op), self._window
            )
        )

    def get(self, target: int, indices) -> np.ndarray:
        """Returns elements of a process."""
        indices = self._indices(indices)
        result = np.empty(indices.shape, self.array.dtype)
        self._check(
            functions.MPIX_Sparse_window_get_c(
                address(result), indices.size, target, address(indices), self._window
            )
        )
        self.flush()
        return result

    def fetch_and_op(self, target: int, indices, values, op: MPI.Op = MPI.SUM) -> np.ndarray:
        """Combines values with elements of a process, and returns what they were before."""
        indices = self._indices(indices)
        values = self._values(values, indices)
        result = np.empty(indices.shape, self.array.dtype)
        self._check(
            functions.MPIX_Sparse_window_fetch_and_op_c(
                address(values),
                address(result),
                indices.size,
                target,
                address(indices),
                handle(op),
                self._window,
            )
        )
        self.flush()
        return result

    def compare_and_swap(self, target: int, indices, values, compare) -> np.ndarray:
        """Writes elements of a process that equal `compare`, and returns what all were before."""
        indices = self._indices(indices)
        values, compare = self._values(values, indices), self._values(compare, indices)
        result = np.empty(indices.shape, self.array.dtype)
        self._check(
            functions.MPIX_Sparse_window_compare_and_swap_c(
                address(values),
                address(compare),
                address(result),
                indices.size,
                target,
                address(indices),
                self._window,
            )
        )
        self.flush()
        return result

    def flush(self) -> None:
        """Waits until all operations of this process have been applied."""
        self._check(functions.MPIX_Sparse_window_flush(self._window))

    def fence(self) -> None:
        """Waits until all operations of all processes have been applied. Every process calls this."""
        self._check(functions.MPIX_Sparse_window_fence(self._window))

    def free(self) -> None:
        """Frees the window. Every process of the communicator calls this."""
        if self._window:
            self._check(functions.MPIX_Sparse_window_free(ctypes.addressof(self._window)))

    def __enter__(self) -> "SparseWindow":
        return self

    def __exit__(self, kind, value, traceback) -> None:
        if kind is None:
            self.free()
