"""Particles that move through a row of cells, one for each process: a dynamic sparse exchange.

    mpirun -n 4 python particles.py [--particles 1000] [--steps 50]

In each step a process sends the particles that have left its cell to the processes whose cells they
are in now. Nobody knows beforehand who sends to whom.
"""

import argparse

import numpy as np
from mpi4py import MPI

from mpix_neighbor import sparse_exchange

options = argparse.ArgumentParser(description="particles that move between cells")
options.add_argument("--particles", type=int, default=1000, help="of each process")
options.add_argument("--steps", type=int, default=50)
options = options.parse_args()

comm = MPI.COMM_WORLD
particle = np.dtype([("id", "i8"), ("place", "f8"), ("speed", "f8")])
random = np.random.default_rng(comm.rank)
mine = np.zeros(options.particles, particle)
mine["id"] = comm.rank * options.particles + np.arange(options.particles)
mine["place"] = comm.rank + random.random(options.particles)
# a few are fast: they pass several cells in a step
mine["speed"] = random.normal(0, 0.2, options.particles) * (
    1 + 20 * (random.random(options.particles) < 0.01)
)

moved = 0
begin = MPI.Wtime()
for _ in range(options.steps):
    mine["place"] = (mine["place"] + mine["speed"]) % comm.size
    # rounding may put a particle at the very end
    cell = np.minimum(mine["place"].astype(int), comm.size - 1)
    leaving = {target: mine[cell == target] for target in np.unique(cell).tolist() if target != comm.rank}
    moved += sum(map(len, leaving.values()))
    arrived = sparse_exchange(comm, leaving, dtype=particle)
    mine = np.concatenate([mine[cell == comm.rank], *arrived.values()])
seconds = MPI.Wtime() - begin

everyone = comm.gather(mine["id"])
moved = comm.reduce(moved)
if comm.rank == 0:
    ids = np.sort(np.concatenate(everyone))
    assert np.array_equal(ids, np.arange(comm.size * options.particles)), "particles are lost"
    print(f"{ids.size} particles, all of them there; {moved} moves in {options.steps} steps, {seconds:.2f} s")
    print("in the cells: " + ", ".join(str(len(some)) for some in everyone))
