"""Programs that disable the time stamp counter or system calls for themselves end as they would without the profiler,
and their log has everything before that.
"""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest

ALL, FIRST = 20, 5  # Numbers of bytes that the test program writes: in all, and before it confines itself.
WRITTEN = {"nothing": ALL, "asked": ALL, "tsc": ALL, "tsc_by_number": ALL} | dict.fromkeys(
    ("strict", "filter", "by_number"), FIRST
)
"""Expected number of bytes in the log, of 20 that were written, for each way of confinement."""

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the time stamp counter is x86's")


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.parametrize("spool", ["", "none"])
def test_a_program_that_confines_itself_ends_as_it_would(how: str, spool: str, tmp_path: Path) -> None:
    program = harness.build_program("harm_confined")
    alone = subprocess.run([program, how], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (alone.stdout, alone.returncode) == (f"{how} {ALL}", 3)
    settings = {"IOLENS_SPOOL": spool} if spool else {}
    done = harness.run(program, how, folder=tmp_path, **settings)
    assert (done.stdout, done.returncode, done.stderr) == (alone.stdout, 3, "")
    assert (tmp_path / "confined.dat").read_text() == "firstagainagainagain"
    (log,) = harness.logs(tmp_path)
    report = harness.read_log(log)
    assert harness.counters(report, str(tmp_path / "confined.dat"))["POSIX_BYTES_WRITTEN"] == WRITTEN[how]
    own = harness.private_region(log, "job")
    assert any("seccomp" in reason for reason in own["partial"]) == (WRITTEN[how] == FIRST)
    assert own["clock"] == "clock_gettime" or not how.startswith("tsc")


def test_times_go_on_without_the_counter(tmp_path: Path) -> None:
    """After the program has forbidden the counter, the replacement clock continues in the same seconds from the same
    start.
    """
    harness.run(harness.build_program("harm_confined"), "tsc", folder=tmp_path)
    (log,) = harness.logs(tmp_path)
    report = harness.read_log(log)
    times = harness.times(report, str(tmp_path / "confined.dat"), "POSIX")
    begin, end = times["POSIX_F_WRITE_START_TIMESTAMP"], times["POSIX_F_WRITE_END_TIMESTAMP"]
    assert 0 < begin < end <= float(report.metadata["job"]["run_time"]) + 1e-3
    assert 0 < times["POSIX_F_WRITE_TIME"] <= end - begin
