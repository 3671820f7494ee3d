"""Tests the recommended setting, the driver and the storage for which it holds, and its bound."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from comparison_example import GRID, MIB, cautions, change, compared, write_sweep
from iolens.lab.predict.links import Links
from iolens.lab.predict.predict import PredictedTimes
from iolens.lab.predict.what_if import WhatIf, prediction_json
from iolens.lab.sweep.read.results import load_results
from iolens.metrics.comparison.results import compare
from iolens.metrics.files.stripes.bound import bandwidth_bound
from iolens.pages.wording import sweep_verdict
from iolens.pages.wording.sweep_remedy import driver_marks, driver_notes, remedy


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


@pytest.mark.parametrize(("driver", "written"), [("lustre", False), ("ufs", True)])
def test_a_hint_that_the_driver_ignores_is_not_pasted(tmp_path: Path, driver: str, written: bool) -> None:
    folder = write_sweep(tmp_path / "sweep", GRID)
    for path in folder.rglob("run.json"):
        change(path, mpi={"library": "MPICH 4", "io_component": "romio", "driver": driver})
    results = load_results(folder)
    found = remedy(results, compare(results.runs, results.settings, results.measure))
    assert found is not None
    assert any(line.startswith("cb_buffer_size") for line in found.hints) == written
    assert "cb_nodes 4" in found.hints


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("lustre", "lfs setstripe -c 4 -S 1M -p flash DIRECTORY"),
        ("beegfs", f"beegfs entry set --num-targets=4 --chunk-size={MIB} --pool=flash DIRECTORY"),
        ("cephfs", f"stripe_unit={MIB} stripe_count=4 object_size={64 * MIB} pool=flash"),
    ],
)
def test_the_line_to_paste_names_the_pool_that_was_measured(tmp_path: Path, kind: str, line: str) -> None:
    folder = write_sweep(tmp_path / "sweep", GRID)
    with (folder / "experiment.yaml").open("a") as experiment:
        experiment.write(f"storage: {{kind: {kind}, pool: flash}}\n")
    for path in folder.rglob("run.json"):
        path.write_text(path.read_text().replace('"kind": "emulated"', f'"kind": "{kind}"'))
        effective = json.loads(path.read_text())["effective"]
        change(path, effective={**effective, "object_size": 64 * MIB if kind == "cephfs" else None})
    results = load_results(folder)
    found = remedy(results, compare(results.runs, results.settings))
    assert found is not None
    assert line in str(found.stripes)


def test_a_stripe_size_that_lustre_refuses_is_said(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2], "stripe_size": [16384]}, model=lambda _: 100.0)
    results = load_results(folder)
    found = remedy(results, compare(results.runs, results.settings))
    assert found is not None
    assert found.lead == "The best setting is the baseline; to set it explicitly"
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
    assert "ROMIO" not in sweep_verdict.comparison_subtitle(results, comparison)
    found = remedy(results, comparison)
    assert found is not None
    assert found.holds_for.endswith("no data went through MPI-IO.")


def test_the_hdf5_settings_of_the_best_level_can_be_pasted(tmp_path: Path) -> None:
    levels = ("as they come", "aligned", "late")
    folder = write_sweep(
        tmp_path / "sweep", {"datasets": levels}, model=lambda point: 100.0 + 50 * len(point["datasets"])
    )
    with (folder / "experiment.yaml").open("a") as experiment:
        changes = {"as they come": {"hdf5": "*.h5:alignment=1M,meta_block=4M"}, "aligned": {}, "late": {}}
        experiment.write(f"matrix: {json.dumps({'datasets': changes})}\n")
    results = load_results(folder)
    found = remedy(results, compare(results.runs, results.settings))
    assert found is not None
    assert found.own == ("iolens run --hdf5 '*.h5:alignment=1M,meta_block=4M' -- btio ...",)


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
    assert bandwidth_bound(LIMITS, stripes, writers) == (pytest.approx(most * 1e6 / MIB), by)
    many = min(6 * stripes * 200, writers * 1250)  # Files that each hold a sixth of the bytes.
    assert bandwidth_bound(LIMITS, stripes, writers, 1 / 6)[0] == pytest.approx(many * 1e6 / MIB)
    shared = bandwidth_bound(LIMITS | {"ranks_per_client": 4.0, "memory_mb_per_s": 100.0}, stripes, writers)
    assert shared == (pytest.approx(100e6 / MIB), "memory")


def lustre_sweep(folder: Path) -> Path:
    """Writes a sweep with ROMIO's Lustre driver on emulated targets, with the model's parameters and data in memory."""
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
    told = cautions(results, comparison)
    assert any("moved by ROMIO's Lustre driver, which Cray MPICH, Intel MPI" in note for note in told)
    assert any("in memory (tmpfs)" in note for note in told)
    assert any("Fewer aggregators wrote than were requested: 1 of 4 with 1 stripe." in note for note in told)
    assert "One aggregator can feed up to 6 stripes; with 7 or more" in sweep_verdict.bound_sentences(comparison)[0]
    without = replace(comparison, runs=comparison.runs.assign(**{"observed.mpi_io": False}))
    assert "aggregator" not in sweep_verdict.bound_sentences(without)[0]
    assert [round(value) for value in comparison.points["bound"]] == [191, 191, 1192, 2289]
    assert "ROMIO's Lustre driver" in sweep_verdict.comparison_subtitle(results, comparison)
    assert driver_marks(results.runs) == ["ROMIO'S LUSTRE DRIVER: AS ON LUSTRE SITES"]
    found = remedy(results, comparison)
    assert found is not None
    assert "holds for ROMIO's Lustre driver of Intel(R) MPI Library 2021.18.1" in found.holds_for


@pytest.mark.parametrize(
    ("here", "stripes", "told"),
    [
        (6.25, (1, 12), "This choice holds if a client's link is 6.25 to 16 times as fast as a target"),
        (6.25, (1, 4), "the predictions leave this setting out"),
        (2.0, (1, 12), "To see for which machines it holds, predict"),
        (None, (1, 12), "here a client's link is 6.25 times as fast as a target"),
    ],
)
def test_the_remedy_says_on_which_machines_it_holds(
    tmp_path: Path, here: float | None, stripes: tuple[int, int], told: str
) -> None:
    """Predictions must be for this machine and have the recommended setting: 12 stripes, 4 aggregators."""
    folder = lustre_sweep(tmp_path / "sweep")
    if here is not None:
        times = PredictedTimes(1.0, 2.0, 1.0, 1.0)
        points = [({"stripe_count": count, "aggregators": 4}, times) for count in stripes]
        links = Links(here, [(1.0, (1.0, 2.0)), (here, (2.0, 1.0)), (16.0, (2.0, 1.0))])
        found = WhatIf("run.darshan", "ost.yaml", None, (), times, times, None, points, links)
        (folder / "what-if.json").write_text(prediction_json(found))
    results = load_results(folder)
    best = remedy(results, compare(results.runs, results.settings))
    assert best is not None
    assert best.stripes is not None
    assert "12" in best.stripes
    assert told in best.holds_for


def test_no_bound_without_the_storages_numbers(tmp_path: Path) -> None:
    comparison = compared(write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4]}))
    assert comparison.points["bound"].isna().all()
    assert sweep_verdict.bound_sentences(comparison) == []


def test_stripes_that_stay_empty_are_not_recommended(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 12]}, model=lambda p: 100.0 * p["stripe_count"])
    for path in folder.rglob("run.json"):
        change(path, observed={"file_bytes": 4 * MIB})
    results = load_results(folder)
    found = remedy(results, compare(results.runs, results.settings))
    assert found is not None
    assert found.stripes == "lfs setstripe -c 4 -S 1M DIRECTORY"
    assert "12 stripes, of which 4 hold data of the largest file (4 MiB)" in found.holds_for
    for path in folder.rglob("run.json"):
        change(path, observed={"file_bytes": 11 * MIB + 1})
    results = load_results(folder)
    found = remedy(results, compare(results.runs, results.settings))
    assert found is not None
    assert found.stripes == "lfs setstripe -c 12 -S 1M DIRECTORY"
    assert "hold data" not in found.holds_for
