"""Tests repeating bursts: planted periods are found, and random maps give false alarms as rarely as documented."""

from __future__ import annotations

import math

import numpy as np
import pytest
from iolens.metrics.times.periods import CHANCE, best_interval, bursts_of, lost_share, periods
from iolens.pages.wording.job_lists import checkpoint_sentence
from job_example import frame, job_of


def periodic(bursts: int, period: int, length: int, jitter: float, rng: np.random.Generator) -> np.ndarray:
    """Returns the bytes of bins with periodic bursts of this length, each shifted at random."""
    moved = np.zeros(bursts * period + 2 * period)
    for number in range(bursts):
        begin = round(period / 2 + number * period + rng.normal(0, jitter * period))
        moved[begin : begin + length] += 0.5 + rng.exponential(1, length)
    return moved


@pytest.mark.parametrize(("bursts", "period", "length", "jitter"), [(5, 60, 8, 0.02), (10, 30, 4, 0.1), (40, 7, 1, 0)])
def test_planted_periods_are_found(bursts: int, period: int, length: int, jitter: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(10):
        found, chance = bursts_of(periodic(bursts, period, length, jitter, rng))
        assert chance <= CHANCE / 2
        assert len(found.begin) == bursts
        assert np.diff(found.begin).mean() == pytest.approx(period, abs=0.1 * period)


def test_a_long_burst_at_the_start_hides_no_period() -> None:
    moved = np.concatenate([np.ones(300), periodic(20, 50, 5, 0.02, np.random.default_rng(3))])
    found, chance = bursts_of(moved)
    assert chance <= CHANCE / 2
    assert np.diff(found.begin).mean() == pytest.approx(50, abs=2)


def test_random_maps_rarely_look_even() -> None:
    """Each of four kinds of random maps gives a false alarm in 1 of 200 cases; more than 3 alarms in 120 maps have a
    probability below 1 in 300.
    """
    rng = np.random.default_rng(11)
    kinds = [
        lambda: rng.exponential(1, 120),
        lambda: (rng.random(120) < 0.1) * rng.exponential(1, 120),
        lambda: np.convolve((rng.random(120) < 0.05) * 1.0, np.ones(4))[:120],
        lambda: (rng.random(120) < 0.5) * 1.0,
    ]
    for make in kinds:
        assert sum(bursts_of(make())[1] <= CHANCE / 2 for _ in range(120)) <= 3


@pytest.mark.parametrize("moved", [np.zeros(50), np.ones(50), np.eye(1, 50)[0], np.zeros(0), np.eye(1, 1)[0]])
def test_nothing_is_said_of_what_has_no_bursts(moved: np.ndarray) -> None:
    assert bursts_of(moved)[1] == 1.0


def heat(moved: np.ndarray, width: float) -> dict[str, object]:
    import pandas as pd

    frame = pd.DataFrame({"id": 1, "rank": 0, "module": "POSIX", "bin": np.arange(len(moved)), "width": width})
    return {"HEATMAP": frame.assign(written=moved.astype(np.int64), read=0)}


def test_a_job_says_its_period_and_what_its_checkpoints_cost() -> None:
    moved = np.zeros(200)
    for begin in range(10, 200, 20):
        moved[begin : begin + 4] = 1 << 20
    made = job_of(frames=heat(moved, 2.0), run_time=400.0)
    (row,) = periods(made).rows("kind", "bursts", "period", "period_spread", "burst", "share", "bytes")
    assert row == ("written", 10, 40.0, 0.0, 8.0, 0.2, float(40 << 20))
    said = checkpoint_sentence(made, 24 * 3600)
    assert said.startswith("Checkpoints: at most 8.0 s of writing every 40 s and a failure every 24 h cost 20.0 %")
    # Daly by hand: sqrt(2 * 8 * 86400) - 8 = 1167.8 s, which cost 8 / 1175.8 + 1175.8 / 172800 = 1.36 %.
    assert "lowest, 1.4 %, with 19 min" in said
    assert "which saves 18.7 % of the time" in said
    flat = job_of(frames=heat(np.ones(200), 2.0), run_time=400.0)
    assert len(periods(flat)) == 0
    assert "no bursts of writing" in checkpoint_sentence(flat, 3600.0)


def test_the_best_interval_loses_least() -> None:
    """Compares with the best interval found by trying all intervals in steps of a second."""
    for checkpoint, failures in ((40.0, 86400.0), (5.0, 3600.0), (300.0, 7 * 86400.0)):
        tried = min(range(1, 40000), key=lambda pause: lost_share(pause, checkpoint, failures))
        assert abs(best_interval(checkpoint, failures) - tried) <= 1
    assert best_interval(100.0, 40.0) == 40.0
    assert best_interval(100.0, 150.0) == 150.0
    assert lost_share(50.0, 100.0, 150.0) == 1.0
    assert math.isclose(lost_share(0.0, 10.0, 1e9), 1.0)


def test_a_burst_is_no_longer_than_the_counters_allow() -> None:
    """Ten bursts fill a bin of 2 s each, and the counters know 5 ms of writing and 1 ms of opening in all."""
    moved = np.zeros(200)
    moved[10::20] = 1 << 20
    counted = {"id": 1, "WRITES": 10, "F_WRITE_TIME": 0.005, "F_META_TIME": 0.001}
    made = job_of(frames=heat(moved, 2.0) | {"POSIX": frame("POSIX", [counted])}, run_time=400.0)
    ((burst, share),) = periods(made).rows("burst", "share")
    assert burst == pytest.approx(0.0006)
    assert share == pytest.approx(0.006 / 400)
    assert "at most 0.00060 s of writing every 40 s" in checkpoint_sentence(made, 1e9)
