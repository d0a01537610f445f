"""All collectives, in all forms, against what they are defined to be."""

import array
import ctypes
import gc
import weakref
from unittest import mock

import numpy as np
from checks import Tensor, check, comm, finish, interrupted, raises
from mpi4py import MPI

import mpix_neighbor
from mpix_neighbor import ACCUMULATE, ALLTOALL, Neighborhood, Request, startall, waitall, waitany
from mpix_neighbor._library import functions
from mpix_neighbor._neighborhood import _ALLTOALL, active

me, n = comm.rank, comm.size


def value(source, target, entry, i):
    """What process `source` sends to `target` on its edge `entry`, element `i`."""
    return 1000.0 * source + 100 * target + 10 * entry + i


# every process sends to the next two and to itself; sources in the order of ranks
targets = [(me + 1) % n, (me + 2) % n, me]
edges = [(s, t, k) for s in range(n) for k, t in enumerate([(s + 1) % n, (s + 2) % n, s])]
sources = [(s, k) for s, t, k in edges if t == me]
length = 4


def sent(counts):
    return np.array([value(me, t, k, i) for k, t in enumerate(targets) for i in range(counts(k))])


def wanted(counts):
    return np.array([value(s, me, k, i) for s, k in sources for i in range(counts(k))])


def forms(neighborhood, name, send, recv, *rest):
    """Runs a collective in its three forms; yields before each check."""
    getattr(neighborhood, name)(send, recv, *rest)
    yield "blocking"
    request = getattr(neighborhood, "I" + name.lower())(send, recv, *rest)
    request.wait()
    yield "nonblocking"
    with getattr(neighborhood, name + "_plan")(send, recv, *rest) as plan:
        for _ in range(3):
            plan.start()
            plan.wait()
        yield "plan"
        plan.run()
        yield "run"


