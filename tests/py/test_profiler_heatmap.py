"""Tests the module HEATMAP: its bins are compared with values computed by hand, and its sums in a log with the log's
counters.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


@pytest.mark.parametrize("units", ["heatmap_units", "histogram_units"])
def test_bins(units: str) -> None:
    # Forces a rebuild, because the program contains the library's sources.
    (harness.PROGRAMS / units).unlink(missing_ok=True)
    done = subprocess.run([harness.build_program(units)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("program", "module", "prefix"),
    [
        ("posix_transfer", "POSIX", "POSIX"),
        ("posix_aio", "POSIX", "POSIX"),
        ("posix_threads", "POSIX", "POSIX"),
        ("stdio_calls", "STDIO", "STDIO"),
    ],
)
def test_bytes_are_those_of_the_counters(program: str, module: str, prefix: str, tmp_path: Path) -> None:
    result = harness.run(harness.build_program(program), folder=tmp_path, stdin="12345 word\n")
    assert result.returncode == 0, result.stderr
    report = harness.read_log(harness.logs(tmp_path)[0])
    counters = report.records[module].to_df()["counters"]
    heat = report.heatmaps[module]
    for operation, counter in (("read", "BYTES_READ"), ("write", "BYTES_WRITTEN")):
        counted = int(counters[f"{prefix}_{counter}"].sum())
        assert int(heat.to_df(ops=[operation]).to_numpy().sum()) == counted


def test_a_forked_child_has_a_map_of_its_own(tmp_path: Path) -> None:
    harness.run(harness.build_program("posix_fork"), "fork", folder=tmp_path)
    logs = harness.logs(tmp_path)
    assert len(logs) == 2
    for log in logs:
        report = harness.read_log(log)
        counters = report.records["POSIX"].to_df()["counters"]
        moved = int(counters["POSIX_BYTES_READ"].sum() + counters["POSIX_BYTES_WRITTEN"].sum())
        mapped = report.heatmaps["POSIX"].to_df(ops=["read", "write"]) if "POSIX" in report.heatmaps else None
        assert moved == (0 if mapped is None else int(mapped.to_numpy().sum()))
