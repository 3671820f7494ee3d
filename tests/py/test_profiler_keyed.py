"""Tests the store of rows found by a key, which holds statistics and call chains."""

from __future__ import annotations

import subprocess

import profiler_harness as harness


def test_units() -> None:
    # Forces a rebuild, because the program contains the library's sources.
    (harness.PROGRAMS / "keyed_units").unlink(missing_ok=True)
    done = subprocess.run([harness.build_program("keyed_units")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
