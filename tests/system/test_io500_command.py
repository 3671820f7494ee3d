"""`iolens io500` runs every phase, leaves a log of each, and removes the data."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.lab.io500.phases import PHASES
from iolens.lab.io500.score import geometric_mean
from patience import PATIENCE

pytestmark = pytest.mark.mpi


def io500(where: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "iolens.cli.main", "io500", *arguments]
    return subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_all_phases(tmp_path: Path) -> None:
    amounts = ["--easy-block", "2M", "--hard-segments", "5", "--easy-items", "40", "--hard-items", "30"]
    done = io500(tmp_path, *amounts)
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\[RESULT\] +(\S+) +([\d.]+) (\S+) +:", done.stdout, re.MULTILINE)
    assert [row[0] for row in rows] == [phase.name for phase in PHASES]
    last = re.search(r"^\[SCORE INVALID\] Bandwidth (\S+) GiB/s : IOPS (\S+) kiops : TOTAL (\S+)$", done.stdout, re.M)
    assert last is not None
    bandwidths = [float(value) for _, value, unit in rows if unit == "GiB/s"]
    rates = [float(value) for _, value, unit in rows if unit == "kIOPS"]
    assert float(last[1]) == pytest.approx(geometric_mean(bandwidths), rel=0.01)
    assert float(last[2]) == pytest.approx(geometric_mean(rates), rel=0.01)
    assert float(last[3]) == pytest.approx((float(last[1]) * float(last[2])) ** 0.5, rel=0.01)
    assert "not a valid IO500 submission" in done.stdout
    results = tmp_path / "results" / "io500"
    summary = (results / "result_summary.txt").read_text().splitlines()
    assert summary[:13] == [line for line in done.stdout.splitlines() if line.startswith("[")]
    for phase in PHASES:
        assert len(list((results / phase.name).glob("*.darshan"))) == 1, phase.name
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


def test_data_of_another_run_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "io500-data").mkdir()
    done = io500(tmp_path)
    assert done.returncode == 1
    assert "io500-data exists already" in done.stderr
    assert (tmp_path / "io500-data").is_dir()
