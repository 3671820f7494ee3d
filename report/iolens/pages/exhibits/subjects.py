"""The tables and figures of a comparison of logs, runs and outputs: differences, files, ratios, rates, time by
operation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from iolens import advise
from iolens.advise import say
from iolens.foreign import printable_text
from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.comparison.settings import NamedLevel, three_digits
from iolens.metrics.once import once_per_job
from iolens.metrics.subjects import shapes as subject_shapes
from iolens.metrics.subjects.aligned import ABSENT, SAME, aligned, numbers
from iolens.metrics.subjects.facts import aligned_facts, subject_bounds
from iolens.metrics.subjects.shapes import aligned_families, aligned_files, operation_calls
from iolens.metrics.subjects.subject import Subjects
from iolens.metrics.subjects.values import PROFILES, RUN
from iolens.missing import is_nan
from iolens.pages.base import words
from iolens.pages.base.blocks import Block, FigureBlock
from iolens.pages.base.columns import FAMILY_SIZE, count_text, extremes, largest
from iolens.pages.base.exhibit import Column, Exhibit
from iolens.pages.wording.subject_words import change, ratio_words, run_count, value_text

_MOST_FILES = 15

_NOTHING = "—"


def _who(subjects: Subjects) -> pd.DataFrame:
    """Returns one row per subject: letter, name, path, runs, logs, outputs, left_out (runs that could not be used)."""
    rows = [
        (
            letter,
            one.label,
            printable_text(str(one.path)),
            len(one.trials),
            len(one.jobs),
            sum(trial.output is not None for trial in one.trials),
            len(one.left_out),
            run_count(one),
        )
        for letter, one in subjects.named
    ]
    return pd.DataFrame(rows, columns=["letter", "name", "path", "runs", "logs", "outputs", "left_out", "counted"])


def _differing_facts(subjects: Subjects) -> pd.DataFrame:
    """Returns the rows of `facts` that differ."""
    found = aligned_facts(subjects)
    return found[found["differs"]]


def _facts_columns(subjects: Subjects) -> list[Column]:
    """Returns columns: the fact, then its value for each subject."""
    return [
        Column("", "fact"),
        *(Column(letter, letter, lambda text: text or words.NONE) for letter in subjects.letters),
    ]


def differences(subjects: Subjects) -> pd.DataFrame:
    """Returns the rows of `aligned` in which any subject differs from the first, or lacks a number that is not 0
    elsewhere; for each profile, only the _MOST_CHANGES largest changes.
    """
    found = aligned(subjects)
    if found.empty:
        return found
    alike = found[[f"standing {letter}" for letter in subjects.letters[1:]]].isin([SAME]).all(axis=1)
    nothing = (found[[f"value {letter}" for letter in subjects.letters]].fillna(0) == 0).all(axis=1)
    changed = found[~(alike | nothing)]
    return changed[~changed["group"].isin(PROFILES) | (changed.groupby("group").cumcount() < _MOST_CHANGES)]


def _numbers_columns(subjects: Subjects) -> list[Column]:
    """Returns the columns: the name, the value of each subject, and how it compares to the first subject's."""
    first, *others = subjects.letters
    columns = [Column("", "name")]
    columns += [Column(letter, (f"value {letter}", "unit"), value_text) for letter in subjects.letters]
    if len(others) == 1:
        columns.append(Column("change", (f"change {others[0]}", "unit"), change))
    return columns + [
        Column(f"{letter} / {first}", tuple(f"{name} {letter}" for name in _STANDS), ratio_words) for letter in others
    ]


_MOST_CHANGES = 20
"""Maximum number of functions of a profile on pages and terminals; `--all` and exports have no limit."""

_LACKING = "n/a: none of its logs or outputs has this number."

_STANDS = ("ratio", "ratio_low", "ratio_high", "standing")


