"""`iolens advise`: silence on a tiny job, and wrong usage."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.cli.main import main

TINY = Path(__file__).parents[1] / "data/darshan/mpi-io-test-x86_64-3.5.0.darshan"


def test_a_tiny_job_gets_no_advice(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", str(TINY), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["findings"] == []
    assert said["verdict"]["kind"] == "nothing"
    assert main(["advise", str(TINY)]) == 0
    assert "\nNothing worth your time" in capsys.readouterr().out


@pytest.mark.parametrize("setting", ["small_transfer", "nothing=1", "small_transfer=-1", "small_transfer=x"])
def test_a_wrong_threshold_is_a_usage_error(setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", str(TINY), "--threshold", setting]) == 2
    assert "threshold" in capsys.readouterr().err


def test_a_missing_log_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", str(tmp_path / "none.darshan")]) == 1
    assert "none.darshan" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["advise", "show"])
def test_the_terminal_needs_no_frames(command: str) -> None:
    """With I/O that all rules look at, on a shared file, with traces, and with what iolens alone records."""
    folder = TINY.parents[1]
    logs = [folder / f"darshan/{name}.darshan" for name in ("mpi-io-test-ppc64-3.1.3", "mpi-io-test", "imbalanced-io")]
    code = "import sys; from iolens.cli.main import main; main(sys.argv[1:]); print('pandas' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, command, *map(str, logs)], capture_output=True, text=True, check=True
    )
    assert "MPI-IO on NFS" in done.stdout
    assert done.stdout.endswith("False\n")
