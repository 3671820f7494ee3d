"""The records of a comparison's runs in one form, and checks of how the runs were made: machine, load, order, caches,
repetitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any

from iolens.lazy import pd
from iolens.metrics.comparison.settings import two_digits, volume_text
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


_BUSY = 0.5
"""Load average per processor before a run; above it, other programs are assumed to have been running."""

_ENOUGH = 3
"""Number of repetitions from which on an interval is useful."""

HELD = 0.01
"""Largest share of the data that may still be in the page cache when a node reads the data back; up to it, reads count
as reads from storage.
"""

_DAY = 86400.0


def _alike(column: str, evidence: Evidence) -> Finding:
    """Checks whether all runs have the same value in a column; the evidence names the values."""
    known = evidence.known(column)
    if not known:
        return UNKNOWN, "Not recorded."
    said = list_text([", ".join(value) if isinstance(value, tuple) else value for value in known])
    missing = evidence.unknown(column)
    if len(set(known)) > 1:
        return BROKEN, f"{len(set(known))} different: {said}."
    return (
        (UNKNOWN, f"{said}; {missing} of {len(evidence.runs)} runs do not report this.")
        if missing
        else (KEPT, f"{said}.")
    )


def _memory(evidence: Evidence) -> Finding:
    """Checks whether all machines have the same amount of memory."""
    known = {int(value) for value in evidence.known("memory")}
    if not known:
        return UNKNOWN, "Not recorded."
    said = list_text([volume_text(value) for value in sorted(known)])
    same = max(known) <= 1.02 * min(known)
    return (KEPT if same and not evidence.unknown("memory") else BROKEN if not same else UNKNOWN), f"{said}."


def _dates(evidence: Evidence) -> Finding:
    """Checks whether the runs were made within a day."""
    known = sorted(_moments(evidence))
    if not known:
        return UNKNOWN, "Not recorded."
    span = (known[-1] - known[0]).total_seconds()
    begin, end = known[0].date().isoformat(), known[-1].date().isoformat()
    said = begin if begin == end else f"{begin} to {end}"
    if span > _DAY:
        return BROKEN, f"{said}: the system may have changed in the meantime."
    return (UNKNOWN if len(known) < len(evidence.runs) else KEPT), f"{said}."


def _moments(evidence: Evidence) -> list[datetime]:
    """Returns the times at which the runs began, if known, in UTC without time zones so that they can be sorted."""
    found = []
    for text in evidence.known("started"):
        try:
            found.append(datetime.fromisoformat(str(text)).replace(tzinfo=None))
        except ValueError:
            continue
    return found


def load(evidence: Evidence) -> Finding:
    """Checks whether other work ran before a run; load that the sweep's own earlier runs left counts too."""
    runs = [
        (float(before), int(cpus))
        for before, cpus in zip(evidence.runs["load_before"], evidence.runs["cpus"], strict=True)
        if before is not None and cpus
    ]
    if not runs:
        known = [float(value) for value in evidence.known("load_before")]
        said = (
            f"The load was up to {two_digits(max(known))}; the number of processors is not recorded."
            if known
            else "Not recorded."
        )
        return UNKNOWN, said
    most = max(before / cpus for before, cpus in runs)
    own = " Earlier runs of the sweep contribute to the load." if evidence.swept else ""
    said = f"Before a run, the load average was up to {two_digits(most)} for each processor.{own}"
    return (KEPT if most <= _BUSY else BROKEN), said


def _alternation(evidence: Evidence) -> Finding:
    """Checks whether the runs of the compared settings alternate, so that drift affects all of them equally."""
    known = list(zip(evidence.runs["started"], evidence.runs["group"], strict=True))
    if not known or any(not moment for moment, _ in known):
        return UNKNOWN, "Not all runs report when they began."
    if len(set(evidence.runs["group"])) < 2:
        return UNKNOWN, "One setting only."
    if len(known) == len({group for _, group in known}):
        return UNKNOWN, "There is one run of each setting, so no order can reveal drift."
    if len({moment for moment, _ in known}) < len({group for _, group in known}):
        return UNKNOWN, "The start times do not show the order of the runs."
    stretches = [group for group, _ in groupby(group for _, group in sorted(known, key=lambda pair: str(pair[0])))]
    if len(stretches) == len(set(stretches)):
        return BROKEN, "All runs of one setting come before all runs of the next, so a drift looks like a difference."
    return KEPT, f"The runs alternate: {len(stretches)} stretches of {len(set(stretches))} settings."


