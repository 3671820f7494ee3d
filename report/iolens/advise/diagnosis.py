"""The one judgement of a job, which pages, terminal, JSON, comparisons and stores print."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iolens.advise import say
from iolens.advise.finding import Finding, Verdict
from iolens.advise.judge import BESIDE_IO, verdict
from iolens.advise.limits import DEFAULTS, Limits
from iolens.advise.standing import INCOMPLETE, JUDGED, SHORT, WHOLE_SECONDS, log_standing
from iolens.advise.table import RULES
from iolens.advise.weigh import weighed
from iolens.log import Job
from iolens.log.processes import main_process
from iolens.log.records import Records
from iolens.metrics.files.use import by_file
from iolens.metrics.job.gauges import gauges
from iolens.metrics.job.unknown import CAUSES, CLOCK, EXCHANGE, NUMBERS, RECORDS, REMARKS, TRANSFERS, unknown
from iolens.metrics.once import once_per_job
from iolens.missing import is_nan

_UNJUDGED = {
    SHORT: "too little I/O to judge",
    WHOLE_SECONDS: "too short to judge",
    INCOMPLETE: "too incomplete to judge",
}
"""The reasons why the gauges of a job are not judged, by the standing of its I/O. The reason for any other standing is
'nothing to gain'.
"""
ALL_IN_USE = "all that the log names"
_UNEXPLAINED = "no rule explains it"

_GAUGE_NAMES = {
    "balance": "the balance of I/O over ranks",
    "size": "the mean transfer",
    "stripes": "the effective number of storage targets",
}

_GAUGE_VALUES: Mapping[str, Callable[[float], str]] = {
    "balance": say.two_digits,
    "size": say.size,
    "stripes": say.three_digits,
}


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of a job, computed once.

    `gauges` has the columns of `gauges` in metrics.job.gauges; here `good` is False only if the verdict says that time
    can be gained, and `reason` then names the finding, or says that none explains it. `findings`: most gain first,
    notes last. `hints`: the lines `key value` for MPI-IO from findings whose remedy is worth its work, each line once.
    `unknown`: the facts that the log does not have, with the reasons. `confidence` in the verdict is high, medium or
    low, and empty if nothing was judged; `doubts` are sentences on facts that the log lacks and that could change the
    verdict, except the facts that the verdict's own sentence mentions.
    """

    verdict: Verdict
    gauges: Records
    findings: tuple[Finding, ...]
    unknown: tuple[tuple[str, str], ...]
    confidence: str = ""
    doubts: tuple[str, ...] = ()

    @property
    def worth(self) -> tuple[Finding, ...]:
        """Returns the findings whose remedy is worth its work."""
        return tuple(one for one in self.findings if one.worth_it)

    @property
    def minor(self) -> tuple[Finding, ...]:
        """Returns the findings whose remedy is not worth its work."""
        return tuple(one for one in self.findings if one.severity == "low")

    @property
    def notes(self) -> tuple[Finding, ...]:
        """Returns the findings about the log and its numbers."""
        return tuple(one for one in self.findings if one.severity == "note")

    @property
    def gain(self) -> float:
        """Returns the largest part of the run (0 to 1) that a single worthwhile remedy can take away."""
        return max((one.gain for one in self.worth if one.gain is not None), default=0.0)

    @property
    def hints(self) -> tuple[str, ...]:
        """Returns the lines with MPI-IO hints of all findings that are worth it, each line once."""
        return tuple(dict.fromkeys(line for one in self.worth for line in one.hints))


@once_per_job
def diagnosis(job: Job) -> Diagnosis:
    """Returns the judgement of a job by the default thresholds, computed once for as long as the job is in use."""
    return diagnosed(job, DEFAULTS)


def diagnosed(job: Job, limits: Limits, notes: bool = True) -> Diagnosis:
    """Returns the judgement of a job by these thresholds; without `notes`, rules that only make notes are not
    applied. Of the processes of a command, the one with most I/O is judged: the others are no ranks beside it.
    """
    job = main_process(job)
    found = weighed(job, limits, notes)
    judged = _judged_gauges(job, limits, found)
    said = verdict(
        job, limits, found, [_outside_words(*row) for row in judged.rows(*_OUTSIDE) if _is_unexplained(*row)]
    )
    found_gaps = unknown(job)
    gaps = list(found_gaps.rows("what", "why", "doubt")) if found_gaps is not None else []
    doubted = {NUMBERS} if said.kind == "nothing" else {NUMBERS, CAUSES}  # No cause is named if little time is lost.
    decisive = [gap for gap in gaps if gap[2] in doubted and not _is_beside(gap[0], said, found)]
    open_times = {one.doubt: CAUSES for one in found if one.worth_it and one.evidence == said.evidence and one.doubt}
    open_times |= {said.doubt: CAUSES} if said.doubt else {}
    return Diagnosis(
        said,
        judged,
        found,
        tuple((what, why) for what, why, _ in gaps),
        _confidence(said, {*(doubt for _, _, doubt in decisive), *open_times.values()}),
        (*(_gap_sentence(what, why) for what, why, _ in decisive), *open_times),
    )


