"""Holds the records of a comparison's runs in one form, whether it compares a sweep's settings or logs, runs and
outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iolens.lazy import pd
from iolens.missing import is_nan

KEPT, BROKEN, UNKNOWN = "kept", "not kept", "cannot be known"
"""The possible outcomes of a check."""

Finding = tuple[str, str]
"""Result of a check: KEPT, BROKEN or UNKNOWN, and the evidence in a sentence."""

_RECORDED = (
    *("group", "started", "load_before", "load_after", "host", "cpu", "cpus", "memory", "kernel", "cached", "mpi"),
    *("hosts", "file_system", "storage", "launcher", "program", "nprocs", "syncs"),
    *("bytes_read", "bytes_written", "write_seconds", "cached_before_read", "pages_written", "pages_read"),
)
"""Required columns of the runs."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """`runs` has a row per run with the columns _RECORDED; a value is missing if it was not recorded. `group` is the
    setting or subject that the run belongs to, `started` a time in ISO 8601, `hosts` a tuple of names,
    `cached_before_read` a part of the data from 0 to 1; memory and bytes are in bytes. `pages_written` and `pages_read`
    are the state of the page cache, in the words of run.json. `groups`: the measured values of each group, in the order
    of its runs; `rate`: True if these values are rates, False if they are times. `base` names the baseline of the
    ratios, with its absolute value; it is empty without ratios. `left_out`: groups that are not compared, and why.
    `bounded`: number of groups for which a figure shows an upper bound. `joined`: a setting whose levels are names
    although a figure joins its points by lines; empty if there is none. `swept`: True if the runs are those of a sweep,
    each in an empty folder of its own. `from_logs`: True if the measured values come from logs. `by_block`: True if
    ratios compare runs of the same block (`paired`), False if they compare means of a sweep's points, None if each
    ratio uses the spread of its own two groups (`statistics`).
    """

    runs: pd.DataFrame
    groups: Mapping[str, Sequence[float]]
    rate: bool
    base: str
    left_out: Sequence[tuple[str, str]] = ()
    bounded: int = 0
    joined: str = ""
    swept: bool = False
    from_logs: bool = False
    by_block: bool | None = None

    def known(self, column: str) -> list[Any]:
        """Returns the values of a column that are neither missing nor empty."""
        return [value for value in self.runs[column] if value not in (None, "", ()) and not is_nan(value)]

    def unknown(self, column: str) -> int:
        """Returns the number of runs that do not have a value in this column."""
        return len(self.runs) - len(self.known(column))


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Returns rows as `Evidence.runs`: all columns, None if a row has no value."""
    return pd.DataFrame({name: pd.Series([row.get(name) for row in rows], dtype=object) for name in _RECORDED})


def list_text(values: Sequence[Any], most: int = 3) -> str:
    """Returns the different values as text: 'a; b; 2 more'."""
    different = list(dict.fromkeys(map(str, values)))
    more = len(different) - most
    return "; ".join([*different[:most], *([f"{more} more"] if more > 0 else [])])