def grouped_tables(subjects: Subjects, whole: bool = False) -> list[Block]:
    """Returns a table for each group of numbers: only the numbers that differ, or all that any subject has."""
    found = aligned(subjects) if whole else differences(subjects)
    tables: list[Block] = []
    for group, rows in found.groupby("group", sort=False) if len(found) else ():
        lacking = bool(rows[[f"value {letter}" for letter in subjects.letters]].isna().any(axis=None))
        one = replace(_NUMBERS, metric=partial(_chosen_rows, rows), title=str(group), note=_LACKING if lacking else "")
        table = one.table(subjects)
        if table is not None:
            tables.append(table)
    return tables


def _chosen_rows(rows: pd.DataFrame, _: Subjects) -> pd.DataFrame:
    """Returns `rows` unchanged: the metric of an exhibit whose rows were chosen before."""
    return rows


def _changed_files(subjects: Subjects) -> pd.DataFrame:
    """Returns the first _MOST_FILES rows of `aligned_families` that differ."""
    found = aligned_families(subjects)
    marks = [f"standing {letter}" for letter in subjects.letters[1:]]
    return found[found[marks].isin(["changed", "appeared", "vanished"]).any(axis=1)].head(_MOST_FILES)


def _files_columns(subjects: Subjects) -> list[Column]:
    """Returns columns: the path; for each subject bytes read and written, and seconds; the change."""
    columns = [Column("file", "file"), FAMILY_SIZE]
    for letter in subjects.letters:
        columns.append(Column(f"{letter}: read, written", (f"bytes_read {letter}", f"bytes_written {letter}"), _moved))
    for letter in subjects.letters:
        columns.append(
            Column(
                f"{letter}: s", f"seconds {letter}", lambda value: _NOTHING if is_nan(value) else words.seconds(value)
            )
        )
    return columns + [Column(letter, f"standing {letter}") for letter in subjects.letters[1:]]


def _moved(read: float, written: float) -> str:
    """Returns bytes read and written; a dash where there is no such file."""
    return _NOTHING if is_nan(read) else f"{words.size(read)}, {words.size(written)}"


def _files_note(subjects: Subjects) -> str:
    """Returns the number of files that the table does not show, in words."""
    found = aligned_files(subjects)
    alike = int(found[[f"standing {letter}" for letter in subjects.letters[1:]]].isin(["same", ""]).all(axis=1).sum())
    more = len(found) - alike - int(_changed_files(subjects)["files"].sum())
    said = [f"{words.plural(alike, 'file')} of the same bytes in all"] if alike else []
    said += [f"{words.plural(more, 'file')} more that differ, in the exports"] if more > 0 else []
    return f"Not shown: {'; '.join(said)}." if said else ""


@once_per_job
def subject_findings(subjects: Subjects) -> pd.DataFrame | None:
    """Returns one row per finding of `iolens advise` in any log: id, severity, title, and for each subject, named by
    its letter, `logs A` (number of logs with the finding), `gain A` (the largest part of the run that it may gain,
    NaN if no log has it) and `evidence A` of the first log; for each subject but the first also `standing B`: in
    both, appeared, vanished, or in some runs. None if no subject has logs.
    """
    if not any(subject.jobs for subject in subjects.all):
        return None
    each = [_by_id(subject.jobs) for subject in subjects.all]
    rows = []
    for key in dict.fromkeys(key for found in each for key in found):
        one = next(found[key][0] for found in each if key in found)
        row: dict[str, Any] = {"id": key, "severity": one.severity, "title": one.title}
        counts = [len(found.get(key, ())) for found in each]
        totals = [len(subject.jobs) for subject in subjects.all]
        for letter, found in zip(subjects.letters, each, strict=True):
            seen = found.get(key, [])
            gains = [finding.gain for finding in seen if finding.gain is not None]
            row[f"logs {letter}"], row[f"gain {letter}"] = len(seen), max(gains) if gains else float("nan")
            row[f"evidence {letter}"] = seen[0].evidence if seen else ""
        for letter, count, total in list(zip(subjects.letters, counts, totals, strict=True))[1:]:
            row[f"standing {letter}"] = _became(counts[0], totals[0], count, total)
        rows.append(row)
    return pd.DataFrame(rows) if rows else None


