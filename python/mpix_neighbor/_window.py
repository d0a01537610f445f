"""Sparse windows: operations on single elements of arrays of other processes."""

import ctypes
from typing import Any, Optional

import numpy as np
import numpy.typing as npt
from mpi4py import MPI
from mpi4py.typing import Buffer

from ._buffers import Hints, address, converted, datatype_of, hints, integer, pins, writable
from ._library import check, comm_handle, functions, handle, op_handle
from ._requests import active

__all__ = ["SparseWindow"]


class SparseWindow:
    """The elements of an array of each process, for all processes of a communicator.

    comm
        An intracommunicator. Every process of it makes the window, and frees it.
    array
        The process's own elements: a NumPy array, a buffer or a DLPack tensor on the CPU, in one
        piece; of the same type on all processes, of any length.
    info
        Hints: an `MPI.Info`, or a dict such as `{"window_batch": 16384}`.

    `window.array` is a NumPy array of the same memory.

    Operations travel in batches and have been applied when `flush` or `fence` returns. A process
    applies what others do to its elements while it is in a call of this package. As a context
    manager the window is freed at the end of the block.
    """

    def __init__(self, comm: MPI.Intracomm, array: Buffer, info: Hints = None):
        self.array, self.comm = writable(array), comm
        self._type = datatype_of(self.array)
        self._pins = pins(self.array)
        self._window = ctypes.c_void_p()
        # arrays that the library writes into until `flush` or `fence`
        self._results: list[npt.NDArray[Any]] = []
        active.add(self)
        try:
            with hints(info) as given:
                code = functions.MPIX_Sparse_window_create_c(
                    address(self.array),
                    self.array.size,
                    handle(self._type),
                    given,
                    comm_handle(comm),
                    ctypes.addressof(self._window),
                )
        finally:
            # a call that is interrupted may have made the window
            if not self._window:
                active.discard(self)
        check(code, comm)

    def _check(self, code: int) -> None:
        if code:
            check(code, self.comm, self._window)

    def _indices(self, indices: npt.ArrayLike) -> npt.NDArray[np.intp]:
        if np.asarray(indices).dtype == bool:
            raise TypeError("indices are integers, not a mask")
        return np.atleast_1d(converted(indices, np.dtype(np.intp), "indices"))

    def _values(self, values: npt.ArrayLike, indices: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        """Returns as many values as indices; one value serves all."""
        elements = converted(values, self.array.dtype, "values")
        try:
            return np.ascontiguousarray(np.broadcast_to(elements, indices.shape))
        except ValueError:
            raise ValueError(f"values of shape {elements.shape} for indices of shape {indices.shape}") from None

    def _result(self, indices: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        """Returns an array for the elements of an operation, which is kept until that has ended."""
        # `MPI.PROC_NULL` writes nothing
        result = np.zeros(indices.shape, self.array.dtype)
        self._results.append(result)
        return result

    def _complete(self, function: Any) -> None:
        """Calls a function that completes the operations before it."""
        begun = len(self._results)
        self._check(function(self._window))
        del self._results[:begun]

    def put(self, target: int, indices: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """Writes elements of a process."""
        target, indices = integer(target, "target"), self._indices(indices)
        values = self._values(values, indices)
        self._check(
            functions.MPIX_Sparse_window_put_c(
                address(values), indices.size, target, address(indices), self._window
            )
        )

    def accumulate(
        self, target: int, indices: npt.ArrayLike, values: npt.ArrayLike, op: MPI.Op = MPI.SUM
    ) -> None:
        """Combines values with elements of a process."""
        target, indices = integer(target, "target"), self._indices(indices)
        values = self._values(values, indices)
        self._check(
            functions.MPIX_Sparse_window_accumulate_c(
                address(values), indices.size, target, address(indices), op_handle(op), self._window
            )
        )

    def get(self, target: int, indices: npt.ArrayLike) -> npt.NDArray[Any]:
        """Returns elements of a process, or zeros if that is `MPI.PROC_NULL`."""
        target, indices = integer(target, "target"), self._indices(indices)
        result = self._result(indices)
        self._check(
            functions.MPIX_Sparse_window_get_c(
                address(result), indices.size, target, address(indices), self._window
            )
        )
        self.flush()
        return result

    def fetch_and_op(
        self, target: int, indices: npt.ArrayLike, values: npt.ArrayLike, op: MPI.Op = MPI.SUM
    ) -> npt.NDArray[Any]:
        """Combines values with elements of a process, and returns what they were before."""
        target, indices = integer(target, "target"), self._indices(indices)
        values = self._values(values, indices)
        result = self._result(indices)
        self._check(
            functions.MPIX_Sparse_window_fetch_and_op_c(
                address(values),
                address(result),
                indices.size,
                target,
                address(indices),
                op_handle(op),
                self._window,
            )
        )
        self.flush()
        return result

    def compare_and_swap(
        self, target: int, indices: npt.ArrayLike, values: npt.ArrayLike, compare: npt.ArrayLike
    ) -> npt.NDArray[Any]:
        """Writes elements of a process that equal `compare`, and returns what all were before."""
        target, indices = integer(target, "target"), self._indices(indices)
        values, compare = self._values(values, indices), self._values(compare, indices)
        result = self._result(indices)
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

    def add_operator(self, op: MPI.Op) -> None:
        """Makes a user-defined operator one of the window's. Every process of it calls this.

        All add the same operators in the same order, and none frees one before the window.
        """
        self._check(functions.MPIX_Sparse_window_add_operator(op_handle(op), self._window))

    def flush(self) -> None:
        """Waits until all operations of this process have been applied."""
        self._complete(functions.MPIX_Sparse_window_flush)

    def fence(self) -> None:
        """Waits until all operations of all processes have been applied. Every process calls this."""
        self._complete(functions.MPIX_Sparse_window_fence)

    def free(self) -> None:
        """Frees the window. Every process of the communicator calls this."""
        if self._window:
            code = functions.MPIX_Sparse_window_free(ctypes.addressof(self._window))
            # an error may come from operations that the call has ended
            if not self._window:
                active.discard(self)
                self._results.clear()
            check(code, self.comm)

    def __enter__(self) -> "SparseWindow":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        if kind is None:
            self.free()
