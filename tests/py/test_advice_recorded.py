"""Advice on recorded runs with a planted fault of known cost (tests/advice/planted), and on their healthy twins."""

from __future__ import annotations

import pytest
from iolens.advise.table import RULES
from recorded_runs import bounds, runs, scores, text

FLOORS = {"thresholds": (0.97, 0.92, 0.9, 0), "unseen": (0.97, 0.92, 0.9, 0)}
"""For each half the least precision, recall and share of found faults that stand first, and the most healthy runs that
may have a finding: what report/ADVICE.md says of it, rounded down."""


@pytest.mark.parametrize("half", FLOORS)
def test_planted_faults_are_found_first_and_healthy_runs_have_none(half: str) -> None:
    precision, recall, first, healthy, disturbed = scores(half)
    least = FLOORS[half]
    assert precision >= least[0], text(half)
    assert recall >= least[1], text(half)
    assert first >= least[2], text(half)
    assert healthy >= 25
    assert disturbed <= least[3], text(half)


@pytest.mark.parametrize("half", FLOORS)
def test_bounds_are_above_the_measured_cost(half: str) -> None:
    """A single run and its twin on a busy machine tell the cost to about a tenth of it, in some runs worse."""
    below = [row for row in bounds(half) if row[1] < 0.9 * row[2]]
    assert len(below) <= 0.18 * len(bounds(half)), below


def test_more_aggregators_save_exchange_too() -> None:
    """The time of POSIX alone bounded the gain below what the right number of aggregators saved."""
    few = [row for row in bounds("thresholds") if row[0].startswith("aggregators")]
    assert few
    assert all(bound >= 0.9 * cost for _, bound, cost in few), few


def test_labels_are_rules_and_strengths_begin_with_none() -> None:
    known = {rule.id for rule in RULES}
    for half in FLOORS:
        assert len(runs(half)) >= 100
        assert all(run.expected | run.allowed <= known | {"bound-by-asleep", "bound-by-cores"} for run in runs(half))
        assert {run.cost for run in runs(half) if run.twin and run.expected} == {0.0}
