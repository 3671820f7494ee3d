"""Checks that tests which use PyPI's `darshan` are skipped with the reason where it has no library, as on Python
3.13.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

RAISES = {
    "its library is missing": "raise RuntimeError('Could not find libdarshan-util.so')",
    "it is not installed": "raise ModuleNotFoundError('no such package')",
}


@pytest.fixture(params=sorted(RAISES))
def surroundings(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Returns an environment in which importing `darshan` fails."""
    package = tmp_path / "darshan"
    package.mkdir()
    (package / "__init__.py").write_text(RAISES[request.param], encoding="utf-8")
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


def test_tests_that_use_it_are_skipped_and_others_run(surroundings: dict[str, str]) -> None:
    """Without `darshan`, a test file that imports it is collected, and only the tests that use it are skipped. A few
    tests of two files stand for all.
    """
    names = ["tests/py/test_log_reader.py", "tests/py/test_metrics_job.py"]
    chosen = ["-k", "libdarshan_utils or another_file or headline", *names]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *chosen]
    done = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " skipped" in done.stdout
    assert " passed" in done.stdout
    assert "PyPI's darshan, which checks what was written, cannot be imported here: " in done.stdout


def test_the_reader_of_unknown_records_says_what_is_missing(surroundings: dict[str, str]) -> None:
    command = [sys.executable, "-m", "iolens.log.format.fallback", "any.darshan", "POSIX"]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "install the Python package darshan" in done.stdout
