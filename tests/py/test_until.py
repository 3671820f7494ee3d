"""Tests the points that a sweep repeats more often than asked, and the comparison's remarks about the other points."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from comparison_example import MIB, compared, write_run, write_sweep
from iolens.lab.sweep.read.next_runs import unsure_points
from iolens.pages.wording import sweep_verdict

FACTOR = {"stripe_count": [1, 2, 4]}


def two_equal(point: Any) -> float:
    return {1: 100.0, 2: 400.0, 4: 404.0}[point["stripe_count"]]


def test_a_point_that_cannot_be_the_best_is_not_repeated(tmp_path: Path) -> None:
    found = compared(write_sweep(tmp_path / "sweep", FACTOR, model=two_equal))
    assert unsure_points(found, 0.001) == {1, 2}


def test_points_that_are_known_well_enough_are_not_repeated(tmp_path: Path) -> None:
    assert unsure_points(compared(write_sweep(tmp_path / "sweep", FACTOR, model=two_equal)), 0.99) == set()


def test_a_point_alone_is_repeated_by_the_interval_of_its_value(tmp_path: Path) -> None:
    found = compared(write_sweep(tmp_path / "sweep", {"cb_buffer_size": [MIB]}))
    row = found.points.loc[0]
    width = math.sqrt(row["high"] / row["low"]) - 1
    assert unsure_points(found, 0.9 * width) == {0}
    assert unsure_points(found, 1.1 * width) == set()


def test_single_runs_are_repeated(tmp_path: Path) -> None:
    assert unsure_points(compared(write_sweep(tmp_path / "sweep", FACTOR, repetitions=1)), 0.99) == {0, 1, 2}


def test_drift_alone_repeats_nothing(tmp_path: Path) -> None:
    """A machine that doubles its speed in every block of runs changes no ratio, so no point needs more runs."""
    folder = tmp_path / "sweep"
    for level, speed in ((1, 100.0), (2, 101.0)):
        for repetition in (1, 2, 3, 4):
            run = folder / "points" / f"stripe_count{level}" / f"rep-{repetition}"
            write_run(run, {"stripe_count": level}, repetition, speed * 2**repetition * (1 + 0.001 * (repetition % 2)))
    found = compared(folder)
    assert found.points.loc[0, "high"] / found.points.loc[0, "low"] > 4
    assert unsure_points(found, 0.05) == set()


@pytest.mark.parametrize("more", [0, 2])
def test_saved_runs_are_said(tmp_path: Path, more: int) -> None:
    folder = write_sweep(tmp_path / "sweep", FACTOR, model=two_equal)
    for level in (2, 4):
        for repetition in range(4, 4 + more):
            run = folder / "points" / f"stripe_count{level}" / f"rep-{repetition}"
            write_run(run, {"stripe_count": level}, repetition, 400.0 + level)
    said = "1 setting could no longer be the best and had fewer repetitions: 2 runs saved."
    assert (said in sweep_verdict.comparison_verdict(compared(folder))) is bool(more)
