"""Reading a sweep's folder, and what the comparison says about it, against models known beforehand."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from comparison_example import MIB, stripes_model, write_run, write_sweep
from iolens.errors import IolensError, UsageError
from iolens.lab.sweep.results import FACTS, load_results
from iolens.metrics import statistics as st
from iolens.metrics.bound import bound
from iolens.metrics.comparison import Comparison, compare
from iolens.pages import comparison_words as words
from iolens.pages.comparison_driver import driver_marks, driver_notes
from iolens.pages.comparison_remedy import remedy
from iolens.pages.exhibits.comparison import BRIEF, POINTS

GRID = {"stripe_count": [1, 2, 4], "aggregators": [1, 2, 4], "cb_buffer_size": [MIB, 16 * MIB]}


def compared(folder: Path) -> Comparison:
    results = load_results(folder)
    return compare(results.runs, results.settings)


def settings_of(comparison: Comparison, index: int | None) -> tuple[Any, ...]:
    assert index is not None
    return tuple(comparison.points.loc[index, list(comparison.settings)])


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
    # 100 MiB written in io_seconds
    assert row["bandwidth"] * row["io_seconds"] == pytest.approx(100)
    assert row["io_seconds_harmonic"] == pytest.approx(0.94 * row["io_seconds"])
    assert (row["requested.cb_nodes"], row["effective.cb_nodes"], row["observed.aggregators"]) == (4, 4, 4)


def test_an_unreadable_run_is_named_and_counted(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]}, repetitions=2)
    (folder / "points" / "stripe_count1" / "rep-1" / "run.json").write_text('{"id": "cut off')
    results = load_results(folder)
    assert len(results.runs) == 3
    assert [str(skip.path) for skip in results.skipped] == ["points/stripe_count1/rep-1/run.json"]
    assert any("rep-1/run.json" in word for word in words.cautions(results, compare(results.runs, results.settings)))


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
    assert words.complete_run(results) == (
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
    """Without noise: stripes 1 -> 4 gives 1, 2, 4 times at 1, 2, 4 aggregators: geometric mean 2."""
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
    assert "times the product" in words.interaction_sentence(found)
    assert len(found.cells) == 9


def test_gains_that_multiply_are_no_interaction(tmp_path: Path) -> None:
    def multiply(point: Any) -> float:
        return 100.0 * point["stripe_count"] * point["aggregators"]

    matrix = {"stripe_count": [1, 2], "aggregators": [1, 2]}
    found = compared(write_sweep(tmp_path / "sweep", matrix, model=multiply)).interaction
    assert found is not None
    assert found.synergy.value == pytest.approx(1.0, abs=0.1)
    assert "do not show" in words.interaction_sentence(found)


def test_equal_settings_cannot_be_told_from_the_best(tmp_path: Path) -> None:
    comparison = compared(write_sweep(tmp_path / "sweep", {"aggregators": [1, 2, 4]}, model=lambda _: 200.0))
    assert comparison.points["tied"].all()
    text = words.verdict(comparison)
    assert "2 other settings cannot be told" in text
    assert f"5 of each would make the intervals {st.narrowing(3, 5, 2):.2f} times as wide." in text
    assert "do not prove" in text or "baseline" in text


def change(run: Path, **values: Any) -> None:
    content = json.loads(run.read_text())
    run.write_text(json.dumps(content | values))


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
    cautions = " ".join(words.cautions(results, comparison))
    assert points.loc[2, "left_out"] == "2 of 3 runs lost: uncharged bytes"
    assert "exit code 1" in cautions
    assert "5 of 9 runs were lost: 3 × exit code 1; 1 × uncharged bytes; 1 × slow disk." in cautions
    assert comparison.interaction is None


SLOW = "the machine was slower than the emulated storage"


def lucky(directory: Path) -> Path:
    """A sweep in which two slow runs of 4 stripes, 401 and 389 MiB/s, were thrown away and the third gave 641."""
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
    assert f"4 stripes gave 641 MiB/s but cannot be compared (2 of 3 runs lost: {SLOW})." in words.verdict(comparison)
    cautions = " ".join(words.cautions(results, comparison))
    assert f"2 of 9 runs were lost: 2 × {SLOW}." in cautions
    assert f"Left out of the comparison: 4 stripes (641 MiB/s): 2 of 3 runs lost: {SLOW}." in cautions
    for table in (BRIEF.table(comparison), POINTS.table(comparison)):
        assert any("1/3, 2 lost" in row for row in table.rows)


def test_a_baseline_that_had_to_move_is_said(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2, 4]})
    results = load_results(folder)
    assert "the baseline has" not in " ".join(words.cautions(results, compare(results.runs, results.settings)))
    for repetition in (1, 2, 3):
        run = folder / f"points/stripe_count1/rep-{repetition}"
        shutil.rmtree(run)
        write_run(run, {"stripe_count": 1}, repetition, 100.0, status="failed", reason="it crashed")
    results = load_results(folder)
    said = words.cautions(results, compare(results.runs, results.settings))
    assert "No run with 1 stripe can be compared: the baseline has 2 stripes." in said


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
    assert words.verdict(comparison).startswith("Best: 4 stripes (1 lost run repeated), ")
    assert points.loc[2, "left_out"] == f"4 of 7 runs lost: {SLOW}"
    assert f"5 of 14 runs were lost, 5 of them repeated: 5 × {SLOW}." in " ".join(words.cautions(results, comparison))


def test_a_single_run_among_repeated_ones_is_not_compared(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]})
    for repetition in (2, 3):
        (folder / f"points/stripe_count2/rep-{repetition}/run.json").unlink()
    points = compared(folder).points.set_index("stripe_count")
    assert points.loc[2, "left_out"] == "one run only, which says nothing about its spread"
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
    assert f"{lost} {'stripe' if lost == 1 else 'stripes'}, 1 aggregator" in " ".join(
        words.cautions(results, comparison)
    )


def test_the_best_by_the_median_is_tied_with_itself(tmp_path: Path) -> None:
    """From six runs on the typical value is the median, whose largest need not be the largest geometric mean."""
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]}, repetitions=6, model=lambda _: 100.0)
    for repetition, speeds in enumerate(
        zip((100, 100, 100, 100, 150, 150), (101, 101, 101, 101, 101, 80), strict=True), 1
    ):
        for level, speed in zip((1, 2), speeds, strict=True):
            run = folder / f"points/stripe_count{level}/rep-{repetition}"
            shutil.rmtree(run)
            write_run(run, {"stripe_count": level}, repetition, float(speed))
    comparison = compared(folder)
    assert settings_of(comparison, comparison.best) == (2,)
    assert comparison.points["tied"].all()


def test_the_note_promises_what_the_methods_promise(tmp_path: Path) -> None:
    note = POINTS.table(compared(write_sweep(tmp_path / "sweep", GRID, repetitions=3))).note
    assert st.claim(st.GEOMETRIC, st.CONFIDENCE) in note
    assert st.claim(st.RATIO, st.CONFIDENCE, together=True) in note
    note = POINTS.table(compared(write_sweep(tmp_path / "more", GRID, repetitions=6))).note
    assert st.claim(st.MEDIAN, 0.96875) in note


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
    assert "no space left" in words.verdict(comparison)
    assert remedy(results, comparison) is None


def test_one_repetition_claims_nothing(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", GRID, repetitions=1)
    results = load_results(folder)
    comparison = compare(results.runs, results.settings)
    assert "[" not in words.verdict(comparison)
    assert "do not prove" in words.verdict(comparison)
    assert any("1 usable run" in word for word in words.cautions(results, comparison))


def test_the_remedy_can_be_pasted(tmp_path: Path) -> None:
    results = load_results(write_sweep(tmp_path / "sweep", GRID))
    found = remedy(results, compare(results.runs, results.settings))
    assert found is not None
    assert found.stripes == "lfs setstripe -c 4 -S 1M DIRECTORY"
    assert set(found.hints) == {
        "romio_cb_write enable",
        "cb_config_list *:*",
        "cb_nodes 4",
        f"cb_buffer_size {16 * MIB}",
    }
    assert found.lead == "To use the best setting"
    assert "64 KiB" not in found.holds_for
    assert "holds for ROMIO's generic driver" in found.holds_for


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("lustre", "lfs setstripe -c 4 -S 1M -p flash DIRECTORY"),
        ("beegfs", f"beegfs entry set --num-targets=4 --chunk-size={MIB} --pool=flash DIRECTORY"),
        ("cephfs", f"stripe_unit={MIB} stripe_count=4 object_size={4 * MIB} pool=flash"),
    ],
)
def test_the_line_to_paste_names_the_pool_that_was_measured(tmp_path: Path, kind: str, line: str) -> None:
    folder = write_sweep(tmp_path / "sweep", GRID)
    with (folder / "experiment.yaml").open("a") as experiment:
        experiment.write(f"storage: {{kind: {kind}, pool: flash}}\n")
    for path in folder.rglob("run.json"):
        path.write_text(path.read_text().replace('"kind": "emulated"', f'"kind": "{kind}"'))
    results = load_results(folder)
    found = remedy(results, compare(results.runs, results.settings))
    assert found is not None
    assert line in str(found.stripes)


@pytest.mark.parametrize(
    ("held", "below", "said"),
    [
        (None, None, "Reads may have come from the nodes' page caches"),
        (0.0, None, "Reads were cold: after they were told to forget it, nodes held at most 0% of what was read back"),
        (0.5, None, "Reads were not cold"),
        (None, "tmpfs", "Reads are as from cold caches"),
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
    assert any(word.startswith(said) for word in words.cautions(results, comparison))
    assert not any(word.startswith("Reads") for word in words.cautions(replace(results, metric="latency"), comparison))


def test_runs_that_failed_and_were_done_again_are_said(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4]})
    path = folder / "points" / "stripe_count4" / "rep-1" / "run.json"
    failure = {"reason": "exit code 3", "seconds": 1.0, "folder": "rep-1.attempt-1"}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"failed_before": [failure]}))
    results = load_results(folder)
    comparison = compare(results.runs, results.settings)
    assert "1 failed run was done again on request (1 × exit code 3)" in " ".join(words.cautions(results, comparison))
    assert comparison.points["lost"].sum() == 0


def test_a_stripe_size_that_lustre_refuses_is_said(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2], "stripe_size": [16384]}, model=lambda _: 100.0)
    results = load_results(folder)
    found = remedy(results, compare(results.runs, results.settings))
    assert found is not None
    assert found.lead == "The best setting is the baseline; to be sure to have it"
    assert "multiples of 64 KiB" in found.holds_for


def test_the_remedy_for_ompio_is_no_hints_file(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"aggregators": [1, 2]})
    for run in folder.rglob("run.json"):
        change(run, mpi={"library": "Open MPI", "io_component": "ompio"})
    results = load_results(folder)
    found = remedy(results, compare(results.runs, results.settings))
    assert found is not None
    assert found.stripes is None
    assert "ompio" in found.holds_for
    assert any("takes no hints file" in note for note in driver_notes(results.runs))


def test_the_remedy_of_a_program_without_mpi_speaks_of_no_library(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"aggregators": [1, 2]})
    for run in folder.rglob("run.json"):
        change(run, mpi={"library": None, "io_component": None})
    results = load_results(folder)
    found = remedy(results, compare(results.runs, results.settings))
    assert found is not None
    assert found.holds_for.startswith("It holds for this program on this file system")


def test_no_driver_is_named_where_no_data_went_through_mpiio(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"aggregators": [1, 2]})
    for run in folder.rglob("run.json"):
        change(run, observed={"mpi_io": False})
    results = load_results(folder)
    comparison = compare(results.runs, results.settings)
    assert driver_marks(results.runs) == driver_notes(results.runs) == []
    assert "ROMIO" not in words.subtitle(results, comparison)
    found = remedy(results, comparison)
    assert found is not None
    assert found.holds_for.endswith("no data went through MPI-IO.")


def test_the_remedy_names_our_own_transfers(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"aggregators": [1, 2]})
    for run in folder.rglob("run.json"):
        change(run, mpi={"library": "Open MPI", "io_component": "two-phase"})
    results = load_results(folder)
    found = remedy(results, compare(results.runs, results.settings))
    assert found is not None
    assert "the toolkit's own two-phase transfers" in found.holds_for


LIMITS = {"ost_mb_per_s": 200.0, "link_mb_per_s": 1250.0, "memory_mb_per_s": 4000.0, "ranks_per_client": 1.0}


@pytest.mark.parametrize(
    ("stripes", "writers", "most", "by"),
    [(1, 4, 200, "targets"), (6, 1, 1200, "targets"), (12, 1, 1250, "links"), (12, 4, 2400, "targets")],
)
def test_the_bound_is_the_smallest_of_targets_links_and_memory(stripes: int, writers: int, most: int, by: str) -> None:
    assert bound(LIMITS, stripes, writers) == (pytest.approx(most * 1e6 / MIB), by)
    many = min(6 * stripes * 200, writers * 1250)  # files of a sixth of the bytes each
    assert bound(LIMITS, stripes, writers, 1 / 6)[0] == pytest.approx(many * 1e6 / MIB)
    shared = bound(LIMITS | {"ranks_per_client": 4.0, "memory_mb_per_s": 100.0}, stripes, writers)
    assert shared == (pytest.approx(100e6 / MIB), "memory")


def lustre_sweep(folder: Path) -> Path:
    """A sweep with ROMIO's Lustre driver on emulated targets, whose model is kept, with data in memory."""
    write_sweep(folder, {"stripe_count": [1, 12], "aggregators": [1, 4]})
    for run in folder.rglob("run.json"):
        point = json.loads(run.read_text())["point"]
        used = min(point["stripe_count"], point["aggregators"])
        storage = {"kind": "emulated", "file_system": "ost", "below": "tmpfs", "valid": True, "reason": None}
        mpi = {"library": "Intel(R) MPI Library 2021.18.1", "io_component": None, "driver": "lustre"}
        change(run, mpi=mpi, storage=storage, observed={"aggregators": used})
    (folder / "ost.yaml").write_text("".join(f"{key}: {value:g}\n" for key, value in LIMITS.items()))
    return folder


