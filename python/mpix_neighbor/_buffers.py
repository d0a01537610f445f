"""Buffers as mpi4py takes them: arrays, or lists of an array, counts, displacements, a datatype.

Each function for the blocks of one side takes the buffer, the number of blocks, whether they are
`received`, and whether numbers in arrays have to be 64 bits wide.
"""

import atexit
import contextlib
import ctypes
import numbers
import operator
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt
from mpi4py import MPI
from mpi4py.typing import Buffer

from ._library import Handle, handle, handles

__all__ = [
    "Blocks",
    "BufferSpec",
    "Hints",
    "address",
    "block",
    "blocks",
    "converted",
    "datatype_of",
    "fields",
    "general",
    "hints",
    "integer",
    "pins",
    "vector",
    "view",
    "writable",
]

# an array, a buffer or a DLPack tensor, or a list or tuple of it, counts, displacements, a datatype
BufferSpec = Union[Buffer, Sequence[Any]]
Hints = Union[MPI.Info, Mapping[str, object], None]

# datatypes by the name of an element's type: NumPy's character for it; for a text, NumPy's name
# with its length; the format of a buffer
_types: dict[Optional[str], MPI.Datatype] = {}


def view(data: Any) -> npt.NDArray[Any]:
    """Returns a NumPy array of the memory of an array, a buffer or a DLPack tensor on the CPU.

    What has no memory to share, such as a number, is copied.
    """
    if isinstance(data, np.ndarray):
        return data
    if hasattr(data, "__dlpack__"):
        return np.from_dlpack(data)
    try:
        data = memoryview(data)
    except TypeError:
        pass
    return np.asarray(data)


def pins(data: Any) -> list["weakref.ref[npt.NDArray[Any]]"]:
    """Returns references to an array and those that it is a part of, so that they are not moved.

    NumPy's `resize` moves no array that somebody refers to, if only weakly.
    """
    found = []
    while isinstance(data, np.ndarray):
        found.append(weakref.ref(data))
        data = data.base
    return found


def writable(data: Any) -> npt.NDArray[Any]:
    """Returns a NumPy array of the memory of what others write into."""
    array = view(data)
    if not array.flags.c_contiguous:
        raise TypeError("the elements of the array are not one after the other, in the order of C")
    # an error where there is no memory to write into
    memory: Any = _memory(data, True)
    # NumPy takes a tensor of the older protocol for one that may not be written
    return array if array.flags.writeable else np.frombuffer(memory, array.dtype).reshape(array.shape)


