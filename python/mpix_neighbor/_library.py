"""The C library: which file is loaded, and how its functions are called."""

import ctypes
import os
import pathlib
from collections.abc import Sequence
from typing import Any, Optional

from mpi4py import MPI

from . import _functions

__all__ = [
    "Error",
    "Handle",
    "check",
    "comm_handle",
    "functions",
    "handle",
    "handles",
    "mpi_folder",
    "op_handle",
    "path",
    "preload",
    "read_text",
]


class Error(MPI.Exception):
    """An error of this library, with the text that says what is wrong."""

    def __init__(self, code: int, text: str):
        super().__init__(code)
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"mpix_neighbor.Error({self.Get_error_code()}, {self.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # what goes to another process
        return Error, (self.Get_error_code(), self.text)


# handles of MPI are ints or pointers
Handle = ctypes.c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p
_KINDS = {"i": ctypes.c_int, "n": ctypes.c_int64, "h": Handle, "p": ctypes.c_void_p}

handle = MPI._handleof


def _handle_of(value: Any, kind: type[Any], name: str) -> int:
    """Returns the handle of an argument, which must be an MPI object of a kind."""
    # MPI itself does not see of what kind a pointer is
    if not isinstance(value, kind):
        raise TypeError(f"{name}: {value!r} is no MPI.{kind.__name__}")
    return handle(value)


def comm_handle(comm: Any) -> int:
    """Returns the handle of a communicator."""
    return _handle_of(comm, MPI.Comm, "comm")


def op_handle(op: Any) -> int:
    """Returns the handle of an operator."""
    return _handle_of(op, MPI.Op, "op")


def handles(types: Sequence[Any]) -> Any:
    """Returns an array of the handles of datatypes."""
    return (Handle * len(types))(*(_handle_of(type, MPI.Datatype, "types") for type in types))


def _flavor() -> str:
    """Names the family of the MPI that mpi4py runs on: MPIs of one family share a library."""
    if Handle is ctypes.c_int:
        return "mpich"
    # pointers: Open MPI's own, or those of the standard ABI, which an Open MPI may have too
    is_open_mpi = MPI.get_vendor()[0] == "Open MPI"
    has_abi = MPI.Get_abi_version()[0] > 0 if hasattr(MPI, "Get_abi_version") else not is_open_mpi
    return "abi" if has_abi else "ompi"


def _own(name: str) -> Optional[str]:
    """Returns a file of the package for this family of MPIs, or None."""
    file = pathlib.Path(__file__).parent / "lib" / _flavor() / name
    return str(file) if file.exists() else None


def path() -> str:
    """Returns the file of the C library for the MPI of this process.

    It is what `MPIX_NEIGHBOR_LIBRARY` names, else the package's own for this family of MPIs, else
    the one that the system's loader finds.
    """
    name = f"libmpix_neighbor.so.{_functions.NEIGHBOR_VERSION_MAJOR}"
    return os.environ.get("MPIX_NEIGHBOR_LIBRARY") or _own(name) or name


def preload() -> str:
    """Returns the preload library for the MPI of this process, for the variable `LD_PRELOAD`.

    It takes over the neighborhood collectives that a program calls through mpi4py, or in any other
    way. `python -m mpix_neighbor.run` starts a program with it.
    """
    name = "libmpix_neighbor_preload.so"
    return os.environ.get("MPIX_NEIGHBOR_PRELOAD") or _own(name) or name


def mpi_folder() -> str:
    """Returns the folder of the MPI library that this process has loaded."""
    with open("/proc/self/maps") as maps:
        files = {line.split(maxsplit=5)[5].strip() for line in maps if line.count("/")}
    found = [
        os.path.dirname(file)
        for file in files
        if os.path.basename(file).startswith(("libmpi.so", "libmpich.so", "libmpi_abi.so"))
    ]
    return found[0] if found else ""


def _load() -> ctypes.CDLL:
    # the package's libraries name no MPI; they take that of mpi4py
    ctypes.CDLL(MPI.__file__, mode=os.RTLD_GLOBAL | os.RTLD_NOLOAD)
    try:
        library = ctypes.CDLL(path())
    except OSError as error:
        raise ImportError(
            f"mpix_neighbor has no library for {MPI.get_vendor()[0]} ({error}); "
            "MPIX_NEIGHBOR_LIBRARY names one that was built for it"
        ) from error
    for name, kinds in _functions.PARAMETERS.items():
        function = getattr(library, name)
        function.argtypes = [_KINDS[kind] for kind in kinds]
        function.restype = ctypes.c_int
    return library


functions = _load()


def read_text(function: Any, *arguments: int) -> tuple[int, str]:
    """Calls a function that returns a text of any length. Returns its code and the text."""
    length = ctypes.c_int()
    code = function(*arguments, 0, None, ctypes.addressof(length))
    text = ctypes.create_string_buffer(length.value + 1)
    code = code or function(*arguments, len(text), ctypes.addressof(text), ctypes.addressof(length))
    return code, text.value.decode(errors="replace")


def check(code: int, comm: MPI.Comm = MPI.COMM_WORLD, of: object = True) -> None:
    """Raises the error of a call on a communicator, if it returned one.

    `of` is what the call was for: errors of what has been freed, and those of a communicator that is
    gone, are on the world's.
    """
    if code != MPI.SUCCESS:
        there = comm if of and comm != MPI.COMM_NULL else MPI.COMM_WORLD
        _, text = read_text(functions.MPIX_Neighbor_error_string, handle(there))
        raise Error(code, text or MPI.Get_error_string(code))
