"""Compares every integer counter of every record, as libdarshan-util reads it, with the values that the program
expects.
"""

from __future__ import annotations

from pathlib import Path

import profiler_harness as harness
import pytest

PROGRAMS = [
    "posix_open",
    "posix_transfer",
    "posix_meta",
    "posix_pattern",
    "posix_aio",
    "posix_threads",
    "stdio_calls",
    "stdio_wide",
    "stdio_zeros",
]


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


@pytest.mark.parametrize("name", PROGRAMS)
def test_counters(name: str, tmp_path: Path) -> None:
    result = harness.run(harness.build_program(name), folder=tmp_path, stdin="12345 word\n")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    (log,) = harness.logs(tmp_path)
    report = harness.read_log(log)
    expected = list(harness.expectations(result.stdout))
    assert expected
    wrong = {e.path: harness.differences(e, harness.counters(report, e.path)) for e in expected}
    assert not {path: difference for path, difference in wrong.items() if difference}
    named = {path for path in report.name_records.values() if path.startswith("/")}
    assert named <= {e.path for e in expected} | {str(tmp_path), str(tmp_path / "sub")}, "files nobody expected"
