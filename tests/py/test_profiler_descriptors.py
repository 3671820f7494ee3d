"""Descriptors that are closed and given out again, by calls that the profiler sees and by others that it does not."""

from __future__ import annotations

from pathlib import Path

import profiler_harness as harness
import pytest

CLOSED = ("close", "number", "range", "range_number", "from", "assembly")
GIVEN = (
    "pipe pipe2 pipe_number socketpair accept accept4 memfd openpty eventfd epoll timerfd popen rights open "
    "open_number dup dup_number fopen"
).split()


@pytest.fixture(scope="module", autouse=True)
def library() -> Path:
    return harness.build_library()


def written(folder: Path) -> dict[str, int]:
    """Returns the bytes that POSIX calls wrote to each file below the folder, from the only log."""
    (path,) = harness.logs(folder)
    report = harness.read_log(path)
    below = [name for name in report.name_records.values() if name.startswith(f"{folder}/")]
    return {
        name[len(str(folder)) + 1 :]: harness.counters(report, name).get("POSIX_BYTES_WRITTEN", 0) for name in below
    }


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("closed", CLOSED)
def test_a_number_that_comes_back_is_no_longer_the_file(closed: str, given: str, tmp_path: Path) -> None:
    program = harness.build_program("descriptors_recycled", "-lutil")
    done = harness.run(program, closed, given, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    _, config, other = (int(word) for word in done.stdout.split())
    found = written(tmp_path)
    assert (found["config"], found.get("other", 0)) == (config, other)
