"""Neighborhoods and the collectives on them."""

import builtins
import ctypes
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Optional

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ._buffers import (
    Blocks,
    BufferSpec,
    Hints,
    block,
    blocks,
    converted,
    fields,
    general,
    hints,
    integer,
    vector,
)
from ._functions import (
    NEIGHBOR_ACCUMULATE as ACCUMULATE,
    NEIGHBOR_ALLTOALL as ALLTOALL,
    NEIGHBOR_GATHER as GATHER,
    NEIGHBOR_REDUCE as REDUCE,
)
from ._library import check, comm_handle, functions, handle, op_handle, read_text
from ._requests import Plan, Request, Started, active, in_turn

__all__ = ["ACCUMULATE", "ALL", "ALLTOALL", "GATHER", "REDUCE", "Neighborhood"]

ALL = GATHER | ALLTOALL | REDUCE | ACCUMULATE


def _ranks(values: npt.ArrayLike, what: str) -> tuple[npt.NDArray[np.intc], int]:
    """Returns an array of C ints of its own memory, and its address."""
    # a copy: a reversal is made from it when the caller may have written other numbers
    array = converted(values, np.dtype(np.intc), what).copy()
    if array.ndim != 1:
        raise ValueError(f"{what} is not a list of numbers")
    return array, array.ctypes.data


def _weights(
    values: Optional[npt.ArrayLike], length: int, what: str
) -> tuple[Optional[npt.NDArray[np.intc]], int]:
    """As `_ranks`, for the weights of a list; None: all edges are equal."""
    if values is None:
        return None, int(MPI.UNWEIGHTED)
    array, address = _ranks(values, what)
    if array.size != length:
        raise ValueError(f"{what} has {array.size} entries, not {length}")
    return array, address


def _paired(
    sendbufs: Iterable[BufferSpec], recvbufs: Iterable[BufferSpec]
) -> tuple[list[BufferSpec], list[BufferSpec]]:
    """Returns the lists of both sides, which must be equally long."""
    sendbufs, recvbufs = list(sendbufs), list(recvbufs)
    if len(sendbufs) != len(recvbufs):
        raise ValueError(f"{len(sendbufs)} fields to send and {len(recvbufs)} to receive")
    return sendbufs, recvbufs


# makes the blocks of one side of a call
_Side = Callable[..., Blocks]
# makes a neighborhood of operations, hints and a communicator, the last two as handles
_Set = Callable[[int, int, int], Any]


def _side(make: _Side, spec: Any, number: int, received: bool, wide: bool = False) -> Blocks:
    """Returns the blocks of one side of a call; errors name the argument."""
    try:
        return make(spec, number, received=received, wide=wide)
    except (TypeError, ValueError, OverflowError) as error:
        error.args = (f"{'recvbuf' if received else 'sendbuf'}: {error}",)
        raise


class _Shape:
    """A collective: how its blocks lie on each side, and its C functions.

    Of each pair of functions, the second takes counts of type int.
    """

    def __init__(self, name: str, send: _Side, recv: _Side):
        self.send, self.recv = send, recv
        self.blocking = self._pair(f"MPIX_Neighbor_{name}")
        self.nonblocking = self._pair(f"MPIX_Ineighbor_{name}")
        self.persistent = self._pair(f"MPIX_Neighbor_{name}_plan")

    @staticmethod
    def _pair(name: str) -> tuple[Any, Any]:
        return getattr(functions, name + "_c"), getattr(functions, name)


_GATHER = _Shape("gather", block, blocks)
_GATHERV = _Shape("gatherv", block, vector)
_ALLTOALL = _Shape("alltoall", blocks, blocks)
_ALLTOALLV = _Shape("alltoallv", vector, vector)
_ALLTOALLW = _Shape("alltoallw", general, general)
_FIELDS = _Shape("alltoallw_fields", fields, fields)
_REDUCE = _Shape("reduce", block, block)
_REDUCEV = _Shape("reducev", vector, block)
_ACCUMULATE = _Shape("accumulate", blocks, blocks)
_ACCUMULATEV = _Shape("accumulatev", vector, vector)
_ACCUMULATEW = _Shape("accumulatew", general, general)


