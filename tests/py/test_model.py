"""The log against the model of the counters (tests/model)."""

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
HUNT = [sys.executable, REPOSITORY / "tests/model/hunt.py", "--build", REPOSITORY / "build"]
KEPT = sorted((REPOSITORY / "tests/model/kept").glob("*.calls"))


def hunt(*words: object, env: dict[str, str] | None = None) -> None:
    command = [str(word) for word in (*HUNT, *words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})})
    assert done.returncode == 0, done.stdout + done.stderr


def test_programs_that_once_failed() -> None:
    assert KEPT
    hunt("--replay", *KEPT)
