"""Sparse exchanges and windows."""

import ctypes
import datetime
import gc
import pickle
import weakref
from array import array as elements
from unittest import mock

import numpy as np
from checks import Tensor, check, comm, finish, interrupted, raises
from mpi4py import MPI

from mpix_neighbor import Error, Loggp, SparsePlan, SparseWindow, sparse_exchange, sparse_sources
from mpix_neighbor._library import functions
from mpix_neighbor._requests import active

me, n = comm.rank, comm.size


class OlderTensor(Tensor):
    """The protocol without versions, which NumPy takes for one that may not be written."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


for protocol in ("auto", "nbx", "pex", "crystal"):
    for dtype in (float, np.int32, np.dtype([("id", "i4"), ("place", "f8", 3)])):
        targets = sorted({(me * 3 + 1) % n, me // 2})
        messages = {
            t: np.ones(1 + me, dtype) if np.dtype(dtype).names is None else np.zeros(1 + me, dtype)
            for t in targets
        }
        got = sparse_exchange(comm, messages, dtype=dtype, info={"sparse": protocol})
        want = [s for s in range(n) if me in {(s * 3 + 1) % n, s // 2}]
        check(sorted(got) == want, f"{protocol}: {sorted(got)}, not {want}")
        check(all(a.dtype == dtype and a.size == 1 + s for s, a in got.items()), f"{protocol}, {dtype}")

# several messages for one process, an empty one, two dimensions, nothing at all
got = sparse_exchange(
    comm, {0: [np.array([me]), np.array([], dtype=int), np.arange(4).reshape(2, 2)]}, dtype=int
)
if me == 0:
    check(list(got) == list(range(n)) and all([a.size for a in got[s]] == [1, 0, 4] for s in got), str(got))
    check(all(got[s][0][0] == s for s in got), str(got))
else:
    check(got == {}, str(got))
# anything that is a buffer, or a tensor
after, before = (me + 1) % n, (me - 1) % n
for given in (elements("d", [me, 1]), Tensor(np.array([me, 1.0])), memoryview(np.array([me, 1.0]))):
    got = sparse_exchange(comm, {after: given})
    check(got[before].tolist() == [before, 1], f"{type(given)}: {got}")
got = sparse_exchange(comm, {after: bytes([me, 1])})
check(got[before].tolist() == [before, 1] and got[before].dtype == np.uint8, f"bytes: {got}")
check(sparse_exchange(comm, {}) == {}, "nothing")
check(sparse_sources(comm, [(me + 1) % n]) == [(me - 1) % n], "sources")
raises(ValueError, lambda: sparse_exchange(comm, {0: [np.zeros(1), np.zeros(1, int)]}))
raises(TypeError, lambda: sparse_exchange(comm, {0: np.array([None])}))
raises(TypeError, lambda: sparse_exchange(comm, {0: np.zeros(1)}, dtype=int))
raises(OverflowError, lambda: sparse_exchange(comm, {0: [np.array([300])]}, dtype="u1"))
raises(TypeError, lambda: sparse_exchange(comm, {0.5: np.zeros(1)}))
# a text without a length has no bytes; NumPy has arrays of the elements of a subarray alone
for dtype in (str, bytes, "V0", ("f8", 3)):
    for call in (sparse_exchange, SparsePlan):
        error = raises(TypeError, lambda: call(comm, {after: np.array(["ab"])}, dtype=dtype))
        check("dtype" in str(error) and repr(dtype) in str(error), str(error))
check(sparse_exchange(comm, {me: [1, 2]}, dtype="u1")[me][1].dtype == np.uint8, "integers that fit")
error = raises(MPI.Exception, lambda: sparse_exchange(comm, {n + 1: np.zeros(1)}))
check(str(n + 1) in str(error), str(error))


def copied(received):
    """The messages by their senders, as lists of numbers."""
    return {s: [a.tolist() for a in (g if isinstance(g, list) else [g])] for s, g in received.items()}


# a plan: receivers and sizes stay, contents change; two messages for one process
for protocol in ("auto", "nbx", "pex", "crystal"):
    right, far = np.full((2, 3), me), np.full(1 + me, me)
    messages = {(me + 1) % n: [right, np.array([7])], me // 2: far} if n > 2 else {0: [right, far]}
    with SparsePlan(comm, messages, dtype=np.int64, info={"sparse": protocol}) as plan:
        # the first run needs no start
        runs = [copied(plan.received)]
        for step in range(1, 4):
            right[:] = far[:] = 100 * step + me
            plan.start()
            # the run sends what was there when it was started
            right[:] = far[:] = -1
            if step == 2:
                while not plan.test():
                    pass
                got = plan.received
            else:
                got = plan.wait()
            runs.append(copied(got))
        kept = plan.received
    for step, got in enumerate(runs):
        want: dict = {}
        for s in range(n):
            mine = 100 * step + s
            sizes = {(s + 1) % n: [6, -1], s // 2: [1 + s]} if n > 2 else {0: [6, 1 + s]}
            if me in sizes:
                want[s] = [[7] if size < 0 else [mine] * size for size in sizes[me]]
        check(got == want, f"{protocol}, run {step}: {got}, not {want}")
    # it is freed; what it received stays
    check(set(kept) == set(runs[-1]), str(kept))
    plan.free()
    raises(MPI.Exception, plan.start)
tensor = Tensor(np.array([me, 0.0]))
with SparsePlan(comm, {after: tensor}) as plan:
    tensor.array[1] = 7
    check(plan.run()[before].tolist() == [before, 7], f"a tensor: {plan.received}")
with SparsePlan(comm, {}) as plan:
    check(plan.run() == {}, "a plan of nothing")
# a run under way is completed before the plan is freed
with SparsePlan(comm, {(me + 1) % n: np.array([me])}) as plan:
    plan.start()
check(plan.received[(me - 1) % n].tolist() == [(me - 1) % n], str(plan.received))
# what is received is the caller's to write: only a run writes into it
with SparsePlan(comm, {me: np.ones(2)}) as plan:
    got = plan.received[me]
    got[:] = 7
    check(plan.test() and plan.wait()[me] is got and (got == 7).all(), f"no run: {got}")
check((got == 7).all(), f"freed: {got}")
# a start during a run is an error, and the run sends what it held; process 0 starts its run first
sent = np.ones(1 << 18)
with SparsePlan(comm, {after: sent}) as plan:
    if me > 0:
        comm.Barrier()
    plan.start()
    sent[:] = 2
    raises(MPI.Exception, plan.start)
    if me == 0:
        comm.Barrier()
    check((plan.wait()[before] == 1).all(), f"a run that was started twice: {plan.received}")
raises(ValueError, lambda: SparsePlan(comm, {0: [np.zeros(1), np.zeros(1, int)]}))
error = raises(MPI.Exception, lambda: SparsePlan(comm, {n + 1: np.zeros(1)}))
check(str(n + 1) in str(error), str(error))

array = np.zeros(10)
with SparseWindow(comm, array) as window:
    for target in range(n):
        window.accumulate(target, [2, 5, 2], [1, 2, 1])
    window.fence()
    check(array.tolist() == [0, 0, 2 * n, 0, 0, 2 * n, 0, 0, 0, 0], str(array))
    window.fence()
    window.put((me + 1) % n, 7, me)
    window.fence()
    check(window.get(me, [7])[0] == (me - 1) % n and array[7] == (me - 1) % n, str(array))
    before = window.fetch_and_op(0, 0, 1)
    check(0 <= before[0] < n, str(before))
    window.fence()
    check(me > 0 or array[0] == n, str(array))
    window.fence()
    won = window.compare_and_swap(0, 9, values=me + 1, compare=0)[0] == 0
    window.fence()
    check(comm.allreduce(int(won)) == 1, "one process swaps")
    error = raises(MPI.Exception, lambda: window.put(0, 10, 1.0))
    check("10" in str(error), str(error))
# the memory of a buffer or a tensor
for given in (elements("d", [0, 0]), Tensor(np.zeros(2)), OlderTensor(np.zeros(2)), np.zeros((2, 1))):
    with SparseWindow(comm, given) as window:
        window.put((me + 1) % n, 1, me + 1.5)
        window.fence()
        seen = given.array if isinstance(given, Tensor) else np.asarray(given)
        wanted = [0, (me - 1) % n + 1.5]
        check(seen.ravel().tolist() == wanted, f"{type(given)}: {seen}")
        check(window.array.ravel().tolist() == wanted, f"{type(given)}: {window.array}")
raises(TypeError, lambda: SparseWindow(comm, np.zeros((4, 4)).T))
raises(TypeError, lambda: SparseWindow(comm, [0.0, 0.0]))
raises(TypeError, lambda: SparseWindow(comm, np.zeros(2, dtype=">f8")))
raises(ValueError, lambda: SparseWindow(comm, bytes(8)))

# texts
for dtype, values in (("S3", [b"abc", b"d"]), ("U2", ["ab", "c"])):
    array = np.zeros(4, dtype)
    with SparseWindow(comm, array) as window:
        window.put((me + 1) % n, [1, 2], values)
        window.fence()
        check(array.tolist() == np.array(["", *values, ""] if dtype == "U2" else [b"", *values, b""]).tolist(), str(array))
        check(window.get(me, [2, 1]).tolist() == values[::-1], f"{dtype}: {window.get(me, [2, 1])}")
        raises(TypeError, lambda: window.put(me, 0, ["abcd"]))
# what ctypes has, in the machine's order of bytes
numbers = (ctypes.c_double * 3)()
with SparseWindow(comm, numbers) as window:
    window.put((me + 1) % n, 1, me + 0.5)
    window.fence()
    check(list(numbers) == [0, (me - 1) % n + 0.5, 0], f"ctypes: {list(numbers)}")


def maximum(one, other, _):
    np.maximum(np.frombuffer(one), np.frombuffer(other), out=np.frombuffer(other))


# indices of any shape
array = np.zeros(6)
with SparseWindow(comm, array) as window:
    window.put(me, [[1, 2], [3, 4]], [[1, 2], [3, 4]])
    window.accumulate(me, [[1, 2], [3, 4]], [[10], [20]])
    window.fence()
    check(array.tolist() == [0, 11, 12, 23, 24, 0], str(array))
    check(window.get(me, [[1], [4]]).tolist() == [[11], [24]], str(window.get(me, [[1], [4]])))
    check(window.fetch_and_op(me, 5, 1).tolist() == [0], "one index")
    error = raises(ValueError, lambda: window.put(me, [1, 2], [[1], [2]]))
    check("(2, 1)" in str(error) and "(2,)" in str(error), str(error))
    # nobody is asked: zeros, not what the memory held
    for call in (
        lambda: window.get(MPI.PROC_NULL, [1, 4]),
        lambda: window.fetch_and_op(MPI.PROC_NULL, [1, 4], 1),
        lambda: window.compare_and_swap(MPI.PROC_NULL, [1, 4], 1, 1),
    ):
        held = np.full(2, 7.0)
        del held
        got = call()
        check(got.tolist() == [0, 0], f"MPI.PROC_NULL: {got}")
    # no numbers
    raises(TypeError, lambda: window.put(me, 1, None))
    raises(TypeError, lambda: window.put(me, [1, 2], np.array([1.5, "2"], object)))
    window.put(me, 1, np.array([7.5], object))
    window.fence()
    check(array[1] == 7.5, str(array))
    # an operator of the program's, which the window does not know before
    largest = MPI.Op.Create(maximum, commute=True)
    raises(MPI.Exception, lambda: window.accumulate(me, 1, 9, largest))
    window.add_operator(largest)
    comm.Barrier()
    window.accumulate(me, [1, 2], [9, 9], largest)
    window.fence()
    check(array[:3].tolist() == [0, 9, 12], str(array))
    raises(MPI.Exception, lambda: window.put(n, 0, 1))
largest.Free()
# what has been freed has no text of an earlier error
for call in (window.flush, lambda: window.get(0, 0), plan.run):
    error = raises(MPI.Exception, call)
    check("NULL" in str(error) or "freed" in str(error), str(error))
with np.errstate(over="raise"):
    raises(OverflowError, lambda: sparse_exchange(comm, {me: np.array([1e300])}, dtype="f4"))
# errors go to other processes as they are
error = pickle.loads(pickle.dumps(raises(MPI.Exception, lambda: sparse_exchange(comm, {n + 1: np.zeros(1)}))))
check(type(error) is Error and f"{n + 1}" in str(error) and error.Get_error_class() == MPI.ERR_RANK, repr(error))
check(f"{n + 1}" in repr(error), repr(error))

# values that would be cut
for values, dtype in (
    (np.array(["abcdef"]), "S2"),
    (np.array([1.9, -3.7]), [("k", "i4")]),
    (np.array(["2020-01-01T05:06:07"], "M8[s]"), "M8[D]"),
    (np.array(["3000-01-01"], "M8[D]"), "M8[ns]"),
    (np.array([1 << 40], "m8[s]"), "m8[ns]"),
):
    raises(TypeError, lambda: sparse_exchange(comm, {me: values}, dtype=np.dtype(dtype)))
for values, dtype in (
    (np.array(["ab"]), "S2"),
    (np.array(["2020-01-01T00:00:00", "NaT"], "M8[s]"), "M8[D]"),
    (np.array(["2020-01-01", "NaT"], "M8[D]"), "M8[ns]"),
    (np.array([7, -1]), "m8[s]"),
    (np.array(["2020-01-01"]), "M8[D]"),
    (np.array([datetime.date(2020, 1, 1)]), "M8[D]"),
):
    got = sparse_exchange(comm, {me: values}, dtype=np.dtype(dtype))[me]
    check(got.dtype == dtype and got[0] == values.astype(dtype)[0], f"{values} as {dtype}: {got}")
# errors of no communicator keep their texts
error = raises(MPI.Exception, lambda: sparse_exchange(MPI.COMM_NULL, {}))
check("MPIX_Sparse_exchange" in str(error), str(error))
# NumPy does not move the memory of a window
for of in (lambda array: array), (lambda array: array[:2]):
    array = np.zeros(3)
    with SparseWindow(comm, of(array)) as window:
        raises(ValueError, lambda: array.resize(1 << 20, refcheck=False))
# handles of one kind are none of another
for call in (
    lambda: sparse_exchange(comm.group, {}),
    lambda: sparse_sources(MPI.DOUBLE, []),
    lambda: SparsePlan(comm.group, {}),
    lambda: SparseWindow(comm.group, np.zeros(1)),
    lambda: Loggp.of(MPI.SUM),
):
    error = raises(TypeError, call)
    check("comm" in str(error), str(error))
with SparseWindow(comm, np.zeros(1)) as window:
    for call in (
        lambda: window.accumulate(me, 0, 1, MPI.DOUBLE),
        lambda: window.fetch_and_op(me, 0, 1, MPI.DOUBLE),
        lambda: window.add_operator(MPI.DOUBLE),
    ):
        error = raises(TypeError, call)
        check("op" in str(error), str(error))

# values that elements cannot hold
with SparseWindow(comm, np.zeros(4, dtype="i4")) as window:
    for indices, values in (([1.9], 1), ([1], 1.5), ([1], 1 << 40), ([1], [None])):
        raises((TypeError, OverflowError), lambda: window.put(me, indices, values))
    for target in (2**32 + me, -(2**32)):
        raises(OverflowError, lambda: window.put(target, [1], 1))
        raises(OverflowError, lambda: window.get(target, [1]))
    error = raises(TypeError, lambda: window.get(0.5, [1]))
    check("target" in str(error), str(error))
    raises(TypeError, lambda: window.put(me, np.array([True, False, True, False]), 1))
    window.put(me, np.array([1], "u1"), np.int64(3))
    window.fence()
    check(window.array.tolist() == [0, 3, 0, 0], str(window.array))
with SparseWindow(comm, np.zeros(2, dtype="f4")) as window:
    window.put(me, 1, 0.1)
    window.fence()
    check(window.array[1] == np.float32(0.1), str(window.array))
    for values in (2**200, 10**400, np.array([2.0**200, 1], object)[:1], np.array([-(2**200)], object)):
        raises(OverflowError, lambda: window.put(me, 1, values))
    window.put(me, [0, 1], np.array([2**40, np.inf], object))
    window.fence()
    check(window.array.tolist() == [2**40, np.inf], str(window.array))
    raises(TypeError, lambda: window.put(me, 1, np.array([1j], object)))
# lists of integers are integers, whatever NumPy makes of them
with SparseWindow(comm, np.zeros(2, dtype="u8")) as window:
    window.put(me, [0, 1], [1, 2**63])
    window.fence()
    check(window.array.tolist() == [1, 2**63], str(window.array))
    for values in ([1, 2**64], [-1, 2**63], np.array([-1, 1], object), np.array([1, 2**64], object)):
        raises(OverflowError, lambda: window.put(me, [0, 1], values))
    for values in ([1, 2**63, 0.5][1:], [1.0, 2**63]):
        raises(TypeError, lambda: window.put(me, [0, 1], values))
    check(window.get(me, [0, 1]).tolist() == [1, 2**63], str(window.array))


# windows are kept until they are freed, also if the program lets go of them; plans while they run
def open_window():
    window = SparseWindow(comm, np.zeros(1 << 14))
    return weakref.ref(window), weakref.ref(window.array)


window, memory = open_window()
gc.collect()
check(window() is not None and memory() is not None, "a window is open, and gone")
if window() is not None:
    window().free()
gc.collect()
check(window() is None and memory() is None, "a window is freed, and still there")


def start_plan():
    plan = SparsePlan(comm, {(me + 1) % n: np.full(1 << 14, float(me))})
    return weakref.ref(plan.start())


plan = start_plan()
gc.collect()
check(plan() is not None, "a plan runs, and is gone")
if plan() is not None:
    held = plan()
    check((held.wait()[(me - 1) % n] == (me - 1) % n).all(), "what the plan brought")
    held.free()
    del held
gc.collect()
check(plan() is None, "a plan is freed, and still there")

# what a start that failed may have sent in part is kept for good; a window that is freed is not,
# also if that fails
plan = SparsePlan(comm, {after: np.full(1 << 14, float(me))})
memory = weakref.ref(plan._sent._data)
with mock.patch.object(functions, "MPIX_Sparse_plan_start", return_value=MPI.ERR_OTHER):
    raises(MPI.Exception, plan.start)
plan.free()
del plan
gc.collect()
check(memory() is not None, "MPI may still send it, and it is gone")
window = SparseWindow(comm, np.zeros(1 << 14))
memory, free = weakref.ref(window.array), functions.MPIX_Sparse_window_free
with mock.patch.object(functions, "MPIX_Sparse_window_free", lambda at: free(at) or MPI.ERR_OTHER):
    raises(MPI.Exception, window.free)
del window
gc.collect()
check(memory() is None, "a window is freed with an error, and still there")

# a call that is interrupted when the library has begun to use memory
after, before = (me + 1) % n, (me - 1) % n
plan = SparsePlan(comm, {after: np.full(1 << 14, float(me))})
plan.received[before][:] = -1
with interrupted(functions, "MPIX_Sparse_plan_start"):
    raises(KeyboardInterrupt, plan.start)
check(plan in active, "a start is interrupted, and the run may lose its memory")
check((plan.wait()[before] == before).all() and plan not in active, f"interrupted: {plan.received}")
plan.free()
with interrupted(functions, "MPIX_Sparse_window_create_c"):
    raises(KeyboardInterrupt, lambda: SparseWindow(comm, np.zeros(1)))
# a run that has failed has ended; the next one sends what the arrays hold then
sent = np.ones(1 << 14)
with SparsePlan(comm, {after: sent}) as plan:
    wait = functions.MPIX_Sparse_plan_wait
    for name in "wait", "test":
        real = getattr(functions, f"MPIX_Sparse_plan_{name}")
        plan.start()
        received = plan.received[before].copy()
        failing = mock.Mock(side_effect=lambda *at: wait(at[0]) or real(*at) or MPI.ERR_OTHER)
        with mock.patch.object(functions, f"MPIX_Sparse_plan_{name}", failing):
            raises(MPI.Exception, getattr(plan, name))
        check(plan not in active, f"{name}: a run has failed, and is under way")
        check((plan.received[before] == received).all(), f"{name}: a failed run is received")
        sent += 1
        plan.start()
        sent += 1
        check((plan.wait()[before] == sent - 1).all(), f"{name}, the run after one that failed: {plan.received}")
# freeing goes on after an error
wait = functions.MPIX_Sparse_plan_wait
plan = SparsePlan(comm, {after: sent}).start()
with mock.patch.object(functions, "MPIX_Sparse_plan_wait", lambda at: wait(at) or MPI.ERR_OTHER):
    raises(MPI.Exception, plan.free)
check(not plan._plan and plan not in active, "a plan is freed with an error, and still there")
freed = mock.Mock(wraps=functions.MPIX_Sparse_plan_free)
with mock.patch.object(functions, "MPIX_Sparse_plan_free", freed):
    with mock.patch.object(functions, "MPIX_Sparse_copy", return_value=MPI.ERR_OTHER):
        raises(MPI.Exception, lambda: SparsePlan(comm, {}))
check(freed.call_count == 1, "a plan that cannot be made is left over")
windows = [each for each in active if isinstance(each, SparseWindow)]
check(len(windows) == 1, f"{len(windows)} windows")
for window in windows:
    window.free()
del windows
with SparseWindow(comm, np.full(4, float(me))) as window:
    for name, call in (
        ("get", lambda: window.get(after, [1, 2])),
        ("fetch_and_op", lambda: window.fetch_and_op(after, [1, 2], 0)),
        ("compare_and_swap", lambda: window.compare_and_swap(after, [1, 2], 0, -1)),
    ):
        with interrupted(functions, f"MPIX_Sparse_window_{name}_c"):
            raises(KeyboardInterrupt, call)
        results = list(window._results)
        check(len(results) == 1, f"{name} is interrupted, and its result is gone")
        window.flush()
        check([each.tolist() for each in results] == [[after] * 2], f"{name}, interrupted: {results}")
        check(not window._results, f"{name} has ended, and its result is kept")

# parameters of the machine
given = Loggp(latency=3, send_overhead=1, recv_overhead=2, gap=4, gap_per_byte=0.25, eager=None)
alone = comm.Dup()
given.set(alone)
check(Loggp.of(alone) == given, str(Loggp.of(alone)))
raises(MPI.Exception, lambda: Loggp(-1, 1, 1, 1, 1).set(alone))
raises(OverflowError, lambda: Loggp(1, 1, 1, 1, 1, eager=2**64 + 7).set(alone))
check(Loggp.of(alone) == given, str(Loggp.of(alone)))
if n > 1:
    found = Loggp.measure(alone, {"loggp_seconds": 0.05, "loggp_bytes": 4096})
    # where processes share cores, the time of a send can be lost in the noise of others
    takes_time = found.latency + found.send_overhead + found.recv_overhead > 0
    check(found.send_overhead >= 0 and takes_time and found.gap_per_byte > 0, str(found))
alone.Free()
finish()
