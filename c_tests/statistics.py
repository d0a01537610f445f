"""Compares what the library has counted of c_tests/c/statistics.c with what that does; c_tests/statistics calls this."""

import json
import sys

P = "mpix-neighbor stats:"
WORLD = {  # set, operation: calls, messages, bytes, those to the process itself
    ("1", "alltoall"): (57, 57, 57 * 8, 0, 0),
    ("2", "alltoall"): (9, 9, 9 * 16, 9, 9 * 16),
    ("3", "gather"): (18, 36, 36 * 4, 0, 0),
    ("3", "reduce"): (6, 12, 12 * 8, 0, 0),
    ("3", "accumulate"): (12, 24, 24 * 8, 0, 0),
    ("3", "alltoall"): (3, 6, 600000, 0, 0),
    # beside the messages the barrier's: two rounds of 4 bytes
    ("4", "nbx"): (15, 45, 15 * 4 + 30 * 4, 15, 60),
    # the alltoall's: two rounds of 8 bytes; and a last exchange, which makes the plan
    ("4", "pex"): (18, 54, 18 * 4 + 36 * 8, 18, 72),
    ("4", "inbox"): (15, 15, 60, 15, 60),
    ("4", "pcx_library"): (15, 15, 60, 15, 60),
    # as nbx
    ("4", "rsx"): (15, 45, 15 * 4 + 30 * 4, 15, 60),
    ("4", "plan"): (6, 6, 24, 6, 24),
    # a batch of each process in one of the three epochs: 16 bytes, 4 before operations of a kind,
    # 1 for an index; 8 more, as it is read where it arrives
    ("5", "inbox"): (9, 3, 3 * (16 + (4 + 5) + (4 + 9) + 8), 0, 0),
    # fences and flushes; the other batches, answers, and an acknowledgement
    ("5", "window"): (18, 15, 3 * (5 * 16 + (4 + 3 * 5) + (4 + 2) + 8 + 8), 3, 12),
}
# Operations of MPI's: a word or a number for each process; three to make the window, then an
# addition and a reading of 8 bytes
OPERATIONS = {
    ("4", "pcx_library"): f"15 MPI collectives of {15 * 3 * 4} bytes",
    ("4", "rsx"): f"9 MPI collectives of 48 bytes, 30 one-sided operations of {30 * 8} bytes",
    ("5", "window"): "9 puts, 3 accumulates, 6 gets, 3 fetch-and-ops, 3 compare-and-swaps, 9 fences",
}


def check(condition, text):
    if not condition:
        sys.exit("not so: " + text)


def table(path):
    groups, group = {}, None
    for line in open(path):
        if not line.startswith(P):
            continue
        words = line[len(P):].split()
        if words[1] == "of" and words[3].startswith("process"):
            check(words[0] == words[2], line)
            group = groups.setdefault((int(words[2]), words[-3]), {})
        elif len(words) == 11 and words[2].isdigit():
            group[words[0], words[1]] = [int(w) for w in words[2:9]] + [float(w) for w in words[9:]]
        elif words[0].isdigit() and words[1].endswith(":"):
            group.setdefault("operations", {})[words[0], words[1][:-1]] = line.split(": ", 2)[2].strip()
        elif words[1].endswith(","):
            group.setdefault("texts", {})[words[0], words[1][:-1]] = line.split(": ", 2)[2].strip()
    return groups


