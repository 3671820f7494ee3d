"""The bundled experiments of the simulators load unchanged; cut down to two points they run and end in a PDF."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from checkpoint_program import ROOT, needs_netcdf
from iolens.lab.sweep.define.experiment_file import load_experiment
from iolens.lab.sweep.define.matrix import matrix_points
from mpi_libraries import need_hints_of_programs

FOLDER = ROOT / "workloads" / "checkpoint"


@pytest.mark.parametrize("name", ["checkpoint", "restart"])
def test_the_experiment_loads_and_has_its_points(name: str) -> None:
    experiment = load_experiment(FOLDER / f"{name}.yaml")
    assert experiment.program == f"{name}_simulator"
    assert experiment.hints == {}
    assert len(matrix_points(experiment)) * experiment.repetitions == 48


@needs_netcdf()
@pytest.mark.mpi
def test_a_sweep_compares_writing_and_shows_what_was_written_twice(tmp_path: Path) -> None:
    head = (FOLDER / "checkpoint.yaml").read_text().split("matrix:")[0].replace("kind: emulated", "kind: directory")
    matrix = "matrix:\n  manner:\n    plain: {}\n    the original's hints: {arguments: [--original_hints]}\n"
    (tmp_path / "short.yaml").write_text(f"{head}{matrix}repetitions: 1\n")
    command = [sys.executable, "-m", "iolens.cli.main", "sweep", "short.yaml", "--results", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    need_hints_of_programs("mpirun")
    results = sorted(tmp_path.glob("checkpoint/points/*/rep-1/result.json"))
    assert [json.loads(path.read_text())["phases"][0]["bytes"] for path in results] == [90 * 90 * 6 * 40 * 3 * 4] * 2
    pdf = tmp_path / "checkpoint" / "comparison.pdf"
    text = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, text=True, check=True).stdout
    assert "POSIX wrote 2.00 bytes for each byte of MPI-IO" in " ".join(text.split())
