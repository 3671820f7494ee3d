"""The first facts that a reader needs: contents of the log, gauges with their bounds, bytes, speed, time, and facts
that the log cannot tell.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from iolens import advise
from iolens.advise import say
from iolens.advise.diagnosis import ALL_IN_USE
from iolens.advise.judge import LEAST_SHARE
from iolens.lazy import pd
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.overview import lowest
from iolens.metrics.job import about, cost, share, unknown
from iolens.metrics.job.gauges import is_without_io
from iolens.metrics.job.interfaces import mpiio
from iolens.metrics.once import once_per_job
from iolens.metrics.times import clocks
from iolens.missing import is_nan
from iolens.pages.base import words
from iolens.pages.base.blocks import Block, FigureBlock, Row, Text
from iolens.pages.base.exhibit import Column, Exhibit

if TYPE_CHECKING:
    from iolens.log.records import Records


FACTS: Exhibit[Job] = Exhibit("job", "The job", about.job_facts, apart=True)
"""Exhibit for the exports only; pages have the facts in words."""

HOSTS: Exhibit[Job] = Exhibit(
    name="hosts",
    title="Hosts",
    metric=about.hosts,
    columns=[
        Column("host", "host"),
        Column("ranks", "count", words.count),
        Column("their numbers", "ranks", mpiio.listed_ranks),
    ],
)

PROGRAMS: Exhibit[Job] = Exhibit(
    name="programs",
    title="Programs of the ranks",
    metric=about.programs,
    columns=[
        Column("program", "program"),
        Column("ranks", "count", words.count),
        Column("their numbers", "ranks", mpiio.listed_ranks),
    ],
)


def _amount(value: float, what: str) -> str:
    """Formats a count or a time; the time before recording is known only to a hundredth of a second."""
    if what == share.BEFORE:
        return f"{value:,.2f}"
    return words.seconds(value) if what == share.FIRST else words.count(value)


def _start_note(job: Job) -> str:
    """Returns a note about the time before recording, and about LD_LIBRARY_PATH if its entries have rows."""
    said = (
        "Before recording began, the process loaded its libraries; time before an exec counts, too. The calls of the "
        "loader are not recorded."
    )
    found = share.start_up(job)
    has_entries = len(found) > 0 and share.ENTRIES in found["what"].tolist()
    return said + (" Only rank 0 asks which entries of LD_LIBRARY_PATH are folders." if has_entries else "")


START_UP: Exhibit[Job] = Exhibit(
    name="start_up",
    title="How the processes started",
    metric=share.start_up,
    columns=lambda job: [
        Column("what", "what"),
        *([Column("least", ("least", "what"), _amount)] * (job.nprocs > 1)),
        Column("most" if job.nprocs > 1 else "value", ("most", "what"), _amount),
    ],
    note=_start_note,
)

CLOCKS: Exhibit[Job] = Exhibit(
    name="clocks",
    title="Clocks of the nodes",
    metric=clocks.clocks,
    columns=[
        Column("node", "host"),
        Column("first PE", "rank", words.count),
        Column("ahead of PE 0 at the start", "begin_offset", words.offset),
        Column("at the end", "end_offset", words.offset),
        Column("known to", "uncertainty", words.offset),
    ],
    note="All times are on the clock of PE 0: times of other nodes are corrected by an offset interpolated between "
    "its values at the start and at the end.",
)

MODULES: Exhibit[Job] = Exhibit(
    name="modules",
    title="Modules of this log",
    metric=about.modules,
    columns=[
        Column("module", "module"),
        Column("record version", "version"),
        Column("rows", "records", words.count),
        Column("compressed", "bytes", words.size),
        Column("remark", "remark", optional=True),
    ],
)


_LEAST = 0.001
"""Minimum share of the run time that a layer needs for a figure; a smaller bar would be invisible."""

_MORE = 1.01
"""If the times of all calls add up to more than this multiple of the run time, calls overlapped. A smaller excess comes
from clocks that were read at different moments.
"""


def _cost_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure with shares of the run time."""
    from iolens.figures.job_transfers import cost_bars

    whose = " of an average process" if job.nprocs > 1 else ""
    caption = (
        f"Share of the run time{whose}; the number at the right is the share of read, write and metadata together."
    )
    caption += about_shares(job)
    if {"MPI-IO", "POSIX"} <= set(found["module"]):
        caption += " MPI-IO contains the POSIX time below it."
    if (found[["read", "write", "meta"]].sum(axis=1) > _MORE * job.run_time).any():
        caption += (
            " Calls overlapped, or waited for another process: their times exceed the run time, and the bar shows "
            "their parts."
        )
    parts = ["read", "write", "meta"]
    if found[parts].sum(axis=1).max() < _LEAST * job.run_time:
        return
    says = "; ".join(
        f"{row.module}: {_of_run(row.read + row.write + row.meta, job.run_time)}, most in "
        f"{max(parts, key=lambda part: getattr(row, part))}"
        for row in found.itertuples()
    )
    yield FigureBlock(cost_bars(found, job.run_time), caption, title="Average I/O cost per process", says=says)


