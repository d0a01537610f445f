"""Poisson's equation on the unit square and the unit cube with DOLFINx: prints the norms of the solutions, and how
many values are wrong after ghosts were exchanged in both directions. Which process has what differs from run to run; what is printed does not."""

import numpy
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py import PETSc

comm = MPI.COMM_WORLD


def norm(u):
    squares = fem.assemble_scalar(fem.form(ufl.inner(u, u) * ufl.dx))
    return comm.allreduce(squares, op=MPI.SUM) ** 0.5


def poisson(domain, degree):
    space = fem.FunctionSpace(domain, ("Lagrange", degree))
    tdim = domain.topology.dim
    domain.topology.create_connectivity(tdim - 1, tdim)
    facets = mesh.exterior_facet_indices(domain.topology)
    boundary = fem.locate_dofs_topological(space, tdim - 1, facets)
    x = ufl.SpatialCoordinate(domain)
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    f = 10 * ufl.exp(-((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2) / 0.02)
    a = fem.form(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx)
    b = fem.form(ufl.inner(f, v) * ufl.dx)
    conditions = [fem.dirichletbc(PETSc.ScalarType(0), boundary, space)]
    matrix = fem.petsc.assemble_matrix(a, bcs=conditions)
    matrix.assemble()
    rhs = fem.petsc.assemble_vector(b)
    fem.petsc.apply_lifting(rhs, [a], bcs=[conditions])
    rhs.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    fem.petsc.set_bc(rhs, conditions)
    solver = PETSc.KSP().create(comm)
    solver.setOperators(matrix)
    solver.setType("cg")
    solver.getPC().setType("jacobi")
    solver.setTolerances(rtol=1e-12)
    solution = fem.Function(space)
    solver.solve(rhs, solution.vector)
    # owners to ghosts by DOLFINx's own scatter
    solution.x.scatter_forward()
    print_all(f"{domain.topology.cell_name()}, degree {degree}: {space.dofmap.index_map.size_global} unknowns, norm {norm(solution):.9e}")

    # each process adds one to all that it knows of, and ghosts are added to their owners: together
    # one for each owned and each ghost
    index_map = space.dofmap.index_map
    owned = index_map.size_local
    known = fem.Function(space)
    known.x.array[:] = 1
    known.vector.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    total = comm.allreduce(known.x.array[:owned].sum(), op=MPI.SUM)
    expected = comm.allreduce(owned + index_map.num_ghosts, op=MPI.SUM)
    # what arrives at ghosts is what their owners have: global indices
    ghosts = fem.Function(space)
    ghosts.x.array[:owned] = numpy.arange(owned) + index_map.local_range[0]
    ghosts.x.array[owned:] = -1
    ghosts.x.scatter_forward()
    wrong = comm.allreduce(int((ghosts.x.array[owned:] != index_map.ghosts).sum()), op=MPI.SUM)
    print_all(f"  sums that are off: {abs(total - expected):.0f}, wrong ghosts: {wrong}")


def print_all(line):
    if comm.rank == 0:
        print(line, flush=True)


poisson(mesh.create_unit_square(comm, 24, 24), 1)
poisson(mesh.create_unit_square(comm, 16, 16, ghost_mode=mesh.GhostMode.shared_facet), 2)
poisson(mesh.create_unit_cube(comm, 6, 6, 6), 1)
domain = mesh.create_unit_square(comm, 8, 8)
domain.topology.create_entities(1)
poisson(mesh.refine(domain), 1)
