"""The rules of a fair comparison: those of Hoefler and Belli for reporting measurements, of IO500, and this project's
own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean, geometric_mean, harmonic_mean

from iolens.lazy import pd
from iolens.metrics.audit.evidence import BROKEN, CHECKS, KEPT, UNKNOWN, Evidence, Finding, list_text
from iolens.metrics.comparison.settings import seconds_text

_WRITING = 300.0
"""Minimum duration of a write phase in seconds, by the rules of IO500."""

_REDUCING = ("zfs", "btrfs")
"""Types of file systems that may compress or deduplicate."""


def _writing(evidence: Evidence) -> Finding:
    """Checks whether writing took long enough to make caches negligible."""
    known = [float(value) for value in evidence.known("write_seconds")]
    if not known:
        return UNKNOWN, "No run reports how long it wrote."
    return (
        KEPT if min(known) >= _WRITING else BROKEN
    ), f"The shortest write phase took {seconds_text(min(known))}; the rule requires {_WRITING:.0f} s."


def _other_client(evidence: Evidence) -> Finding:
    """Checks whether data was read on a different node from the one that wrote it."""
    reads = [float(value) for value in evidence.known("bytes_read")]
    if reads and max(reads) == 0:
        return KEPT, "The measured phases contain no reads."
    counts = [len(hosts) for hosts in evidence.known("hosts")]
    if counts and max(counts) == 1:
        return BROKEN, "All ranks ran on one host, which reads back its own data, perhaps from its page cache."
    return UNKNOWN, "The records do not show if the node that read data was another than the node that wrote it."


def _persistent(evidence: Evidence) -> Finding:
    """Checks whether data was sent to the storage before the clock stopped."""
    known = [int(value) for value in evidence.known("syncs")]
    if not known:
        return UNKNOWN, "No run reports if it called fsync."
    without = sum(value == 0 for value in known)
    if without:
        return BROKEN, f"{without} of {len(known)} runs did not call fsync or MPI_File_sync."
    return KEPT, f"All {len(known)} runs that record syncs called fsync or MPI_File_sync."


def _beforehand(evidence: Evidence) -> Finding:
    """Checks whether files were made before the clock started."""
    if evidence.swept:
        return KEPT, "Each run began in its own empty folder, which the sweep made and removed."
    return UNKNOWN, "The records do not show if the folder already had files."


def _one_storage(evidence: Evidence) -> Finding:
    """Checks whether all runs used the same storage."""
    known = evidence.known("file_system")
    if not known:
        return UNKNOWN, "No run reports its file system."
    if len(set(known)) > 1:
        return BROKEN, f"{len(set(known))} file systems: {list_text(known)}."
    missing = evidence.unknown("file_system")
    return (UNKNOWN if missing else KEPT), f"{list_text(known)} in all runs" + (
        f"; {missing} do not tell." if missing else "."
    )


def _same_code(evidence: Evidence) -> Finding:
    """Checks whether all runs used the same program."""
    known = evidence.known("program")
    if len(set(known)) > 1:
        return BROKEN, f"{len(set(known))} programs: {list_text(known)}."
    if evidence.swept:
        return KEPT, "A sweep repeats a run if its program or libraries have changed."
    return UNKNOWN, f"{list_text(known) or 'The program'}: the name is recorded, but not the content."


def _reduction(evidence: Evidence) -> Finding:
    """Checks whether the storage may have stored fewer bytes than it received, by compression or deduplication."""
    known = set(evidence.known("file_system"))
    kinds = {kind for each in known for kind in str(each).split(", ")}
    if kinds & set(_REDUCING):
        return (
            UNKNOWN,
            f"{list_text(sorted(kinds & set(_REDUCING)))} can compress; no run reports if compression was on.",
        )
    if kinds and kinds <= {"tmpfs", "ext4", "xfs", "ost"}:
        return KEPT, f"{list_text(sorted(kinds))} stores data without compression."
    return UNKNOWN, "The records do not show if the storage compresses or deduplicates."


IO500_CHECKS: Mapping[str, Callable[[Evidence], Finding]] = {
    "At least 300 s of writing": _writing,
    "Data is read by another client than the one that wrote it": _other_client,
    "Data reaches the storage before the clock stops": _persistent,
    "No files are made before the clock starts": _beforehand,
    "One storage system": _one_storage,
    "No changes to the code": _same_code,
    "No data reduction that depends on the content": _reduction,
}
"""The checks of this file, by the text of their rule."""


_CLOSE = 0.005
"""Two kinds of mean count as equal if they differ by at most this part (0.005: 0.5 %)."""

_LEAST = 0.01
"""Smallest difference between two means that is printed, in per cent."""

_FACTS: Mapping[str, str] = {
    "cpu": "processor",
    "memory": "memory",
    "kernel": "kernel",
    "mpi": "MPI library",
    "hosts": "hosts",
    "file_system": "file system",
    "nprocs": "processes",
    "program": "program",
    "started": "date",
    "load_before": "load",
}
"""The facts of the set-up that a comparison should state: the column of the runs, and the name shown to readers."""


def _base(evidence: Evidence) -> Finding:
    """Checks Hoefler and Belli's rule 1: every ratio names its base."""
    if evidence.base:
        return KEPT, f"Ratios are relative to {evidence.base}."
    return BROKEN, "No run is the baseline, so settings have no ratio to a baseline. Effects name their base level."


