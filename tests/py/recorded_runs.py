"""Judges the recorded runs of a set and prints the results as the table of report/ADVICE.md.

usage: python tests/py/recorded_runs.py [SET ...]      SET: thresholds, seen, unseen or gains (default: all)
"""

from __future__ import annotations

import json
import math
import re
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean, median, stdev

from iolens.advise import Diagnosis, diagnosis
from iolens.log import read_log
from iolens.metrics.statistics.intervals import t_quantile
from log_archives import unpack

PLANTED = Path(__file__).resolve().parents[1] / "advice/planted"
CLEAR = 0.1
"""Smallest share of the run that a fault costs if the rules are expected to find it. The cost is measured against the
run without the fault.
"""
LEAST_REPETITIONS = 3
"""Smallest number of repetitions whose differences have a useful confidence interval."""
SETS = ("thresholds", "seen", "unseen")
"""Sets in which each run was recorded once."""
MEASURING = {"cold-then-warm"}
"""Rules that report a planted fault in a note, because the fault makes a measurement wrong without slowing anything
down.
"""


@dataclass(frozen=True)
class RecordedRun:
    """A recorded run: its planted fault, the rules that name the fault, other rules that may report something, the
    measured cost, and the advice.
    """

    name: str
    fault: str
    expected: frozenset[str]
    allowed: frozenset[str]
    twin: bool
    cost: float
    run_time: float
    found: Diagnosis

    @property
    def said(self) -> list[str]:
        """Returns the rules of the findings that are worth their work, largest gain first, and of the notes in
        MEASURING.
        """
        return [one.id for one in self.found.findings if one.worth_it or one.id in MEASURING]

    @property
    def bound_by(self) -> str:
        """Returns the kind of the verdict as a label."""
        return f"bound-by-{self.found.verdict.kind.replace(' ', '-')}"

    @property
    def clear(self) -> bool:
        """Returns True if the fault costs enough that a finding is expected."""
        return not self.twin and bool(self.expected) and self.cost >= CLEAR

    @property
    def wrong(self) -> list[str]:
        """Returns the findings that are wrong for this run. In a run without a fault every finding is wrong."""
        return [one for one in self.said if self.twin or one not in self.expected | self.allowed]

    @property
    def right(self) -> bool:
        """Returns True if a finding names the fault, or the label `bound-by-KIND` is that of the verdict."""
        return bool(self.expected & {*self.said, self.bound_by})

    @property
    def first(self) -> bool:
        """Returns True if the first of the findings, or the verdict, names the fault."""
        return self.bound_by in self.expected or (bool(self.said) and self.said[0] in self.expected)

    @property
    def bound(self) -> float | None:
        """Returns the largest upper bound among the findings that name the fault; None if there is none."""
        gains = [one.gain for one in self.found.worth if one.id in self.expected and one.gain is not None]
        return max(gains, default=None)


@cache
def logs(half: str) -> Path:
    """Unpacks the logs of a set, and returns their folder, which lasts as long as this process."""
    folder = Path(_UNPACKED.name, half)
    unpack(folder, PLANTED / "logs" / f"{half}.tar.xz")
    return folder


_UNPACKED = tempfile.TemporaryDirectory(prefix="iolens-planted-logs-")