def about_shares(job: Job) -> str:
    """Returns what the shares refer to, for a short run whose time is known to the second only; else ""."""
    return f" Shares are of {job.run_time:.0f} s, which is the most that the run can have taken." if job.coarse else ""


def _of_run(seconds: float, run_time: float) -> str:
    """Returns seconds as per cent of the run time, or "longer than the run" if overlapping calls add up to more."""
    return (
        "longer than the run" if seconds > _MORE * run_time else f"{words.percent(seconds, run_time)} of the run time"
    )


def _measured_speed(job: Job, speed: float, seconds: float) -> str:
    """Returns a layer's speed; n/a if its time is too short to tell, or longer than the run because calls
    overlapped.
    """
    return words.speed(speed or None) if cost.SHORTEST <= seconds <= _MORE * job.run_time else words.NONE


def _performance_note(job: Job) -> str:
    """Returns a note on the times and speeds of the layers."""
    spent = "time of the slowest rank in its own files, plus the time of the slowest rank of each shared file"
    return (
        f"I/O time: {spent if job.nprocs > 1 else 'time in reads, writes and metadata'}. Speed: all bytes divided by "
        "that time (an estimate; n/a without bytes, below 0.01 s of I/O, and where calls overlapped and took longer "
        "than the run). The time of a layer contains the time of the layers below it."
    )


PERFORMANCE: Exhibit[Job] = Exhibit(
    name="performance",
    title="Transferred, and how fast",
    metric=cost.performance_rows,
    columns=lambda job: [
        Column("layer", "module"),
        Column("files", "files", words.count),
        Column("read", "bytes_read", words.size),
        Column("written", "bytes_written", words.size),
        Column("I/O time", "seconds", words.brief_duration),
        Column("speed", ("mib_per_second", "seconds"), lambda speed, spent: _measured_speed(job, speed, spent)),
    ],
    note=_performance_note,
)

IO_COST: Exhibit[Job] = Exhibit(
    name="io_cost",
    title="Average seconds of a process",
    metric=cost.io_cost,
    columns=[
        Column("layer", "module"),
        *(Column(name, name, words.seconds) for name in ("read", "write", "meta", "other")),
    ],
    draw=_cost_figure,
)


def _average_note(job: Job) -> str:
    """Returns a note on the content of the rows, and on the reason if their seconds exceed the run time."""
    kinds = "Independent: files that one rank used; shared: files of several ranks. " if job.nprocs > 1 else ""
    layers = " and ".join(lowest(job))
    counted = f"Counted in {layers}. " if layers else ""
    said = f"{counted}{kinds}Metadata moves no bytes."
    spent = float(cost.average_io(job)["seconds"].sum())
    overlapped = " Calls overlapped, or waited for another process: their times exceed the run time."
    return said + (overlapped if spent > _MORE * job.run_time else "")