def converted(values: Any, dtype: np.dtype[Any], name: str) -> npt.NDArray[Any]:
    """Returns a contiguous array of a type, which may round numbers but not cut them.

    Numbers that the type cannot hold, fractions where it holds integers, and longer texts or finer
    dates are errors, which say `name`.
    """
    array = np.asarray(values)
    if array.dtype.hasobject and array.ndim == 0 and array is not values and isinstance(values, Iterable):
        # NumPy takes what has no length or no order, such as a set, for one object
        raise TypeError(f"{name}: {type(values).__name__} is no array and no sequence")
    if array.dtype == dtype or array.size == 0:
        return np.ascontiguousarray(array, dtype)
    if dtype.kind not in "biufc":
        # NumPy counts a finer unit as safe, which holds fewer years
        lossless = dtype.kind not in "Mm" and np.can_cast(array.dtype, dtype, "safe")
        if lossless or dtype.kind in "SUMm":
            made = np.ascontiguousarray(array, dtype)
            if lossless or _same(made.astype(array.dtype), array):
                return made
        raise TypeError(f"{name} of type {array.dtype} cannot become {dtype} without loss")
    if dtype.kind in "biu" and array.dtype.kind == "f" and array is not values:
        # NumPy takes integers for fractions if no type of its own holds all of them
        array = np.asarray(values, object)
    if array.dtype.kind == "O" and dtype.kind in "biu":
        try:
            integers = [operator.index(value) for value in array.flat]
        except TypeError:
            raise TypeError(f"{name}: not all are integers") from None
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        for number in integers:
            # NumPy 1 cuts them
            if not least <= number <= most:
                raise OverflowError(f"{name}: {number} is no {dtype}")
        return np.array(integers, dtype).reshape(array.shape)
    if array.dtype.kind == "O":
        if not all(isinstance(value, numbers.Number) for value in array.flat):
            raise TypeError(f"{name}: not all are numbers")
        # of a type that holds more than others, for what follows
        array = array.astype(np.clongdouble if dtype.kind == "c" else np.longdouble)
    if np.can_cast(array.dtype, dtype, "safe"):
        return np.ascontiguousarray(array, dtype)
    both = array.dtype.kind in "biu" and dtype.kind in "biu"
    if not both and not np.can_cast(array.dtype, dtype, "same_kind"):
        raise TypeError(f"{name} of type {array.dtype} cannot become {dtype} without loss")
    # a number that is too large is the error below
    with np.errstate(over="ignore"):
        made = np.ascontiguousarray(array, dtype)
    if both and (cut := array.ravel()[made.ravel() != array.ravel()]).size:
        raise OverflowError(f"{name}: {cut[0]} is no {dtype}")
    if dtype.kind in "fc" and (large := array.ravel()[np.isfinite(array).ravel() & ~np.isfinite(made).ravel()]).size:
        raise OverflowError(f"{name}: {large[0]} is no {dtype}")
    return made


def _same(back: npt.NDArray[Any], array: npt.NDArray[Any]) -> bool:
    """Returns true if texts or dates that were converted and back are what they were."""
    same = back == array
    if array.dtype.kind in "Mm":
        same |= np.isnat(back) & np.isnat(array)
    return bool(np.all(same))


def integer(value: Any, name: str, bits: int = 32) -> int:
    """Returns an integer that a signed type of C with so many bits holds."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is no integer") from None
    if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise OverflowError(f"{name}: {number} is no int{bits}")
    return number


def _coded(code: str) -> MPI.Datatype:
    """Returns the datatype of a character; mpi4py knows some for which an MPI may have none."""
    found = MPI.Datatype.fromcode(code)
    if handle(found) in (0, handle(MPI.DATATYPE_NULL)):
        raise ValueError(f"MPI has no datatype for elements of {code!r}")
    return found


def datatype_of(data: Any) -> MPI.Datatype:
    """Returns the datatype of an array's elements."""
    if type(data) is not np.ndarray and hasattr(data, "__dlpack__"):
        data = view(data)
    code: Optional[str]
    if type(data) is np.ndarray:
        dtype = data.dtype
        # the character of a text does not say how long it is
        code = dtype.char if dtype.isnative and dtype.kind not in "SU" else dtype.str
    else:
        code = memoryview(data).format
    try:
        return _types[code]
    except KeyError:
        pass
    found = _types[code] = _datatype(view(data).dtype, code)
    return found


def _datatype(dtype: np.dtype[Any], code: Optional[str]) -> MPI.Datatype:
    """Returns the datatype of a type of elements, which `code` names."""
    try:
        if dtype.isnative and dtype.kind in "SU" and dtype.itemsize:
            made = MPI.BYTE.Create_contiguous(dtype.itemsize).Commit()
            atexit.register(_free, made)
            return made
        # the format of a buffer may begin with the order of bytes, as that of ctypes does
        found = _coded(dtype.char if dtype.isnative else dtype.str)
        if found.extent == dtype.itemsize:
            return found
    except (KeyError, ValueError):
        pass
    raise TypeError(f"elements of {code!r} have no datatype of MPI: give one, [data, counts, displs, type]")


def _free(type: MPI.Datatype) -> None:
    """Frees a datatype that has lasted as long as the program, before mpi4py finalizes MPI."""
    if not MPI.Is_finalized():
        type.Free()


