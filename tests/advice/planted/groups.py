"""Groups of runs with one fault at several strengths; the first run has no fault and is the healthy twin of the
others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Row = dict[str, Any]
MIB = 1 << 20


def group(
    name: str, expected: str, allowed: str, strengths: Sequence[float], ranks: int, make: Callable[[float], Row]
) -> list[Row]:
    """Returns the runs of a fault, which `make` makes for each strength. At least one of the rules `expected` must
    report the fault; the rules `allowed` may report something as well, because it is true of these runs by
    construction.
    """
    known = {"expected": expected.split(), "allowed": allowed.split(), "group": name, "ranks": ranks}
    return [
        {"name": f"{name}-{number}", "fault": name.rpartition("-")[0], "strength": strength, **known, **make(strength)}
        for number, strength in enumerate(strengths)
    ]


def storage(rate: float, **more: float | str) -> Row:
    """Returns emulated storage whose targets move `rate` MB/s, so slow that the speed of the machine does not
    matter.
    """
    return {"targets": 16, "ost_mb_per_s": rate, "dirty_per_target": "1M", "rpc_size": "1M", **more}
