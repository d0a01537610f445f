"""Counts checks, and ends the program with what they found."""

import os
import sys
from unittest import mock

from mpi4py import MPI

comm = MPI.COMM_WORLD
made = failed = 0


def check(holds, text) -> None:
    """Notes whether a condition holds."""
    global made, failed
    made += 1
    if not holds:
        failed += 1
        line = sys._getframe(1).f_lineno
        print(
            f"{os.path.basename(sys.argv[0])}:{line}: process {comm.rank} of {comm.size}: {text}",
            file=sys.stderr,
        )


class Tensor:
    """What exports its memory by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def interrupted(where, name):
    """Patches a function of C: Python is interrupted as soon as the function has returned."""
    function = getattr(where, name)

    def call(*arguments):
        function(*arguments)
        raise KeyboardInterrupt

    return mock.patch.object(where, name, call)


def raises(kind, call):
    """Returns the exception of a call that must raise one."""
    try:
        call()
    except kind as error:
        check(True, "")
        return error
    check(False, f"no {kind.__name__}")
    return kind()


def finish() -> None:
    """Says how many checks held on all processes."""
    total = comm.allreduce(made), comm.allreduce(failed)
    if comm.rank == 0:
        print(f"{total[0]} checks, {total[1]} failed")
    sys.exit(1 if total[1] else 0)
