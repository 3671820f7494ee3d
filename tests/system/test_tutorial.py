"""Runs the tutorial's commands as they are written; `make docs-test` runs those of all other pages."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.mpi
@pytest.mark.skipif(shutil.which("mpirun") is None, reason="mpirun is not on this machine")
def test_the_tutorial_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs/tools/walk.py", tmp_path, "tutorial"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads((tmp_path / "tutorial.json").read_text())
    words = " ".join(" ".join(said.values()).split())
    assert "EMULATED STORAGE" in words
    assert "All tables: iolens show --all LOG." in words
    assert "against A: run time" in words
    assert str(tmp_path) not in words
