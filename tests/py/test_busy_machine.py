"""Tests that a comparison says first when ranks waited for cores that other programs used."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from comparison_example import cautions, change, compared, write_sweep
from iolens.lab.run import machine
from iolens.lab.sweep.read.results import load_results
from iolens.metrics.comparison.results import compare
from iolens.metrics.comparison.settings import crowded

GRID = {"stripe_count": [1, 4]}


@pytest.mark.parametrize(
    ("others", "ranks", "cpus", "expected"),
    [(0.8, 4, 2, True), (0.1, 4, 2, False), (1.0, 4, 8, False), (5.0, 4, 8, True), (0.5, 4, 4, True)],
)
def test_ranks_wait_for_cores_that_others_use(others: float, ranks: int, cpus: int, expected: bool) -> None:
    assert crowded(others, ranks, cpus) is expected


def test_busy_seconds_are_those_of_the_cores_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    lines = [
        f"cpu  {9 * ticks} 0 0 0 0 0 0 0 0 0",
        f"cpu0 {ticks} 0 {ticks} 7 7 0 0 {ticks} 0 0",
        "cpu1 5 5 5 5 5 5 5 5",
    ]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert machine.busy_seconds("\n".join(lines)) == pytest.approx(3.0)
    assert math.isnan(machine.busy_seconds("cpu 1 2 3"))


def test_the_cores_of_children_count_as_the_runs_own() -> None:
    """A child computes for 0.3 s of processor time; the clock of its own cores knows that much, and all programs used
    at least as much.
    """
    before = machine.core_clock()
    loop = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", loop], check=True)
    after = machine.core_clock()
    assert after.own - before.own >= 0.3
    assert math.isnan(after.busy) or after.busy - before.busy >= 0.25


def test_a_busy_machine_is_the_first_caution(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", GRID, repetitions=2)
    for run in folder.rglob("run.json"):
        change(run, machine={"busy_cores": 1.9, "own_cores": 1.1, "cpus": 2}, load_before=0.1)
    said = cautions(load_results(folder), compared(folder))
    assert said[0].startswith("The machine was busy with other work: in 4 of 4 runs other programs used up to 0.8 of")
    for run in folder.rglob("run.json"):
        change(run, machine={"busy_cores": 1.9, "own_cores": 1.8, "cpus": 2}, load_before=99.0)
    assert "busy" not in " ".join(cautions(load_results(folder), compared(folder)))


def test_points_far_below_the_models_bound_are_named(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", GRID, model=lambda point: 150.0)
    for run in folder.rglob("run.json"):
        change(run, observed={"writers": 4})
    limits = "ost_mb_per_s: 200\nlink_mb_per_s: 1250\nmemory_mb_per_s: 9000\nranks_per_client: 1\n"
    (folder / "ost.yaml").write_text(limits)
    results = load_results(folder)
    said = " ".join(cautions(results, compare(results.runs, results.settings, limits=results.limits)))
    assert "far below the bound of their storage's model (4 stripes: 20 %)" in said
