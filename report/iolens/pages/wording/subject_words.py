"""A comparison of subjects in words: cells, the headline, and cautions."""

from __future__ import annotations

import math
import re
from pathlib import PurePosixPath
from statistics import fmean
from typing import TYPE_CHECKING

from iolens.advise.limits import DEFAULTS
from iolens.lazy import pd
from iolens.metrics.job.cost import moved_once
from iolens.metrics.statistics.intervals import CONFIDENCE, PAIRED, RATIO, claim
from iolens.metrics.subjects.aligned import ABSENT, SAME, UNSURE, aligned, blocks_of
from iolens.metrics.subjects.facts import facts_of
from iolens.metrics.subjects.shapes import aligned_files
from iolens.metrics.subjects.subject import Subject, Subjects
from iolens.metrics.subjects.values import FUNCTIONS, IN_MPI, RUN, WAITED, WENT
from iolens.metrics.why.answers import why
from iolens.missing import is_nan
from iolens.pages.base import words
from iolens.pages.base.words import interval
from iolens.pages.text.lines import middle

if TYPE_CHECKING:
    from iolens.metrics.subjects.subject import Subjects


_MUCH_FASTER = 4.0
"""Minimum ratio between the times of reading the same bytes in two runs for which a cache is suspected."""


def cold_caches(subjects: Subjects) -> str:
    """Returns a note on the unwritten file whose read times differ by the largest factor between two subjects, because
    it may have been in a cache. Empty if no factor is large enough.
    """
    found, first = aligned_files(subjects), subjects.letters[0]
    worst = (_MUCH_FASTER, "")
    for letter in subjects.letters[1:]:
        same = found[(found[f"standing {letter}"] == "same") & (found[f"bytes_written {first}"] == 0)]
        same = same[same[f"bytes_read {first}"] >= DEFAULTS["much_bytes"]]
        for row in same.to_dict("records"):
            fast, slow = sorted((letter, first), key=lambda each: float(row[f"seconds {each}"]))
            least, most = float(row[f"seconds {fast}"]), float(row[f"seconds {slow}"])
            if least > 0 and most >= DEFAULTS["least_seconds"] and most / least > worst[0]:
                bytes_said = f"{words.size(row[f'bytes_read {first}'])} of {row['file']}"
                said = (
                    f"{fast} read {bytes_said} in {words.duration(least)}, {slow} in {words.duration(most)}: was it "
                    f"in a cache for {fast}? Repeat both, or drop caches before each."
                )
                worst = most / least, said
    return worst[1]


_LABEL = 48
"""Maximum length of a name in a sentence, in characters."""

_MANY = 4
"""Minimum number of rows of a group that the headline sums up in one statement."""

_ALIKE, _MUCH = 1.1, 1 << 20
"""Subjects count as having moved different numbers of bytes if the largest number is more than _ALIKE times the
smallest, and at least _MUCH.
"""

_HEADLINE = (RUN, "Bandwidth", "Time", "Computing", "Metadata")
"""Groups whose rows the headline names, in this order; those of the run come first."""

_NAMES = {RUN: "", "Time": "printed ", "Computing": ""}
"""Words before the names of rows, by group; by default the name of the group."""

_VERSION = re.compile(r" \d[\w.+-]*$")
"""Ending of a benchmark's name."""

_CHANGED = {WENT: "", FUNCTIONS: "in ", IN_MPI: "in ", WAITED: "waits for "}
"""Groups of profiles whose largest changes the headline names, with the words before their names."""
_MOST_CHANGES = 2
"""Largest number of changes in a group of _CHANGED that the headline names."""
_LEAST_CHANGE = 0.01
"""Smallest change that the headline names, as a part of the longer run."""

_NAMED = ("run time", "I/O time of the slowest process")
"""Numbers of the run in the headline."""


