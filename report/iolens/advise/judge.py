"""Determines what limits a run: where its time went, if the log tells that, and the finding whose remedy can gain
most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from iolens.advise import say
from iolens.advise.finding import TOO_SHORT, Finding, Verdict
from iolens.advise.limits import Limits
from iolens.advise.standing import HARDLY, INCOMPLETE, JUDGED, NOTHING, SHORT, WHOLE_SECONDS, log_standing
from iolens.advise.table import RULES
from iolens.log import Job
from iolens.log.job import on_counters
from iolens.metrics.files.stripes.striping import unrecorded_files
from iolens.metrics.job.ranks import io_span_seconds, io_span_share
from iolens.metrics.job.spent import io_span

if TYPE_CHECKING:
    from iolens.metrics.processor.sampled.largest import Largest

_HOW = (
    "I/O time is the read, write and metadata time of the slowest rank. For each shared file, the time of that file's "
    "slowest rank counts."
)
_HOW_ALONE = "I/O time is the read, write and metadata time of the process."

TOO_INCOMPLETE = "this log is too incomplete to judge it"

_NO_TRANSFER = "No module recorded a transfer."

LEAST_SHARE = 0.001
"""Smallest share of the run that is printed; a smaller share is printed as "at most 0.1 %"."""

_LARGE, _MOST_PARTS = 0.05, 3
"""The sentence on a run that is not judged names only parts with at least this share of the time, and at most this
number of parts.
"""

BESIDE_IO = frozenset(rule.id for rule in RULES if rule.beside_io)
"""The rules whose remedies save time outside of I/O, by id."""

_ASLEEP = frozenset(rule.id for rule in RULES if rule.asleep)
"""The rules that explain why a process was asleep or blocked outside of I/O, by id."""


_WAITING = "Bound by waiting"
"""Beginning of the verdict on a run that was mostly asleep or blocked."""


def verdict(job: Job, limits: Limits, found: Sequence[Finding], outside: Sequence[str] = ()) -> Verdict:
    """Returns what limits this run. `found`: the findings of this job; `outside`: descriptions of the gauges outside
    their bounds that no finding explains.
    """
    share, spent = io_span_share(job), io_span_seconds(job)
    elsewhere = beside_io(job, limits, share)
    worth = [one for one in found if one.worth_it]
    stands = log_standing(job, limits)
    if elsewhere is not None and not (elsewhere.is_too_short and (worth or stands == JUDGED)):
        return _with_cause(job, limits, elsewhere, worth)
    how = _HOW if job.nprocs > 1 else _HOW_ALONE
    if share is None or spent is None or stands in (NOTHING, HARDLY, SHORT, WHOLE_SECONDS, INCOMPLETE):
        if worth:
            return _by_finding(worth[0], share)
        sentence = _too_little(job, limits, stands, share, spent)
        parts = "" if stands == WHOLE_SECONDS else _all_parts(job, _LARGE, _MOST_PARTS)
        return Verdict("nothing", f"{sentence}{parts}.", how if share else _NO_TRANSFER, share)
    of_io = [one for one in worth if one.id not in BESIDE_IO]
    if of_io:
        return _by_finding(of_io[0], share)
    why = f"the fault lies outside I/O: {worth[0].title}" if worth else _nothing_found(found, outside)
    return Verdict("transfers", f"{_part_of_run(job, share, spent)}; {why}.", how, share)


def _with_cause(job: Job, limits: Limits, elsewhere: Verdict, worth: Sequence[Finding]) -> Verdict:
    """Returns the verdict on a run that spent most time outside of I/O. If the run was asleep, the sentence names the
    finding that explains half of that time or more.
    """
    part = _largest_part(job, limits) if elsewhere.sentence.startswith(_WAITING) else None
    causes = [one.title for one in worth if one.id in _ASLEEP and part and (one.gain or 0.0) >= part.share / 2]
    if not causes:
        return elsewhere
    cause = causes[0][0].lower() + causes[0][1:]
    return replace(elsewhere, sentence=elsewhere.sentence.replace(_WAITING, f"{_WAITING} ({cause})", 1))


def _too_little(job: Job, limits: Limits, stands: str, share: float | None, spent: float | None) -> str:
    """Returns the reason why a job's I/O is not judged, without the full stop."""
    if share is None or spent is None:
        return _no_records(job)
    part = _part_of_run(job, share, spent)
    if stands == WHOLE_SECONDS:
        return (
            f"{TOO_SHORT}: {say.brief_seconds(spent)} of I/O in a run of {say.run_time(job)}, and this log counts "
            "whole seconds only"
        )
    if stands == INCOMPLETE:
        return f"{part}; {TOO_INCOMPLETE}"
    if stands == SHORT:
        return f"{TOO_SHORT}: {part}; advice begins at {say.seconds(limits['least_seconds'])} of I/O"
    if stands == HARDLY:
        least = say.percent(limits["worth_gain"])
        return f"Hardly worth your time: {_part_of_run(job, share, spent, least)}; advice begins at {least}"
    return f"Nothing worth your time: {part}"


