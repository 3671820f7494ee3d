"""Says what bounds a run: where its time went, as far as the log knows, and the finding that can gain most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iolens.advise import say
from iolens.advise.finding import Finding, Verdict
from iolens.advise.standing import HARDLY, INCOMPLETE, NOTHING, SHORT, WHOLE_SECONDS, standing, upper_bound
from iolens.advise.table import RULES
from iolens.metrics.share import io_seconds, io_share

if TYPE_CHECKING:
    from iolens.advise.limits import Limits
    from iolens.log import Job


HOW = "Read, write and metadata time of the slowest rank, shared files by their slowest one."

NO_TRANSFER = "No module recorded a transfer."

LEAST = 0.001
"""Smallest share of the run that is printed: what takes `at most 0.1 %` may take less."""

BOUNDS = {rule.id: rule.bounds for rule in RULES}
"""The kind of verdict that a rule leads to, by its id."""

BESIDE_IO = {rule.id for rule in RULES if rule.beside_io}


def verdict(job: Job, limits: Limits, found: Sequence[Finding], outside: Sequence[str] = ()) -> Verdict:
    """Returns what bounds this run.

    `found`: the findings of this job; `outside`: the gauges that no finding explains and that lie outside their
    bounds, in words.
    """
    share, spent = io_share(job), io_seconds(job)
    elsewhere = beside_io(job, limits, share)
    if elsewhere is not None:
        return elsewhere
    worth = [one for one in found if one.worth_it]
    stands = standing(job, limits)
    if share is None or spent is None or stands in (NOTHING, HARDLY, SHORT, WHOLE_SECONDS, INCOMPLETE):
        if worth:
            return by_finding(worth[0], share)
        sentence = too_little(job, limits, stands, share, spent)
        return Verdict("nothing", f"{sentence}{all_parts(job)}.", HOW if share else NO_TRANSFER, share)
    of_io = [one for one in worth if one.id not in BESIDE_IO]
    if of_io:
        return by_finding(of_io[0], share)
    why = f"what was found lies beside it: {worth[0].title}" if worth else nothing_found(found, outside)
    return Verdict("transfers", f"{part_of_run(job, share, spent)}; {why}.", HOW, share)


def too_little(job: Job, limits: Limits, stands: str, share: float | None, spent: float | None) -> str:
    """Returns why nothing is said of a job's I/O, without the full stop."""
    if share is None or spent is None:
        return no_records(job)
    part = part_of_run(job, share, spent)
    if stands == WHOLE_SECONDS:
        return (
            f"Too short to judge: {say.seconds(spent)} of I/O in a run of at most {say.seconds(job.run_time)}, for "
            "this log counts whole seconds"
        )
    if stands == INCOMPLETE:
        return f"{part}; this log is too incomplete to judge it"
    if stands == SHORT:
        return f"Too short to judge: {part}; advice begins at {say.seconds(limits['least_seconds'])} of I/O"
    if stands == HARDLY:
        return f"Hardly worth your time: {part}, close to the {say.percent(limits['worth_gain'])} where advice begins"
    return f"Nothing worth your time: {part}"


def by_finding(one: Finding, share: float | None) -> Verdict:
    """Returns the verdict that names one finding."""
    kind = BOUNDS.get(one.id) or ("mpi" if one.id in BESIDE_IO else "transfers")
    said = f"Bound by {kind}" if BOUNDS.get(one.id) else one.title
    return Verdict(kind, f"{said}: {one.gain_words}.", one.evidence, share)


def no_records(job: Job) -> str:
    """What to say of a log without a record of I/O, without the full stop."""
    if job.records:
        return "Nothing to judge: this log has no time spent in I/O"
    return "Nothing to judge: this log has no records. The program used no file, or the profiler was told to see none"