def test_a_sweep_says_its_driver_its_bound_and_where_its_data_lay(tmp_path: Path) -> None:
    results = load_results(lustre_sweep(tmp_path / "sweep"))
    comparison = compare(results.runs, results.settings, limits=results.limits)
    told = words.cautions(results, comparison)
    assert any("moved by ROMIO's Lustre driver, which Cray MPICH, Intel MPI" in note for note in told)
    assert any("in memory (tmpfs)" in note for note in told)
    assert any("fewer wrote than were asked for: 1 of 4 with 1 stripe." in note for note in told)
    assert "One aggregator can feed up to 6 stripes; from 7 on" in words.bound_sentences(comparison)[0]
    assert [round(value) for value in comparison.points["bound"]] == [191, 191, 1192, 2289]
    assert "ROMIO's Lustre driver" in words.subtitle(results, comparison)
    assert driver_marks(results.runs) == ["ROMIO'S LUSTRE DRIVER: AS ON LUSTRE SITES"]
    found = remedy(results, comparison)
    assert found is not None
    assert "holds for ROMIO's Lustre driver of Intel(R) MPI Library 2021.18.1" in found.holds_for


def test_no_bound_without_the_storages_numbers(tmp_path: Path) -> None:
    comparison = compared(write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4]}))
    assert comparison.points["bound"].isna().all()
    assert words.bound_sentences(comparison) == []