@cache
def runs(half: str) -> tuple[RecordedRun, ...]:
    """Reads and judges all runs of a set."""
    rows = [json.loads(line) for line in (PLANTED / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()]
    twins = {row["group"]: row["seconds"] for row in rows if row["name"].endswith("-0")}
    return tuple(
        RecordedRun(
            row["name"],
            row["fault"],
            frozenset(row["expected"]),
            frozenset(row["allowed"]),
            row["name"].endswith("-0") or not row["expected"],
            max(0.0, (row["seconds"] - twins.get(row["group"], row["seconds"])) / row["run_time"]),
            row["run_time"],
            diagnosis(read_log(logs(half) / f"{row['name']}.darshan")),
        )
        for row in sorted(rows, key=lambda row: row["name"])
    )


def table(half: str) -> list[tuple[str, int, int, int, int, int, int]]:
    """Returns a row for each fault: numbers of runs in which it costs enough, of those in which it was found, of those
    in which it was found first, of runs without the fault (twins), of twins with a finding, and of wrong findings. The
    last row is the sum.
    """
    rows = []
    for fault in sorted({run.fault for run in runs(half)}):
        mine = [run for run in runs(half) if run.fault == fault]
        clear, twins = [run for run in mine if run.clear], [run for run in mine if run.twin]
        counts = (
            len(clear),
            sum(run.right for run in clear),
            sum(run.first for run in clear),
            len(twins),
            sum(bool(run.said) for run in twins),
            sum(len(run.wrong) for run in mine),
        )
        rows.append((fault, *counts))
    return [*rows, ("all", *(sum(row[column] for row in rows) for column in range(1, 7)))]


def scores(half: str) -> tuple[float, float, float, int, int]:
    """Returns precision, recall, the share of found faults whose finding stands first, the number of healthy runs, and
    the number of those with a finding.
    """
    _, clear, found, first, healthy, disturbed, wrong = table(half)[-1]
    return found / max(1, found + wrong), found / max(1, clear), first / max(1, found), healthy, disturbed


def bounds(half: str) -> list[tuple[str, float, float]]:
    """Returns name, upper bound and measured cost of each fault that costs enough and was found."""
    return [(run.name, run.bound, run.cost) for run in runs(half) if run.clear and run.bound is not None]


@dataclass(frozen=True)
class Gain:
    """A fault that was recorded several times in turn with its twin: the mean seconds that it cost, the mean seconds of
    its finding's bound, and half the width of the 95 % confidence interval of their difference.
    """

    name: str
    gain: float
    bound: float
    margin: float

    @property
    def is_bounded(self) -> bool:
        """Returns True if the fault cost no more than its bound, as far as the repetitions tell."""
        return self.gain <= self.bound + self.margin


def gains() -> list[Gain]:
    """Returns the faults of the set `gains` that cost a tenth of their runs or more and were found in every repetition
    by a finding with a bound.
    """
    every, found = runs("gains"), {}
    twins = {run.name.rpartition("-")[0] for run in every if run.twin}
    for run in every:
        if not run.twin and run.name.rpartition("-")[0] in twins:
            found.setdefault(re.sub(r"\.\d+-", "-", run.name), []).append(run)
    return [
        _gain(name, repeated)
        for name, repeated in sorted(found.items())
        if len(repeated) >= LEAST_REPETITIONS
        and all(run.bound is not None for run in repeated)
        and sum(run.cost * run.run_time for run in repeated) >= CLEAR * sum(run.run_time for run in repeated)
    ]


def _gain(name: str, repeated: list[RecordedRun]) -> Gain:
    """Returns the costs and bounds of the repetitions of one fault."""
    costs = [run.cost * run.run_time for run in repeated]
    limits = [(run.bound or 0.0) * run.run_time for run in repeated]
    error = stdev(limit - cost for limit, cost in zip(limits, costs, strict=True)) / math.sqrt(len(repeated))
    return Gain(name, mean(costs), mean(limits), t_quantile(0.975, len(repeated) - 1) * error)


def gains_text() -> str:
    """Returns the costs and bounds of all repeated faults as Markdown."""
    rows = [
        f"| {one.name} | {one.gain:.2f} s | {one.bound:.2f} s | {one.bound / one.gain:.2f} "
        f"| {one.bound - one.gain:.2f} ± {one.margin:.2f} s |"
        for one in gains()
    ]
    ratios = [one.bound / one.gain for one in gains()]
    below = sum(not one.is_bounded for one in gains())
    return "\n".join(
        [
            f"{len(ratios)} faults: bound / gain: median {median(ratios):.2f}, least {min(ratios):.2f};",
            f"{below} with a gain beyond bound and interval.",
            "",
            "| fault | gain | bound | bound / gain | bound − gain, 95 % |",
            "|---|---|---|---|---|",
            *rows,
        ]
    )


def text(half: str) -> str:
    """Returns the results of a set as Markdown."""
    precision, recall, first, healthy, disturbed = scores(half)
    ratios = [bound / cost for _, bound, cost in bounds(half)]
    lines = [
        f"{len(runs(half))} runs: precision {precision:.1%}, recall {recall:.1%}; the cause first in {first:.1%},",
        f"{disturbed} of {healthy} healthy runs have a finding; bound / cost: median {median(ratios):.2f}.",
        "",
        "| fault | clear | found | found first | healthy | of these with a finding | wrong findings |",
        "|---|---|---|---|---|---|---|",
        *(f"| {' | '.join(map(str, row))} |" for row in table(half)),
    ]
    return "\n".join(lines).replace("%", " %")


if __name__ == "__main__":
    for name in sys.argv[1:] or (*SETS, "gains"):
        print(f"{name}: {gains_text() if name == 'gains' else text(name)}\n")
