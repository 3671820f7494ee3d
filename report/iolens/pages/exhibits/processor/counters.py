"""Counters of processors, and I/O by call site."""

from __future__ import annotations

from dataclasses import replace

from iolens.log import Job
from iolens.metrics.processor import counters
from iolens.metrics.processor.io import sites
from iolens.missing import is_nan
from iolens.pages import words
from iolens.pages.blocks import Block
from iolens.pages.exhibit import Column, Exhibit
from iolens.pages.exhibits.processor.drilled import NAME, share_columns

_PLACES = {
    "s": 6,
    "M/s": 3,
    "%": 1,
    "% of nominal peak (DP)": 1,
    "ops/cycle": 2,
    "ops/ref": 2,
    "ops/byte": 3,
    "refs/miss": 2,
} | {"avg uses": 3, "GHz": 2, "X": 2, "GB": 3, "GB/s": 3, "MiB/s": 1, "per instruction": 4}
"""Decimal places by unit: those of CrayPAT for the units that CrayPAT prints."""


def counter_text(value: float, unit: str, unavailable: str) -> str:
    """Returns a counter's value, or n/a and the reason."""
    if unavailable:
        return f"{words.NONE} ({unavailable})"
    if unit == "MiB":
        return words.size(value * 2**20)
    if unit in _PLACES:
        return f"{value:,.{_PLACES[unit]}f} {unit}"
    return _plain(value)


def _rate(value: float) -> str:
    """Formats a rate per second, in millions if it is at least one million."""
    if is_nan(value):
        return ""
    return f"{value / 1e6:.3f} M/s" if value >= 1e6 else f"{_plain(value)} /s"


def _plain(value: float) -> str:
    """Formats a number without unit."""
    return words.count(value) if abs(value) >= 1000 else words.digits(value)


def _columns(job: Job) -> list[Column]:
    """Returns the columns of the counters; a single rank has no imbalance."""
    return [
        Column("region", "region"),
        Column("", "event"),
        Column("average rank" if job.nprocs > 1 else "value", ("value", "unit", "unavailable"), counter_text),
        Column("rate", "rate", _rate, optional=True),
        *([Column("Imb.%", "imbalance_percent", words.points)] * (job.nprocs > 1)),
        Column("counted", "ran", words.points),
    ]


def _counter_note(job: Job) -> str:
    """Returns a note about the counted part of the time, and about missing and nominal values if there are any."""
    found = counters.counters(job)
    said = [
        "Counted: the part of the time in which the event had a counter; values are scaled up to the whole time.",
        "This log was recovered: its counts end when they were last written, so that rates are not known.",
        "n/a: the event was not counted, so nothing is derived from it.",
        "Nominal peak: the most double-precision operations per cycle of such a core, from a table of processors, "
        "not measured.",
    ]
    lacks, nominal = False, False
    if found is not None:
        lacks = any(found["unavailable"].tolist())
        nominal = any("nominal peak" in unit for unit in found["unit"].tolist())
    return " ".join(one for one, holds in zip(said, (True, job.is_recovered, lacks, nominal), strict=True) if holds)


COUNTERS: Exhibit[Job] = Exhibit(
    name="counters",
    title="Counters of the processors",
    metric=counters.counters,
    columns=_columns,
    note=_counter_note,
    asked=True,
    source="iolens run --hwpc GROUP",
)


def of_the_run(job: Job) -> list[Block]:
    """Returns the table of the processor's counters in the whole run, for a page; `iolens table` also shows those of
    regions.
    """
    found = COUNTERS.frame(job)
    whole = None if found is None else found[found["region"] == counters.WHOLE]
    return replace(COUNTERS, metric=lambda _: whole, columns=_columns(job)[1:]).tables(job)


IO_CALLERS: Exhibit[Job] = Exhibit(
    name="io_callers",
    title="Time in I/O by call site",
    metric=sites.io_callers,
    columns=[
        NAME,
        *share_columns("Time", "time"),
        Column("Calls", "calls", words.guarded),
        Column("bytes", "bytes", words.size),
    ],
    note="Values of an average rank, and of the ranks with the largest, median and smallest value. MPI-IO calls "
    "contain the POSIX calls inside them: --filter group=POSIX or group=MPI-IO selects one of the two.",
    asked=True,
    drilled=True,
    levels=sites.LEVELS.known,
    apart=True,
    source="a log with the callers of I/O (the table io_sites)",
)
