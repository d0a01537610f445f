# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class MpixNeighbor(MakefilePackage):
    """Sparse (neighborhood) collective communication on any MPI: schedules are built once from
    weighted neighborhoods, and run many times."""

    homepage = "https://github.com/mpix-neighbor/mpix-neighbor"
    git = "https://github.com/mpix-neighbor/mpix-neighbor.git"

    license("MIT OR Apache-2.0", checked_by="mpix-neighbor")

    version("main", branch="main")

    variant("fortran", default=True, description="Build the Fortran module")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("rust@1.88:", type="build")
    # bindgen reads mpi.h by libclang
    depends_on("llvm+clang", type="build")
    depends_on("mpi")

    def setup_build_environment(self, env):
        env.set("LIBCLANG_PATH", self.spec["llvm"].prefix.lib)
        # cargo keeps what it fetches with the sources
        env.set("CARGO_HOME", join_path(self.stage.path, "cargo"))

    @property
    def variables(self):
        mpi = self.spec["mpi"]
        # where no compiler answers, the Makefile leaves the module out
        fortran = mpi.mpifc if self.spec.satisfies("+fortran") else "false"
        return [f"MPICC={mpi.mpicc}", f"MPICXX={mpi.mpicxx}", f"MPIFC={fortran}"]

    def build(self, spec, prefix):
        make("lib", "preload", "tool-mpi", *self.variables)

    def install(self, spec, prefix):
        make("install", f"PREFIX={prefix}", *self.variables)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.join("mpix-neighbor"))("--version")
