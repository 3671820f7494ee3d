"""Functions that were traced by group, and counters of their calls."""

from __future__ import annotations

from iolens.log import Job
from iolens.metrics.processor.counters import SCALES
from iolens.metrics.processor.traced import calls as traced_calls
from iolens.metrics.processor.traced.counters import events_in_calls, traced_counters
from iolens.missing import is_nan
from iolens.pages import words
from iolens.pages.exhibit import Column, Exhibit
from iolens.pages.exhibits.processor.counters import counter_text
from iolens.pages.exhibits.processor.drilled import guarded_seconds

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
