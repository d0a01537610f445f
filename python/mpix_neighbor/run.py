"""Starts a program with the preload library, which takes over mpi4py's neighborhood collectives.

    python -m mpix_neighbor.run [OPTIONS OF MPIEXEC] PROGRAM.py [ARGUMENTS]
    python -m mpix_neighbor.run [OPTIONS OF MPIEXEC] -m MODULE [ARGUMENTS]
    python -m mpix_neighbor.run [OPTIONS OF MPIEXEC] -- ARGUMENTS OF PYTHON

The environment variable MPIEXEC names the launcher, `mpiexec` by default. It must be that of the
MPI that mpi4py runs on.
"""

import os
import sys

from mpi4py import MPI

from ._library import mpi_folder, preload

__all__ = ["command", "main"]


def command(arguments: list[str]) -> list[str]:
    """Returns the command that starts a program with the preload library."""
    for split, argument in enumerate(arguments):
        if argument.endswith(".py") or argument in ("-m", "--"):
            break
    else:
        raise SystemExit(__doc__)
    program = arguments[split + (argument == "--") :]
    if not program:
        raise SystemExit(__doc__)
    file = preload()
    if " " in file or ":" in file:
        raise SystemExit(f"{file} cannot be preloaded: LD_PRELOAD holds no path with a blank or a colon")
    variables = {"LD_PRELOAD": file, "LD_LIBRARY_PATH": mpi_folder()}
    for name, value in variables.items():
        before = os.environ.get(name)
        variables[name] = f"{value}:{before}" if before else value
    return [
        *os.environ.get("MPIEXEC", "mpiexec").split(),
        *arguments[:split],
        "env",
        *(f"{name}={value}" for name, value in variables.items()),
        sys.executable,
        *program,
    ]


def main() -> None:
    """Replaces this process by the launcher."""
    words = command(sys.argv[1:])
    # the import has initialized MPI, which leaves marks in the environment that `os.environ` does
    # not show
    MPI.Finalize()
    os.execvpe(words[0], words, dict(os.environ))


if __name__ == "__main__":
    main()
