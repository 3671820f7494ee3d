"""Rows found by a key, which statistics and call chains are kept in."""

from __future__ import annotations

import subprocess

import profiler_harness as harness


def test_units() -> None:
    (harness.PROGRAMS / "keyed_units").unlink(missing_ok=True)  # it is made of the library's own sources
    done = subprocess.run([harness.build_program("keyed_units")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