def value_text(value: float, unit: str) -> str:
    """Returns a number with its unit: 1.2 s, 64 MiB, 3.6 GiB/s, 12.5 %, 1,024."""
    if not math.isfinite(value):
        return words.NONE
    if unit == "s":
        return _seconds_words(value)
    if unit == "B":
        return words.size(value)
    if unit == "MiB/s":
        return words.speed(value)
    if unit == "share":
        return words.share(value)
    if unit in ("", "processes", "calls", "accesses", "files"):
        return words.count(value) if value == int(value) else words.ratio(value)
    return f"{words.ratio(value) if abs(value) < 1000 else words.count(round(value))} {unit}"


def _seconds_words(value: float) -> str:
    """Returns seconds with three digits at least, in the unit that they fit: 12.5 s, 35.1 ms, 125.3 s, 1,479 s."""
    if value >= 10_000:
        return words.duration(value)
    if value >= 100:
        return f"{value:,.1f}".removesuffix(".0") + " s"
    for scale, unit in ((1.0, "s"), (1e-3, "ms")):
        if value >= scale:
            return f"{words.digits(value / scale)} {unit}"
    if value < 1e-7:
        return "< 0.1 µs" if value else "0 s"
    return f"{words.digits(value * 1e6)} µs"


def change(difference: float, unit: str) -> str:
    """Returns a difference with its sign."""
    if is_nan(difference):
        return words.NONE
    size = f"{100 * abs(difference):.1f} points" if unit == "share" else value_text(abs(difference), unit)
    return ("+" if difference > 0 else "−" if difference < 0 else "") + size


def ratio_words(ratio: float, low: float, high: float, standing: str) -> str:
    """Returns a ratio with its interval, or `same`; says if it is unsure, or why there is no ratio."""
    if standing == ABSENT or is_nan(ratio):
        return {ABSENT: "", SAME: "same"}.get(standing, "no ratio: 0 in a run")
    if standing == SAME:
        return "same"
    if low == high:
        return f"{words.digits(ratio)}× in all runs"
    said = f"{words.digits(ratio)}×{interval(low, high)}"
    return f"{said}, {UNSURE}" if standing == UNSURE else said


def headline(subjects: Subjects) -> list[str]:
    """Returns, for each subject but the first, a sentence about the most important numbers that changed, and by how
    much.
    """
    rows = aligned(subjects)
    first = subjects.letters[0]
    said = []
    for letter, subject in subjects.named[1:]:
        parts = [
            part for group in _HEADLINE for part in _headline_rows(rows[rows["group"] == group], group, first, letter)
        ]
        parts += [_summed(group, each, letter) for group, each in _sized_groups(rows, letter)]
        parts += _profiled(rows, first, letter)
        text = "; ".join(part for part in parts if part)
        nothing = _nothing_said(rows, letter)
        name = subject.label if len(subject.label) <= _LABEL else middle(subject.label, _LABEL)
        said.append(f"{letter} ({name}) against {first}: {text or nothing}.")
    return said


def _nothing_said(rows: pd.DataFrame, letter: str) -> str:
    """Returns the reason why the headline names no number."""
    if rows.empty:
        return "neither has any number"
    if (rows[f"standing {letter}"] == ABSENT).all():
        return "they have no number in common"
    return "none of the numbers that matter most differs"


def _headline_rows(rows: pd.DataFrame, group: str, first: str, letter: str) -> list[str]:
    """Returns the rows of a group of the headline, each as a part of a sentence."""
    shown = rows[rows[f"ratio {letter}"].notna() & (rows[f"standing {letter}"] != SAME)]
    shown = shown[shown["name"].isin(_NAMED)] if group == RUN else shown[shown["better"] != 0]
    if len(shown) > _MANY:
        return [_summed(group, shown, letter)]
    return [
        f"{_NAMES.get(group, group.lower() + ' ')}{row['name']} "
        f"{value_text(row[f'value {first}'], row['unit'])} → {value_text(row[f'value {letter}'], row['unit'])}"
        f" ({ratio_words(row[f'ratio {letter}'], row[f'ratio_low {letter}'], row[f'ratio_high {letter}'], standing)})"
        for row in shown.to_dict("records")
        for standing in [row[f"standing {letter}"]]
    ]