def _memory(data: Any, received: bool) -> Optional[MPI.buffer]:
    """Returns the memory of an object: of an array, a buffer, or a DLPack tensor on the CPU."""
    if data is None:
        return None
    memory = MPI.buffer(data)
    if received and memory.readonly:
        raise ValueError("the memory is read-only")
    return memory


def address(array: npt.NDArray[Any]) -> int:
    """Returns where an array's elements lie."""
    return MPI.buffer(array).address if array.size else 0


def _split(spec: BufferSpec) -> tuple[Any, Any, Any, Optional[MPI.Datatype]]:
    """Returns the data, the counts, the displacements and the datatype that a buffer names."""
    if not isinstance(spec, (list, tuple)):
        return spec, None, None, None
    parts = list(spec)
    named = len(parts) > 1 and isinstance(parts[-1], (MPI.Datatype, str))
    type = parts.pop() if named or (len(parts) in (3, 4) and parts[-1] is None) else None
    if isinstance(type, str):
        type = _coded(type)
    if len(parts) == 2 and isinstance(parts[1], tuple) and len(parts[1]) == 2:
        if all(map(_is_one, parts[1])):
            # mpi4py takes it for the latter
            raise ValueError(
                f"counts: {parts[1]} is either two counts or a count and a displacement: "
                "give [data, counts, displs, type]"
            )
        parts[1:] = parts[1]
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"a buffer is [data, counts, displs, type], not a list of {len(spec)}")
    return (*parts, *[None] * (3 - len(parts)), type)


def _is_one(value: Any) -> bool:
    """Returns true if a value is an integer that stands for all blocks, and no list of numbers."""
    # arrays of any shape have the method
    return hasattr(value, "__index__") and np.ndim(value) == 0


class Blocks:
    """The blocks of one side of a call, as the C functions take them.

    arguments
        Address, counts, and what else the functions take.
    keep
        What must live as long as the arguments are used: memory and data first.
    width
        Bytes of a number in arrays of counts, or 8 if the count is no C int; 0 if any will do.
    stable
        True if the arguments follow from the objects that `spec` names, whatever is written there.
    copied
        True if the arguments follow from what its arrays of numbers hold now.
    received
        True if the data are written.
    """

    __slots__ = (
        "_arrays",
        "_bare",
        "_data",
        "_dtype",
        "_ids",
        "_lists",
        "_pins",
        "_received",
        "_type",
        "arguments",
        "keep",
        "width",
    )

    def __init__(
        self,
        spec: Optional[BufferSpec],
        arguments: tuple[Any, ...],
        keep: tuple[Any, ...],
        width: int = 0,
        stable: bool = True,
        received: bool = False,
        copied: bool = False,
    ):
        self.arguments, self.keep, self.width = arguments, keep, width
        self._received = received
        self._data: Optional[weakref.ref[npt.NDArray[Any]]] = None
        parts = list(spec) if isinstance(spec, (list, tuple)) else [spec]
        data = parts[0]
        self._bare = spec is data
        self._pins = pins(data)
        if stable and type(data) is np.ndarray:
            self._data, self._dtype = weakref.ref(data), data.dtype
            # what else has these identities lives as long as this
            self._ids = tuple(map(id, parts))
            self.keep = (*keep, *parts[1:])
            self._lists = [(i, list(part)) for i, part in enumerate(parts) if type(part) is list]
            arrays = [(i, part) for i, part in enumerate(parts) if copied and i and isinstance(part, np.ndarray)]
            self._arrays = [(i, part.dtype, part.tobytes()) for i, part in arrays]
            named = parts[-1]
            # one that is freed has another handle
            self._type = (named, handle(named)) if isinstance(named, MPI.Datatype) else None

    @property
    def stable(self) -> bool:
        """True if the arguments may be used again."""
        return self._data is not None

    def weaken(self) -> None:
        """Lets go of the data, which `serve` refers to weakly."""
        self.keep = self.keep[2:]

    def serve(self, spec: BufferSpec) -> bool:
        """Returns true if the arguments are those of this buffer too."""
        data = self._data() if self._data else None
        # where it may not be, that is an error
        if data is None or (self._received and not data.flags.writeable):
            return False
        if type(spec) is not list and type(spec) is not tuple:
            return self._bare and spec is data and data.dtype is self._dtype
        if tuple(map(id, spec)) != self._ids or data.dtype is not self._dtype:
            return False
        if self._type and handle(self._type[0]) != self._type[1]:
            return False
        if self._lists and not all(spec[i] == copy for i, copy in self._lists):
            return False
        return not self._arrays or all(
            spec[i].dtype is dtype and spec[i].tobytes() == copy for i, dtype, copy in self._arrays
        )


