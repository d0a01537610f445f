"""Collectives that one call starts and another completes."""

import ctypes
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Callable, Optional

from ._buffers import integer
from ._library import Error, check, functions

if TYPE_CHECKING:
    from ._neighborhood import Neighborhood

__all__ = ["Plan", "Request", "Started", "active", "in_turn", "startall", "waitall", "waitany"]

# collectives under way, runs of plans, and windows: what the library reads and writes must live on
# even if the program lets go of all that refers to it
active: set[object] = set()
# to the end of the process, as mpi4py finalizes MPI when the interpreter has ended
ctypes.pythonapi.Py_IncRef(ctypes.py_object(active))


class Started:
    """What a nonblocking collective and a plan have in common."""

    def __init__(self, neighborhood: "Neighborhood", keep: Any):
        self._neighborhood = neighborhood
        self._request = ctypes.c_void_p()
        self._at = ctypes.addressof(self._request)
        # buffers, counts and datatypes that the library reads until the collective is complete
        self._keep = keep
        # a plan that has been started and not completed; one that has failed is in `active` as well
        self._runs = False

    def _check(self, code: int) -> None:
        if code:
            check(code, self._neighborhood.comm, self._request)

    def _complete(self, code: int) -> None:
        """Ends a run, and raises the error of the call that completed it."""
        self._runs = False
        self._end(code)

    def _end(self, code: int, of: object = True) -> None:
        """Lets go of the buffers of what has ended, and raises the error of the call that ended it."""
        # after an error, what is not certain to have ended is kept
        if not code or not self._request:
            active.discard(self)
        if not self._request:
            self._keep = None
        if code:
            check(code, self._neighborhood.comm, of)

    def wait(self) -> None:
        """Waits until every block has arrived and every send buffer may be used again."""
        # the call may free the request
        self._complete(functions.MPIX_Request_wait(self._at))

    def test(self) -> bool:
        """Returns true if the collective is complete."""
        flag = ctypes.c_int()
        code = functions.MPIX_Request_test(self._at, ctypes.addressof(flag))
        if code or flag.value:
            self._complete(code)
        return bool(flag.value)

    def wait_source(self, index: int) -> None:
        """Waits until the block of one source has arrived.

        `index` is its entry in the list of sources.
        """
        self._check(functions.MPIX_Request_wait_source(self._request, integer(index, "index")))

    def test_source(self, index: int) -> bool:
        """Returns true if the block of one source has arrived."""
        flag = ctypes.c_int()
        source = integer(index, "index")
        self._check(functions.MPIX_Request_test_source(self._request, source, ctypes.addressof(flag)))
        return bool(flag.value)

    def arrived(self) -> Iterator[int]:
        """Yields the entry of each source once, as soon as its block has arrived.

        A further iterator goes on where one was left. The collective is complete when the iterator
        ends, except for its sends: `wait` waits for these.
        """
        index = ctypes.c_int()
        while True:
            # one at a time: what is told belongs to no iterator
            self._check(functions.MPIX_Request_waitany_source(self._request, ctypes.addressof(index)))
            if index.value < 0:
                return
            yield index.value


class Request(Started):
    """A nonblocking collective under way.

    Complete it with `wait`, or with `test` until it returns true. As a context manager it waits at
    the end of the block.
    """

    def __init__(self, neighborhood: "Neighborhood", keep: Any):
        super().__init__(neighborhood, keep)
        active.add(self)

    def __enter__(self) -> "Request":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        if kind is None:
            self.wait()


class Plan(Started):
    """A collective whose arguments stay the same, to be run any number of times.

    As a context manager it is freed at the end of the block.
    """

    def __init__(self, neighborhood: "Neighborhood", keep: Any):
        super().__init__(neighborhood, keep)
        neighborhood._plans.add(self)

    def start(self) -> "Plan":
        """Starts the collective once more. Complete it with `wait`, `test` or `arrived` and `wait`."""
        # first: a call may be interrupted when it has started the run
        active.add(self)
        runs, self._runs = self._runs, True
        code = functions.MPIX_Request_start(self._at)
        if code:
            # a run that was under way goes on
            self._runs = runs
            self._end(code, self._request)
        return self

    def run(self) -> None:
        """Starts the collective and waits for it."""
        active.add(self)
        runs, self._runs = self._runs, True
        code = functions.MPIX_Request_start(self._at) or functions.MPIX_Request_wait(self._at)
        if code:
            # a run that was under way goes on
            self._runs = runs
            self._end(code, self._request)
        else:
            self._runs = False
            active.discard(self)

    def free(self) -> None:
        """Frees the plan. A collective under way is completed first."""
        if self._request:
            try:
                self.wait()
            finally:
                code = functions.MPIX_Request_free(self._at)
                if not self._request:
                    active.discard(self)
                    self._neighborhood._plans.discard(self)
                    self._keep = None
            self._check(code)

    def __enter__(self) -> "Plan":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], *_: object) -> None:
        if kind is None:
            self.free()


def in_turn(calls: Iterable[Callable[[], object]]) -> None:
    """Makes calls in turn, also after an error, and raises the first one at the end."""
    failure: Optional[Error] = None
    for call in calls:
        try:
            call()
        except Error as error:
            failure = failure or error
    if failure:
        raise failure


def startall(requests: Iterable[Plan]) -> None:
    """Starts several plans, in the order of the list. `waitall` completes them.

    None is started if one is no `Plan`, has been freed, is under way, or is listed more than once.
    After another error, those before the one that failed are under way, and `waitall` completes them.
    """
    listed = list(requests)
    for i, each in enumerate(listed):
        if not isinstance(each, Plan):
            raise TypeError(f"requests[{i}]: a {type(each).__name__} is no Plan")
        if not each._request or each._runs:
            raise ValueError(f"requests[{i}]: the plan {'is under way' if each._runs else 'has been freed'}")
    if len(set(listed)) < len(listed):
        raise ValueError("requests: one is listed more than once")
    for each in listed:
        each.start()


def waitall(requests: Iterable[Started]) -> None:
    """Waits until all of several collectives are complete. Raises the first error at the end."""
    in_turn([each.wait for each in requests])


def waitany(requests: Iterable[Started]) -> Optional[int]:
    """Waits until one of several collectives is complete, and returns its place in the list.

    Returns None if none is under way.
    """
    listed = list(requests)
    if len(set(listed)) < len(listed):
        raise ValueError("requests: one is listed more than once")
    handles = (ctypes.c_void_p * max(len(listed), 1))(*(each._request for each in listed))
    index = ctypes.c_int(-1)
    try:
        code = functions.MPIX_Request_waitany(
            len(listed), ctypes.addressof(handles), ctypes.addressof(index)
        )
    finally:
        if index.value >= 0:
            # the call may have freed the request
            listed[index.value]._request.value = handles[index.value]
    if index.value >= 0:
        listed[index.value]._complete(code)
        return index.value
    check(code)
    return None
