"""Judges the recorded runs of a set and prints the results as the table of report/ADVICE.md. ¶ usage: python
tests/py/recorded_runs.py [SET ...] SET: thresholds, unseen (default: both)
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

from iolens.advise import Diagnosis, diagnosis
from iolens.log import read_log

PLANTED = Path(__file__).resolve().parents[1] / "advice/planted"
CLEAR = 0.1
"""A fault must be found if it costs at least this share of the run, measured against the run without the fault."""


@dataclass(frozen=True)
class Run:
    """A recorded run: its planted fault, the rules that name the fault, other rules that may speak, the measured cost,
    and the advice.
    """

    name: str
    fault: str
    expected: frozenset[str]
    allowed: frozenset[str]
    twin: bool
    cost: float
    found: Diagnosis

    @property
    def said(self) -> list[str]:
        """Returns the findings with a large enough gain, largest first."""
        return [one.id for one in self.found.worth]

    @property
    def bound_by(self) -> str:
        """Returns the kind of the verdict as a label."""
        return f"bound-by-{self.found.verdict.kind.replace(' ', '-')}"

    @property
    def clear(self) -> bool:
        """Returns True if the fault is large enough to be expected."""
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
        """Returns True if the first finding, or the verdict, names the fault."""
        return self.bound_by in self.expected or (bool(self.said) and self.said[0] in self.expected)

    @property
    def bound(self) -> float | None:
        """Returns the largest bound of the findings that name the fault."""
        gains = [one.gain for one in self.found.worth if one.id in self.expected and one.gain is not None]
        return max(gains, default=None)


@cache
def runs(half: str) -> tuple[Run, ...]:
    """Reads and judges all runs of a set."""
    rows = [json.loads(line) for line in (PLANTED / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()]
    twins = {row["group"]: row["seconds"] for row in rows if row["name"].endswith("-0")}
    return tuple(
        Run(
            row["name"],
            row["fault"],
            frozenset(row["expected"]),
            frozenset(row["allowed"]),
            row["name"].endswith("-0") or not row["expected"],
            max(0.0, (row["seconds"] - twins.get(row["group"], row["seconds"])) / row["run_time"]),
            diagnosis(read_log(PLANTED / "logs" / half / f"{row['name']}.darshan")),
        )
        for row in sorted(rows, key=lambda row: row["name"])
    )


def table(half: str) -> list[tuple[str, int, int, int, int, int, int]]:
    """Returns a row for each fault: clear runs, of these found and found first, twins, twins with a finding, and wrong
    findings; the last row is the sum."""
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
    """Returns precision, recall, the share of found faults that stand first, healthy runs, and those with a finding."""
    _, clear, found, first, healthy, disturbed, wrong = table(half)[-1]
    return found / max(1, found + wrong), found / max(1, clear), first / max(1, found), healthy, disturbed


def bounds(half: str) -> list[tuple[str, float, float]]:
    """Returns name, bound and measured cost of each clear fault that was found."""
    return [(run.name, run.bound, run.cost) for run in runs(half) if run.clear and run.bound is not None]


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
    for name in sys.argv[1:] or ("thresholds", "unseen"):
        print(f"{name}: {text(name)}\n")