def _caches(evidence: Evidence) -> Finding:
    """Checks the state of the page cache when the runs began, and whether reads may have come from it."""
    held = [int(value) for value in evidence.known("cached")]
    reads = [float(value) for value in evidence.known("bytes_read")]
    amounts = dict.fromkeys(volume_text(size) for size in (min(held), max(held))) if held else {}
    said = f"The page cache held {' to '.join(amounts)} when runs began" if held else ""
    memory_of = [int(value) for value in evidence.known("memory")]
    if reads and max(reads) == 0:
        return KEPT, f"{said + '; t' if said else 'T'}he measured phases contain no reads."
    if set(evidence.known("pages_read")) == {"modelled"} and not evidence.unknown("pages_read"):
        return KEPT, "The model of the storage has no page cache for reads."
    left = [float(value) for value in evidence.known("cached_before_read")]
    if left and not evidence.unknown("cached_before_read"):
        what = f"After the request to drop the data, nodes still held at most {100 * max(left):.0f} % of it in memory"
        return (KEPT if max(left) <= HELD else BROKEN), f"{what}; the caches of the servers are unknown."
    if reads and memory_of and max(reads) < min(memory_of):
        return BROKEN, f"{said or 'The page cache is not recorded'}; reads may come from it, because the data fits in."
    return UNKNOWN, f"{said}." if said else "Not recorded."


_WRITTEN: Mapping[str, Finding] = {
    "modelled": (KEPT, "the model of the storage gives the times of writes, including the clients' write-behind"),
    "bypassed": (KEPT, "the page cache was bypassed (O_DIRECT)"),
    "synced": (KEPT, "the data was synced inside the timed part"),
    "not synced": (BROKEN, "the data was not synced inside the timed part, so some may have been only in memory"),
}
"""A sentence for each word by which run.json tells where written data was when the clock stopped."""


def _written_pages(evidence: Evidence) -> Finding:
    """Checks whether the timed writes include the time until data reached the storage."""
    moved = [float(value) for value in evidence.known("bytes_written")]
    if moved and max(moved) == 0:
        return KEPT, "The measurements contain no writes."
    known = list(dict.fromkeys(str(word) for word in evidence.known("pages_written")))
    if not known:
        calls = [int(value) for value in evidence.known("syncs")]
        if calls and not any(calls):
            return (
                BROKEN,
                f"None of the {len(calls)} runs that record syncs synced data; some data may have been only in memory.",
            )
        return UNKNOWN, "n/a: no run reports if the data was synced inside the timed part."
    found = [_WRITTEN.get(word, (UNKNOWN, word)) for word in known]
    missing = evidence.unknown("pages_written")
    states = [state for state, _ in found] + [UNKNOWN] * bool(missing)
    said = "; in other runs ".join(text for _, text in found)
    said = said[:1].upper() + said[1:]
    said += f"; {missing} of {len(evidence.runs)} runs do not report this" if missing else ""
    fresh = ". The sweep does not drop pages from memory; every run writes new files" if evidence.swept else ""
    return next(state for state in (BROKEN, UNKNOWN, KEPT) if state in states), f"{said}{fresh}."


def _repetitions(evidence: Evidence) -> Finding:
    """Checks whether each setting has enough runs."""
    counts = [len(each) for each in evidence.groups.values()]
    if not counts:
        return UNKNOWN, "No measurement can be used."
    said = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    said += f" run{'' if said == '1' else 's'} of each setting; the rule requires {_ENOUGH} or more."
    return (KEPT if min(counts) >= _ENOUGH else BROKEN), said


CHECKS: Mapping[str, Callable[[Evidence], Finding]] = {
    "Same processor": partial(_alike, "cpu"),
    "Same memory": _memory,
    "Same kernel": partial(_alike, "kernel"),
    "Same MPI library": partial(_alike, "mpi"),
    "Same hosts": partial(_alike, "hosts"),
    "Same kind of storage": partial(_alike, "storage"),
    "Made within a day": _dates,
    "Quiet machine": load,
    "Order of runs mixed": _alternation,
    "Caches are cold or have no effect": _caches,
    "Writes reach the storage, not only the page cache": _written_pages,
    "Enough repetitions": _repetitions,
}
"""The checks of this file, by the text of their rule."""
