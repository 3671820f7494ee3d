"""Tests runs that their mean does not represent: one is far from the others, or they form two groups."""

from __future__ import annotations

import pytest
from iolens.metrics.comparison.points import split_runs, usual_range


@pytest.mark.parametrize(
    ("values", "fewer", "fewer_value", "more_value"),
    [
        ([100, 101, 99, 100, 37], 1, 37.0, 100.0),
        ([100, 101, 99, 100, 260], 1, 260.0, 100.0),
        ([74, 75, 73, 110, 111, 109, 110], 3, 74.0, 110.0),
    ],
)
def test_runs_apart_are_told(values: list[float], fewer: int, fewer_value: float, more_value: float) -> None:
    found = split_runs([float(value) for value in values])
    assert found is not None
    assert (found.fewer, found.more) == (fewer, len(values) - fewer)
    assert found.fewer_value == pytest.approx(fewer_value, rel=0.01)
    assert found.more_value == pytest.approx(more_value, rel=0.01)


@pytest.mark.parametrize(
    "values",
    [
        [100, 101, 99],  # These runs are too few to judge.
        [100, 100, 100, 100, 100],
        [80, 90, 100, 110, 120, 130],  # These runs scatter evenly.
        [100, 101, 102, 103, 104, 110],  # One of these runs is only slightly faster than the others.
        [0.0, 1.0, 2.0, 3.0],
    ],
)
def test_runs_that_scatter_evenly_are_left_alone(values: list[float]) -> None:
    assert split_runs([float(value) for value in values]) is None


@pytest.mark.parametrize("speeds", [[100, 101, 152], [100, 150, 149]])
def test_three_runs_of_two_speeds_are_seen_beside_steady_settings(speeds: list[float]) -> None:
    steady = [[100.0, 104.0, 97.0], [200.0, 203.0, 190.0], [150.0, 151.0, 155.0]]
    found = split_runs([float(speed) for speed in speeds], usual_range(steady))
    assert found is not None
    assert (found.fewer, found.more) == (1, 2)


def test_a_gap_that_other_settings_have_too_is_no_second_speed() -> None:
    values = [100.0, 101.0, 160.0]
    assert split_runs(values) is None
    assert split_runs(values, usual_range([[100.0, 102.0, 101.0]] * 3)) is not None
    assert split_runs(values, usual_range([[100.0, 160.0, 130.0]] * 3)) is None
    assert usual_range([[1.0, 2.0]]) == 0