def test_a_baseline_that_was_not_run_is_not_invented(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [2, 4], "aggregators": [2, 4]})
    for run in folder.glob("points/stripe_count2_aggregators2/*/run.json"):
        run.unlink()
    comparison = compared(folder)
    assert comparison.baseline is None
    assert comparison.points["ratio"].isna().all()
    assert "the worst" in words.verdict(comparison)


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
        "hosts" in word for word in [*words.cautions(results, comparison), words.subtitle(results, comparison)]
    )
    change(folder / "points/stripe_count2/rep-1/run.json", hosts=["node7", "node2"])
    results = load_results(folder)
    comparison = compare(results.runs, results.settings)
    assert any("(node1; node2, node7)" in word for word in words.cautions(results, comparison))
    assert "2 hosts" in words.subtitle(results, comparison)


@pytest.mark.parametrize(("load", "said"), [(3.0, False), (9.0, True)])
def test_a_busy_machine_is_said(tmp_path: Path, load: float, said: bool) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]})
    for run in folder.rglob("run.json"):
        change(run, load_before=load)
    results = load_results(folder)
    found = words.cautions(results, compare(results.runs, results.settings))
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
    assert words.number(value) == text


def test_a_factor_cannot_be_called_like_a_column_of_all_runs(tmp_path: Path) -> None:
    results = load_results(write_sweep(tmp_path / "good", {"stripe_count": [1, 2]}))
    columns = {
        *results.runs,
        *compare(results.runs, results.settings).points,
        *compare(results.runs, results.settings).runs,
    }
    assert {name for name in columns if "." not in name} == {*FACTS, "stripe_count"}
    with pytest.raises(UsageError, match="driver is a column of all runs; give that factor another name"):
        load_results(write_sweep(tmp_path / "bad", {"driver": ["a", "b"]}))
