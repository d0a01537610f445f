"""Runs the steps of packaging/spack/package.py with a stand-in for Spack: what the recipe takes from
it, and nothing else, so that a step that calls what is not here fails.

Usage: stand_in.py RECIPE PREFIX MPICC
Prints the recipe's name, and each command before it runs.
"""

import importlib.util
import os
import subprocess
import sys
import types
from pathlib import Path

recipe, prefix, mpicc = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
DEPENDENCIES = []
VARIANTS = {}
AFTER = []


class Directory(str):
    """Spack's prefix: an attribute is a directory below."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Directory(f"{self}/{name}")

    def join(self, name):
        return Directory(f"{self}/{name}")


class Spec:
    """What the recipe asks of the concrete spec."""

    def __init__(self, variants):
        self.variants = variants

    def __getitem__(self, name):
        names = {d.split("@")[0].split("+")[0] for d, _ in DEPENDENCIES}
        assert name in names, f"the recipe does not depend on {name}"
        if name == "mpi":
            folder, file = os.path.split(mpicc)
            mpicxx, mpifc = (os.path.join(folder, file.replace("mpicc", name)) for name in ("mpicxx", "mpifort"))
            return types.SimpleNamespace(mpicc=mpicc, mpicxx=mpicxx, mpifc=mpifc)
        return types.SimpleNamespace(prefix=Directory("/nonexistent"))

    def satisfies(self, what):
        return self.variants[what[1:]] == (what[0] == "+")


class Environment(dict):
    def set(self, name, value):
        self[name] = str(value)


def run(*command):
    print("+", *command, flush=True)
    subprocess.run(command, check=True)


def after(phase):
    def decorate(function):
        AFTER.append((phase, function.__name__))
        return function
    return decorate


package = types.ModuleType("spack.package")
package.__dict__.update(
    depends_on=lambda spec, type=None, when=None: DEPENDENCIES.append((spec, when)),
    variant=lambda name, default, description: VARIANTS.update({name: default}),
    version=lambda *_, **__: None,
    license=lambda *_, **__: None,
    make=lambda *arguments: run("make", "--no-print-directory", *arguments),
    join_path=os.path.join,
    run_after=after,
    on_package_attributes=lambda **_: lambda function: function,
    Executable=lambda path: lambda *arguments: run(path, *arguments),
)
build_system = types.ModuleType("spack_repo.builtin.build_systems.makefile")
build_system.MakefilePackage = type("MakefilePackage", (), {})
for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["spack.package"] = package
sys.modules[build_system.__name__] = build_system

loaded = importlib.util.spec_from_file_location("recipe", recipe)
module = importlib.util.module_from_spec(loaded)
sys.dont_write_bytecode = True
loaded.loader.exec_module(module)
(found,) = [c for c in vars(module).values()
            if isinstance(c, type) and issubclass(c, build_system.MakefilePackage) and c is not build_system.MakefilePackage]
assert found.__name__ == "MpixNeighbor" and found.__doc__ and found.homepage and found.git
for variants in [dict(VARIANTS), {name: not value for name, value in VARIANTS.items()}]:
    place = Directory(prefix / "-".join(sorted(k for k, v in variants.items() if v) or ["plain"]))
    built = found()
    built.spec, built.prefix = Spec(variants), place
    built.stage = types.SimpleNamespace(path=str(prefix))
    environment = Environment()
    built.setup_build_environment(environment)
    assert set(environment) == {"LIBCLANG_PATH", "CARGO_HOME"}
    built.build(built.spec, place)
    built.install(built.spec, place)
    for phase, name in AFTER:
        assert phase == "install"
        getattr(built, name)()
    module_file = Path(place) / "include/mpix_neighbor.mod"
    assert (Path(place) / "lib/libmpix_neighbor.so").exists()
    assert module_file.exists() == variants["fortran"], f"{module_file}: {variants}"
print(f"spack: {found.__name__}: build and install steps run, with and without {', '.join(VARIANTS)}")