class Neighborhood:
    """The processes that this one receives from and sends to, and collectives among them.

    comm
        An intracommunicator. The neighborhood has a duplicate of it, `comm`.
    sources, targets
        Ranks of the processes that send to this one, and that it sends to, in the order of the
        blocks in buffers. They may repeat, include the process itself, and be `MPI.PROC_NULL`.
    weights
        None, or a pair of lists: roughly how much travels on the edge of each source, and of each
        target, in any unit. Wrong weights cost time, never correctness.
    info
        Hints: an `MPI.Info`, or a dict such as `{"schedule": "edge_coloring"}`.
    operations
        Those that it serves: `GATHER`, `ALLTOALL`, `REDUCE`, `ACCUMULATE`, or several (`|`).

    If a process lists another one as a target, that one must list it as a source equally often.

    Every process of the communicator makes the neighborhood and frees it. A collective is called by
    every process that has an edge, and by all its neighbors. As a context manager it is freed at the
    end of the block.

    Buffers are those of mpi4py: an array, or a list of it and what cannot be told from it.
    `[data, count, type]` for equal blocks, the count that of one; `[data, counts, displs, type]` or
    `[data, (counts, displs), type]` for blocks of their own sizes, where one integer stands for the
    counts of all blocks, or for the displacement of each from the one before; `[data, counts, displs,
    types]`, in bytes, or `[data, types]` for those of their own layouts. None is as if left out.
    """

    def __init__(
        self,
        comm: MPI.Intracomm,
        sources: npt.ArrayLike,
        targets: npt.ArrayLike,
        weights: Optional[Sequence[Optional[npt.ArrayLike]]] = None,
        info: Hints = None,
        operations: int = ALL,
    ):
        source_ranks, source_at = _ranks(sources, "sources")
        target_ranks, target_at = _ranks(targets, "targets")
        if weights is None:
            weights = None, None
        elif len(weights) != 2:
            raise ValueError(f"weights are a pair, for sources and for targets, not {len(weights)} lists")
        source_weights, target_weights = weights
        in_weights, source_weights_at = _weights(source_weights, source_ranks.size, "weights[0]")
        out_weights, target_weights_at = _weights(target_weights, target_ranks.size, "weights[1]")

        def set(operations: int, info: int, comm: int) -> Any:
            return functions.MPIX_Neighborhood_set(
                operations,
                source_ranks.size,
                source_at,
                source_weights_at,
                target_ranks.size,
                target_at,
                target_weights_at,
                info,
                comm,
            )

        # they live as long as their addresses
        self._lists: Any = in_weights, out_weights
        self._make(comm, info, operations, set)

    @classmethod
    def from_topology(
        cls, comm: MPI.Intracomm, info: Hints = None, operations: int = ALL
    ) -> "Neighborhood":
        """The neighbors in a communicator's Cartesian, graph or distributed-graph topology.

        They come in the order in which mpi4py's `Neighbor_alltoall` takes them.
        """
        self = cls.__new__(cls)
        self._make(comm, info, operations, functions.MPIX_Neighborhood_set_topology)
        return self

    @classmethod
    def from_targets(
        cls,
        comm: MPI.Intracomm,
        targets: npt.ArrayLike,
        weights: Optional[npt.ArrayLike] = None,
        info: Hints = None,
        operations: int = ALL,
    ) -> "Neighborhood":
        """The targets alone are known: a sparse exchange finds the sources."""
        ranks, at = _ranks(targets, "targets")
        kept, weights_at = _weights(weights, ranks.size, "weights")

        def set(operations: int, info: int, comm: int) -> Any:
            return functions.MPIX_Neighborhood_set_targets(
                operations, ranks.size, at, weights_at, info, comm
            )

        self = cls.__new__(cls)
        self._lists = kept
        self._make(comm, info, operations, set)
        return self

    def reversed(self, info: Hints = None, operations: int = ALL) -> "Neighborhood":
        """The same edges the other way round, with their weights: for a reverse halo.

        Block `i` sent travels to the process from which block `i` of this neighborhood comes.
        """
        one = self.operations & -self.operations

        def set(operations: int, info: int, comm: int) -> Any:
            code = self._set(one, handle(MPI.INFO_NULL), comm)
            code = code or functions.MPIX_Neighborhood_reverse(one, operations, info, comm)
            if not code and not operations & one:
                # it was set for the reversal alone
                code = functions.MPIX_Neighborhood_free(one, comm)
            return code

        made = type(self).__new__(type(self))
        made._make(self.comm, info, operations, set)
        return made

    def _make(self, comm: MPI.Intracomm, info: Hints, operations: int, set: _Set) -> None:
        """Makes a neighborhood by `set`, which takes operations, hints and a communicator."""
        # those that are not freed yet
        self._plans: builtins.set[Plan] = builtins.set()
        # the last call of each collective
        self._last: dict[_Shape, tuple[Any, ...]] = {}
        self._set = set
        self.operations = operations = integer(operations, "operations")
        # other objects of MPI have a Dup too
        comm_handle(comm)
        self.comm: MPI.Intracomm = comm.Dup()
        self._comm = handle(self.comm)
        try:
            with hints(info) as given:
                check(set(operations, given, self._comm), self.comm)
            self._look(operations & -operations)
        except Exception:
            self.comm.Free()
            raise

    def _look(self, operation: int) -> None:
        """Asks for the lists."""
        degrees = (ctypes.c_int * 3)()
        at = ctypes.addressof(degrees)
        step = ctypes.sizeof(ctypes.c_int)
        check(
            functions.MPIX_Neighborhood_get_count(operation, self._comm, at, at + step, at + 2 * step),
            self.comm,
        )
        self.indegree, self.outdegree = degrees[0], degrees[1]
        sources, targets = np.empty(self.indegree, dtype=np.intc), np.empty(self.outdegree, dtype=np.intc)
        unwanted = int(MPI.UNWEIGHTED)
        check(
            functions.MPIX_Neighborhood_get(
                operation,
                self._comm,
                self.indegree,
                sources.ctypes.data,
                unwanted,
                self.outdegree,
                targets.ctypes.data,
                unwanted,
            ),
            self.comm,
        )
        self.sources, self.targets = sources.tolist(), targets.tolist()

    def free(self) -> None:
        """Frees the neighborhood and its plans. Every process of the communicator calls this."""
        if self.comm != MPI.COMM_NULL:
            try:
                in_turn([plan.free for plan in self._plans])
            finally:
                self.comm.Free()
                # the handle may be that of another communicator next
                self._comm = handle(self.comm)
                self._last.clear()

    def __enter__(self) -> "Neighborhood":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        if kind is None:
            self.free()

    def __repr__(self) -> str:
        return f"<Neighborhood of {self.indegree} sources and {self.outdegree} targets>"

    def describe(self, operation: int = ALLTOALL) -> str:
        """Describes the schedule of an operation in a few lines."""
        asked = integer(operation, "operation")
        code, text = read_text(functions.MPIX_Neighborhood_describe, asked, self._comm)
        check(code, self.comm)
        return text

    def _bind(self, shape: _Shape, send: Any, recv: Any) -> tuple[Blocks, Blocks, bool]:
        """Returns both sides of a call."""
        sides = _side(shape.send, send, self.outdegree, False), _side(shape.recv, recv, self.indegree, True)
        widths = {side.width for side in sides}
        if {4, 8} <= widths:
            # the functions take numbers of one width
            sides = (
                _side(shape.send, send, self.outdegree, False, wide=True),
                _side(shape.recv, recv, self.indegree, True, wide=True),
            )
        return (*sides, 4 in widths and 8 not in widths)

    def _run(self, shape: _Shape, send: Any, recv: Any, *op: MPI.Op) -> None:
        last = self._last.get(shape)
        if last is not None and last[0](send) and last[1](recv):
            # most of a call's time goes into its arguments: those without an operator are complete
            code = last[2](*last[3], *map(op_handle, op), self._comm) if op else last[2](*last[3])
        else:
            first, second, width = self._bind(shape, send, recv)
            arguments = *first.arguments, *second.arguments
            code = shape.blocking[width](*arguments, *map(op_handle, op), self._comm)
            if first.stable and second.stable:
                complete = arguments if op else (*arguments, self._comm)
                self._last[shape] = first.serve, second.serve, shape.blocking[width], complete
                first.weaken()
                second.weaken()
        if code:
            check(code, self.comm)

    def _start(self, shape: _Shape, send: Any, recv: Any, *op: MPI.Op) -> Request:
        sides = self._bind(shape, send, recv)
        request = Request(self, (send, recv, sides, op))
        self._call(request, shape.nonblocking[sides[2]], sides, op)
        return request

    def _plan(self, shape: _Shape, info: Hints, send: Any, recv: Any, *op: MPI.Op) -> Plan:
        sides = self._bind(shape, send, recv)
        with hints(info) as given:
            plan = Plan(self, (send, recv, sides, op))
            self._call(plan, shape.persistent[sides[2]], sides, op, given)
        return plan

    def _call(
        self,
        started: Started,
        function: Any,
        sides: tuple[Blocks, Blocks, bool],
        op: tuple[MPI.Op, ...],
        *rest: int,
    ) -> None:
        try:
            arguments = *sides[0].arguments, *sides[1].arguments, *map(op_handle, op), self._comm, *rest
            code = function(*arguments, started._at)
        finally:
            # a call that fails sends nothing and makes no request; one that is interrupted may have
            if not started._request:
                active.discard(started)
                self._plans.discard(started)
        check(code, self.comm)

    def Gather(self, sendbuf: BufferSpec, recvbuf: BufferSpec) -> None:
        """Sends one block to all targets and receives one from each source."""
        self._run(_GATHER, sendbuf, recvbuf)

    def Igather(self, sendbuf: BufferSpec, recvbuf: BufferSpec) -> Request:
        """Starts `Gather`. The buffers belong to the call until it is complete."""
        return self._start(_GATHER, sendbuf, recvbuf)

    def Gather_plan(self, sendbuf: BufferSpec, recvbuf: BufferSpec, info: Hints = None) -> Plan:
        """Makes a plan of `Gather` with these buffers, to be run any number of times."""
        return self._plan(_GATHER, info, sendbuf, recvbuf)

    def Gatherv(self, sendbuf: BufferSpec, recvbuf: BufferSpec) -> None:
        """Sends one block to all targets and receives one of its own size from each source."""
        self._run(_GATHERV, sendbuf, recvbuf)

    def Igatherv(self, sendbuf: BufferSpec, recvbuf: BufferSpec) -> Request:
        """Starts `Gatherv`. The buffers belong to the call until it is complete."""
        return self._start(_GATHERV, sendbuf, recvbuf)

    def Gatherv_plan(self, sendbuf: BufferSpec, recvbuf: BufferSpec, info: Hints = None) -> Plan:
        """Makes a plan of `Gatherv` with these buffers, to be run any number of times."""
        return self._plan(_GATHERV, info, sendbuf, recvbuf)

    def Alltoall(self, sendbuf: BufferSpec, recvbuf: BufferSpec) -> None:
        """Sends a block of its own to each target and receives one from each source, all equally long."""
        self._run(_ALLTOALL, sendbuf, recvbuf)

    def Ialltoall(self, sendbuf: BufferSpec, recvbuf: BufferSpec) -> Request:
        """Starts `Alltoall`. The buffers belong to the call until it is complete."""
        return self._start(_ALLTOALL, sendbuf, recvbuf)

    def Alltoall_plan(self, sendbuf: BufferSpec, recvbuf: BufferSpec, info: Hints = None) -> Plan:
        """Makes a plan of `Alltoall` with these buffers, to be run any number of times."""
        return self._plan(_ALLTOALL, info, sendbuf, recvbuf)

    def Alltoallv(self, sendbuf: BufferSpec, recvbuf: BufferSpec) -> None:
        """Sends a block of its own size to each target and receives one from each source."""
        self._run(_ALLTOALLV, sendbuf, recvbuf)

    def Ialltoallv(self, sendbuf: BufferSpec, recvbuf: BufferSpec) -> Request:
        """Starts `Alltoallv`. The buffers belong to the call until it is complete."""
        return self._start(_ALLTOALLV, sendbuf, recvbuf)

    def Alltoallv_plan(self, sendbuf: BufferSpec, recvbuf: BufferSpec, info: Hints = None) -> Plan:
        """Makes a plan of `Alltoallv` with these buffers, to be run any number of times."""
        return self._plan(_ALLTOALLV, info, sendbuf, recvbuf)

    def Alltoallw(self, sendbuf: BufferSpec, recvbuf: BufferSpec) -> None:
        """Sends a block of its own size and layout to each target and receives one from each source."""
        self._run(_ALLTOALLW, sendbuf, recvbuf)

    def Ialltoallw(self, sendbuf: BufferSpec, recvbuf: BufferSpec) -> Request:
        """Starts `Alltoallw`. The buffers belong to the call until it is complete."""
        return self._start(_ALLTOALLW, sendbuf, recvbuf)

    def Alltoallw_plan(self, sendbuf: BufferSpec, recvbuf: BufferSpec, info: Hints = None) -> Plan:
        """Makes a plan of `Alltoallw` with these buffers, to be run any number of times."""
        return self._plan(_ALLTOALLW, info, sendbuf, recvbuf)

    def Alltoallw_fields(self, sendbufs: Iterable[BufferSpec], recvbufs: Iterable[BufferSpec]) -> None:
        """Does for each of several fields what `Alltoallw` does, in one exchange.

        The arguments are lists of what `Alltoallw` takes, one entry for each field. All processes
        give equally many.
        """
        self._run(_FIELDS, *_paired(sendbufs, recvbufs))

    def Ialltoallw_fields(self, sendbufs: Iterable[BufferSpec], recvbufs: Iterable[BufferSpec]) -> Request:
        """Starts `Alltoallw_fields`. The buffers belong to the call until it is complete."""
        return self._start(_FIELDS, *_paired(sendbufs, recvbufs))

    def Alltoallw_fields_plan(
        self, sendbufs: Iterable[BufferSpec], recvbufs: Iterable[BufferSpec], info: Hints = None
    ) -> Plan:
        """Makes a plan of `Alltoallw_fields` with these buffers, to be run any number of times."""
        return self._plan(_FIELDS, info, *_paired(sendbufs, recvbufs))

    def Reduce(self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM) -> None:
        """Sends one block to all targets and combines those of the sources."""
        self._run(_REDUCE, sendbuf, recvbuf, op)

    def Ireduce(self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM) -> Request:
        """Starts `Reduce`. The buffers belong to the call until it is complete."""
        return self._start(_REDUCE, sendbuf, recvbuf, op)

    def Reduce_plan(
        self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM, info: Hints = None
    ) -> Plan:
        """Makes a plan of `Reduce` with these buffers, to be run any number of times."""
        return self._plan(_REDUCE, info, sendbuf, recvbuf, op)

    def Reducev(self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM) -> None:
        """Sends a block of its own to each target and combines those of the sources."""
        self._run(_REDUCEV, sendbuf, recvbuf, op)

    def Ireducev(self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM) -> Request:
        """Starts `Reducev`. The buffers belong to the call until it is complete."""
        return self._start(_REDUCEV, sendbuf, recvbuf, op)

    def Reducev_plan(
        self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM, info: Hints = None
    ) -> Plan:
        """Makes a plan of `Reducev` with these buffers, to be run any number of times."""
        return self._plan(_REDUCEV, info, sendbuf, recvbuf, op)

    def Accumulate(self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM) -> None:
        """Sends a block to each target and combines those received with the receive buffer."""
        self._run(_ACCUMULATE, sendbuf, recvbuf, op)

    def Iaccumulate(self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM) -> Request:
        """Starts `Accumulate`. The buffers belong to the call until it is complete."""
        return self._start(_ACCUMULATE, sendbuf, recvbuf, op)

    def Accumulate_plan(
        self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM, info: Hints = None
    ) -> Plan:
        """Makes a plan of `Accumulate` with these buffers, to be run any number of times."""
        return self._plan(_ACCUMULATE, info, sendbuf, recvbuf, op)

    def Accumulatev(self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM) -> None:
        """As `Accumulate`, with blocks of their own sizes."""
        self._run(_ACCUMULATEV, sendbuf, recvbuf, op)

    def Iaccumulatev(self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM) -> Request:
        """Starts `Accumulatev`. The buffers belong to the call until it is complete."""
        return self._start(_ACCUMULATEV, sendbuf, recvbuf, op)

    def Accumulatev_plan(
        self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM, info: Hints = None
    ) -> Plan:
        """Makes a plan of `Accumulatev` with these buffers, to be run any number of times."""
        return self._plan(_ACCUMULATEV, info, sendbuf, recvbuf, op)

    def Accumulatew(self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM) -> None:
        """As `Accumulate`, with blocks of their own sizes and layouts."""
        self._run(_ACCUMULATEW, sendbuf, recvbuf, op)

    def Iaccumulatew(self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM) -> Request:
        """Starts `Accumulatew`. The buffers belong to the call until it is complete."""
        return self._start(_ACCUMULATEW, sendbuf, recvbuf, op)

    def Accumulatew_plan(
        self, sendbuf: BufferSpec, recvbuf: BufferSpec, op: MPI.Op = MPI.SUM, info: Hints = None
    ) -> Plan:
        """Makes a plan of `Accumulatew` with these buffers, to be run any number of times."""
        return self._plan(_ACCUMULATEW, info, sendbuf, recvbuf, op)