def stats(path, shared, schedule):
    groups = table(path)
    check(sorted(groups) == [(1, "1"), (2, "0"), (3, "0")], f"three tables, and not {sorted(groups)}")
    world = groups[3, "0"]
    texts, operations = world.pop("texts"), world.pop("operations")
    for number in "123":
        row, key = world.pop((number, "set")), (number, "set")
        check(row[0] == 3 and row[1] == 0 and row[8] > 0, f"{key}: {row}")
        check(operations.pop(key, "").split(" of ")[0].endswith(" MPI collectives"), f"{key}: no collectives")
    check(operations == OPERATIONS, f"{operations}, not {OPERATIONS}")
    check(set(world) == set(WORLD), f"rows {sorted(world)}")
    for key, (calls, messages, volume, own, own_volume) in WORLD.items():
        row = world[key]
        check(row[0] == calls, f"{key}: {row[0]} calls, not {calls}")
        found = (row[1] + row[3], row[2] + row[4], row[5], row[6])
        check(found == (messages, volume, own, own_volume), f"{key}: {found}, not {(messages, volume, own, own_volume)}")
        in_memory = shared if key[0] < "4" else key[1] in ("inbox", "window")
        if key != ("3", "alltoall"):
            check(row[3 if in_memory else 1] == 0, f"{key} by another way: {row}")
        elif not shared:
            check(row[1] == 0, f"{key} by shared memory: {row}")
        check(0 <= row[8] <= row[7] < 600, f"{key}: time {row[7:]}")
        said = "schedule " + schedule if key[0] < "4" else "transport shared" if key[1] == "window" else "protocol " + key[1]
        check(texts[key].startswith(said), f"{key}: {texts[key]}")
    check(world["1", "alltoall"][7] > 0, "nobody has waited")
    pair, alone = groups[2, "0"]["1", "alltoall"], groups[1, "1"]["1", "alltoall"]
    check((pair[0], pair[1] + pair[3], pair[5]) == (14, 14, 0), f"pair: {pair}")
    check((alone[0], alone[1] + alone[3], alone[5], alone[6]) == (7, 0, 7, 56), f"alone: {alone}")


def trace(path, died, rounds):
    events = json.load(open(path))["traceEvents"]
    lanes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    check(lanes == {p: f"process {p}" for p in range(3)}, f"lanes {lanes}")
    check(min(e["ts"] for e in events) == 0, "the origin")
    for process in range(2 if died else 3):
        mine = [e for e in events if e["pid"] == process]
        spans = sorted((e for e in mine if e["ph"] == "X"), key=lambda e: (e["ts"], -e["dur"]))
        stack = []
        for e in spans:
            begin, end = e["ts"], e["ts"] + e["dur"]
            while stack and stack[-1] <= begin + 0.0015:
                stack.pop()
            check(not stack or end <= stack[-1] + 0.0015, f"{e} ends after what it is in")
            stack.append(end)
        calls = [e for e in spans if e["name"] == "alltoall" and e["args"]["neighborhood"] == 1 and e["args"]["messages"] == 1]
        check(len(calls) >= 10, f"{len(calls)} blocking calls of process {process}")
        check(all(e["args"]["bytes"] == 8 and e["args"]["operation"] == "alltoall" for e in calls[:10]), "arguments")
        starts = [e for e in spans if e["name"] == "start"]
        check(len(starts) == 9, f"{len(starts)} starts")
        open_ = {e["id2"]["local"]: e["ts"] for e in mine if e["ph"] == "b"}
        over = {e["id2"]["local"]: e["ts"] for e in mine if e["ph"] == "e"}
        check(len(open_) == 9 and set(open_) == set(over) and all(open_[i] <= over[i] for i in open_), "what is under way")
        check(len([e for e in spans if e["name"] == "set"]) == (1 if died else 4), "set calls")
        check(any(e["name"] == "wait" for e in spans), "waiting")
        # process 1 has a neighborhood of its own, which shares no memory
        check(process == 1 or any(e["name"] == "round" for e in mine) == rounds, f"rounds of process {process}")
        if not died:
            for call in ("fence", "flush"):
                check(len([e for e in spans if e["name"] == call and e["args"]["operation"] == "window"]) == 3, call)
            for protocol in ("nbx", "pex", "inbox"):
                check(len([e for e in spans if e["name"] == protocol]) >= 5, protocol)


what, path, *rest = sys.argv[1:]
if what == "stats":
    stats(path, rest[0] == "shared", rest[1])
else:
    trace(path, rest[0] == "died", rest[1] == "rounds")
