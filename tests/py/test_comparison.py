"""Tests that a sweep's folder is read and its points are compared, with runs that follow known models."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import pytest
from comparison_example import GRID, MIB, cautions, change, compared, settings_of, stripes_model, write_run, write_sweep
from iolens.errors import IolensError, UsageError
from iolens.lab.sweep.define.metrics import FACTS
from iolens.lab.sweep.read.results import load_results
from iolens.metrics.comparison.results import compare
from iolens.metrics.comparison.settings import three_digits
from iolens.metrics.statistics import intervals as st
from iolens.pages.exhibits.sweep_points import POINTS
from iolens.pages.wording import sweep_verdict


def test_every_run_is_one_row(tmp_path: Path) -> None:
    results = load_results(write_sweep(tmp_path / "sweep", GRID))
    assert len(results.runs) == 18 * 3
    assert results.settings == ("stripe_count", "aggregators", "cb_buffer_size")
    assert (results.name, results.title) == ("example", "BT-IO class A grid, 10 dumps")
    row = results.runs.iloc[-1]
    assert (row["stripe_count"], row["aggregators"], row["cb_buffer_size"], row["repetition"]) == (
        4,
        4,
        16 * MIB,
        3,
    )
    # The runs write 100 MiB each in `io_seconds`.
    assert row["bandwidth"] * row["io_seconds"] == pytest.approx(100)
    assert row["io_seconds_harmonic"] == pytest.approx(0.94 * row["io_seconds"])
    assert (row["requested.cb_nodes"], row["effective.cb_nodes"], row["observed.aggregators"]) == (4, 4, 4)


def test_an_unreadable_run_is_named_and_counted(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]}, repetitions=2)
    (folder / "points" / "stripe_count1" / "rep-1" / "run.json").write_text('{"id": "cut off')
    results = load_results(folder)
    assert len(results.runs) == 3
    assert [str(skip.path) for skip in results.skipped] == ["points/stripe_count1/rep-1/run.json"]
    assert any("rep-1/run.json" in word for word in cautions(results, compare(results.runs, results.settings)))


def test_nothing_to_read_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(IolensError, match=r"no run\.json"):
        load_results(tmp_path)
    with pytest.raises(UsageError, match="not a folder"):
        load_results(tmp_path / "missing")


def test_an_unknown_metric_is_a_usage_error(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1]}, repetitions=1)
    (folder / "experiment.yaml").write_text("report: {metric: speed}\n")
    with pytest.raises(UsageError, match=r"speed.*write_bandwidth"):
        load_results(folder)


def test_the_complete_run_before_the_sweep_is_kept_apart(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]}, repetitions=2)
    write_run(folder / "first", {}, 1, 99.0)
    results = load_results(folder)
    assert len(results.runs) == 4
    assert results.first is not None
    assert results.first["bandwidth"] == pytest.approx(99.0)
    assert sweep_verdict.complete_run(results) == (
        "The complete run before the sweep: verification successful, write bandwidth 99.0 MiB/s."
    )


def test_best_worst_and_baseline_are_the_model_s(tmp_path: Path) -> None:
    comparison = compared(write_sweep(tmp_path / "sweep", GRID))
    assert settings_of(comparison, comparison.best) == (4, 4, 16 * MIB)
    assert settings_of(comparison, comparison.baseline) == (1, 1, 16 * MIB)
    assert comparison.worst is not None
    assert comparison.points.loc[comparison.worst, "cb_buffer_size"] == MIB
    best = comparison.points.loc[comparison.best]
    assert best["ratio"] == pytest.approx(4.0, rel=0.05)
    assert best["ratio_low"] < 4.0 < best["ratio_high"]
    assert best["seconds"] == pytest.approx(100 / best["value"])
    assert comparison.factors == comparison.settings


def test_effects_are_balanced_geometric_means(tmp_path: Path) -> None:
    """The runs have no noise. Four stripes in place of one make them faster by a factor of 1, 2 and 4 at 1, 2 and 4
    aggregators; the geometric mean of these factors is 2.
    """
    comparison = compared(write_sweep(tmp_path / "sweep", GRID, spread=0.0))
    effects = comparison.effects.set_index(["setting", "level"])
    stripes = effects.loc[("stripe_count", 4)]
    assert (stripes["ratio"], stripes["smallest"], stripes["largest"]) == pytest.approx((2.0, 1.0, 4.0))
    assert stripes["pairs"] == 6
    buffer = effects.loc[("cb_buffer_size", MIB)]
    assert (buffer["base"], buffer["ratio"]) == (16 * MIB, pytest.approx(1 / 1.1))


def test_stripes_and_aggregators_pay_off_together(tmp_path: Path) -> None:
    comparison = compared(write_sweep(tmp_path / "sweep", GRID))
    found = comparison.interaction
    assert found is not None
    assert found.names == ("stripe_count", "aggregators")
    assert (found.first.value, found.second.value) == pytest.approx((1.0, 1.0), abs=0.05)
    assert (found.both.value, found.synergy.value) == pytest.approx((4.0, 4.0), rel=0.05)
    assert found.synergy.is_clear
    assert "times the product" in sweep_verdict.interaction_sentence(found)
    assert len(found.cells) == 9


def test_gains_that_multiply_are_no_interaction(tmp_path: Path) -> None:
    def multiply(point: Any) -> float:
        return 100.0 * point["stripe_count"] * point["aggregators"]

    matrix = {"stripe_count": [1, 2], "aggregators": [1, 2]}
    found = compared(write_sweep(tmp_path / "sweep", matrix, model=multiply)).interaction
    assert found is not None
    assert found.synergy.value == pytest.approx(1.0, abs=0.1)
    assert "do not show" in sweep_verdict.interaction_sentence(found)


def test_equal_settings_cannot_be_told_from_the_best(tmp_path: Path) -> None:
    comparison = compared(write_sweep(tmp_path / "sweep", {"aggregators": [1, 2, 4]}, model=lambda _: 200.0))
    assert comparison.points["tied"].all()
    text = sweep_verdict.comparison_verdict(comparison)
    assert "2 other settings may be as good as it" in text
    assert f"With 5 runs of each, the intervals would be about {math.sqrt(3 / 5):.2f} times as wide." in text
    assert "do not prove" in text or "baseline" in text


def test_the_smallest_of_equal_settings_is_named(tmp_path: Path) -> None:
    def one_stripe_is_slow(point: Any) -> float:
        return 200.0 if point["stripe_count"] > 1 else 100.0

    matrix = {"stripe_count": [1, 2, 8], "aggregators": [1, 2]}
    comparison = compared(write_sweep(tmp_path / "sweep", matrix, model=one_stripe_is_slow))
    place = {(row.stripe_count, row.aggregators): row.Index for row in comparison.points.itertuples()}
    assert comparison.points["tied"].sum() == 4
    assert comparison.best == place[2, 1]
    fastest = comparison.points["value"].idxmax()
    assert fastest != comparison.best
    label, best = comparison.points.loc[fastest, "label"], comparison.points.loc[place[2, 1], "label"]
    text = sweep_verdict.comparison_verdict(comparison)
    assert f"Best: {best}" in text
    assert f"{label} gave" in text
    assert f"the smallest of these {len(comparison.equals)} settings is recommended" in text
    assert "The smallest of them is 2 stripes, 1 aggregator: more runs" in sweep_verdict.comparison_verdict(
        replace(comparison, best=place[8, 2])
    )
    assert "The smallest" not in sweep_verdict.comparison_verdict(replace(comparison, best=place[2, 1]))


BIMODAL = ((100, 100, 100, 100, 150, 150), (101, 101, 101, 101, 101, 80))
"""MiB/s of six runs with 1 stripe and of six with 2. Their medians rank differently from their geometric means."""


def test_a_printed_ratio_is_the_quotient_of_the_printed_values(tmp_path: Path) -> None:
    """These sweeps of six or more runs have outliers, so that the median of a setting is a third away from its
    geometric mean.
    """
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]}, repetitions=6, model=lambda _: 100.0)
    for repetition, speeds in enumerate(zip(*BIMODAL, strict=True), 1):
        for level, speed in zip((1, 2), speeds, strict=True):
            run = folder / f"points/stripe_count{level}/rep-{repetition}"
            shutil.rmtree(run)
            write_run(run, {"stripe_count": level}, repetition, float(speed))
    comparison = compared(folder)
    assert settings_of(comparison, comparison.best) == (1,)
    points = comparison.points
    assert points["value"].tolist() == pytest.approx([geometric_mean(each) for each in BIMODAL])
    assert points.loc[1, "ratio"] == pytest.approx(points.loc[1, "value"] / points.loc[0, "value"])
    (said,) = [text for text in cautions(load_results(folder), comparison) if "Runs fall in two groups" in text]
    assert "1 stripe: 2 near 150 and 4 near 100 MiB/s" in said


def test_the_note_promises_what_the_methods_promise(tmp_path: Path) -> None:
    note = POINTS.table(compared(write_sweep(tmp_path / "sweep", GRID, repetitions=3))).note
    assert st.claim(st.GEOMETRIC, st.CONFIDENCE) in note
    assert "Ratios to the baseline hold together: each run is compared with the runs of its block" in note
    note = POINTS.table(compared(write_sweep(tmp_path / "more", GRID, repetitions=6))).note
    assert st.claim(st.GEOMETRIC, st.CONFIDENCE) in note


def test_one_repetition_claims_nothing(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", GRID, repetitions=1)
    results = load_results(folder)
    comparison = compare(results.runs, results.settings)
    assert "[" not in sweep_verdict.comparison_verdict(comparison)
    assert "do not prove" in sweep_verdict.comparison_verdict(comparison)
    assert any("1 usable run" in word for word in cautions(results, comparison))


@pytest.mark.parametrize(
    ("held", "below", "said"),
    [
        (None, None, "Reads may have come from the nodes' page caches"),
        (
            0.0,
            None,
            "Reads were cold: after the request to drop the data, nodes held at most 0 % of what was read back",
        ),
        (0.5, None, "Reads were not cold"),
        (None, "tmpfs", "Reads count as from cold caches"),
    ],
)
def test_a_comparison_of_reads_says_whether_they_were_cold(
    tmp_path: Path, held: float | None, below: str | None, said: str
) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4]})
    for path in [*folder.rglob("run.json"), *folder.rglob("result.json"), folder / "experiment.yaml"]:
        text = path.read_text().replace("write_bandwidth", "read_bandwidth").replace('"write"', '"read"')
        path.write_text(text)
    for path in folder.rglob("run.json"):
        run = json.loads(path.read_text())
        run["storage"] |= {"below": below} | ({} if held is None else {"cached_before_read": held})
        path.write_text(json.dumps(run))
    results = load_results(folder)
    comparison = compare(results.runs, results.settings)
    assert any(word.startswith(said) for word in cautions(results, comparison))
    assert not any(
        word.startswith("Reads") for word in cautions(replace(results, metric="latency", chosen=None), comparison)
    )


def test_words_as_settings_keep_their_order(tmp_path: Path) -> None:
    def by_method(point: Any) -> float:
        return {"full": 300.0, "simple": 20.0}[point["method"]] + stripes_model(point)

    comparison = compared(write_sweep(tmp_path / "sweep", {"method": ["full", "simple"]}, model=by_method))
    assert list(comparison.points["label"]) == ["method full", "method simple"]
    assert settings_of(comparison, comparison.best) == ("full",)


def test_runs_on_different_hosts_are_said(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]})
    results = load_results(folder)
    comparison = compare(results.runs, results.settings)
    assert not any(
        "hosts" in word
        for word in [*cautions(results, comparison), sweep_verdict.comparison_subtitle(results, comparison)]
    )
    change(folder / "points/stripe_count2/rep-1/run.json", hosts=["node7", "node2"])
    results = load_results(folder)
    comparison = compare(results.runs, results.settings)
    assert any("(node1; node2, node7)" in word for word in cautions(results, comparison))
    assert "2 hosts" in sweep_verdict.comparison_subtitle(results, comparison)


@pytest.mark.parametrize(("load", "said"), [(3.0, False), (9.0, True)])
def test_a_busy_machine_is_said(tmp_path: Path, load: float, said: bool) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]})
    for run in folder.rglob("run.json"):
        change(run, load_before=load)
    results = load_results(folder)
    found = cautions(results, compare(results.runs, results.settings))
    assert any("busy" in word for word in found) is said


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (571.4, "571"),
        (57.14, "57.1"),
        (5.714, "5.71"),
        (12345.6, "12346"),
        (0.05, "0.0500"),
        (99.99, "100"),
        (2.0, "2.00"),
        (0.0, "0"),
    ],
)
def test_numbers_are_written_without_false_precision(value: float, text: str) -> None:
    assert three_digits(value) == text


def test_a_factor_cannot_be_called_like_a_column_of_all_runs(tmp_path: Path) -> None:
    results = load_results(write_sweep(tmp_path / "good", {"stripe_count": [1, 2]}))
    columns = {
        *results.runs,
        *compare(results.runs, results.settings).points,
        *compare(results.runs, results.settings).runs,
    }
    assert {name for name in columns if "." not in name} == {*FACTS, "stripe_count"}
    with pytest.raises(UsageError, match="driver is already a column of every run; give the factor another name"):
        load_results(write_sweep(tmp_path / "bad", {"driver": ["a", "b"]}))