def _by_finding(one: Finding, share: float | None) -> Verdict:
    """Returns the verdict that is made from one finding: what limits the run, and how much a remedy can save."""
    kind = one.limited_by or ("mpi" if one.id in BESIDE_IO else "transfers")
    said = f"Bound by {kind}" if one.limited_by else one.title
    gain = f"; a remedy can save {one.gain_words}" if one.gain is not None else f": {one.gain_words}"
    return Verdict(kind, f"{said}{gain}.", one.evidence, share)


def _no_records(job: Job) -> str:
    """Returns a sentence, without the full stop, for a log without a record of I/O."""
    if job.records:
        return "Nothing to judge: this log records no time in I/O"
    return "Nothing to judge: this log has no records. The program used no file, or the profiler recorded none"


def _part_of_run(job: Job, share: float, spent: float, limit: str = "") -> str:
    """Returns a clause with an upper bound on the share of I/O in the run; if records are missing, it speaks of the
    recorded I/O. The share is below `limit`: if both are printed alike, the clause says "less than".
    """
    whose = _recorded_io(job)
    whose = whose[0].upper() + whose[1:]
    most = say.at_most(max(share, LEAST_SHARE))
    bound = f"less than {limit}" if most == limit else f"at most {most}"
    return f"{whose} took {bound} of the run: {say.brief_seconds(spent)} of {say.run_time(job)}"


def _recorded_io(job: Job) -> str:
    """Returns the name of the I/O that the log has, for the middle of a sentence."""
    return "recorded I/O" if on_counters(job.partial) or unrecorded_files(job) else "I/O"


def _nothing_found(found: Sequence[Finding], outside: Sequence[str]) -> str:
    """Returns the clause that says why no finding explains the I/O of a run."""
    if any(one.id == "log-blind" for one in found):
        return "rules could not judge it, because the log does not show how some of its bytes moved"
    if outside:
        said = " and ".join(filter(None, outside))
        return f"no rule explains it, and {said}" if said else "no rule explains it"
    if any(one.severity == "low" for one in found):
        return "the faults that rules found cost too little"
    return "no rule found a fault in it"


def _known_parts(job: Job) -> dict[str, float]:
    """Returns the shares (0 to 1) of an average rank's time by part; empty if the log does not show them."""
    from iolens.metrics.processor.sampled.largest import largest_shares

    return largest_shares(job)


def _all_parts(job: Job, least: float = LEAST_SHARE, most: int | None = None) -> str:
    """Returns a clause with the shares of the parts of the time, the largest first: at most `most` parts, and none
    below `least`. Returns "" if the log shows no parts.
    """
    parts = {part: share for part, share in _known_parts(job).items() if share >= least}
    largest = sorted(parts, key=lambda part: -parts[part])[:most]
    said = ", ".join(f"{part} {say.percent(parts[part])}" for part in largest)
    return f"; of {_time_of(job)}: {said}" if said else ""


def _time_of(job: Job) -> str:
    """Returns the name of the time to which the shares refer, such as the run time or the time of an average rank."""
    return "an average rank's time" if job.nprocs > 1 else "the run time"


_LARGEST = {
    "compute": ("compute", "Bound by computing: {share} of {whose} on a core"),
    "kernel": ("system calls", "Bound by system calls outside I/O: {share} of {whose} on a core"),
    "threads": ("threads", "Bound by one thread while others have less to do: {share} of {whose} on a core"),
    "openmp": ("OpenMP", "Bound by waiting in OpenMP: {share} of {whose} in barriers and idle workers"),
    "cores": ("cores", "Bound by a lack of cores: ready to run, and waiting for a core, for {share} of {whose}"),
    "blocked": ("asleep", _WAITING + ": asleep or blocked outside I/O for {share} of {whose}"),
    "children": ("asleep", "Bound by child processes: waiting outside I/O for {share} of {whose}"),
    "off": ("asleep", _WAITING + ": not on a core (asleep, blocked or waiting for a core) for {share} of {whose}"),
    "mpi": ("mpi", "Bound by MPI: {share} of {whose}"),
    "start": ("mpi", "Bound by the start and end of MPI: {share} of {whose}"),
    "unknown": (
        "not known",
        "Not bound by I/O; this log does not separate computing from waiting for {share} of {whose}",
    ),
}
"""The kind and the sentence of the verdict on a run whose largest part is not I/O, by the kind of that part."""


