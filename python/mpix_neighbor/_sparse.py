"""Sparse exchanges: the receivers do not know who sends to them."""

import ctypes
from collections.abc import Mapping
from typing import Any, Optional

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ._buffers import Hints, address, converted, hints, view
from ._library import Error, check, comm_handle, functions, handle
from ._requests import active

__all__ = ["SparsePlan", "sparse_exchange", "sparse_sources"]

# by their senders: an array, or a list where a process sent several
Received = dict[int, Any]
# sources, counts and displacements of messages, and all their elements
_Listed = tuple[list[int], list[int], list[int], int]


def sparse_exchange(
    comm: MPI.Intracomm,
    messages: Mapping[int, Any],
    dtype: Optional[npt.DTypeLike] = None,
    info: Hints = None,
) -> Received:
    """Sends an array to each of some processes, and returns what others sent to this one.

    comm
        An intracommunicator. Every process of it calls this, also one that sends nothing.
    messages
        Arrays by the ranks of their receivers; buffers and DLPack tensors on the CPU too. A list of
        arrays is as many messages.
    dtype
        The type of their elements, the same on all processes; by default that of the arrays. A
        process that sends nothing has to give it, unless it is `float`.
    info
        Hints: an `MPI.Info`, or a dict such as `{"sparse": "nbx"}`.

    Returns a dict with an array for each sender, or a list of arrays where it sent several.
    """
    sent = _Sent(messages, dtype)
    result = ctypes.c_void_p()
    try:
        with hints(info) as given:
            check(
                functions.MPIX_Sparse_exchange_c(
                    *sent.arguments, given, comm_handle(comm), ctypes.addressof(result)
                ),
                comm,
            )
        listed = _listed(result)
        data = np.empty(listed[3], sent.dtype)
        check(functions.MPIX_Sparse_copy(result, data.size, address(data)))
        return _messages(listed, data)
    finally:
        functions.MPIX_Sparse_free(ctypes.addressof(result))
        sent.free()


class SparsePlan:
    """A sparse exchange whose receivers and sizes stay the same, to be run any number of times.

    The arguments are those of `sparse_exchange`. Every process of the communicator makes the plan,
    which is the first run. Each later run sends what the arrays hold when it is started, and needs
    only the processes that messages connect. As a context manager the plan is freed at the end of
    the block.

    received
        What others sent in the last run that is complete, as `sparse_exchange` returns it. The runs
        write into the same arrays.
    """

    def __init__(
        self,
        comm: MPI.Intracomm,
        messages: Mapping[int, Any],
        dtype: Optional[npt.DTypeLike] = None,
        info: Hints = None,
    ):
        self._comm = comm
        self._plan = ctypes.c_void_p()
        self._sent = _Sent(messages, dtype)
        try:
            with hints(info) as given:
                check(
                    functions.MPIX_Sparse_plan_create_c(
                        *self._sent.arguments, given, comm_handle(comm), ctypes.addressof(self._plan)
                    ),
                    comm,
                )
        finally:
            # the plan has what it needs of the datatype
            self._sent.free()
        try:
            self._result = ctypes.c_void_p()
            check(functions.MPIX_Sparse_plan_result(self._plan, ctypes.addressof(self._result)), comm)
            listed = _listed(self._result)
            self._data = np.empty(listed[3], self._sent.dtype)
            self.received = _messages(listed, self._data)
            self._take()
        except BaseException:
            # such as a lack of memory
            functions.MPIX_Sparse_plan_free(ctypes.addressof(self._plan))
            raise

    def _take(self) -> None:
        """Copies the messages of the last run."""
        check(functions.MPIX_Sparse_copy(self._result, self._data.size, address(self._data)), self._comm)

    def _end(self) -> None:
        """Takes what a complete run has brought; without a run, `received` is the caller's."""
        if self in active:
            self._take()
            active.discard(self)

    def _failed(self) -> None:
        """Lets go of a run that has failed, unless its messages may still be under way."""
        flag = ctypes.c_int()
        functions.MPIX_Sparse_plan_test(self._plan, ctypes.addressof(flag))
        if flag.value:
            active.discard(self)

    def start(self) -> "SparsePlan":
        """Starts a run. Complete it with `wait`, or with `test` until it returns true."""
        runs = self in active
        # what MPI is sending stays as it is: then the start below is an error
        if not runs and self._sent not in active:
            self._sent.fill()
        # before the call, which may be interrupted when it has started the run
        active.add(self)
        code = functions.MPIX_Sparse_plan_start(self._plan)
        if code and not runs:
            active.discard(self)
            if self._plan:
                # MPI may send what was started, also when the plan is freed
                active.add(self._sent)
        check(code, self._comm, self._plan)
        return self

    def wait(self) -> Received:
        """Waits until the run is complete, and returns `received`."""
        try:
            check(functions.MPIX_Sparse_plan_wait(self._plan), self._comm, self._plan)
        except Error:
            self._failed()
            raise
        self._end()
        return self.received

    def test(self) -> bool:
        """Returns true if the run is complete; its messages are then in `received`."""
        flag = ctypes.c_int()
        try:
            check(functions.MPIX_Sparse_plan_test(self._plan, ctypes.addressof(flag)), self._comm, self._plan)
        except Error:
            self._failed()
            raise
        if flag.value:
            self._end()
        return bool(flag.value)

    def run(self) -> Received:
        """Starts a run, waits for it, and returns `received`."""
        return self.start().wait()

    def free(self) -> None:
        """Frees the plan; `received` stays. A run under way is completed first."""
        if self._plan:
            try:
                self.wait()
            finally:
                # what may still be sent stays
                code = functions.MPIX_Sparse_plan_free(ctypes.addressof(self._plan))
            check(code, self._comm)

    def __enter__(self) -> "SparsePlan":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        if kind is None:
            self.free()


