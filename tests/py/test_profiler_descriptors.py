"""Descriptors that are closed and given out again, by calls that the profiler sees and by others that it does not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log.reader import read_log
from patience import PATIENCE

CLOSED = ("close", "number", "range", "range_number", "from", "assembly")
GIVEN = (
    "pipe pipe2 pipe_number socketpair accept accept4 memfd openpty eventfd epoll timerfd popen rights open "
    "open_number dup dup_number fopen"
).split()
TRANSFERS = ("read", "pread64", "readv", "write", "pwrite64", "writev", "sendfile", "copy_file_range")


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


def traced_bytes(folder: Path) -> dict[str, tuple[int, int]]:
    """Returns the bytes written and read for each file below the folder, from the listing of strace."""
    moved: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for line in (folder / "calls").read_text().splitlines():
        result = re.search(r"= (\d+)$", line)
        call = line.partition("(")[0]
        files = re.findall(rf"\d+<{re.escape(str(folder))}/(program[^>]*)>", line)
        if not result or not files:
            continue
        if call == "sendfile":
            files.reverse()
        moved[files[0]]["write" in call] += int(result[1])
        if call in ("sendfile", "copy_file_range"):
            moved[files[1]][True] += int(result[1])
    return {name: (wrote, read) for name, (read, wrote) in moved.items() if wrote + read > 0}


def test_random_programs_that_use_numbers_again(tmp_path: Path) -> None:
    """The programs' own account is the truth, and strace has seen the same."""
    program = harness.build_program("descriptors_random")
    environment = harness.environment(tmp_path)
    command: list[str | Path] = [program, "1", "200"]
    if shutil.which("strace"):
        traced = ["strace", "-y", "-o", tmp_path / "calls", "-e", f"trace={','.join(TRANSFERS)}"]
        command = [*traced, "-E", f"LD_PRELOAD={environment.pop('LD_PRELOAD')}", *command]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    if "PTRACE" in done.stderr or "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    told = {name: (int(wrote), int(read)) for name, wrote, read in (line.split() for line in done.stdout.splitlines())}
    assert len(told) > 500
    if (tmp_path / "calls").exists():
        assert traced_bytes(tmp_path) == told
    (log,) = harness.logs(tmp_path)
    frame = read_log(log).frames["POSIX"]
    names = read_log(log).names
    found = {
        os.path.relpath(names[int(record)], tmp_path): (int(wrote), int(read))
        for record, wrote, read in zip(
            frame["id"], frame["POSIX_BYTES_WRITTEN"], frame["POSIX_BYTES_READ"], strict=True
        )
        if wrote + read > 0
    }
    assert {name: (told.get(name), found.get(name)) for name in told | found if told.get(name) != found.get(name)} == {}
