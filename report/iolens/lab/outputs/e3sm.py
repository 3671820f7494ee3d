"""E3SM-IO (Parallel-NetCDF/E3SM-IO): one section of amounts, times and speeds for each file that a run writes or reads.

Both forms of the speed are known: "I/O bandwidth in MiB/sec (open-to-close) = 12.3", and the form before 2022,
"I/O bandwidth (open-to-close) = 12.3 MiB/sec".
"""

from __future__ import annotations

import math
import re

from iolens.lab.outputs.words import BANDWIDTH, MIB, TIMES, VOLUME
from iolens.metrics.subjects.subject import Output, Value

_HEAD = re.compile(r"^==== Benchmarking (\w+) case ", re.MULTILINE)
_AMOUNT = re.compile(r"^Total (write|read) amount\s*=\s*([0-9.]+) MiB", re.MULTILINE)
_SPEED = re.compile(r"^I/O bandwidth (?:in MiB/sec )?\(open-to-close\)\s*=\s*([0-9.]+)(?: MiB/sec)?\s*$", re.MULTILINE)
_RANKS = re.compile(r"^Total number of MPI processes\s*=\s*(\d+)", re.MULTILINE)


def read_e3sm(text: str) -> Output | None:
    """Returns bytes, seconds and bandwidth of each operation over all files, from open to close; None if the text is
    not E3SM-IO's output.
    """
    head = _HEAD.search(text)
    if head is None:
        return None
    amounts, speeds = _AMOUNT.findall(text), [float(each) for each in _SPEED.findall(text)]
    sections = [(what, float(amount), speed) for (what, amount), speed in zip(amounts, speeds, strict=False) if speed]
    values: list[Value] = []
    for operation in dict.fromkeys(what for what, _, _ in sections):
        moved = math.fsum(amount for what, amount, _ in sections if what == operation)
        spent = math.fsum(amount / speed for what, amount, speed in sections if what == operation)
        past = "written" if operation == "write" else operation
        values += [Value(TIMES, f"{operation} time", "s", spent, -1), Value(VOLUME, past, "B", moved * MIB)]
        if spent > 0:
            values.append(Value(BANDWIDTH, operation, "MiB/s", moved / spent, 1))
    ranks = _RANKS.search(text)
    return Output("E3SM-IO", {"case": head[1], **({"processes": ranks[1]} if ranks else {})}, tuple(values))