def _subset(evidence: Evidence) -> Finding:
    """Checks Hoefler and Belli's rule 2: everything that was left out is named with its reason."""
    silent = [label for label, reason in evidence.left_out if not reason]
    if silent:
        return BROKEN, f"These are left out without a reason: {list_text(silent)}."
    if not evidence.left_out:
        return KEPT, f"All {len(evidence.runs)} runs are shown."
    return (
        KEPT,
        f"{len(evidence.left_out)} left out, each with its reason: {list_text([one for one, _ in evidence.left_out])}.",
    )


def _means(evidence: Evidence) -> Finding:
    """Checks Hoefler and Belli's rule 3: the geometric means must be close to the arithmetic means of times or the
    harmonic means of rates.
    """
    repeated = {name: each for name, each in evidence.groups.items() if len(each) > 1 and min(each) > 0}
    if not repeated:
        return KEPT, "No mean is used for single runs."
    proper = harmonic_mean if evidence.rate else fmean
    apart = max(abs(geometric_mean(each) / proper(each) - 1) for each in repeated.values())
    name = "harmonic mean of the rates" if evidence.rate else "arithmetic mean of the times"
    near = f"the {name} is within {max(100 * apart, _LEAST):.2g} %"
    return (
        KEPT if apart <= _CLOSE else BROKEN
    ), f"Geometric means are used, because times and rates then have the same ratios; {near}."


def _ratios(evidence: Evidence) -> Finding:
    """Checks Hoefler and Belli's rule 4: ratios are averaged by the geometric mean only."""
    single = "geometric means of ratios within blocks" if evidence.by_block else "quotients of typical values"
    return KEPT, f"Ratios are {single}; effects over several settings are geometric means of ratios."


def _spread(evidence: Evidence) -> Finding:
    """Checks Hoefler and Belli's rule 5: every value is reported with an interval for its variation."""
    single = [name for name, each in evidence.groups.items() if len(each) == 1]
    if not evidence.groups:
        return UNKNOWN, "No measurement can be used."
    if single:
        return (
            BROKEN,
            f"{len(single)} of {len(evidence.groups)} were measured only once and have no interval: "
            f"{list_text(single)}.",
        )
    fewest = min(map(len, evidence.groups.values()))
    said = f"Every value has an interval from at least {fewest} runs; values that are equal in all runs are marked."
    return KEPT, said


def _normality(evidence: Evidence) -> Finding:
    """Checks Hoefler and Belli's rule 6: normality is not assumed without a check."""
    counts = [len(each) for each in evidence.groups.values()]
    if max(counts, default=0) < 2:
        return KEPT, "No assumption is made, because there are no intervals."
    simulated = "" if evidence.by_block is None else "; report/STATISTICS.md says how often intervals hold otherwise"
    return BROKEN, (
        "Intervals assume that runs scatter log-normally, which so few runs cannot show. Outliers and runs in two "
        f"groups are named where they appear{simulated}."
    )


def _sound(evidence: Evidence) -> Finding:
    """Checks Hoefler and Belli's rule 7: differences are tested by a sound method."""
    counts = [len(each) for each in evidence.groups.values()]
    if len(counts) < 2:
        return UNKNOWN, "Fewer than two settings or logs have values to compare."
    if min(counts) < 2:
        return BROKEN, "A value from a single run may differ from others by chance."
    if evidence.by_block is None:
        said = "Ratios have Banerjee's intervals, which allow unequal spreads, with Bonferroni's correction."
        return KEPT, said
    means = "Blocks are incomplete: means of runs are compared"
    runs = "Runs are compared within blocks" if evidence.by_block else means
    spreads = "Spreads of settings are moderated by those of other settings, except unusual ones."
    return KEPT, f"{runs}; all intervals hold together. {spreads}"