def _by_id(jobs: Iterable[Job]) -> dict[str, list[advise.Finding]]:
    """Returns the findings of some logs by their id."""
    found: dict[str, list[advise.Finding]] = {}
    for job in jobs:
        for one in advise.diagnosis(job).findings:
            found.setdefault(one.id, []).append(one)
    return found


def _became(before: int, of_before: int, after: int, of_after: int) -> str:
    """Returns the change of a finding between two subjects, given their numbers of logs and of logs with the
    finding.
    """
    if not of_before or not of_after:
        return ABSENT
    if before == after == 0:
        return ""
    if not before:
        return "appeared" if after == of_after else "appeared in some runs"
    if not after:
        return "vanished" if before == of_before else "vanished, was in some runs"
    return "in both" if (before, after) == (of_before, of_after) else "in some runs of each"


def _findings_columns(subjects: Subjects) -> list[Column]:
    """Returns the finding, its place, its possible gain, and its state in the other subject."""
    columns = [Column("finding", "title")]
    for letter, subject in subjects.named:
        total = len(subject.jobs)
        columns.append(Column(letter, (f"logs {letter}", f"gain {letter}", "severity"), _said_in(total)))
    first, *others = subjects.letters
    return columns + [Column(f"{letter} / {first}", f"standing {letter}") for letter in others]


def _said_in(total: int) -> Any:
    """Returns the function that formats a cell of findings for a subject with this number of logs."""

    def said(count: int, gain: float, severity: str) -> str:
        if not total:
            return "no log"
        if not count:
            return _NOTHING
        runs = "" if total == 1 else f"{count} of {total} runs, "
        return runs + (f"about {say.percent(gain)}" if not is_nan(gain) else "a note" if severity == "note" else "seen")

    return said


def _calls_columns(subjects: Subjects) -> list[Column]:
    """Returns the operation, and its calls by each subject."""
    counts = [
        Column(letter, letter, lambda count: _NOTHING if is_nan(count) else words.count(count))
        for letter in subjects.letters
    ]
    return [Column("calls of all ranks", "name"), *counts]


CALLS: Exhibit[Subjects] = Exhibit(name="calls", title="", metric=operation_calls, columns=_calls_columns)

WHO: Exhibit[Subjects] = Exhibit(
    name="subjects",
    title="Compared",
    metric=_who,
    columns=[Column("", "letter"), Column("name", "name"), Column("what", "counted"), Column("path", "path")],
)

FACTS: Exhibit[Subjects] = Exhibit(
    name="facts", title="Facts that differ", metric=_differing_facts, columns=_facts_columns
)

_NUMBERS: Exhibit[Subjects] = Exhibit(
    name="numbers", title="Numbers that differ", metric=differences, columns=_numbers_columns
)

FILES: Exhibit[Subjects] = Exhibit(
    name="files",
    title="Files that differ",
    metric=_changed_files,
    columns=_files_columns,
    note=_files_note,
)

FINDINGS: Exhibit[Subjects] = Exhibit(
    name="findings",
    title="Findings that appeared, vanished, stayed",
    metric=subject_findings,
    columns=_findings_columns,
    note="The remedy saves about this part of the run; iolens advise LOG prints its bound and the remedy.",
)

SUBJECT_EXHIBITS: tuple[Exhibit[Subjects], ...] = (
    WHO,
    Exhibit("facts", "How all were made", aligned_facts),
    Exhibit("numbers", "All numbers", aligned),
    Exhibit("files", "All files", aligned_files),
    FINDINGS,
)
"""The exhibits of the exports, which unlike the pages also have the rows in which all subjects are equal."""


_MOST_RATIOS = 24

_LEADING = (RUN, "Bandwidth", "Time", "Computing", "Metadata", "MPI-IO", "POSIX", "DFS")
"""Groups whose ratios are drawn if there are any; otherwise all other groups are drawn in which a larger or smaller
value is better.
"""