def _used_kinds(job: Job) -> Records:
    """Returns the average I/O without the kinds of files on which nothing was done; all kinds if nothing was done on
    any.
    """
    found = cost.average_io(job)
    used = set(found["kind"][(found["seconds"] > 0) | (np.nan_to_num(found["bytes"]) > 0)].tolist())
    return found.where(np.isin(found["kind"], sorted(used))) if used else found


AVERAGE_IO: Exhibit[Job] = Exhibit(
    name="average_io",
    title="Average I/O of a process",
    metric=_used_kinds,
    whole=cost.average_io,
    listed=_used_kinds,
    needs="seconds",
    columns=[
        Column("files", "kind"),
        Column("operation", "what"),
        Column("seconds", "seconds", words.seconds),
        Column("transferred", "bytes", words.size),
    ],
    note=_average_note,
)


_TITLES = {
    "share": "I/O share of the run",
    "balance": "balance of I/O over ranks",
    "size": "mean transfer",
    "stripes": "effective storage targets",
}
_SHORT = {"share": "share", "balance": "balance", "size": "transfer", "stripes": "targets"}
_EFFECTIVE = (
    "Effective targets: the number of targets with bytes if they carry equal amounts; 1 if one target carries almost "
    "all bytes."
)
_LARGEST = 24
"""The largest size on the bar of sizes is 2 to this power: 16 MiB."""


def _diagnosed_gauges(job: Job) -> Records:
    """Returns one row per gauge: gauge, value, bound, good (value on the right side of the bound; None: not judged),
    source (of the bound), reason (why it is not known or not judged, or the finding that explains a value outside its
    bound).

    See `metrics.job.gauges.gauges` for the values, and `advise.diagnosis` for the judgement.
    """
    return advise.diagnosis(job).gauges


@once_per_job
def finding_rows(job: Job) -> pd.DataFrame | None:
    """Returns one row per finding of iolens.advise, those that can gain most first; None if there is none.

    Columns: id, severity, title, evidence, why, gain (part of the run time, NaN if the log does not have it), bound
    (of the gain, NaN if nothing but the run bounds it), doubt, gain_words, derivation (of the gain), remedy, read_more.
    """
    rows = [
        {key: value for key, value in asdict(one).items() if key != "hints"} for one in advise.diagnosis(job).findings
    ]
    return pd.DataFrame(rows).astype({"gain": float, "bound": float}) if rows else None


def gauge_text(gauge: str, value: float) -> str:
    """Returns a gauge's value in words; the share of I/O as an upper bound, in the words of the verdict."""
    if is_nan(value):
        return words.NONE
    if gauge == "share":
        return f"≤ {say.at_most(max(value, LEAST_SHARE))}"
    return words.size(value) if gauge == "size" else words.ratio(round(value, 2) if value >= 0.1 else value)


def _bound_said(gauge: str, bound: float) -> str:
    """Returns a gauge's bound in words."""
    if is_nan(bound):
        return words.NONE
    return f"≤ {say.percent(bound)}" if gauge == "share" else f"≥ {gauge_text(gauge, bound)}"


def _bounded(gauge: str, bound: float, reason: str) -> str:
    """Returns a gauge's bound, and the reason if the gauge is not judged."""
    said = f"bound {_bound_said(gauge, bound)}"
    return f"{said}, {reason}" if reason == ALL_IN_USE else said


def _judged(good: Any) -> str:
    """Returns the word for a value on the right side of its bound, on the wrong side, or not judged."""
    return words.NONE if good is None or is_nan(good) else "yes" if good else "no"


def _place(gauge: str, value: float, most: float) -> float | None:
    """Returns the position of a value on its bar, from 0 to 1; `most` is the largest number of storage targets on their
    bar.
    """
    if is_nan(value):
        return None
    if gauge == "size":
        return min(1.0, math.log2(max(1.0, value)) / _LARGEST)
    if gauge == "stripes":
        return min(1.0, value / most) if not is_nan(most) else None
    return min(1.0, value)


def _most_targets(value: float, bound: float) -> float:
    """Returns the number of targets at the end of the bar: the value, or a little more than the bound, rounded up."""
    return bound if is_nan(value) or is_nan(bound) else float(math.ceil(max(value, bound / 0.9)))