with Neighborhood(comm, [s for s, _ in sources], targets) as edges3:
    check(edges3.sources == [s for s, _ in sources] and edges3.targets == targets, "the lists")
    check("schedule" in edges3.describe(ALLTOALL), edges3.describe(ALLTOALL))

    got = np.zeros(3 * length)
    for form in forms(edges3, "Alltoall", sent(lambda k: length), got):
        check(np.array_equal(got, wanted(lambda k: length)), f"Alltoall, {form}: {got}")
        got[:] = 0

    def sizes(k):
        return k + 1

    send, got = sent(sizes), np.zeros(sum(sizes(k) for _, k in sources))
    counts = [sizes(k) for _, k in sources]
    out = [sizes(k) for k in range(3)]
    for spec in (
        [got, counts],
        [got, counts, MPI.DOUBLE],
        [got, (counts, np.cumsum(counts) - counts), MPI.DOUBLE],
        (got, np.array(counts, dtype="i"), np.cumsum(counts) - counts, MPI.DOUBLE),
    ):
        for form in forms(edges3, "Alltoallv", [send, out], spec):
            check(np.array_equal(got, wanted(sizes)), f"Alltoallv, {form}: {got}")
            got[:] = 0

    pairs = MPI.DOUBLE.Create_vector(2, 1, 2).Commit()
    single = np.array([value(me, t, k, i) for k, t in enumerate(targets) for i in range(2)])
    got = np.zeros(12)
    in_bytes = 8 * np.arange(3)
    for form in forms(
        edges3,
        "Alltoallw",
        [single, [2] * 3, 2 * in_bytes, [MPI.DOUBLE] * 3],
        [got, [1] * 3, 4 * in_bytes, [pairs] * 3],
    ):
        check(
            np.array_equal(got[::2], wanted(lambda k: 2)) and not got[1::2].any(), f"Alltoallw, {form}: {got}"
        )
        got[:] = 0
    # several fields, of their own types and layouts
    marks = np.array([100 * me + k for k in range(3)], dtype="i")
    seen = np.zeros(3, dtype="i")
    for form in forms(
        edges3,
        "Alltoallw_fields",
        [[single, [2] * 3, 2 * in_bytes, [MPI.DOUBLE] * 3], [marks, [1] * 3, in_bytes // 2, [MPI.INT] * 3]],
        [[got, [1] * 3, 4 * in_bytes, [pairs] * 3], [seen, [1] * 3, in_bytes // 2, [MPI.INT] * 3]],
    ):
        check(
            np.array_equal(got[::2], wanted(lambda k: 2)) and not got[1::2].any(), f"fields, {form}: {got}"
        )
        check(seen.tolist() == [100 * s + k for s, k in sources], f"fields, {form}: {seen}")
        got[:] = seen[:] = 0
    for form in forms(edges3, "Alltoallw_fields", [], []):
        check(not got.any(), f"no fields, {form}")
    one = [marks, [1] * 3, in_bytes // 2, [MPI.INT] * 3]
    error = raises(ValueError, lambda: edges3.Alltoallw_fields([one, one], [one]))
    check("2 fields to send and 1" in str(error), str(error))
    pairs.Free()

    mine, got = np.arange(length) + 10 * me, np.zeros(3 * length, dtype=int)
    want = np.concatenate([np.arange(length) + 10 * s for s, _ in sources])
    for form in forms(edges3, "Gather", mine, got):
        check(np.array_equal(got, want), f"Gather, {form}: {got}")
        got[:] = 0
    for form in forms(edges3, "Gatherv", mine, [got, [length] * 3]):
        check(np.array_equal(got, want), f"Gatherv, {form}: {got}")
        got[:] = 0

    summed = np.zeros(length, dtype=int)
    for form in forms(edges3, "Reduce", mine, summed):
        check(np.array_equal(summed, want.reshape(3, length).sum(0)), f"Reduce, {form}: {summed}")
        summed[:] = 0
    for form in forms(edges3, "Reduce", mine, summed, MPI.MAX):
        check(np.array_equal(summed, want.reshape(3, length).max(0)), f"Reduce, maximum, {form}: {summed}")
        summed[:] = 0
    mine3 = np.concatenate([mine + k for k in range(3)])
    wantv = sum(np.arange(length) + 10 * s + k for s, k in sources)
    for form in forms(edges3, "Reducev", [mine3, [length] * 3], summed):
        check(np.array_equal(summed, wantv), f"Reducev, {form}: {summed}")
        summed[:] = 0

    want3 = np.concatenate([np.arange(length) + 10 * s + k for s, k in sources])
    got = np.zeros(3 * length, dtype=int)
    calls = 0
    for form in forms(edges3, "Accumulate", mine3, got):
        calls += {"plan": 3}.get(form, 1)
        check(np.array_equal(got, calls * want3), f"Accumulate, {form}: {got}")
    got[:] = 0
    edges3.Accumulatev([mine3, [length] * 3], [got, [length] * 3])
    places = 8 * length * np.arange(3)
    edges3.Accumulatew(
        [mine3, [length] * 3, places, [MPI.INT64_T] * 3], [got, [length] * 3, places, [MPI.INT64_T] * 3]
    )
    check(np.array_equal(got, 2 * want3), f"Accumulatev, Accumulatew: {got}")

    # as blocks arrive
    got, send = np.zeros(3 * length), sent(lambda k: length)
    with edges3.Alltoall_plan(send, got) as plan:
        for _ in range(3):
            got[:] = 0
            seen = []
            plan.start()
            for j in plan.arrived():
                seen.append(j)
                block = wanted(lambda k: length)[j * length : (j + 1) * length]
                check(np.array_equal(got[j * length : (j + 1) * length], block), f"block {j}: {got}")
            plan.wait()
            check(sorted(seen) == [0, 1, 2], f"arrived: {seen}")

    # a loop that is left loses no source
    with edges3.Alltoall_plan(send, got) as plan:
        for form in "plan", "request":
            started = plan.start() if form == "plan" else edges3.Ialltoall(send, got)
            seen = [next(started.arrived()), next(started.arrived()), *started.arrived()]
            check(sorted(seen) == [0, 1, 2], f"arrived, {form}, loops that are left: {seen}")
            started.wait()

    # what changes between calls is seen, although the last call is remembered
    send, got = sent(lambda k: length), np.zeros(3 * length)
    for kind in (list, np.intc, np.int64):
        counts = [length] * 3 if kind is list else np.full(3, length, kind)
        displs = [0, length, 2 * length] if kind is list else length * np.arange(3, dtype=kind)
        spec = [send, counts, displs, MPI.DOUBLE]
        for step in range(4):
            got[:] = 0
            edges3.Alltoallv(spec, [got, counts, displs, MPI.DOUBLE])
            want = wanted(lambda k: length).reshape(3, length)
            want[:, length - step :] = 0
            check(np.array_equal(got.reshape(3, length), want), f"{kind}, step {step}: {got}")
            for k in range(3):
                counts[k] -= 1
    got, counts = np.zeros(6, np.int32), np.full(3, 2, np.intc)
    for step in range(3):
        send = np.repeat(np.int32(10 * me + step), 6)
        edges3.Alltoallv([send, counts], [got, counts])
        check(np.array_equal(got, np.repeat([10 * s + step for s, _ in sources], 2)), f"new arrays: {got}")
    edges3.Alltoall(send, got)
    edges3.Alltoall([send, 1, MPI.INT32_T], [got, 1, MPI.INT32_T])
    got[:] = -1
    edges3.Alltoall(send, got)
    check((got >= 0).all(), f"array after list: {got}")
    counts[:] = 1
    got[:] = -1
    edges3.Alltoallv([send, counts], [got, counts])
    check((got[:3] >= 0).all() and (got[3:] < 0).all(), f"counts written: {got}")

    # anything that is a buffer
    send = array.array("i", [me] * 3)
    got = array.array("i", [-1] * 3)
    edges3.Alltoall(send, got)
    check(list(got) == [s for s, _ in sources], f"array.array: {list(got)}")
    got = bytearray(3)
    edges3.Alltoall(bytes([me] * 3), got)
    check(list(got) == [s for s, _ in sources], f"bytes: {list(got)}")

    tensor = Tensor(np.zeros(3))
    edges3.Alltoall(Tensor(np.full(3, float(me))), tensor)
    edges3.Alltoallv([Tensor(np.full(3, float(me))), [1, 1, 1]], [tensor, np.ones(3, np.intc)])
    check(tensor.array.tolist() == [s for s, _ in sources], f"DLPack: {tensor.array}")
    unwritten = np.zeros(3)
    unwritten.flags.writeable = False
    raises(ValueError, lambda: edges3.Alltoall(np.zeros(3), unwritten))
    raises(ValueError, lambda: edges3.Alltoall(bytes(3), bytes(3)))

    # errors keep the text, and nothing is sent
    error = raises(ValueError, lambda: edges3.Alltoallv([send, [1, 1]], [got, [1, 1, 1]]))
    check("2 entries, not 3" in str(error) and "sendbuf" in str(error), str(error))
    for name, send4, got4 in (("sendbuf", np.zeros(4), np.zeros(3)), ("recvbuf", np.zeros(3), np.zeros(4))):
        error = raises(ValueError, lambda: edges3.Ialltoall(send4, got4))
        check(name in str(error), str(error))
    raises(TypeError, lambda: edges3.Alltoall(np.zeros(3, dtype="i4,i4"), np.zeros(3)))
    # MPI would add the bytes of numbers in the other order as if they were in its own
    error = raises(TypeError, lambda: edges3.Reduce(np.zeros(1, dtype=">f8"), np.zeros(1, dtype=">f8")))
    check(">f8" in str(error), str(error))
    error = raises(MPI.Exception, lambda: edges3.Alltoall([np.zeros(3), -1, MPI.DOUBLE], np.zeros(3)))
    check("sendcount" in str(error) and error.Get_error_class() == MPI.ERR_COUNT, str(error))

# hints of plans: two on the same processes, started in another order on each
with Neighborhood(comm, [(me - 1) % n], [(me + 1) % n]) as ring:
    gots = [np.zeros(1), np.zeros(1)]
    plans = [ring.Alltoall_plan(np.array([10.0 * k + me]), got, info={"match": "plan"}) for k, got in enumerate(gots)]
    for plan in plans if me % 2 else plans[::-1]:
        plan.start()
    for plan in plans:
        plan.wait()
    check([got[0] for got in gots] == [(me - 1) % n, 10 + (me - 1) % n], f"plans that match: {gots}")
    one = np.zeros(1)
    places = [one, [1], [0], [MPI.DOUBLE]]
    for make in (
        lambda info: ring.Gather_plan(one, np.zeros(1), info),
        lambda info: ring.Reducev_plan([one, [1]], np.zeros(1), MPI.MAX, info),
        lambda info: ring.Accumulatew_plan(places, places, info=info),
        lambda info: ring.Alltoallw_fields_plan([places], [places], info),
    ):
        error = raises(MPI.Exception, lambda: make({"match": "chance"}))
        check("chance" in str(error), str(error))

# several at a time
with Neighborhood(comm, [(me - 1) % n], [(me + 1) % n]) as ring:
    check(waitany([]) is None, "nothing is complete")
    waitall([])
    gots = np.full((3, 1), -1.0)
    for call in waitany, waitall:
        gots[:] = -1
        plan = ring.Alltoall_plan(np.array([20.0 + me]), gots[2])
        started = [*(ring.Ialltoall(np.array([10.0 * k + me]), gots[k]) for k in range(2)), plan.start()]
        if call is waitany:
            raises(ValueError, lambda: waitany([plan, *started]))
            seen = []
            while (i := waitany(started)) is not None:
                check(gots[i, 0] == 10 * i + (me - 1) % n, f"waitany, {i}: {gots}")
                seen.append(i)
            check(sorted(seen) == [0, 1, 2], f"waitany: {seen}")
        waitall(started)
        check(gots.ravel().tolist() == [10 * k + (me - 1) % n for k in range(3)], f"{call}: {gots}")
        check(active.isdisjoint(started), f"{call}: complete, and in use")
        plan.free()
# plans of two neighborhoods are started in the order of the list, all of them or none
left, right = (me - 1) % n, (me + 1) % n
with Neighborhood(comm, [left], [right]) as ring, Neighborhood(comm, [right], [left]) as back:
    startall([])
    gots = np.full((4, 1), -1.0)
    plans = [
        each.Alltoall_plan(np.array([10.0 * k + me]), gots[k]) for k, each in enumerate([ring, ring, back, ring])
    ]
    want = [left, 10 + left, 20 + right, 30 + left]
    for _ in range(2):
        gots[:] = -1
        startall(iter(plans))
        check(active.issuperset(plans), "started, and not in use")
        error = raises(ValueError, lambda: startall(plans))
        check("requests[0]" in str(error) and "under way" in str(error), str(error))
        waitall(plans)
        check(gots.ravel().tolist() == want and active.isdisjoint(plans), f"startall: {gots}")
    freed = ring.Alltoall_plan(np.zeros(1), np.zeros(1))
    freed.free()
    request = ring.Ialltoall(np.zeros(1), np.zeros(1))
    for kind, bad, name in (
        (TypeError, [*plans, request], "requests[4]: a Request"),
        (TypeError, [*plans, None], "requests[4]: a NoneType"),
        (ValueError, [*plans, freed], "requests[4]"),
        (ValueError, [*plans, plans[0]], "more than once"),
    ):
        error = raises(kind, lambda: startall(bad))
        check(name in str(error) and active.isdisjoint(plans), f"a bad argument: {error}")
    request.wait()
    # one that runs, however it is completed then
    for end in plans[3].wait, lambda: waitany([plans[3]]), lambda: [None for _ in iter(plans[3].test, True)]:
        plans[3].start()
        raises(MPI.Exception, plans[3].start)
        raises(ValueError, lambda: startall(plans))
        check(active.isdisjoint(plans[:3]), "plans were started beside one that ran")
        end()
        startall(plans)
        waitall(plans)
    for call in plans[3].start, plans[3].run:
        with interrupted(functions, "MPIX_Request_start"):
            raises(KeyboardInterrupt, call)
        raises(ValueError, lambda: startall(plans))
        raises(MPI.Exception, plans[3].run)
        raises(ValueError, lambda: startall(plans))
        plans[3].wait()
    gots[:] = -1
    with interrupted(functions, "MPIX_Request_start"):
        raises(KeyboardInterrupt, lambda: startall(plans[:2]))
    check(plans[0] in active, "startall is interrupted, and the run may lose its buffers")
    waitall(plans)
    check(gots.ravel().tolist() == [want[0], -1, -1, -1], f"startall, interrupted: {gots}")
    # after an error of the library, those before are under way
    with mock.patch.object(plans[1], "start", side_effect=MPI.Exception(MPI.ERR_OTHER)):
        raises(MPI.Exception, lambda: startall(plans))
    check(plans[0] in active and active.isdisjoint(plans[1:]), "startall has gone on after an error")
    waitall(plans)
    startall(plans)
    waitall(plans)
# a plan whose run has failed is in use until it is freed, and may be started again
with Neighborhood(comm, [me], [me], info={"verify": True}) as own:
    bad, good = own.Alltoall_plan(np.zeros(2), np.zeros(1)), own.Alltoall_plan(np.ones(1), np.zeros(1))
    for end in bad.wait, lambda: waitany([bad]), lambda: [None for _ in iter(bad.test, True)]:
        startall([good, bad])
        for call in end, bad.run:
            error = raises(MPI.Exception, call)
            check(error.Get_error_class() == mpix_neighbor.ERR_VERIFY and bad in active, repr(error))
        good.wait()
    # an error of the library names the function
    own.comm.Free()
    error = raises(MPI.Exception, lambda: startall([good, bad]))
    check("MPIX_Request_start" in str(error), str(error))
    for plan in good, bad:
        plan.free()
with Neighborhood(comm, [me], [me], info={"verify": True}) as own:
    for call in waitany, waitall:
        bad, good = own.Alltoall_plan(np.zeros(2), np.zeros(1)), own.Alltoall_plan(np.ones(1), np.zeros(1))
        bad.start()
        good.start()
        error = raises(MPI.Exception, lambda: call([bad, good]))
        check(error.Get_error_class() == mpix_neighbor.ERR_VERIFY, repr(error))
        check(bad in active, f"{call}: a run has failed, and its plan is gone")
        check(call([bad, good]) == (1 if call is waitany else None), f"{call} after an error")
        check(good not in active, f"{call} after an error: complete, and in use")
        bad.free()
        good.free()

# classes of errors that MPI has none for
error = raises(MPI.Exception, lambda: Neighborhood(comm, [me], []))
check(error.Get_error_class() == mpix_neighbor.ERR_MISMATCH, repr(error))
with Neighborhood(comm, [me], [me], info={"verify": True}) as own:
    error = raises(MPI.Exception, lambda: own.Alltoall(np.zeros(2), np.zeros(1)))
check(error.Get_error_class() == mpix_neighbor.ERR_VERIFY, repr(error))
raises(AttributeError, lambda: mpix_neighbor.ERR_OTHER)
error = raises(MPI.Exception, lambda: Neighborhood(comm, [n + 3], []))
check(str(n + 3) in str(error) and "sources" in str(error), str(error))
error = raises(MPI.Exception, lambda: Neighborhood(comm, [], [], info={"schedule": "fastest"}))
check("fastest" in str(error), str(error))

# topologies, and the edges the other way round
cart = comm.Create_cart([n], [True])
with Neighborhood.from_topology(cart, {"verify": True}) as ring:
    got = np.zeros(2, dtype=int)
    ring.Alltoall(np.array([2 * me, 2 * me + 1]), got)
    left, right = cart.Shift(0, 1)
    check(got.tolist() == [2 * left + 1, 2 * right], f"ring: {got}")
    with ring.reversed(operations=ACCUMULATE) as back:
        # the way to it leaves no other operation
        raises(MPI.Exception, lambda: back.Gather(np.zeros(1), np.zeros(2)))
        returned = np.zeros(2, dtype=int)
        back.Accumulate(got, returned)
        check(returned.tolist() == [2 * me, 2 * me + 1], f"accumulated: {returned}")
    with ring.reversed() as back:
        check(back.sources == ring.targets and back.targets == ring.sources, "reversed")
        returned = np.zeros(2, dtype=int)
        back.Accumulate(got, returned)
        check(returned.tolist() == [2 * me, 2 * me + 1], f"returned: {returned}")
cart.Free()

# a neighborhood has lists of its own, which its reversal is made from
left, right = np.array([(me - 1) % n], "i"), np.array([(me + 1) % n], "i")
with Neighborhood(comm, left, right) as ring, Neighborhood.from_targets(comm, right) as next_one:
    left[:] = right[:] = MPI.PROC_NULL
    for each in ring, next_one:
        with each.reversed() as back:
            lists = back.sources, back.targets
            check(lists == (each.targets, each.sources), f"reversed, lists written: {lists}")
with Neighborhood.from_targets(comm, [(me + 1) % n], weights=[5]) as next_one:
    check(next_one.sources == [(me - 1) % n], str(next_one.sources))
with Neighborhood(comm, [(me - 1) % n], [(me + 1) % n], weights=([3], [3]), operations=ALLTOALL) as weighted:
    got = np.zeros(1)
    request = weighted.Ialltoall(np.array([float(me)]), got)
    while not request.test():
        pass
    check(got[0] == (me - 1) % n, str(got))
    raises(MPI.Exception, lambda: weighted.Gather(np.zeros(1), got))

# what is under way is kept, also if the program lets go of all of it, and no longer than that


def start(form):
    lost = Neighborhood(comm, [(me - 1) % n], [(me + 1) % n])
    got = np.zeros(1 << 14)
    started = getattr(lost, form)(np.full(1 << 14, float(me)), got)
    if form.endswith("plan"):
        started.run()
        started.start()
    return weakref.ref(started), weakref.ref(got)


for form in ("Ialltoall", "Alltoall_plan"):
    started, got = start(form)
    gc.collect()
    check(started() is not None and got() is not None, f"{form}: under way, and gone")
    held, memory = started(), got()
    if held is not None:
        held.wait()
        check((memory == (me - 1) % n).all(), f"{form}: {memory}")
        held._neighborhood.free()
    del held, memory
    gc.collect()
    check(started() is None and got() is None, f"{form}: complete, and still there")

# a run that has failed keeps its buffers until the plan is freed, as `start` and `wait` do


def run(plan, form):
    if form == "run":
        return plan.run()
    plan.start()
    while not getattr(plan, form)():
        pass


def fail(form):
    lost = Neighborhood(comm, [me], [me], info={"verify": True})
    plan = lost.Alltoall_plan(np.zeros(2), np.zeros(1))
    raises(MPI.Exception, lambda: run(plan, form))
    return weakref.ref(plan)


for form in "run", "wait", "test":
    failed = fail(form)
    gc.collect()
    check(failed() is not None, f"{form}: a run has failed, and its plan is gone")
    if failed() is not None:
        failed()._neighborhood.free()
    gc.collect()
    check(failed() is None, f"{form}: a plan is freed, and still there")


# a call that is interrupted when it has started its collective
with Neighborhood(comm, [(me - 1) % n], [(me + 1) % n]) as ring:
    send, got = np.full(1 << 14, float(me)), np.zeros(1 << 14)
    start = interrupted(functions, "MPIX_Ineighbor_alltoall_c")
    with start as each, mock.patch.object(_ALLTOALL, "nonblocking", (each, each)):
        raises(KeyboardInterrupt, lambda: ring.Ialltoall(send, got))
    started = [each for each in active if isinstance(each, Request)]
    check(len(started) == 1, f"{len(started)} under way")
    for each in started:
        each.wait()
        check((got == (me - 1) % n).all(), f"interrupted: {got}")
    del started
    with ring.Alltoall_plan(send, got) as plan:
        for call in plan.start, plan.run:
            got[:] = -1
            with interrupted(functions, "MPIX_Request_start"):
                raises(KeyboardInterrupt, call)
            check(plan in active, f"{call} is interrupted, and the run may lose its buffers")
            plan.wait()
            check((got == (me - 1) % n).all() and plan not in active, f"{call}, interrupted: {got}")

# numbers that would be cut are refused, whatever holds them
for bad in ([0.7], np.array([0.0]), [1 << 40], np.array([1 << 32]), np.array([1 << 32], object), ["0"]):
    raises((TypeError, OverflowError, ValueError), lambda: Neighborhood(comm, bad, []))
    raises((TypeError, OverflowError, ValueError), lambda: Neighborhood.from_targets(comm, bad))
error = raises(TypeError, lambda: Neighborhood(comm, [0.7], [0]))
check("sources" in str(error), str(error))
with Neighborhood(comm, np.array([me], "i8"), np.array([me], "u1"), ([np.int8(3)], [True])) as own:
    check(own.sources == [me] and own.targets == [me], "other integers")
    got = np.zeros(2)
    error = raises(TypeError, lambda: own.Alltoallv([np.ones(2), [1.9]], [got, [1]]))
    check("counts" in str(error), str(error))
    error = raises(TypeError, lambda: own.Alltoallv([np.ones(2), [1], [0.5]], [got, [1], [0]]))
    check("displs" in str(error), str(error))
    own.Alltoallv([np.ones(2), np.array([2], np.uint64)], [got, [np.int16(2)]])
    check(got.tolist() == [1, 1], f"counts of other types: {got}")
    # many MPIs have no type for these
    short = np.array([1.5, 2.5], np.float16)
    try:
        MPI.Datatype.fromcode("e").Get_size()
    except (MPI.Exception, ValueError, KeyError):
        error = raises(TypeError, lambda: own.Alltoall(short, np.zeros(2, np.float16)))
        check("no datatype of MPI" in str(error), str(error))
        raises(ValueError, lambda: own.Alltoall([short, 2, "e"], np.zeros(2, np.float16)))

    # texts are as long as they are
    words, got = np.array(["abc", "d"]), np.zeros(2, "U3")
    own.Alltoallv([words, [2]], [got, [2]])
    check(got.tolist() == ["abc", "d"], str(got))
    numbers, got = (ctypes.c_int * 2)(3, 4), np.zeros(2, np.intc)
    own.Alltoall(numbers, got)
    check(got.tolist() == [3, 4], f"ctypes: {got}")
# what has no order is no list
for bad in ({me}, {me: 1}.keys(), (rank for rank in [me])):
    error = raises(TypeError, lambda: Neighborhood(comm, bad, [me]))
    check("no sequence" in str(error), str(error))
error = raises(ValueError, lambda: Neighborhood(comm, [me], [me], weights=[1]))
check("pair" in str(error), str(error))
with Neighborhood(comm, [me], [me], info={"verify": np.True_}) as own:
    # a count beyond a C int beside arrays of C ints; nothing is read or written
    byte, one = np.zeros(1, "u1"), np.ones(1, np.intc)
    narrow = [byte, one, one - 1, MPI.BYTE]
    for count in (2**32 + 1, 1 - 2**32):
        wide = [byte, count, MPI.BYTE]
        for call in (
            lambda: own.Gatherv(wide, narrow),
            lambda: own.Igatherv(wide, narrow).wait(),
            lambda: own.Gatherv_plan(wide, narrow).run(),
            lambda: own.Reducev(narrow, wide, MPI.BOR),
            lambda: own.Ireducev(narrow, wide, MPI.BOR).wait(),
            lambda: own.Reducev_plan(narrow, wide, MPI.BOR).run(),
        ):
            error = raises(MPI.Exception, call)
            check(str(count) in str(error), str(error))
    # a request that is complete, and a plan that is freed, have no text of an earlier error
    raises(MPI.Exception, lambda: own.Alltoall(np.zeros(2), np.zeros(1)))
    request, one = own.Ialltoall(np.zeros(1), np.zeros(1)), own.Alltoall_plan(np.zeros(1), np.zeros(1))
    request.wait()
    one.free()
    for call in (lambda: list(request.arrived()), lambda: request.wait_source(0), one.start, one.run):
        error = raises(MPI.Exception, call)
        check("NULL" in str(error), str(error))

# what a neighborhood had is not another one's once it is freed
freed = Neighborhood(comm, [me], [me])
one, room = np.ones(1), np.zeros(8)
freed.Alltoall(one, room[:1])
freed.free()
with Neighborhood(comm, [me] * 3, [me] * 3) as other:
    for call in (lambda: freed.Alltoall(one, room[:1]), lambda: freed.Gather_plan(one, room[:1]), freed.describe):
        error = raises(MPI.Exception, call)
        check("MPI_COMM_NULL" in str(error), str(error))
    check(room[1:].tolist() == [0] * 7, str(room))
    freed.free()
    request = other.Ialltoall(np.ones(3), np.zeros(3))
    request.wait()

with Neighborhood(comm, [me], [me], operations=ALLTOALL) as own:
    # a datatype that has been freed is none, also where the call before had it
    pair = MPI.DOUBLE.Create_contiguous(2).Commit()
    send, recv = [np.arange(4.0), 1, pair], [np.zeros(4), 1, pair]
    own.Alltoall(send, recv)
    check(recv[0].tolist() == [0, 1, 0, 0], str(recv[0]))
    pair.Free()
    others = [MPI.DOUBLE.Create_contiguous(4).Commit() for _ in range(3)]
    for call in (lambda: own.Alltoall(send, recv), lambda: own.Alltoallv([send[0], [1], pair], [recv[0], [1], pair])):
        raises(MPI.Exception, call)
    check(recv[0].tolist() == [0, 1, 0, 0], str(recv[0]))
    for type in others:
        type.Free()
    # memory that may not be written any more
    send, recv = np.ones(2), np.zeros(2)
    own.Alltoall(send, recv)
    recv[:] = 7
    recv.flags.writeable = False
    raises(ValueError, lambda: own.Alltoall(send, recv))
    check(recv.tolist() == [7, 7], str(recv))
    recv.flags.writeable = True
    own.Alltoall(send, recv)
    check(recv.tolist() == [1, 1], str(recv))
    # numbers beyond those of C
    for call in (
        lambda: own.Alltoall([send, 2**64 + 2, MPI.DOUBLE], recv),
        lambda: own.Alltoall(send, [recv, 2**64 + 2, MPI.DOUBLE]),
        lambda: own.describe(2**32 + ALLTOALL),
        lambda: Neighborhood(comm, [], [], operations=2**32 + ALLTOALL),
    ):
        raises(OverflowError, call)
    error = raises(TypeError, lambda: own.Alltoall_plan(send, [recv, 1.5, MPI.DOUBLE]))
    check("recvbuf: count" in str(error), str(error))
    request = own.Ialltoall(send, recv)
    raises(OverflowError, lambda: request.wait_source(2**32))
    raises(OverflowError, lambda: request.test_source(-(2**32)))
    request.wait()

# NumPy does not move the memory of what is in use, nor of an array that what is in use is a part of
places, types = [0], [MPI.DOUBLE]
with Neighborhood(comm, [me], [me]) as own:
    for of in (lambda array: array), (lambda array: array[:2]):
        send, recv = np.arange(3.0), np.zeros(3)
        sides = [of(send), [2], places, types], [of(recv), [2], places, types]
        one, all = own.Alltoallw_plan(*sides), own.Alltoallw_fields_plan(*([side] for side in sides))
        request = own.Ialltoallw(*sides)
        for array in send, recv:
            raises(ValueError, lambda: array.resize(1 << 20, refcheck=False))
        request.wait()
        for plan in one, all:
            recv[:] = 0
            plan.run()
            check(recv.tolist() == [0, 1, 0], f"arrays that are not moved: {recv}")
            plan.free()

# freeing goes on after an error, the first of which is raised
own = Neighborhood(comm, [me], [me])
plans = [own.Alltoall_plan(np.ones(1), np.zeros(1)) for _ in range(3)]
for plan in plans:
    plan.start()
wait = functions.MPIX_Request_wait
codes = iter([MPI.ERR_OTHER, MPI.ERR_INTERN, MPI.SUCCESS])
with mock.patch.object(functions, "MPIX_Request_wait", lambda at: wait(at) or next(codes)):
    error = raises(MPI.Exception, own.free)
check(error.Get_error_class() == MPI.ERR_OTHER, repr(error))
check(own.comm == MPI.COMM_NULL and not own._plans, "a neighborhood is freed with an error, and still there")
check(not any(plan._request or plan in active for plan in plans), "plans are freed with an error, and still there")

# handles of one kind are none of another
with Neighborhood(comm, [me], [me]) as own:
    for name, call in (
        ("op", lambda: own.Reduce(send, recv, MPI.DOUBLE)),
        ("op", lambda: own.Ireduce(send, recv, MPI.DOUBLE)),
        ("op", lambda: own.Accumulate_plan(send, recv, comm)),
        ("types", lambda: own.Alltoallw([send, [1], [0], [MPI.SUM]], [recv, [1], [0], [MPI.DOUBLE]])),
        ("comm", lambda: Neighborhood(comm.group, [], [])),
    ):
        error = raises(TypeError, call)
        check(name in str(error), str(error))

# nobody at all
with Neighborhood(comm, [], []) as alone:
    alone.Alltoall(np.empty(0), np.empty(0))
    alone.Alltoallv([np.empty(0), []], [np.empty(0), []])
finish()
