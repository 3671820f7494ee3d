"""Limits on what may change between two subjects, for a gate in continuous integration.

A limit names one number of a comparison and by how much it may grow or fall: `run_time>+10%`. The limit is broken if
the change is proven to be beyond it, held if the change is proven not to be, and open if the runs prove neither.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from iolens.errors import UsageError
from iolens.log import Job
from iolens.log.job import on_counters
from iolens.metrics.statistics.intervals import CONFIDENCE, Ratio, family
from iolens.metrics.subjects.aligned import Key, numbers, typical
from iolens.metrics.subjects.subject import Subject
from iolens.metrics.subjects.values import RUN

BROKEN, HELD, OPEN = "broken", "held", "open"

_SCATTERED = ("s", "µs", "MiB/s", "share", "")
"""Units of numbers that differ from run to run of the same program. All others are counts and bytes."""

_NOT_ADDED = ("MiB/s", "share", "")
"""Units of numbers that a log with missing records may have too small or too large."""

_WHOLE_SECONDS = 2.0
"""Seconds by which two run times of logs that count whole seconds may differ by rounding."""

_LIMIT = re.compile(r"([a-z0-9_]+)\s*([<>])\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*%")


@dataclass(frozen=True)
class GrowthLimit:
    """A limit for the growth of a number (`is_above`) or for its fall: `change` is 0.1 for +10 %."""

    text: str
    name: str
    is_above: bool
    change: float


@dataclass(frozen=True)
class LimitVerdict:
    """The verdict on a limit (BROKEN, HELD or OPEN), and the reason for it.

    `base` and `new` are the typical values of both subjects in `unit`. `ratio` is new over base, with one end of a
    one-sided interval on either side; None if it cannot be computed.
    """

    limit: GrowthLimit
    outcome: str
    unit: str
    base: float
    new: float
    ratio: Ratio | None
    reason: str


def limit_of(text: str) -> GrowthLimit:
    """Returns the limit in a text such as `run_time>+10%`. Raises UsageError if the text is not a limit."""
    found = _LIMIT.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--fail {text}: a limit has a name, < or >, and per cent, as in 'run_time>+10%'")
    name, sign, change = found.groups()
    if float(change) <= -100:
        raise UsageError(f"--fail {text}: no number can fall by 100 % or more")
    return GrowthLimit(text.strip(), name, sign == ">", float(change) / 100)


def names_of(subject: Subject) -> Mapping[str, Key]:
    """Returns the numbers of a subject that a limit can name."""
    return {_name_in_limit(key): key for key in numbers(subject)}


def judge_limit(
    limits: Sequence[GrowthLimit], base: Subject, new: Subject, confidence: float = CONFIDENCE
) -> list[LimitVerdict]:
    """Returns a verdict for each limit. By Bonferroni's correction, all verdicts together are right with the given
    confidence.

    Raises UsageError if a limit names a number that neither subject has.
    """
    known = {**names_of(new), **names_of(base)}
    unknown = [limit for limit in limits if limit.name not in known]
    if unknown:
        close = ", ".join(get_close_matches(unknown[0].name, known, 3, 0.4))
        likely = f"; close to it: {close}" if close else ""
        raise UsageError(f"--fail {unknown[0].text}: no log or output here has this number{likely}; see --list")
    measured = [numbers(base), numbers(new)]
    risk = (1.0 - confidence) / max(1, len(limits))
    verdicts = [
        _verdict(limit, known[limit.name], [[*each.get(known[limit.name], ())] for each in measured], risk)
        for limit in limits
    ]
    return [_doubted(verdict, base, new) for verdict in verdicts]


def _name_in_limit(key: Key) -> str:
    """Returns the name of a number in a limit: `run_time`, `posix_calls_write`."""
    group, name, _, _ = key
    text = name if group == RUN else f"{group} {name}"
    return re.sub(r"[^a-z0-9]+", "_", text.lower().replace("i/o", "io").replace("mpi-io", "mpiio")).strip("_")


def _verdict(limit: GrowthLimit, key: Key, groups: Sequence[Sequence[float]], risk: float) -> LimitVerdict:
    """Returns the verdict on the measurements of both subjects."""
    unit, before, now = key[2], typical(groups[0])[0], typical(groups[1])[0]
    ratio, reason = _ratio(groups[0], groups[1], unit, risk)
    if ratio is None or ratio.low is None or ratio.high is None:
        return LimitVerdict(limit, OPEN, unit, before, now, ratio, reason)
    most = 1.0 + limit.change
    beyond = ratio.low > most if limit.is_above else ratio.high < most
    within = ratio.high <= most if limit.is_above else ratio.low >= most
    outcome = BROKEN if beyond else HELD if within else OPEN
    return LimitVerdict(
        limit, outcome, unit, before, now, ratio, "" if outcome != OPEN else "more runs are needed to tell"
    )


def _doubted(verdict: LimitVerdict, base: Subject, new: Subject) -> LimitVerdict:
    """Returns the verdict, or an open one if it may come from what the logs lack.

    The counts and seconds of a log that is not whole are too small. So the ratio is too large if such a log is among
    the base runs, and too small if it is among the new ones.
    """
    if verdict.outcome == OPEN:
        return verdict
    seems_large = (verdict.outcome == BROKEN) == verdict.limit.is_above
    doubtful = [base, new] if verdict.unit in _NOT_ADDED else [base if seems_large else new]
    if any(_is_cut(job) for subject in doubtful for job in subject.jobs):
        return replace(verdict, outcome=OPEN, reason="a log is incomplete, so its numbers are too small")
    coarse = verdict.limit.name == "run_time" and any(job.whole_seconds for job in (*base.jobs, *new.jobs))
    if coarse and abs(verdict.new - verdict.base) < _WHOLE_SECONDS:
        return replace(verdict, outcome=OPEN, reason="the logs count whole seconds")
    return verdict


def _is_cut(job: Job) -> bool:
    """Returns whether counts and times of a log are too small; traces that ran out of room change neither."""
    return bool(on_counters(job.partial))


def _ratio(base: Sequence[float], new: Sequence[float], unit: str, risk: float) -> tuple[Ratio | None, str]:
    """Returns the ratio of new to base, and the reason if the ratio or its interval is missing. Each end of the
    interval misses the true ratio with a probability of at most `risk`.
    """
    if not base or not new:
        return None, "only one side has this number"
    if not all(map(math.isfinite, (*base, *new))):
        return None, "some runs have no number here, or an infinite one"
    if len({*base}) == len({*new}) == 1 and (unit not in _SCATTERED or min(len(base), len(new)) > 1):
        exact = new[0] / base[0] if base[0] else 1.0 if not new[0] else math.inf
        return Ratio(exact, exact, exact), ""
    if min(*base, *new) <= 0:
        return None, "some runs have 0 here"
    found = family([base, new]).contrast([(1.0, 1), (-1.0, 0)], 2 * risk)
    return found, "a single run shows no spread; give folders of repetitions"