def _is_beside(gap: str, said: Verdict, found: Sequence[Finding]) -> bool:
    """Returns True if a fact that the log lacks need not be mentioned with this verdict. A verdict of "too short to
    judge" already speaks of the clock; only a verdict about exchange depends on the times inside collective calls.
    """
    if gap == EXCHANGE:
        return not any(one.id == "exchange" and one.title in said.sentence for one in found)
    return said.is_too_short and gap == CLOCK


def _confidence(said: Verdict, doubts: set[str]) -> str:
    """Returns the confidence in a verdict: high, medium or low; empty if nothing was judged."""
    if said.is_too_short or (said.share is None and said.kind == "nothing"):
        return ""
    if NUMBERS in doubts:
        return "low"
    return "medium" if CAUSES in doubts else "high"


def _gap_sentence(what: str, why: str) -> str:
    """Returns the sentence on one fact that the log lacks, and the reason."""
    return why if what in (RECORDS, TRANSFERS, REMARKS) else f"This log cannot tell {what}, because {why.rstrip('.')}."


def _judged_gauges(job: Job, limits: Limits, found: Sequence[Finding]) -> Records:
    """Returns the gauges; `reason` of a gauge outside its bound is the statement of the findings about it."""
    stands = log_standing(job, limits)
    rows = []
    for name, value, bound, good, reason, source in gauges(job).rows(
        "gauge", "value", "bound", "good", "reason", "source"
    ):
        if not is_nan(value):
            if stands != JUDGED:
                good, reason = None, _UNJUDGED.get(stands, "nothing to gain")
            elif good is None:
                reason = ALL_IN_USE
            elif not good:
                good, reason = _explained(job, name, limits, found)
        rows.append((name, value, bound, None if good is None else bool(good), reason, source))
    return Records.of(["gauge", "value", "bound", "good", "reason", "source"], rows)


def _explained(job: Job, gauge: str, limits: Limits, found: Sequence[Finding]) -> tuple[bool | None, str]:
    """Returns False and an explanation of a gauge outside its bound; returns None and the reason if that is not a
    fault.
    """
    about = [one for one in found if one.severity != "note" and _is_about(one.id, gauge)]
    if about:
        return False, f"“{about[0].title}”"
    if gauge == "size" and (few := _transfers(job)) < limits["few_calls"]:
        return None, f"{say.count(few, 'transfer')} are too few to matter"
    upper = by_file(job, "MPI-IO")
    if gauge == "balance" and upper is not None and (upper["COLL_WRITES"] + upper["COLL_READS"]).any():
        return None, "in collective calls some ranks do the I/O of others"
    return False, _UNEXPLAINED


def _is_about(rule: str, gauge: str) -> bool:
    """Returns whether a finding of this rule explains a gauge; any finding of I/O explains I/O's share of the run."""
    return rule not in BESIDE_IO if gauge == "share" else gauge in _GAUGES_OF[rule]


def _transfers(job: Job) -> float:
    """Returns the number of reads and writes at POSIX."""
    table = by_file(job, "POSIX")
    return 0.0 if table is None else float(np.sum(table["READS"] + table["WRITES"]))


def _is_unexplained(gauge: str, value: float, good: bool | None, reason: str) -> bool:
    """Returns whether a gauge lies outside its bound and no finding explains it."""
    return good is False and not reason.startswith("“")


def _outside_words(gauge: str, value: float, good: bool | None, reason: str) -> str:
    """Returns a gauge outside its bound in words; empty for the share, which the verdict begins with."""
    if gauge not in _GAUGE_NAMES:
        return ""
    return f"{_GAUGE_NAMES[gauge]} is {_GAUGE_VALUES[gauge](value)}"


_OUTSIDE = ("gauge", "value", "good", "reason")

_GAUGES_OF: Mapping[str, tuple[str, ...]] = {rule.id: rule.gauges for rule in RULES}