def _profiled(rows: pd.DataFrame, first: str, letter: str) -> list[str]:
    """Returns the parts of the time, functions and causes of waits that changed most, each as a part of a sentence;
    nothing for logs without samples, calls or waits, and no change that the repetitions do not prove.
    """
    if rows.empty or not rows["group"].isin([FUNCTIONS, IN_MPI, WAITED]).any():
        return []
    times = rows.loc[(rows["group"] == RUN) & (rows["name"] == "run time"), [f"value {first}", f"value {letter}"]]
    least = _LEAST_CHANGE * float(times.max(axis=None)) if len(times) else 0.0
    sizes = rows[f"change {letter}"].astype(float).abs().sort_values(ascending=False, kind="stable")
    changed = rows.loc[sizes.index[sizes > least]]
    changed = changed[changed[f"standing {letter}"] != UNSURE]
    return [
        f"{before}{row['name']} {value_text(row[f'value {first}'], 's')} → {value_text(row[f'value {letter}'], 's')}"
        for group, before in _CHANGED.items()
        for row in changed[changed["group"] == group].head(_MOST_CHANGES).to_dict("records")
    ]


def _sized_groups(rows: pd.DataFrame, letter: str) -> list[tuple[str, pd.DataFrame]]:
    """Returns the rows that differ from the reference in each group of values measured at many sizes: latencies in µs
    and rates of messages.
    """
    found = rows[rows[f"ratio {letter}"].notna() & (rows["better"] != 0) & (rows[f"standing {letter}"] != SAME)]
    units = found["unit"].isin(["µs", "MB/s", "messages/s"]) | found["group"].str.startswith("Latency of ")
    return [(str(group), each) for group, each in found[units].groupby("group", sort=False)]


def _summed(group: str, rows: pd.DataFrame, letter: str) -> str:
    """Returns a summary of many rows of a group: the number of rows that are larger or smaller, and the range
    of ratios. Rows whose repetitions prove no difference count as neither.
    """
    if rows.empty:
        return ""
    ratios = rows[f"ratio {letter}"]
    told = ratios[rows[f"standing {letter}"] != UNSURE]
    ups, downs = int((told > 1).sum()), int((told < 1).sum())
    spread = f"{words.digits(float(ratios.min()))}× to {words.digits(float(ratios.max()))}×"
    return f"{group}: more at {ups}, less at {downs} of {len(rows)}, {spread}"


def notes(subjects: Subjects) -> list[str]:
    """Returns notes on the coverage of the intervals, if there are any, and on the subjects that lack the events of
    waits.
    """
    silent = [letter for letter, subject in subjects.named if not any(why(job) for job in subject.jobs)]
    said = [
        f"Waits by cause, critical path and replays of {', '.join(silent)} are n/a: none of its logs has the events "
        "of iolens run --why."
    ]
    said = said if len(silent) < len(subjects.all) and silent else []
    if not any(len(subject.trials) > 1 for subject in subjects.all):
        return said
    comparisons = len(subjects.all) - 1
    together = f", of all {comparisons} subjects together" if comparisons > 1 else ""
    promise = claim(RATIO if blocks_of(subjects) is None else PAIRED, CONFIDENCE)
    return [*said, f"Ratios in brackets: {promise}{together}, each row by itself."]


def subject_doubts(subjects: Subjects) -> list[str]:
    """Returns the reasons to doubt the numbers, the most important first; a reader needs them before the numbers."""
    said = [
        _single_runs(subjects),
        _repeated_within(subjects),
        _many_logs(subjects),
        _unlike(subjects),
        unlike_bytes(subjects),
        _whole_seconds(subjects),
        cold_caches(subjects),
    ]
    for letter, subject in subjects.named:
        said += [f"Left out of {letter}: {reason}." for reason in subject.left_out]
        partial = next((reason for job in subject.jobs for reason in job.partial), "")
        said += [f"A log of {letter} is incomplete, so its numbers are too small. {partial}"] if partial else []
    return [text for text in said if text]


def _single_runs(subjects: Subjects) -> str:
    """Returns a note that there is no interval if a subject has only one run."""
    letters = [
        letter for letter, subject in subjects.named if len(subject.trials) == 1 and not _repeats_within(subject)
    ]
    if not letters:
        return ""
    which = "each" if len(letters) == len(subjects.all) else ", ".join(letters)
    return (
        f"There is one run of {which}: without repetitions there are no intervals, and any difference may be chance. "
        "Give a folder of three or more repetitions in place of a log."
    )


