"""All rules on one job: findings in the order of what they can gain, and what bounds the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iolens.advise import say
from iolens.advise.finding import Finding, Verdict
from iolens.advise.limits import DEFAULTS, Limits
from iolens.advise.table import RULES
from iolens.metrics.share import io_seconds, io_share

if TYPE_CHECKING:
    from iolens.advise.rule import Rule, Seen
    from iolens.log import Job


HOW = "Read, write and metadata time of the slowest rank, shared files by their slowest one."

LEAST = 0.001
"""A share of the run that is rounded up to: what takes `at most 0.1 %` may take less."""


def findings(job: Job, limits: Limits = DEFAULTS, notes: bool = True) -> list[Finding]:
    """What the rules see, most gain first; findings whose gain nothing bounds come next, notes last.

    Empty for a job whose I/O is healthy or too short to matter. Without `notes` those rules are not asked.
    """
    tiny = (io_seconds(job) or 0.0) < limits["least_seconds"]
    short = job.run_time < limits["least_seconds"]
    found = []
    for rule in RULES:
        silent = not notes if rule.note else short if rule.beside_io else tiny
        seen = None if silent else rule.check(job, limits)
        finding = seen and finding_of(rule, seen, job, limits)
        if finding:
            found.append(finding)
    return sorted(found, key=lambda one: (one.severity == "note", one.gain is None, -(one.gain or 0.0)))


def finding_of(rule: Rule, seen: Seen, job: Job, limits: Limits) -> Finding | None:
    """The finding; None when it can gain too little to be said."""
    gain = None
    if seen.seconds is not None and job.run_time > 0:
        gain = min(1.0, max(0.0, seen.seconds) / job.run_time)
        if gain < limits["least_gain"]:
            return None
    return Finding(
        id=rule.id,
        severity=severity(rule, gain, limits),
        title=rule.title,
        evidence=seen.evidence,
        why=rule.why,
        gain=gain,
        gain_words=gain_words(rule, gain, limits, "about" if job.coarse else "at most"),
        remedy=seen.remedy,
        read_more=rule.read_more,
        derivation=seen.derivation,
        hints=seen.hints,
    )


def severity(rule: Rule, gain: float | None, limits: Limits) -> str:
    """One of SEVERITIES, by the gain alone; medium where nothing bounds it."""
    if rule.note:
        return "note"
    if gain is None:
        return "medium"
    return "high" if gain >= limits["high_gain"] else "medium" if gain >= limits["worth_gain"] else "low"


def gain_words(rule: Rule, gain: float | None, limits: Limits, bound: str = "at most") -> str:
    """The gain for people."""
    if gain is None:
        return "about the numbers, not the speed" if rule.note else "this log does not bound the gain"
    words = f"{bound} {say.percent(gain)} of the run"
    return words if gain >= limits["worth_gain"] else f"{words}: not worth it"


def verdict(job: Job, limits: Limits = DEFAULTS, found: Sequence[Finding] | None = None) -> Verdict:
    """What bounds this run: where its time went, as far as the log knows, and the finding that can gain most.

    `found`: what `findings` returned, where it is known already.
    """
    share, spent = io_share(job), io_seconds(job)
    elsewhere = beside_io(job, limits, share)
    if elsewhere is not None:
        return elsewhere
    if share is None or spent is None:
        sentence = f"{no_records(job)}{all_parts(job)}."
        return Verdict("nothing", sentence, "No module recorded a transfer.", None)
    part = part_of_run(job, share, spent)
    if job.missing and share < limits["worth_gain"]:
        return Verdict("nothing", f"{part}; this log is too incomplete to judge it.", HOW, share)
    if share < limits["worth_gain"]:
        return Verdict("nothing", f"Nothing worth your time: {part}{all_parts(job)}.", HOW, share)
    if spent < limits["least_seconds"]:
        least = f"advice begins at {say.seconds(limits['least_seconds'])} of I/O"
        return Verdict("nothing", f"Too short to judge: {part}; {least}{all_parts(job)}.", HOW, share)
    kinds = {rule.id: rule.bounds for rule in RULES if not rule.beside_io}
    found = findings(job, limits) if found is None else found
    worth = [one for one in found if one.id in kinds and (one.gain or 0.0) >= limits["worth_gain"]]
    first = next((one for one in worth if kinds[one.id]), None)
    if first is not None:
        return Verdict(kinds[first.id], f"Bound by {kinds[first.id]}: {first.gain_words}.", first.evidence, share)
    if worth:
        return Verdict("transfers", f"{worth[0].title}: {worth[0].gain_words}.", worth[0].evidence, share)
    return Verdict("transfers", f"{part}; {nothing_found(found)}.", HOW, share)


def no_records(job: Job) -> str:
    """What to say of a log without a record of I/O, without the full stop."""
    if job.records:
        return "Nothing to judge: this log has no time spent in I/O"
    return "Nothing to judge: this log has no records. The program used no file, or the profiler was told to see none"


def part_of_run(job: Job, share: float, spent: float) -> str:
    """How much of the run was I/O: an upper bound, unless records are missing or the run time is not known so well."""
    percent = say.percent(max(share, LEAST))
    if job.coarse:
        whole = f"at most {say.seconds(job.run_time)} (this log counts whole seconds)"
        return f"I/O took about {percent} of the run: {say.seconds(spent)} of {whole}"
    bound = "Recorded I/O took" if job.partial else "I/O took at most"
    return f"{bound} {percent} of the run: {say.seconds(spent)} of {say.seconds(job.run_time)}"


def nothing_found(found: Sequence[Finding]) -> str:
    """What to say where time went to I/O and no rule says why."""
    if any(one.id == "log-blind" for one in found):
        return "rules could not judge it, for the log is blind for some of its bytes"
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
    most = "" if share is None else f"; I/O took at most {say.percent(max(share, LEAST))} of {whose}"
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