_RATES = (
    ("Bandwidth", "write"),
    ("Bandwidth", "read"),
    ("MPI-IO", "speed by the slowest"),
    ("POSIX", "speed by the slowest"),
)
"""Rates that are drawn as bars: the first two that exist. A rate that the program printed precedes one from its log."""

_MOST_RATES = 2


def _names_by_letter(subjects: Subjects) -> dict[str, str]:
    """Returns the names of the subjects by their letters."""
    return {letter: one.label for letter, one in subjects.named}


def _legend_labels(subjects: Subjects) -> dict[str, str]:
    """Returns the text of each subject in a legend, by its letter."""
    from iolens.figures.subject_panels import legend_label

    return {letter: legend_label(letter, label) for letter, label in _names_by_letter(subjects).items()}


def _leading(subjects: Subjects) -> pd.DataFrame:
    """Returns the first _MOST_RATIOS rows of `aligned` that differ, have a ratio, and have a better direction; only
    those of _LEADING groups, if there are any.
    """
    rows = aligned(subjects)
    if rows.empty:
        return rows
    others = subjects.letters[1:]
    known = rows[[f"ratio {letter}" for letter in others]].notna().any(axis=1)
    differ = ~rows[[f"standing {letter}" for letter in others]].isin([SAME]).all(axis=1)
    found = rows[known & differ & (rows["better"] != 0)]
    first = found[found["group"].isin(_LEADING)]
    order = [_LEADING.index(group) for group in first["group"]]
    first = first.assign(order=order).sort_values("order", kind="stable").drop(columns="order")
    found = (first if len(first) else found).head(_MOST_RATIOS)
    texts = [
        name if group == RUN else f"{group}: {name}" for group, name in zip(found["group"], found["name"], strict=True)
    ]
    arrows = ["  ↑" if better > 0 else "  ↓" for better in found["better"]]
    return found.assign(text=[text + arrow for text, arrow in zip(texts, arrows, strict=True)])