def _repeated_within(subjects: Subjects) -> str:
    """Returns a note if the repetitions of some subjects are those within a single run."""
    letters = [letter for letter, subject in subjects.named if len(subject.trials) == 1 and _repeats_within(subject)]
    if not letters:
        return ""
    return (
        f"The intervals of {', '.join(letters)} come from repetitions within one run: a second run may differ by more "
        "than they say. Give a folder of three or more runs in place of one."
    )


def _many_logs(subjects: Subjects) -> str:
    """Returns a note if runs left one log for each of their processes."""
    many = {
        letter: [trial for trial in subject.trials if trial.logs > 1]
        for letter, subject in subjects.named
        if any(trial.logs > 1 for trial in subject.trials)
    }
    if not many:
        return ""
    logs = list(dict.fromkeys(str(trial.logs) for trials in many.values() for trial in trials))
    programs = [PurePosixPath(trial.job.exe).name for trials in many.values() for trial in trials if trial.job]
    names = list(dict.fromkeys(programs))
    return (
        f"The processes of a run of {', '.join(many)} left {' or '.join(logs[:_MANY])} logs. Run times are those "
        f"of whole runs; all other numbers of a log are of the one with most I/O time ({', '.join(names[:_MANY])})."
    )


def _repeats_within(subject: Subject) -> bool:
    """Returns whether a single run repeated its test, as IOR does with -i."""
    output = subject.trials[0].output
    names = [(value.group, value.name) for value in output.values] if output else []
    return len(set(names)) < len(names)


_UNLIKE = {"program": "programs", "benchmark": "benchmarks", "class": "classes", "processes": "numbers of processes"}
"""Facts that change the work of a run, with the plural of each."""


def _unlike(subjects: Subjects) -> str:
    """Returns a note if the subjects are of different programs or sizes, so that their numbers describe different work.

    Values that only some of the runs have are ignored, and so is the version of a benchmark.
    """
    facts = [facts_of(trial) for subject in subjects.all for trial in subject.trials]
    known = {name: [_VERSION.sub("", each[name]) for each in facts if name in each] for name in _UNLIKE}
    parts = [
        f"{len(found)} {_UNLIKE[name]} ({', '.join(found[:_MANY])})"
        for name, values in known.items()
        if len(values) == len(facts) and len(found := list(dict.fromkeys(values))) > 1
    ]
    return f"These are runs of {' and '.join(parts)}: their ratios do not compare the same work." if parts else ""


def unlike_bytes(subjects: Subjects) -> str:
    """Returns a note if the subjects moved different numbers of bytes, so that their times are of different work."""
    moved = {
        letter: fmean(sum(moved_once(job).values()) for job in subject.jobs)
        for letter, subject in subjects.named
        if subject.jobs
    }
    if not moved or max(moved.values()) < _MUCH or max(moved.values()) <= _ALIKE * min(moved.values()):
        return ""
    named = [f"{letter} {words.size(round(each))}" for letter, each in moved.items()]
    more = f" and {len(named) - _MANY} more" if len(named) > _MANY else ""
    return (
        f"The runs moved different numbers of bytes ({', '.join(named[:_MANY])}{more}): a ratio of times does not "
        "compare the same work."
    )


def _whole_seconds(subjects: Subjects) -> str:
    """Returns a note if some run times are known to the second only."""
    letters = [letter for letter, subject in subjects.named if any(job.whole_seconds for job in subject.jobs)]
    return f"The logs of {', '.join(letters)} have their start and end in whole seconds only." if letters else ""


def run_count(subject: Subject) -> str:
    """Returns the number of runs, and their kind."""
    logs, outputs = len(subject.jobs), sum(trial.output is not None for trial in subject.trials)
    parts = [words.plural(logs, "log")] if logs else []
    parts += [words.plural(outputs, "output")] if outputs else []
    return f"{words.plural(len(subject.trials), 'run')}: {' and '.join(parts) or 'run.json alone'}"
