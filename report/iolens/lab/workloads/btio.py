"""BT-IO, the NAS solver that dumps its field every few steps (workloads/btio)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from iolens.lab.workloads.workload import Workload, size_of, value_of

_POINT_BYTES = 40
"""Bytes of a grid point in BT-IO: five doubles."""

DEFAULT_INTERVAL = 5


@dataclass(frozen=True)
class NpbClass:
    """A class of BT: points per edge and time steps."""

    edge: int
    steps: int

    @property
    def dump_bytes(self) -> int:
        """Returns the bytes of one dump of the whole field."""
        return _POINT_BYTES * self.edge**3


CLASSES = {
    "S": NpbClass(12, 60),
    "W": NpbClass(24, 200),
    "A": NpbClass(64, 200),
    "B": NpbClass(102, 200),
    "C": NpbClass(162, 200),
    "D": NpbClass(408, 250),
    "E": NpbClass(1020, 250),
}


def time_steps(arguments: Sequence[str]) -> int | None:
    """Returns the number of time steps of a command line; None if it names no class."""
    npb = CLASSES.get(value_of(arguments, "--class") or "")
    return size_of(arguments, npb.steps, "--steps") if npb else None


def data_bytes(arguments: Sequence[str]) -> int | None:
    """Returns the bytes that a run with these arguments writes; None if they name no class."""
    npb, steps = CLASSES.get(value_of(arguments, "--class") or ""), time_steps(arguments)
    if npb is None or steps is None:
        return None
    interval = size_of(arguments, DEFAULT_INTERVAL, "--write-interval")
    return npb.dump_bytes * -(-steps // interval)


def _why_no_square(arguments: Sequence[str], ranks: int) -> str | None:
    """Returns the reason why a number of ranks is not possible: BT's grid is cut into a square of cells."""
    edge = math.isqrt(ranks)
    return None if edge**2 == ranks else f"btio needs a square number of ranks, such as {edge**2} or {(edge + 1) ** 2}"


BTIO = Workload(
    program="btio",
    keep_option="--keep",
    metrics=("write_bandwidth", "read_bandwidth"),
    refuses=_why_no_square,
    volume=lambda arguments, ranks: data_bytes(arguments),
    steps=time_steps,
    step=re.compile(rb"^ Time step\s+(\d+)", re.MULTILINE),
)
