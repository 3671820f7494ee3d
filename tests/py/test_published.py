"""The table of published measurements in storage/README.md is the one that its program prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_published_measurements_is_what_the_model_gives() -> None:
    program = [sys.executable, str(ROOT / "tests/bench/published.py")]
    printed = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert printed in (ROOT / "storage/README.md").read_text(encoding="utf-8")
    assert printed.count("\n") == 27
