"""Counters of processors, functions that were traced by group with counters of their calls, and the heap."""

from __future__ import annotations

from dataclasses import replace

from iolens.log import Job
from iolens.metrics.processor import counters
from iolens.metrics.processor.counters import SCALES
from iolens.metrics.processor.io import sites
from iolens.metrics.processor.traced import calls
from iolens.metrics.processor.traced import calls as traced_calls
from iolens.metrics.processor.traced.calls import events_in_calls, traced_counters
from iolens.missing import is_nan
from iolens.pages.base import words
from iolens.pages.base.blocks import Block
from iolens.pages.base.columns import NAME, guarded_seconds, share_columns
from iolens.pages.base.exhibit import Column, Exhibit

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


_COLUMNS = [
    Column("group", "group"),
    Column("function", "function"),
    Column("Exclusive, s", "exclusive", guarded_seconds, optional=True),
    Column("Inclusive, s", "time", guarded_seconds),
    Column("Exclusive of a call, s", "per_call", guarded_seconds),
    Column("Imb.%", "imbalance_percent", words.points),
    Column("slowest rank, s", "most", guarded_seconds),
    Column("its rank", "most_rank", lambda rank: "" if rank < 0 else str(rank)),
    Column("Calls", "calls", words.guarded),
    Column("bytes", "bytes", words.size, optional=True),
    Column("ranks that stopped counting", "throttled", words.count, optional=True),
]


def _in_a_call(event: str) -> Column:
    """Returns the column with an event's mean per call."""
    factor, unit = (1e6, "us") if SCALES.get(event, (1.0, ""))[1] == "s" else (1.0, "")
    name = event.replace("-", " ")
    head = f"{name} a call, {unit}" if unit else f"{name} a call"
    return Column(head, event, lambda value: words.GUARD if is_nan(value) else words.digits(factor * value))


def _traced_columns(job: Job) -> list[Column]:
    """Returns the columns that every log has, and one for each event that was counted in calls."""
    return _COLUMNS + [_in_a_call(event) for event in events_in_calls(job)]


TRACED: Exhibit[Job] = Exhibit(
    name="traced",
    title="Traced functions",
    metric=traced_calls.traced_calls,
    columns=_traced_columns,
    note="Values of an average rank. Exclusive: without inner calls whose time is in the log (traced functions, MPI "
    "if it is traced, files). Inclusive: a call inside a call of the same function is part of the outer call. "
    "Imb.% uses exclusive times, or inclusive times if the log has no others. A rank stops counting a function "
    "of the program after 100 000 calls of less than 10 us on average. Counters of a call (--hwpc) are means "
    "over the calls that have them (traced_counters).",
    asked=True,
    source="iolens run --trace GROUP or --apa FILE",
)


def _sum_words(value: float, unit: str) -> str:
    """Returns a sum over calls; empty if there is none."""
    return "" if is_nan(value) else counter_text(value, unit, "")


TRACED_COUNTERS: Exhibit[Job] = Exhibit(
    name="traced_counters",
    title="Counters of traced functions",
    metric=traced_counters,
    columns=[
        Column("group", "group"),
        Column("function", "function"),
        Column("", "event"),
        Column("a call", ("per_call", "unit", "unavailable"), counter_text),
        Column(
            "average rank",
            ("total", "unit"),
            lambda value, unit: "" if is_nan(value) else counter_text(value, unit, ""),
        ),
        Column("calls counted", "calls", words.guarded),
        Column("counted", "ran", words.points),
        Column("ranks that counted only the first calls", "first", words.count, optional=True),
    ],
    note="Counts of a function include the functions that it called, and the reading of counters in them, about 1 us "
    "each. A rank stops reading after the first 10 000, 20 000 ... calls of a function if reading took more than "
    "a tenth of the time. Counted: the part of the time in which the event had a counter; values are scaled up "
    "to the whole time. n/a: this processor does not offer the event, or its operator forbids it.",
    asked=True,
    apart=True,
    source="iolens run --trace GROUP --hwpc GROUP",
)


TRACING_COST: Exhibit[Job] = Exhibit(
    name="tracing_cost",
    title="What tracing itself cost",
    metric=traced_calls.tracing_cost,
    columns=[
        Column("group", "group"),
        Column("cost%", "share", words.points),
        Column("at least, s", "seconds", guarded_seconds),
        Column("of a call, ns", "per_call", lambda seconds: words.guarded(1e9 * seconds)),
        Column("Calls", "calls", words.guarded),
    ],
    note="Costs for an average rank, and shares of the run time. Lower bounds: calls, times the shortest time that "
    "recording a call took in trials at the end of each process; reading counters (--hwpc) is not included. "
    "n/a: a process was killed, or, for mpi, several callers of each call are recorded (--callers).",
    source="iolens run --trace GROUP or --apa FILE",
)


_RANK = Column("rank", "rank", lambda rank: "other ranks, together" if rank < 0 else str(rank))
_AMOUNTS = [
    Column("high water", "high_bytes", words.size),
    Column("not freed", "live_bytes", words.size),
    Column("blocks not freed", "live_blocks", words.count),
    Column("allocated", "bytes", words.size),
    Column("calls", "calls", words.count),
]
_SOURCE = "iolens run --trace heap"

HEAP: Exhibit[Job] = Exhibit(
    name="heap",
    title="Memory from malloc, by rank",
    metric=calls.heap,
    columns=[_RANK, Column("at second", "high_time", words.seconds), *_AMOUNTS],
    note="High water: bytes in use when the rank's heap was largest, and the time of that since the start. Not "
    "freed: in use when recording ended (in MPI_Finalize, or when the program ended). Sizes are those that the "
    "program asked for. Memory from mmap, and from before recording began, is not included.",
    source=_SOURCE,
)

HEAP_CALLERS: Exhibit[Job] = Exhibit(
    name="heap_callers",
    title="Memory from malloc, by caller",
    metric=calls.heap_callers,
    columns=[_RANK, Column("caller", "caller"), *_AMOUNTS],
    note="High water: bytes that the caller had in use when the rank's heap was largest. The caller is the function "
    "that called malloc or a related function; in C++, the one that called operator new.",
    apart=True,
    source=_SOURCE,
)
