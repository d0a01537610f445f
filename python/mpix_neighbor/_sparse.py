"""Sparse exchanges: the receivers do not know who sends to them."""

import ctypes
from collections.abc import Mapping

import numpy as np
from mpi4py import MPI

from ._buffers import address, hints
from ._library import check, functions, handle

__all__ = ["sparse_exchange", "sparse_sources"]


def sparse_exchange(comm, messages: Mapping, dtype=None, info=None) -> dict:
    """Sends an array to each of some processes, and returns what others sent to this one.

    comm
        An intracommunicator. Every process of it calls this, also one that sends nothing.
    messages
        Arrays by the ranks of their receivers. A list of arrays is as many messages.
    dtype
        The type of their elements, the same on all processes; by default that of the arrays. A
        process that sends nothing has to give it, unless it is `float`.
    info
        Hints: an `MPI.Info`, or a dict such as `{"sparse": "nbx"}`.

    Returns a dict with an array for each sender, or a list of arrays where it sent several.
    """
    lists = [(rank, each if isinstance(each, list) else [each]) for rank, each in messages.items()]
    pairs = [(rank, np.asarray(array)) for rank, arrays in lists for array in arrays]
    if dtype is None:
        kinds = {array.dtype for _, array in pairs}
        if len(kinds) > 1:
            raise ValueError(
                f"arrays of different types ({', '.join(sorted(map(str, kinds)))}): give a dtype"
            )
        dtype = kinds.pop() if kinds else np.dtype(float)
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError("objects cannot be sent")
    # bytes of a fixed length serve every dtype, structured ones too
    element = MPI.BYTE.Create_contiguous(dtype.itemsize).Commit()
    result = ctypes.c_void_p()
    try:
        data = np.concatenate(
            [array.ravel().astype(dtype, copy=False) for _, array in pairs] or [np.empty(0, dtype)]
        )
        targets = np.array([rank for rank, _ in pairs], dtype=np.intc)
        counts = np.array([array.size for _, array in pairs], dtype=np.int64)
        displs = np.cumsum(counts) - counts
        with hints(info) as given:
            check(
                functions.MPIX_Sparse_exchange_c(
                    len(pairs),
                    address(targets),
                    address(data),
                    address(counts),
                    address(displs),
                    handle(element),
                    handle(element),
                    given,
                    handle(comm),
                    ctypes.addressof(result),
                ),
                comm,
            )
        return _messages(result, dtype)
    finally:
        functions.MPIX_Sparse_free(ctypes.addressof(result))
        element.Free()


def _listed(result):
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


def _messages(result, dtype) -> dict:
    """Copies the messages of a result."""
    sources, counts, displs, elements = _listed(result)
    data = np.empty(elements, dtype)
    check(functions.MPIX_Sparse_copy(result, elements, address(data)))
    received: dict = {}
    for source, count, displ in zip(sources, counts, displs):
        array = data[displ : displ + count]
        if source not in received:
            received[source] = array
        elif isinstance(received[source], list):
            received[source].append(array)
        else:
            received[source] = [received[source], array]
    return received


def sparse_sources(comm, targets, info=None) -> list:
    """Returns the ranks of the processes that list this one as a target, ascending.

    Every process of the communicator calls this.
    """
    targets = np.ascontiguousarray(targets, dtype=np.intc)
    result = ctypes.c_void_p()
    try:
        with hints(info) as given:
            code = functions.MPIX_Sparse_sources(
                targets.size, address(targets), given, handle(comm), ctypes.addressof(result)
            )
        check(code, comm)
        return _listed(result)[0]
    finally:
        functions.MPIX_Sparse_free(ctypes.addressof(result))
