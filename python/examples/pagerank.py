"""PageRank of a random graph, by accumulation on the ranks of remote vertices.

    mpirun -n 4 python pagerank.py [--vertices 2000] [--degree 8]

Each process owns a range of vertices. It adds what its vertices give to those that they point to,
through a sparse window: the owner need not know of it. Process 0 compares the result with that of
one process and prints the first ten vertices.
"""

import argparse

import numpy as np
from mpi4py import MPI

from mpix_neighbor import SparseWindow

options = argparse.ArgumentParser(description="PageRank of a random graph")
options.add_argument("--vertices", type=int, default=2000)
options.add_argument("--degree", type=int, default=8)
options = options.parse_args()

comm = MPI.COMM_WORLD
number, damping, steps = options.vertices, 0.85, 30
# the same graph on all processes; some vertices are more popular than others
random = np.random.default_rng(1)
targets = (number * random.random((number, options.degree)) ** 3).astype(np.intp)

begins = number * np.arange(comm.size + 1) // comm.size
first, last = begins[comm.rank], begins[comm.rank + 1]
# the edges of this process's vertices, by the process that owns the other end
edges = targets[first:last].ravel()
owner = np.searchsorted(begins, edges, side="right") - 1
giver = np.repeat(np.arange(last - first), options.degree)
parts = [(t, edges[owner == t] - begins[t], giver[owner == t]) for t in range(comm.size)]

rank = np.full(last - first, 1 / number)
given = np.zeros(last - first)
begin = MPI.Wtime()
with SparseWindow(comm, given) as window:
    for _ in range(steps):
        given[:] = (1 - damping) / number
        window.fence()
        for target, indices, givers in parts:
            window.accumulate(target, indices, damping / options.degree * rank[givers])
        window.fence()
        rank[:] = given
seconds = MPI.Wtime() - begin

everyone = comm.gather(rank)
if comm.rank == 0:
    ranks = np.concatenate(everyone)
    alone = np.full(number, 1 / number)
    for _ in range(steps):
        new = np.full(number, (1 - damping) / number)
        np.add.at(new, targets.ravel(), damping / options.degree * np.repeat(alone, options.degree))
        alone = new
    assert np.allclose(ranks, alone, rtol=1e-10, atol=0), "another result than that of one process"
    best = np.argsort(-ranks)[:10]
    print(f"{number} vertices, {targets.size} edges, {steps} steps in {seconds:.2f} s")
    print("first ten: " + ", ".join(f"{v} ({ranks[v]:.5f})" for v in best))
