"""Tests a real sweep of BT-IO, class S, over builds of the program; one build changes constants of the solver, so that
its result is wrong.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from comparison_example import cautions
from iolens.cli.main import main
from iolens.lab.sweep.plan.alone import alone
from iolens.lab.sweep.read.results import Results, load_results
from iolens.metrics.comparison.results import Comparison, compare
from iolens.pages.wording import sweep_verdict

EXPERIMENT = """
name: builds
workload: {program: btio, arguments: [--class, S, --steps, 4], ranks: 1}
storage: {kind: directory}
matrix:
  build:
    usual: {}
    single: {compiler: gcc, flags: -O0 -fsingle-precision-constant}
repetitions: 1
confirm: 0
report: {metric: compute_time}
"""


def iolens(folder: Path, *words: str) -> int:
    """Runs a sweep into this folder and returns its exit code."""
    if not (folder / "e.yaml").exists():
        (folder / "e.yaml").write_text(EXPERIMENT, encoding="utf-8")
    return main(["sweep", str(folder / "e.yaml"), "--results", str(folder), "--no-report", *words])


def records(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        path.parts[-3].removeprefix("build-"): json.loads(path.read_text())
        for path in (folder / "builds" / "points").glob("*/rep-1/run.json")
    }


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs the sweep, and returns its folder."""
    folder = tmp_path_factory.mktemp("a=b c")
    assert iolens(folder) == 0
    return folder


@pytest.mark.mpi
def test_every_run_says_what_its_program_was_built_with(swept: Path) -> None:
    found = records(swept)
    made = found["single"]["build"]
    assert (made["compiler"], made["flags"]) == ("gcc", "-O0 -fsingle-precision-constant")
    assert made["version"].startswith("gcc")
    result = json.loads((swept / "builds/points/build-single/rep-1/result.json").read_text())
    assert result["build"]["flags"] == made["flags"]
    assert found["usual"]["build"]["flags"] != made["flags"]
    assert found["usual"]["key"] != found["single"]["key"]
    assert all(record["observed"]["compute_seconds"] > 0 for record in found.values())


@pytest.mark.mpi
def test_the_build_that_computes_something_else_is_found_and_named(swept: Path) -> None:
    results = load_results(swept / "builds")
    assert dict(zip(results.runs["build"], results.runs["answer.same"], strict=True)) == {
        "usual": True,
        "single": False,
    }
    found = compare(results.runs, results.settings, results.measure)
    assert found.points.loc[found.best, "label"] == "build usual"
    assert "its answer differs from the baseline: relative difference" in verdict_and_notes(results, found)
    assert "another one in 1: build single." in verdict_and_notes(results, found)


def verdict_and_notes(results: Results, found: Comparison) -> str:
    return " ".join(
        [sweep_verdict.comparison_verdict(found), *cautions(results, found), *sweep_verdict.answer_sentences(found)]
    )


@pytest.mark.mpi
def test_a_sweep_that_goes_on_keeps_its_builds_and_runs(swept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = (swept / "builds/builds").glob("*/bin/btio")
    built, before = program.stat().st_mtime_ns, {name: one["started"] for name, one in records(swept).items()}
    assert iolens(swept) == 0
    said = capsys.readouterr()
    assert "0 of 2 runs to do" in said.out
    assert "building" not in said.err
    assert program.stat().st_mtime_ns == built
    assert {name: one["started"] for name, one in records(swept).items()} == before


def test_what_would_be_built_is_shown_beforehand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert iolens(tmp_path, "--dry-run") == 0
    (built,) = (line for line in capsys.readouterr().out.splitlines() if "make -C workloads" in line)
    for word in ("OMPI_CC=gcc", "MPICH_CC=gcc", "I_MPI_CC=gcc", "PROGRAMS=btio", "-fsingle-precision-constant"):
        assert word in built
    assert not (tmp_path / "builds").exists()


@pytest.mark.mpi
def test_flags_that_the_compiler_refuses_end_it_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert iolens(tmp_path, "--set", "matrix.build={wrong: {flags: -fno-such-thing}}") == 1
    said = capsys.readouterr().err
    assert "could not build btio" in said
    assert "-fno-such-thing" in said
    assert not (tmp_path / "builds" / "points").exists()
    assert not list((tmp_path / "builds" / "builds").glob("*"))
    assert iolens(tmp_path, "--set", "matrix.build={none: {flags: -E}}") == 1
    assert "built no program of btio with the usual compiler -E" in capsys.readouterr().err


@pytest.mark.mpi
def test_no_program_is_built_over_that_of_a_sweep_under_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with alone(tmp_path / "builds"):
        assert iolens(tmp_path) == 1
    assert "is in use by another sweep" in capsys.readouterr().err
    assert not (tmp_path / "builds" / "builds").exists()


@pytest.mark.mpi
def test_nothing_is_built_for_ranks_that_the_program_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert iolens(tmp_path, "--set", "workload.ranks=2") == 2
    said = capsys.readouterr().err
    assert "needs a square number of ranks" in said
    assert "building" not in said