def _ends(gauge: str, most: float) -> tuple[str, str]:
    """Returns the labels at both ends of a gauge's bar, on which `_place` gives the position of a value."""
    if gauge == "size":
        return "1 B", f"{words.size(1 << _LARGEST)} (logarithmic)"
    if gauge == "stripes":
        return "0", "" if is_nan(most) else words.ratio(most)
    return ("0 %", "100 %") if gauge == "share" else ("0", "1 (even)")


def gauge_pairs(job: Job) -> list[Block]:
    """Returns the gauges in pairs, side by side on paper and one below the other on a phone, preceded by the meaning of
    their colours.
    """
    drawn = [block for block in GAUGES.figures(job) if isinstance(block, FigureBlock)]
    return [Row([replace(block, caption="") for block in drawn]), Text(drawn[0].caption, "note")] if drawn else []


def _gauge_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the gauges as figures of two each; no figure for a job without I/O."""
    from iolens.figures.job_transfers import Gauge, gauge_row
    from iolens.figures.style import HALF_WIDTH

    if is_without_io(job):
        return
    drawn = [
        Gauge(
            _TITLES[row.gauge],
            gauge_text(row.gauge, row.value),
            _bounded(row.gauge, row.bound, row.reason) if not is_nan(row.value) else row.reason,
            _place(row.gauge, row.value, _most_targets(row.value, row.bound)),
            _place(row.gauge, row.bound, _most_targets(row.value, row.bound)) if not is_nan(row.value) else None,
            None if row.good is None else bool(row.good),
            _ends(row.gauge, _most_targets(row.value, row.bound)),
        )
        for row in found.itertuples()
    ]
    known = found[found["value"].notna()]
    red = known[[good is False for good in known["good"]]]
    grey = known[[good is None for good in known["good"]]]
    unjudged = set(grey["reason"]) if len(grey) == len(known) else set()
    why = f" ({unjudged.pop()})" if len(unjudged) == 1 else ""
    colours = {True: "green: within the bound", False: "red: outside it", None: f"grey: not judged{why}"}
    shown = "; ".join(meaning for good, meaning in colours.items() if good in set(known["good"]))
    caption = f"{shown[:1].upper()}{shown[1:]}." if shown else ""
    caption += _by_reason("Outside", red)
    caption += "" if why else _by_reason("Not judged", grey[grey["reason"] != ALL_IN_USE])
    caption += f" {_EFFECTIVE}" if "stripes" in set(known["gauge"]) else ""
    for pair in (drawn[:2], drawn[2:]):
        values = "; ".join(f"{one.title}: {one.value} ({one.bound})" for one in pair)
        yield FigureBlock(gauge_row(pair, HALF_WIDTH), caption, says=values)


def _by_reason(what: str, gauges: pd.DataFrame) -> str:
    """Returns a sentence, after a space, with the names of some gauges and the reasons they share; empty without
    gauges.
    """
    if gauges.empty:
        return ""
    named = gauges.groupby("reason", sort=False)["gauge"].agg(lambda names: ", ".join(_SHORT[name] for name in names))
    return f" {what}: {'; '.join(f'{names} ({reason})' for reason, names in named.items())}."


GAUGES: Exhibit[Job] = Exhibit(
    name="gauges",
    title="Four gauges",
    metric=_diagnosed_gauges,
    columns=[
        Column("", "gauge", _TITLES.__getitem__),
        Column("value", ("gauge", "value"), gauge_text),
        Column("bound", ("gauge", "bound"), _bound_said),
        Column("within", "good", _judged),
        Column("because", "reason"),
        Column("the bound is from", "source"),
    ],
    draw=_gauge_figure,
)

FINDINGS: Exhibit[Job] = Exhibit("findings", "What to do", finding_rows)
"""The findings: paragraphs on pages and in the terminal, rows in exports."""

UNKNOWN: Exhibit[Job] = Exhibit(
    name="unknown",
    title="What this log cannot tell",
    metric=unknown.unknown,
    columns=[Column("", "what"), Column("", "why")],
)