def _largest_part(job: Job, limits: Limits) -> Largest | None:
    """Returns the largest part of the time. It is not the lack of cores if a replay says that a core for each rank
    would save less than is worth advice: ranks that only poll inside MPI lose nothing without a core.
    """
    from iolens.metrics.processor.sampled.largest import largest_part, largest_part_with_cores
    from iolens.metrics.why.answers import bound_of
    from iolens.metrics.why.what_if import OWN_CORES

    found = largest_part(job)
    if found is None or found.kind != "cores":
        return found
    most = bound_of(job, OWN_CORES)
    is_idle = most is not None and most < limits["worth_gain"] * job.run_time
    return largest_part_with_cores(job) if is_idle else found


def beside_io(job: Job, limits: Limits, share: float | None) -> Verdict | None:
    """Returns the verdict on a run that spent most time on something other than I/O, if the log shows that. The largest
    part is judged only if it took at least `least_seconds`, as for I/O.
    """
    if job.coarse or job.run_time < limits["least_seconds"]:
        return None
    found = _largest_part(job, limits)
    if found is None or found.kind == "io" or _may_wait_for_io(job, limits, found, share or 0.0):
        return None
    how = f"Parts{_all_parts(job).removeprefix(';')}."
    if found.share * job.run_time < limits["least_seconds"]:
        parts = _all_parts(job, _LARGE, _MOST_PARTS).partition(": ")[2]
        least = say.seconds(limits["least_seconds"])
        return Verdict("nothing", f"{TOO_SHORT}: no part of {_time_of(job)} took {least} ({parts}).", how, share)
    kind, sentence = _LARGEST[found.kind]
    said = sentence.format(share=say.percent(found.share), whose=_time_of(job))
    details = "".join(f"; {detail}" for detail in (found.detail,) if detail)
    whose = "the slowest rank's" if job.nprocs > 1 else "it"
    most = (
        "" if share is None else f"; {_recorded_io(job)} took at most {say.at_most(max(share, LEAST_SHARE))} of {whose}"
    )
    return Verdict(kind, f"{said}{_hottest(job, found.kind)}{details}{most}.", how, share, _doubt_of_part(job, found))


_CLEAR_PART = 2 / 3
"""Share of the time from which one part of it is called the limit without a doubt."""


def _doubt_of_part(job: Job, found: Largest) -> str:
    """Returns the reason why the largest part of the time may not be what to change first; empty if there is none."""
    if found.kind == "cores":
        return "Other programs may have used the cores, so that another run may wait less."
    if found.share < _CLEAR_PART:
        return f"No part is two thirds of {_time_of(job)}: a change in the rest may save as much."
    return ""


def _may_wait_for_io(job: Job, limits: Limits, found: Largest, share: float) -> bool:
    """Returns whether the largest part of the time may be waiting for the I/O of other ranks, or is no larger than the
    I/O of the slowest rank.

    Ranks that wait in MPI calls which nobody timed seem to compute or to sleep; but only between the first and the last
    call of I/O can I/O be the reason. A rank that waits for a core does not wait for I/O.
    """
    is_profiled = bool({"mpi_calls", "samples"} & set(job.private))
    if is_profiled or share < limits["worth_gain"]:
        return False
    if job.nprocs == 1 or found.kind == "cores":
        from iolens.metrics.processor.sampled.groups import RUNNABLE

        outside = _known_parts(job)[RUNNABLE] if found.kind == "cores" else found.share
        return share >= outside
    return io_span(job) >= found.share * job.run_time


def _hottest(job: Job, kind: str) -> str:
    """Returns the function with most samples that explains the largest part: for computing, the program's own function
    with most of all samples; for time asleep or blocked, the function that waited longest.
    """
    from iolens.metrics.processor.ask import Ask, asked_levels, conditions
    from iolens.metrics.processor.sampled.groups import USER
    from iolens.metrics.processor.sampled.samples import profile

    if kind not in ("compute", "threads", "blocked", "children"):
        return ""
    waits = kind in ("blocked", "children")
    ask = Ask(asked_levels("group,function"), 0.0, conditions("state=waiting" if waits else "state=running"))
    table = profile(job, ask)
    if table is None:
        return ""
    group, found = "", []
    for level, name, part in table.rows("level", "name", "share"):
        group = name if level == "group" else group
        if level == "function":
            found.append((part, name, group))
    part, name, group = max(found, default=(0.0, "", ""))
    if waits:
        return f", most in {name} ({part:.0f} % of the samples that waited)" if name else ""
    return f", most in {name} ({part:.0f} % of the samples that ran)" if group == USER else ""