def part_of_run(job: Job, share: float, spent: float) -> str:
    """Returns how much of the run was I/O: an upper bound, unless records are missing."""
    said = (
        f"Recorded I/O took {say.percent(max(share, LEAST))}"
        if job.partial
        else f"I/O took at most {say.at_most(max(upper_bound(job, share), LEAST))}"
    )
    return f"{said} of the run: {say.seconds(spent)} of {say.seconds(job.run_time)}"


def nothing_found(found: Sequence[Finding], outside: Sequence[str]) -> str:
    """Returns what to say where time went to I/O and no rule says why."""
    if any(one.id == "log-blind" for one in found):
        return "rules could not judge it, for the log is blind for some of its bytes"
    if outside:
        said = " and ".join(filter(None, outside))
        return f"no rule explains it, and {said}" if said else "no rule explains it"
    if any(one.severity == "low" for one in found):
        return "what rules found in it can gain too little"
    return "no rule found a fault in it"


def known_parts(job: Job) -> dict[str, float]:
    """Shares (0 to 1) of an average rank's time by part; empty where the log does not know them."""
    if not {"mpi_calls", "samples"} & set(job.private):
        return {}
    from iolens.metrics.processor.time import PARTS, is_of_processors, rank_time

    times = rank_time(job)
    if times is None or is_of_processors(job) or job.run_time <= 0:
        return {}
    return {part: float(times[part].mean()) / job.run_time for part in PARTS}


def all_parts(job: Job) -> str:
    """Where the time went, the largest part first, as far as the log knows; parts below LEAST left out."""
    parts = {part: share for part, share in known_parts(job).items() if share >= LEAST}
    largest = sorted(parts, key=lambda part: -parts[part])
    said = ", ".join(f"{part.replace('compute', 'computing')} {say.percent(parts[part])}" for part in largest)
    return f"; of {time_of(job)}: {said}" if said else ""


def time_of(job: Job) -> str:
    """Whose time the shares of parts are of."""
    return "an average rank's time" if job.nprocs > 1 else "the run time"


def beside_io(job: Job, limits: Limits, share: float | None) -> Verdict | None:
    """Bound by computing, MPI, or MPI's start and end, where the log knows times and more went there than to I/O."""
    parts = known_parts(job) if job.run_time >= limits["least_seconds"] else {}
    if not parts:
        return None
    from iolens.metrics.processor.time import COMPUTE, IO, START, TRANSFER, WAITING

    computing, inside = parts[COMPUTE], parts[WAITING] + parts[TRANSFER]
    if parts[IO] >= max(inside, computing):
        return None
    how = (
        f"Of {time_of(job)}: computing {say.percent(computing)}, MPI {say.percent(inside)} (of it "
        f"{say.percent(parts[WAITING])} in barriers, waits and probes), I/O {say.percent(parts[IO])}, "
        f"MPI's start and end {say.percent(parts[START])}."
    )
    whose = "the slowest rank's" if job.nprocs > 1 else "it"
    most = "" if share is None else f"; I/O took at most {say.at_most(max(upper_bound(job, share), LEAST))} of {whose}"
    if parts[START] > max(computing, inside):
        said = f"Bound by the start and end of MPI: {say.percent(parts[START])} of {time_of(job)}{most}."
        return Verdict("mpi", said, how, share)
    if inside > computing:
        return Verdict("mpi", f"Bound by MPI: {say.percent(inside)} of {time_of(job)}{most}.", how, share)
    said = f"Bound by computing: {say.percent(computing)} of {time_of(job)}{hottest(job)}{most}."
    return Verdict("compute", said, how, share)


def hottest(job: Job) -> str:
    """The program's own function with most samples, where it has the most of all functions."""
    from iolens.metrics.processor.groups import USER
    from iolens.metrics.processor.samples import profile

    table = profile(job)
    if table is None:
        return ""
    group, found = "", []
    for level, name, part in table.rows("level", "name", "share"):
        group = name if level == "group" else group
        if level == "function":
            found.append((part, name, group))
    part, name, group = max(found, default=(0.0, "", ""))
    return f", most in {name} ({part:.0f} % of the samples)" if group == USER else ""
