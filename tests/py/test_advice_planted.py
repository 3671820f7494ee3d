"""Tests the advice on faults of any strength in jobs of a simple model: the findings, their order, and whether their
bounds hold.

`python tests/py/test_advice_planted.py` prints the table that report/ADVICE.md has.
"""

from __future__ import annotations

from functools import cache
from statistics import median

from iolens.advise import Diagnosis, diagnosis
from planted_jobs import FAULTS, Planted, planted

CLEAR = 0.1
"""Smallest share of the run that removing a fault must save for the fault to be reported."""
SEEDS = range(1, 9)


@cache
def judged() -> tuple[tuple[Planted, Diagnosis], ...]:
    """Returns a planted job for each fault, strength and seed, with its judgement."""
    runs = [planted(fault, each, seed) for fault in FAULTS for each in FAULTS[fault][2] for seed in SEEDS]
    return tuple((run, diagnosis(run.job)) for run in runs)


def table() -> list[tuple[str, int, int, int, int, int]]:
    """Returns a row for each fault: numbers of runs in which it is clear, found, and found first; of runs without it
    (twins), and of twins with a finding; and of findings that name another fault.
    """
    rows = []
    for fault, (_, _, strengths) in FAULTS.items():
        mine = [(run, found) for run, found in judged() if run.fault == fault]
        clear = [(run, found) for run, found in mine if run.gain >= CLEAR]
        said = [run.expected & {one.id for one in found.worth} for run, found in clear]
        first = [found.worth[0].id in run.expected for run, found in clear if found.worth]
        none = [found for run, found in mine if run.strength == strengths[0]]
        wrong = [one.id for run, found in mine for one in found.worth if one.id not in run.allowed]
        rows.append(
            (fault, len(clear), sum(map(bool, said)), sum(first), sum(bool(each.worth) for each in none), len(wrong))
        )
    return rows


def bounds() -> list[tuple[str, float, float]]:
    """Returns fault, bound and true gain of each clear fault that is found."""
    return [
        (run.fault, max(one.gain or 0.0 for one in found.worth if one.id in run.expected), run.gain)
        for run, found in judged()
        if run.gain >= CLEAR and any(one.id in run.expected and one.gain is not None for one in found.worth)
    ]


def text() -> str:
    """Returns the table as Markdown, and the ratios of bound to gain below it."""
    lines = [
        "| fault | clear | found | found first | twins with a finding | wrong findings |",
        "|---|---|---|---|---|---|",
    ]
    lines += [f"| {' | '.join(map(str, row))} |" for row in table()]
    ratios = [bound / gain for _, bound, gain in bounds()]
    return "\n".join([*lines, "", f"bound / gain: median {median(ratios):.2f}, least {min(ratios):.2f}"])


def test_clear_faults_are_found_first_and_twins_have_none() -> None:
    rows = table()
    clear, found, first, twins, wrong = (sum(row[number] for row in rows) for number in range(1, 6))
    assert clear >= 100
    assert found >= 0.9 * clear, text()
    assert first >= 0.9 * found, text()
    assert twins == 0, text()
    assert found / max(1, found + wrong) >= 0.97, text()


def test_no_fault_gains_more_than_its_bound() -> None:
    assert [(fault, bound, gain) for fault, bound, gain in bounds() if bound < gain - 0.01] == []


if __name__ == "__main__":
    print(text())
