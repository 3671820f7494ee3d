"""Tests that a comparison does not warn of what is no fault: rounded speeds, settings that nobody asked for, and hosts
that more nodes bring with them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from comparison_example import cautions, change, compared, write_sweep
from iolens.lab.outputs.ior import read_ior, read_ior_json
from iolens.lab.sweep.read.results import load_results
from iolens.lab.workloads.ior_output import result_of_ior

DATA = Path(__file__).resolve().parents[1] / "data"
MIB = 2**20


def said_of(folder: Path) -> str:
    return " ".join(cautions(load_results(folder), compared(folder)))


@pytest.mark.parametrize(("name", "size"), [("ior/fmt_v1.out", 32 * MIB), ("ior/old_3.0.out", 400 * MIB)])
def test_bytes_of_ior_are_those_of_its_file(name: str, size: int) -> None:
    text = (DATA / name).read_text()
    output = read_ior(text)
    assert output is not None
    assert {value.value for value in output.values if value.unit == "B"} == {size}
    assert {phase["bytes"] for phase in result_of_ior(text)["phases"]} == {size}


def test_bytes_of_iors_json_are_those_of_its_file_and_a_run_cut_short_keeps_its_own() -> None:
    output = read_ior_json((DATA / "outputs/ior.json").read_text())
    assert output is not None
    assert {value.value for value in output.values if value.unit == "B"} == {32 * MIB}
    cut = result_of_ior((DATA / "ior/stonewall.out").read_text())
    assert all(phase["bytes"] < 15 * 2**30 for phase in cut["phases"] if phase["operation"] == "write")


@pytest.mark.parametrize(("more", "warned"), [(1.004, False), (1.5, True)])
def test_rounded_bytes_are_no_other_work(more: float, warned: bool, tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4], "aggregators": [4]})
    for result in folder.glob("points/stripe_count4*/*/result.json"):
        result.write_text(result.read_text().replace(str(100 * MIB), str(round(100 * MIB * more))))
    assert ("does not compare the same work" in said_of(folder)) is warned


def test_runs_that_asked_for_nothing_need_no_witness(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"method": ["a", "b"]})
    for run in folder.rglob("run.json"):
        change(run, requested={}, took_effect={})
    assert "no trustworthy source" not in said_of(folder)
    for run in folder.rglob("run.json"):
        change(run, requested={"cb_nodes": 1}, took_effect={"cb_nodes": None})
    assert "no trustworthy source" in said_of(folder)


def test_more_nodes_are_no_other_hosts(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"nodes": [1, 2]})
    for level in (1, 2):
        for run in folder.glob(f"points/nodes{level}/*/run.json"):
            change(run, hosts=["node-a", "node-b"][:level])
    assert "same hosts" not in said_of(folder)
    change(next(folder.glob("points/nodes1/*/run.json")), hosts=["node-c"])
    assert "same hosts" in said_of(folder)