def _integers(
    lists: list[tuple[Any, str]], number: int, wide: bool
) -> tuple[list[npt.NDArray[Any]], int, bool]:
    """Returns arrays of numbers of one width, the width, and true if no array had to be copied.

    `lists` are pairs of a list and its name.
    """
    narrow = not wide and all(type(values) is np.ndarray and values.dtype == np.intc for values, _ in lists)
    made, in_place = [], True
    for values, name in lists:
        array = converted(values, np.dtype(np.intc if narrow else np.int64), name)
        if array.ndim != 1:
            raise ValueError(f"{name} is no list of numbers")
        if array.size != number:
            raise ValueError(f"{name} has {array.size} entries, not {number}")
        in_place &= array is values or type(values) is list
        made.append(array)
    return made, 4 if narrow else 8, in_place


def _items(memory: MPI.buffer, type: MPI.Datatype) -> int:
    """Returns how many elements of a datatype lie in memory."""
    extent = type.extent
    if extent <= 0 or memory.nbytes % extent:
        raise ValueError(f"{memory.nbytes} bytes are no whole number of elements of {extent} bytes")
    return memory.nbytes // extent


def _shared(memory: Optional[MPI.buffer], type: MPI.Datatype, number: int) -> int:
    """Returns how many elements each of equal blocks has."""
    items = _items(memory, type) if memory is not None else 0
    if number > 1 and items % number:
        raise ValueError(f"{items} elements are no {number} equal blocks")
    return items // max(number, 1)


def blocks(spec: BufferSpec, number: int, received: bool = False, wide: bool = False) -> Blocks:
    """Returns equal blocks, as many as `number`. A count in `spec` is that of one block."""
    data, count, displs, type = _split(spec)
    if displs is not None:
        raise ValueError("the blocks are equal: displacements are for the calls that end in v or w")
    memory = _memory(data, received)
    # a null datatype counts as false
    type = type if type is not None else datatype_of(data)
    count = _shared(memory, type, number) if count is None else integer(count, "count", 64)
    at = memory.address if memory is not None else None
    width = 0 if -(1 << 31) <= count < 1 << 31 else 8
    return Blocks(spec, (at, count, handle(type)), (memory, data, type), width, received=received)


def block(spec: BufferSpec, _number: int, received: bool = False, wide: bool = False) -> Blocks:
    """Returns one block."""
    return blocks(spec, 1, received)