def _ratio_figure(subjects: Subjects, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure with the ratios of the most important numbers."""
    from iolens.figures.sweep_effects import ratio_rows

    first, *others = subjects.letters
    ends = {"ratio": "ratio", "ratio_low": "low", "ratio_high": "high"}
    marks = [
        found[["text", *(f"{name} {letter}" for name in ends)]].set_axis(["text", *ends.values()], axis=1)
        for letter in others
    ]
    ratios = pd.concat([part.assign(series=letter) for letter, part in zip(others, marks, strict=True)])
    caption = "↑ more is better, ↓ less is better. Caps: intervals, where there are repetitions."
    if len(found) == _MOST_RATIOS:
        caption += f" The first {_MOST_RATIOS}; the others are in the tables."
    label = f"as a multiple of {first}'s (1× = the same)"
    known = ratios.dropna(subset=["ratio"])
    said = [
        f"{text.split('  ')[0]}: {each} {three_digits(ratio)} times {first}" for text, each, ratio in _plain_rows(known)
    ]
    yield FigureBlock(ratio_rows(known, label, _legend_labels(subjects)), caption, says="; ".join(said))


def _plain_rows(ratios: pd.DataFrame) -> Iterable[tuple[str, str, float]]:
    """Returns the name, the subject's letter and the ratio of each row."""
    return zip(ratios["text"], ratios["series"], ratios["ratio"], strict=True)


def _rates(subjects: Subjects) -> pd.DataFrame:
    """Returns the rows of `aligned` for the first two of _RATES that exist."""
    rows = aligned(subjects)
    keys = list(zip(rows["group"], rows["name"], strict=True)) if len(rows) else []
    wanted = [key for key in _RATES if key in keys][:_MOST_RATES]
    return rows[[key in wanted for key in keys]] if wanted else rows.head(0)


def _rate_figures(subjects: Subjects, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure for each rate in `found`, with a bar for each subject, and its storage's bound if known."""

    from iolens.figures.sweep_effects import grouped_bars

    measured = [numbers(subject) for subject in subjects.all]
    limits = subject_bounds(subjects, subjects.device_rate)
    levels = [NamedLevel(text, place) for place, text in enumerate(_legend_labels(subjects).values())]
    for row in found.to_dict("records"):
        key = (row["group"], row["name"], row["unit"], row["better"])
        name = f"{row['name']} bandwidth" if row["group"] == "Bandwidth" else f"{row['group']} {row['name']}"
        shown = limits if row["name"] != "read" else {}
        values = [
            [row[f"{end} {each}"] for end in ("value", "low", "high")] + [shown.get(each)] for each in subjects.letters
        ]
        points = pd.DataFrame(values, columns=["value", "low", "high", "bound"], dtype=float)
        points = points.assign(label=levels, subject=levels, rate=name, lost=0, left_out="")
        runs = [(place, True, one) for place, each in enumerate(measured) for one in each.get(key, ())]
        singles = pd.DataFrame(runs, columns=["point", "usable", "value"])
        caption = "Typical value, interval, single measurements (dots)."
        if shown:
            by = "that was given for the device" if subjects.device_rate else "that the storage's model sets"
            caption += f" Black line: the bound {by}."
        else:
            caption += " No bound is known: there is neither a model of the storage nor --device-rate."
        columns = ("value", "low", "high", "value")
        figure = grouped_bars(points, singles, ("rate", "subject"), columns, "MiB/s", None)
        pairs = ((each, row[f"value {each}"]) for each in subjects.letters if not is_nan(row[f"value {each}"]))
        yield FigureBlock(figure, caption, says=extremes(pairs, lambda value: f"{three_digits(value)} MiB/s"))


def _operation_time_figure(subjects: Subjects, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure with the time of an average process by operation."""
    from iolens.figures.subject_panels import time_bars

    caption = (
        "The time of a layer contains the time of the layers below it. Bars are means over the logs of a subject; "
        "lines show their range."
    )
    names = found["module"] + " of " + found["letter"]
    says = largest(zip(names, found[["read", "write", "meta"]].sum(axis=1), strict=True), words.duration, 6)
    yield FigureBlock(time_bars(found), caption, says=says)


def subject_activity_figure(subjects: Subjects) -> list[FigureBlock]:
    """Returns the maps over time, on one scale."""
    from iolens.figures.subject_panels import heatmaps

    layer, found = subject_shapes.activities(subjects)
    if len(found) < 2:
        return []
    caption = (
        f"{layer}, reads and writes together: bytes a second of one rank. All maps have the same colours and the same "
        "axis of time; grey lies after the end of a run. The first log of each subject."
    )
    fastest = ((each.letter, float(each.rates.max())) for each in found)
    says = f"{layer} over time, highest rate of a rank: {largest(fastest, lambda rate: words.size(rate) + '/s')}"
    return [FigureBlock(heatmaps(found), caption, says=says)]


def _access_size_figure(subjects: Subjects, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields one figure with the histograms of access sizes of all subjects."""
    from iolens.figures.subject_panels import size_histograms

    caption = "Accesses of all ranks by size in bytes (K = 1024); the mean over the logs of a subject."
    names = found["layer"] + " " + found["kind"] + " of " + found["letter"] + ", " + found["bucket"].astype(str)
    says = largest(zip(names, found["count"], strict=True), count_text, 6)
    yield FigureBlock(size_histograms(found, _names_by_letter(subjects)), caption, says=says)


RATIOS: Exhibit[Subjects] = Exhibit("ratios", "What differs", _leading, draw=_ratio_figure)

BARS: Exhibit[Subjects] = Exhibit("rates", "Rates", _rates, draw=_rate_figures)

TIMES: Exhibit[Subjects] = Exhibit(
    "times", "I/O time by operation", subject_shapes.operation_seconds, draw=_operation_time_figure
)

SIZES: Exhibit[Subjects] = Exhibit("sizes", "Access sizes", subject_shapes.sizes, draw=_access_size_figure)
