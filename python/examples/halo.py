"""Heat in a square, shared out in blocks of rows and columns: a halo exchange with ghost cells.

    mpirun -n 4 python halo.py [--size 128] [--steps 500] [--picture heat.png]

Process 0 prints the heat at the beginning and at the end, which is the same, and draws a picture if
Matplotlib is there.
"""

import argparse

import numpy as np
from mpi4py import MPI

from mpix_neighbor import ALLTOALL, Neighborhood

options = argparse.ArgumentParser(description="heat in a square")
options.add_argument("--size", type=int, default=128, help="rows and columns")
options.add_argument("--steps", type=int, default=500)
options.add_argument("--picture", help="a file to draw to")
options = options.parse_args()

comm = MPI.COMM_WORLD
grid = comm.Create_cart(MPI.Compute_dims(comm.size, 2), periods=[True, True])
shape = [options.size // n for n in grid.dims]
rows, columns = shape

# the cells of this process, with a border of ghost cells
heat = np.zeros((rows + 2, columns + 2))
first = [c * n for c, n in zip(grid.coords, shape)]
y, x = np.ogrid[first[0] : first[0] + rows, first[1] : first[1] + columns]
middle = options.size / 2
heat[1:-1, 1:-1] = np.exp(-((y - middle) ** 2 + (x - middle / 2) ** 2) / (options.size / 10) ** 2)

# a border is sent from where it is, and received in the ghost cells: no copies
row = MPI.DOUBLE.Create_contiguous(columns).Commit()
column = MPI.DOUBLE.Create_vector(rows, 1, columns + 2).Commit()


def at(i, j):
    """Returns where a cell lies, in bytes."""
    return heat.itemsize * (i * (columns + 2) + j)


types = [row, row, column, column]
inner = [at(1, 1), at(rows, 1), at(1, 1), at(1, columns)]
ghost = [at(0, 1), at(rows + 1, 1), at(1, 0), at(1, columns + 1)]
total = comm.allreduce(heat[1:-1, 1:-1].sum())
with Neighborhood.from_topology(grid, operations=ALLTOALL) as neighbors:
    with neighbors.Alltoallw_plan([heat, [1] * 4, inner, types], [heat, [1] * 4, ghost, types]) as halo:
        begin = MPI.Wtime()
        for _ in range(options.steps):
            halo.start()
            # cells without ghost cells beside them, while the borders travel
            new = heat.copy()
            new[2:-2, 2:-2] += 0.2 * (
                heat[1:-3, 2:-2]
                + heat[3:-1, 2:-2]
                + heat[2:-2, 1:-3]
                + heat[2:-2, 3:-1]
                - 4 * heat[2:-2, 2:-2]
            )
            halo.wait()
            for i in (1, rows) if rows > 1 else (1,):
                new[i, 1:-1] = heat[i, 1:-1] + 0.2 * (
                    heat[i - 1, 1:-1] + heat[i + 1, 1:-1] + heat[i, :-2] + heat[i, 2:] - 4 * heat[i, 1:-1]
                )
            for j in (1, columns) if columns > 1 else (1,):
                new[2:-2, j] = heat[2:-2, j] + 0.2 * (
                    heat[1:-3, j] + heat[3:-1, j] + heat[2:-2, j - 1] + heat[2:-2, j + 1] - 4 * heat[2:-2, j]
                )
            heat[:] = new
        seconds = MPI.Wtime() - begin
row.Free(), column.Free()

after = comm.allreduce(heat[1:-1, 1:-1].sum())
hottest = comm.allreduce(heat[1:-1, 1:-1].max(), MPI.MAX)
blocks = comm.gather((first, heat[1:-1, 1:-1].copy()))
if comm.rank == 0:
    print(f"heat {total:.6f} at the beginning, {after:.6f} at the end; at most {hottest:.6f}")
    print(f"{options.steps} steps in {seconds:.2f} s")
    assert abs(total - after) < 1e-9 * total
    if options.picture:
        try:
            from matplotlib import image
        except ImportError:
            print("no picture: Matplotlib is not there")
        else:
            whole = np.zeros((grid.dims[0] * rows, grid.dims[1] * columns))
            for (i, j), block in blocks:
                whole[i : i + rows, j : j + columns] = block
            image.imsave(options.picture, whole, cmap="inferno")
            print(f"drawn to {options.picture}")
grid.Free()