def vector(spec: BufferSpec, number: int, received: bool = False, wide: bool = False) -> Blocks:
    """Returns blocks of their own sizes.

    Without displacements, the blocks lie one after the other; without counts, they are equal. One
    integer is the count of each block, or the displacement of each from the one before. The numbers
    are 64 bits wide if `wide`, and where an array of such is among them.
    """
    data, counts, displs, type = _split(spec)
    memory = _memory(data, received)
    type = type if type is not None else datatype_of(data)
    if counts is None:
        counts = _shared(memory, type, number)
    # an object that stands for an integer may stand for another one later
    fixed = all(isinstance(each, (int, np.integer)) for each in (counts, displs) if _is_one(each))
    if _is_one(counts):
        counts = [integer(counts, "counts", 64)] * number
    if _is_one(displs):
        step = integer(displs, "displs", 64)
        displs = [step * i for i in range(number)]
    # displacements that follow from counts do not follow when these are written
    copied = displs is None and isinstance(counts, np.ndarray)
    stable = fixed and (displs is not None or isinstance(counts, list) or copied)
    if displs is None:
        counts = converted(counts, np.dtype(np.int64), "counts")
        displs = np.cumsum(counts) - counts
    (counts, displs), width, in_place = _integers([(counts, "counts"), (displs, "displs")], number, wide)
    stable &= in_place and not (
        isinstance(spec, (list, tuple)) and any(isinstance(part, tuple) for part in spec)
    )
    arguments = memory.address if memory is not None else None, address(counts), address(displs), handle(type)
    return Blocks(spec, arguments, (memory, data, counts, displs, type), width, stable, received, copied)


def general(spec: BufferSpec, number: int, received: bool = False, wide: bool = False) -> Blocks:
    """Returns blocks of their own layouts.

    `spec` is `[data, counts, displs, types]`, where displacements are bytes, or `[data, types]` for
    one element of each type, which all begin where the data do.
    """
    parts = list(spec) if isinstance(spec, (list, tuple)) else []
    if len(parts) == 2:
        parts[1:1] = None, None
    elif len(parts) == 3 and (isinstance(parts[1], (list, tuple)) or np.ndim(parts[1]) == 2):
        parts[1:2] = parts[1]
    if len(parts) != 4:
        raise ValueError(
            "blocks of their own layouts are [data, counts, displs, types], displacements in bytes"
        )
    data, counts, displs, types = parts
    if counts is None and displs is None:
        counts, displs = [1] * number, [0] * number
    memory = _memory(data, received)
    (counts, displs), width, _ = _integers([(counts, "counts"), (displs, "displs")], number, True)
    types = list(types)
    if len(types) != number:
        raise ValueError(f"types has {len(types)} entries, not {number}")
    array = handles(types) if types else (Handle * 1)()
    arguments = (
        memory.address if memory is not None else None,
        address(counts),
        address(displs),
        ctypes.addressof(array),
    )
    return Blocks(spec, arguments, (memory, data, counts, displs, types, array), width, stable=False)


def fields(specs: Iterable[BufferSpec], number: int, received: bool = False, wide: bool = False) -> Blocks:
    """Returns the blocks of several fields; each of `specs` is that of `general` for one field.

    The number of fields comes first, once for both sides.
    """
    each = [general(spec, number, received) for spec in specs]
    memories, field_counts, field_displs, types = ([side.keep[i] for side in each] for i in (0, 2, 3, 4))
    buffers = (ctypes.c_void_p * max(len(each), 1))(*(side.arguments[0] for side in each))
    none = np.empty(0, np.int64)
    counts, displs = np.concatenate([none, *field_counts]), np.concatenate([none, *field_displs])
    array = (Handle * max(counts.size, 1))(*(handle(type) for list in types for type in list))
    arguments = ctypes.addressof(buffers), address(counts), address(displs), ctypes.addressof(array)
    keep = memories, each, counts, displs, types, array, buffers
    return Blocks(None, arguments if received else (len(each), *arguments), keep, 8, stable=False)


@contextlib.contextmanager
def hints(info: Hints) -> Iterator[int]:
    """Lends the handle of hints; a dict is an `MPI.Info` for as long."""
    if info is None or isinstance(info, MPI.Info):
        yield handle(info if info is not None else MPI.INFO_NULL)
        return
    made = MPI.Info.Create()
    try:
        for key, value in info.items():
            text = str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)
            made.Set(key if key.startswith("mpix_") else "mpix_" + key, text)
        yield handle(made)
    finally:
        made.Free()