def _centre(_: Evidence) -> Finding:
    """Reminds the reader of Hoefler and Belli's rule 8, which no record can decide: the kind of average (mean, median,
    maximum) must suit the question.
    """
    return (
        UNKNOWN,
        "Within a run, the slowest process counts; over several runs, the typical value. Check that this suits your "
        "question.",
    )


def _factors(evidence: Evidence) -> Finding:
    """Checks Hoefler and Belli's rule 9: all factors, their levels and the set-up are reported."""
    missing = [name for column, name in _FACTS.items() if evidence.unknown(column)]
    if missing:
        return BROKEN, f"Not recorded for all runs: {', '.join(missing)}."
    return KEPT, "Recorded for all runs: " + ", ".join(_FACTS.values()) + "; levels are in the tables."


def _timing(evidence: Evidence) -> Finding:
    """Checks Hoefler and Belli's rule 10: the report says how time was measured and summarised."""
    if evidence.from_logs:
        return KEPT, "Times are the log's run time and the I/O times of an average process."
    if evidence.swept:
        return (
            KEPT,
            "The workload times each phase between barriers; rates are bytes over the time of the slowest rank.",
        )
    return UNKNOWN, "Each log and benchmark measures time in its own way: see its documentation."


def _bounds(evidence: Evidence) -> Finding:
    """Checks Hoefler and Belli's rule 11: upper bounds of performance are shown."""
    if not evidence.bounded:
        return BROKEN, "No bound is known, because neither a model of the storage nor the rate of a device was given."
    return KEPT, f"A line shows the storage's bound for {evidence.bounded} of {len(evidence.groups)} values."


def _plots(evidence: Evidence) -> Finding:
    """Checks Hoefler and Belli's rule 12: figures show the data, and lines join only points between which values make
    sense.
    """
    if evidence.joined:
        return BROKEN, f"Lines connect levels of {evidence.joined}, which are names and not numbers."
    return KEPT, "Figures show intervals and single runs; lines connect only levels that are numbers."


REPORTING_CHECKS: Mapping[str, Callable[[Evidence], Finding]] = {
    "Name the base of every ratio, and its absolute value": _base,
    "Give the reason if only a subset is shown": _subset,
    "Arithmetic mean of costs, harmonic mean of rates": _means,
    "Do not average ratios; if you must, use the geometric mean": _ratios,
    "Say if a value is deterministic; if not, give an interval": _spread,
    "Do not assume a normal distribution without a check": _normality,
    "Compare by a sound test": _sound,
    "Decide if the centre or a percentile matters": _centre,
    "Report all factors, levels and the set-up": _factors,
    "Explain how time was measured, synchronised and summarised": _timing,
    "Show bounds": _bounds,
    "Use helpful plots; connect points only if values between them exist": _plots,
}
"""The checks of this file, by the text of their rule, in the order of the rules."""


SOURCES = {
    "Hoefler and Belli": "T. Hoefler, R. Belli: Scientific Benchmarking of Parallel Computing Systems, SC15, "
    "doi 10.1145/2807591.2807644",
    "IO500": "IO500's submission rules, https://io500.org/rules/submission",
    "Set-up": "The items of Hoefler and Belli's rule 9",
}
"""The sources of the rules."""


@dataclass(frozen=True)
class AuditRule:
    """A rule in a few words, its source, and its check."""

    source: str
    number: str
    says: str
    check: Callable[[Evidence], Finding]


def _rules_of(
    source: str, numbered: bool, checks: Mapping[str, Callable[[Evidence], Finding]]
) -> tuple[AuditRule, ...]:
    """Returns the rules of one source, in its order."""
    return tuple(
        AuditRule(source, str(place) if numbered else "", says, check)
        for place, (says, check) in enumerate(checks.items(), 1)
    )


RULES: tuple[AuditRule, ...] = (
    *_rules_of("Hoefler and Belli", numbered=True, checks=REPORTING_CHECKS),
    *_rules_of("IO500", numbered=False, checks=IO500_CHECKS),
    *_rules_of("Set-up", numbered=False, checks=CHECKS),
)


def audit(evidence: Evidence) -> pd.DataFrame:
    """Returns one row per rule: source, number, rule, state (kept, not kept, cannot be known), evidence."""
    rows = [(rule.source, rule.number, rule.says, *rule.check(evidence)) for rule in RULES]
    return pd.DataFrame(rows, columns=["source", "number", "rule", "state", "evidence"])