class _Sent:
    """The messages that a process sends, one after the other in memory of their own.

    arguments
        What the C functions take, up to the datatypes.
    """

    def __init__(self, messages: Mapping[int, Any], dtype: Optional[npt.DTypeLike]):
        lists = [(rank, each if isinstance(each, list) else [each]) for rank, each in messages.items()]
        ranks = [rank for rank, arrays in lists for _ in arrays]
        self._arrays = [view(array) for _, arrays in lists for array in arrays]
        if dtype is None:
            kinds = {array.dtype for array in self._arrays}
            if len(kinds) > 1:
                raise ValueError(
                    f"arrays of different types ({', '.join(sorted(map(str, kinds)))}): give a dtype"
                )
            dtype = kinds.pop() if kinds else np.dtype(float)
        self.dtype = np.dtype(dtype)
        if self.dtype.hasobject:
            raise TypeError("objects cannot be sent")
        if self.dtype.subdtype:
            raise TypeError(f"dtype={dtype!r} is a subarray: give the type of its elements, or a field of it")
        if self.dtype.itemsize == 0:
            raise TypeError(f"dtype={dtype!r} has no bytes: a text needs a length, such as 'U8'")
        self._targets = converted(ranks, np.dtype(np.intc), "ranks of receivers")
        self._counts = np.array([array.size for array in self._arrays], dtype=np.int64)
        self._displs = np.cumsum(self._counts) - self._counts
        self._data = np.empty(self._counts.sum(), self.dtype)
        self.fill()
        # bytes of a fixed length serve every dtype, structured ones too
        self._element = MPI.BYTE.Create_contiguous(self.dtype.itemsize).Commit()
        self.arguments = (
            len(ranks),
            address(self._targets),
            address(self._data),
            address(self._counts),
            address(self._displs),
            handle(self._element),
            handle(self._element),
        )

    def fill(self) -> None:
        """Copies the arrays as they are now."""
        for array, displ in zip(self._arrays, self._displs):
            self._data[displ : displ + array.size] = converted(array.ravel(), self.dtype, "an array")

    def free(self) -> None:
        """Frees the datatype."""
        self._element.Free()


def _listed(result: ctypes.c_void_p) -> _Listed:
    """Returns the sources, counts and displacements of a result's messages, and all elements."""
    number, elements = ctypes.c_int(), ctypes.c_int64()
    check(functions.MPIX_Sparse_get_count(result, ctypes.addressof(number), ctypes.addressof(elements)))
    sources = np.empty(number.value, np.intc)
    counts, displs = np.empty((2, number.value), np.int64)
    check(
        functions.MPIX_Sparse_get_messages_c(
            result, number.value, address(sources), address(counts), address(displs)
        )
    )
    return sources.tolist(), counts.tolist(), displs.tolist(), elements.value


def _messages(listed: _Listed, data: npt.NDArray[Any]) -> Received:
    """Returns the messages of a result by their senders, as parts of `data`."""
    received: Received = {}
    for source, count, displ in zip(*listed[:3]):
        array = data[displ : displ + count]
        if source not in received:
            received[source] = array
        elif isinstance(received[source], list):
            received[source].append(array)
        else:
            received[source] = [received[source], array]
    return received


def sparse_sources(comm: MPI.Intracomm, targets: npt.ArrayLike, info: Hints = None) -> list[int]:
    """Returns the ranks of the processes that list this one as a target, ascending.

    Every process of the communicator calls this.
    """
    ranks = converted(targets, np.dtype(np.intc), "targets")
    result = ctypes.c_void_p()
    try:
        with hints(info) as given:
            code = functions.MPIX_Sparse_sources(
                ranks.size, address(ranks), given, comm_handle(comm), ctypes.addressof(result)
            )
        check(code, comm)
        return _listed(result)[0]
    finally:
        functions.MPIX_Sparse_free(ctypes.addressof(result))
