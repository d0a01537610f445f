#!/usr/bin/env python3
"""Replays schedules that `mpix-neighbor schedule --export` wrote: each block must reach each of its
targets exactly once. Reads the file that is named, or standard input."""
import json
import sys
from collections import defaultdict, deque


def key(block):
    ((kind, index),) = block.items()
    return kind, index


class Process:
    def __init__(self, rank, schedule):
        self.rank = rank
        self.packets = [[key(b) for b in blocks] for blocks in schedule["packets"]]
        self.rounds = {r["number"]: r["operations"] for r in schedule["rounds"]}
        self.blocks = {}
        self.parts = defaultdict(list)

    def read(self, block):
        kind, index = block
        if kind == "input":
            return (self.rank, index)
        if kind == "packet":
            return [self.read(b) for b in self.packets[index]]
        return self.blocks[block]

    def write(self, block, content):
        kind, index = block
        assert kind != "input", "an input block is written"
        if kind == "packet":
            places = self.packets[index]
            assert isinstance(content, list) and len(content) == len(places), "packets differ"
            for place, part in zip(places, content):
                self.write(place, part)
            return
        assert kind != "output" or block not in self.blocks, f"{block} is written twice"
        self.blocks[block] = content

    def receive(self, block, part, content):
        begin, end, of = part
        if (begin, end) == (0, of):
            return self.write(block, content)
        parts = self.parts[block]
        parts.append((begin, end, of, content))
        if sum(p[1] - p[0] for p in parts) == of:
            parts.sort()
            ends = [0] + [p[1] for p in parts]
            assert all(p[0] == e and p[2:] == (of, content) for p, e in zip(parts, ends)), "parts differ"
            self.write(block, content)
            del self.parts[block]


def replay(neighborhoods, schedules):
    world = [Process(rank, s) for rank, s in enumerate(schedules)]
    for number in sorted({n for p in world for n in p.rounds}):
        wires = defaultdict(deque)
        for p in world:
            for op in p.rounds.get(number, []):
                if op["op"] == "send":
                    wires[p.rank, op["to"]].append((op["part"], p.read(key(op["block"]))))
        for p in world:
            for op in p.rounds.get(number, []):
                if op["op"] == "recv":
                    part, content = wires[op["from"], p.rank].popleft()
                    assert part == op["part"], "parts differ"
                    p.receive(key(op["into"]), part, content)
                elif op["op"] == "copy":
                    p.write(key(op["into"]), p.read(key(op["from"])))
        assert not any(wires.values()), "a message is not received"
    for p, lists in zip(world, neighborhoods):
        wanted = {
            ("output", entry): (source["rank"], source["target_entry"])
            for entry, source in enumerate(lists["sources"]) if source is not None
        }
        got = {block: content for block, content in p.blocks.items() if block[0] == "output"}
        assert got == wanted and not p.parts, f"process {p.rank}: {got}, not {wanted}"


export = json.load(open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin)
assert (export["format"], export["version"]) == ("mpix-neighbor-schedule", 1), "not a format that is known"
for schedule in export["schedules"]:
    replay(export["neighborhoods"], schedule["processes"])
    print(f"{schedule['algorithm']}: each of {export['processes']} processes has all of its blocks")
