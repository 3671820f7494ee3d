"""Advice on recorded runs with a planted fault of known cost (tests/advice/planted), and on their healthy twins."""

from __future__ import annotations

import pytest
from iolens.advise.table import RULES
from recorded_runs import bounds, runs, scores, text

HALVES = ("thresholds",)


@pytest.mark.parametrize("half", HALVES)
def test_planted_faults_are_found_first_and_healthy_runs_have_none(half: str) -> None:
    precision, recall, first, healthy, disturbed = scores(half)
    assert precision >= 0.97, text(half)
    assert recall >= 0.92, text(half)
    assert first >= 0.9, text(half)
    assert healthy >= 25
    assert disturbed == 0, text(half)


@pytest.mark.parametrize("half", HALVES)
def test_bounds_are_above_the_measured_cost(half: str) -> None:
    """A single run and its twin on a busy machine tell the cost to about a tenth of it, in a few runs worse."""
    below = [row for row in bounds(half) if row[1] < 0.9 * row[2]]
    assert len(below) <= 0.05 * len(bounds(half)), below


def test_labels_are_rules_and_strengths_begin_with_none() -> None:
    known = {rule.id for rule in RULES}
    for half in HALVES:
        assert len(runs(half)) >= 100
        assert all(run.expected | run.allowed <= known for run in runs(half))
        assert {run.cost for run in runs(half) if run.twin} == {0.0}
