"""Tests settings that lost runs: which of them still count, and the sentences about the others."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest
from comparison_example import cautions, change, compared, settings_of, write_run, write_sweep
from iolens.lab.sweep.read.results import load_results
from iolens.metrics.comparison.results import compare
from iolens.pages.exhibits.sweep_points import BRIEF, POINTS
from iolens.pages.wording import sweep_verdict
from iolens.pages.wording.sweep_remedy import remedy


@pytest.mark.parametrize("status", ["ok", "invalid"])
def test_a_setting_that_did_not_take_effect_cannot_win(tmp_path: Path, status: str) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4], "aggregators": [1, 4]})
    for run in folder.glob("points/stripe_count4_aggregators4/*/run.json"):
        change(run, status=status, took_effect={"stripe_count": True, "cb_nodes": False})
    comparison = compared(folder)
    assert settings_of(comparison, comparison.best) != (4, 4)
    marked = comparison.points[comparison.points["left_out"] != ""]
    assert list(marked["left_out"]) == ["cb_nodes did not take effect"]
    assert not marked["tied"].any()
    assert marked["value"].notna().all()
    assert comparison.interaction is None


def test_invalid_and_failed_runs_do_not_count(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2, 4]})
    for run in folder.glob("points/stripe_count4/*/run.json"):
        change(run, status="failed", reason="exit code 1")
    change(folder / "points/stripe_count2/rep-1/run.json", status="invalid", reason="uncharged bytes")
    change(
        folder / "points/stripe_count2/rep-2/run.json",
        storage={"kind": "emulated", "valid": False, "reason": "slow disk"},
    )
    results = load_results(folder)
    comparison = compare(results.runs, results.settings)
    points = comparison.points.set_index("stripe_count")
    assert list(points["count"]) == [3, 1, 0]
    assert math.isnan(points.loc[4, "value"])
    assert math.isnan(points.loc[2, "low"])
    assert points.loc[4, "left_out"] == "no usable run: exit code 1"
    warned = " ".join(cautions(results, comparison))
    assert points.loc[2, "left_out"] == "2 of 3 runs lost: uncharged bytes"
    assert "exit code 1" in warned
    assert "5 of 9 runs were lost: 3 × exit code 1; 1 × uncharged bytes; 1 × slow disk." in warned
    assert comparison.interaction is None


SLOW = "the machine was slower than the emulated storage"


def lucky(directory: Path) -> Path:
    """Writes a sweep in which two slow runs of 4 stripes, 401 and 389 MiB/s, were discarded and the third gave 641."""
    folder = write_sweep(directory, {"stripe_count": [1, 2, 4]})
    for repetition, speed in ((1, 401.0), (2, 389.0), (3, 641.0)):
        run = folder / f"points/stripe_count4/rep-{repetition}"
        shutil.rmtree(run)
        lost = {"status": "invalid", "reason": SLOW} if speed < 600 else {}
        write_run(run, {"stripe_count": 4}, repetition, speed, **lost)
    return folder


def test_a_setting_that_lost_its_slow_runs_is_neither_best_nor_tied(tmp_path: Path) -> None:
    results = load_results(lucky(tmp_path / "sweep"))
    comparison = compare(results.runs, results.settings)
    point = comparison.points.set_index("stripe_count").loc[4]
    assert (point["count"], point["planned"], point["lost"], point["tied"]) == (1, 3, 2, False)
    assert point["name"] == "4 stripes (2 of 3 runs lost)"
    assert point["left_out"] == f"2 of 3 runs lost: {SLOW}"
    assert math.isnan(point["low"])
    assert math.isnan(point["ratio_low"])
    assert settings_of(comparison, comparison.best) != (4,)


def test_lost_runs_are_said_on_the_first_page_and_in_the_tables(tmp_path: Path) -> None:
    results = load_results(lucky(tmp_path / "sweep"))
    comparison = compare(results.runs, results.settings)
    assert (
        f"4 stripes gave 641 MiB/s but cannot be compared (2 of 3 runs lost: {SLOW})."
        in sweep_verdict.comparison_verdict(comparison)
    )
    warned = " ".join(cautions(results, comparison))
    assert f"2 of 9 runs were lost: 2 × {SLOW}." in warned
    assert f"Left out of the comparison: 4 stripes (641 MiB/s): 2 of 3 runs lost: {SLOW}." in warned
    for table in (BRIEF.table(comparison), POINTS.table(comparison)):
        assert any("1/3, 2 lost" in row for row in table.rows)


def test_a_baseline_that_had_to_move_is_said(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2, 4]})
    results = load_results(folder)
    assert "the baseline has" not in " ".join(cautions(results, compare(results.runs, results.settings)))
    for repetition in (1, 2, 3):
        run = folder / f"points/stripe_count1/rep-{repetition}"
        shutil.rmtree(run)
        write_run(run, {"stripe_count": 1}, repetition, 100.0, status="failed", reason="it crashed")
    results = load_results(folder)
    said = cautions(results, compare(results.runs, results.settings))
    assert "No run with 1 stripe can be compared, so the baseline has 2 stripes." in said


def test_lost_runs_that_were_repeated_are_said_and_count(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2, 4]}, model=lambda p: 100.0 * p["stripe_count"])
    change(folder / "points/stripe_count4/rep-2/run.json", lost=[{"reason": SLOW, "seconds": 3.0}])
    for repetition in (1, 2):
        run = folder / f"points/stripe_count2/rep-{repetition}/run.json"
        change(run, lost=[{"reason": SLOW, "seconds": 3.0}] * 2)
    results = load_results(folder)
    comparison = compare(results.runs, results.settings)
    points = comparison.points.set_index("stripe_count")
    assert settings_of(comparison, comparison.best) == (4,)
    assert sweep_verdict.comparison_verdict(comparison).startswith("Best: 4 stripes (1 lost run repeated), ")
    assert points.loc[2, "left_out"] == f"4 of 7 runs lost: {SLOW}"
    assert f"5 of 14 runs were lost, 5 of them repeated: 5 × {SLOW}." in " ".join(cautions(results, comparison))


def test_a_single_run_among_repeated_ones_is_not_compared(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]})
    for repetition in (2, 3):
        (folder / f"points/stripe_count2/rep-{repetition}/run.json").unlink()
    points = compared(folder).points.set_index("stripe_count")
    assert points.loc[2, "left_out"] == "only one run, which shows no spread"
    assert not points.loc[2, "tied"]


@pytest.mark.parametrize("lost", [4, 1])
def test_a_level_that_lost_every_run_leaves_an_honest_comparison(tmp_path: Path, lost: int) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4], "aggregators": [1, 2]})
    for run in folder.glob(f"points/stripe_count{lost}_*/*/run.json"):
        change(run, status="invalid", reason=SLOW)
    results = load_results(folder)
    comparison = compare(results.runs, results.settings)
    assert comparison.interaction is None
    assert comparison.best is not None
    assert f"{lost} {'stripe' if lost == 1 else 'stripes'}, 1 aggregator" in " ".join(cautions(results, comparison))


def test_a_run_without_a_result_is_no_number(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]}, repetitions=1)
    (folder / "points/stripe_count2/rep-1/result.json").unlink()
    comparison = compared(folder)
    assert settings_of(comparison, comparison.best) == (1,)
    assert math.isnan(comparison.points.loc[1, "value"])


def test_when_no_run_is_usable_the_verdict_says_why(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]}, repetitions=1)
    for run in folder.rglob("run.json"):
        change(run, status="failed", reason="no space left")
    results = load_results(folder)
    comparison = compare(results.runs, results.settings)
    assert comparison.best is None
    assert "no space left" in sweep_verdict.comparison_verdict(comparison)
    assert remedy(results, comparison) is None


def test_runs_that_failed_and_were_done_again_are_said(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4]})
    path = folder / "points" / "stripe_count4" / "rep-1" / "run.json"
    failure = {"reason": "exit code 3", "seconds": 1.0, "folder": "rep-1.attempt-1"}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"failed_before": [failure]}))
    results = load_results(folder)
    comparison = compare(results.runs, results.settings)
    assert "1 failed run was repeated on request (1 × exit code 3)" in " ".join(cautions(results, comparison))
    assert comparison.points["lost"].sum() == 0


def test_a_baseline_that_was_not_run_is_not_invented(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [2, 4], "aggregators": [2, 4]})
    for run in folder.glob("points/stripe_count2_aggregators2/*/run.json"):
        run.unlink()
    comparison = compared(folder)
    assert comparison.baseline is None
    assert comparison.points["ratio"].isna().all()
    assert "the worst" in sweep_verdict.comparison_verdict(comparison)
