"""LogGP parameters of the machine, by which schedules and protocols are chosen."""

import ctypes
import dataclasses
from typing import Optional

from mpi4py import MPI

from ._buffers import Hints, hints, integer
from ._functions import LOGGP_UNLIMITED
from ._library import check, comm_handle, functions

__all__ = ["Loggp"]


class _Loggp(ctypes.Structure):
    _fields_ = [
        ("latency", ctypes.c_double),
        ("send_overhead", ctypes.c_double),
        ("recv_overhead", ctypes.c_double),
        ("gap", ctypes.c_double),
        ("gap_per_byte", ctypes.c_double),
        ("eager", ctypes.c_int64),
        ("deviation", ctypes.c_double),
    ]


@dataclasses.dataclass
class Loggp:
    """LogGP parameters of a machine; times are in microseconds.

    latency
        L: the time that a byte takes through the network.
    send_overhead, recv_overhead
        o: the time that a process spends on a message that it sends, or receives.
    gap
        g: the least time between two short messages of a process.
    gap_per_byte
        G: the time for each byte of a long message.
    eager
        The longest message, in bytes, that is sent without waiting for its receiver, or None.
    deviation
        How far measured times are from predicted ones, as a fraction.
    """

    latency: float
    send_overhead: float
    recv_overhead: float
    gap: float
    gap_per_byte: float
    eager: Optional[int] = None
    deviation: float = 0.0

    @classmethod
    def _of(cls, found: _Loggp) -> "Loggp":
        values = {field[0]: getattr(found, field[0]) for field in _Loggp._fields_}
        if values["eager"] == LOGGP_UNLIMITED:
            values["eager"] = None
        return cls(**values)

    @classmethod
    def measure(cls, comm: MPI.Intracomm, info: Hints = None) -> "Loggp":
        """Measures between process 0 and one of another node, or process 1.

        Every process of the communicator calls this. The hint `loggp_seconds` says for how long.
        """
        found = _Loggp()
        with hints(info) as given:
            check(functions.MPIX_Loggp_measure(given, comm_handle(comm), ctypes.addressof(found)), comm)
        return cls._of(found)

    @classmethod
    def of(cls, comm: MPI.Intracomm) -> "Loggp":
        """Returns the parameters that are in effect on a communicator."""
        found = _Loggp()
        check(functions.MPIX_Loggp_get(comm_handle(comm), ctypes.addressof(found)), comm)
        return cls._of(found)

    def set(self, comm: MPI.Intracomm) -> None:
        """Puts the parameters into effect on a communicator. Every process of it calls this."""
        values = dataclasses.asdict(self)
        values["eager"] = LOGGP_UNLIMITED if self.eager is None else integer(self.eager, "eager", 64)
        given = _Loggp(**values)
        check(functions.MPIX_Loggp_set(ctypes.addressof(given), comm_handle(comm)), comm)
