"""Tests the files in the events of `iolens run --why`, in a program of one process."""

from __future__ import annotations

import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import read_log

_PROGRAM = """
#include <stdio.h>
int main(void) {
    static char data[1 << 20];
    int done = fgets(data, sizeof data, stdin) != NULL;
    FILE *file = fopen("data", "w");
    done += fwrite(data, 1, sizeof data, file) == sizeof data;
    return fclose(file) != 0 || done != 2;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("why")
    harness.build_library()
    (folder / "program.c").write_text(_PROGRAM)
    subprocess.run(["gcc", "-O1", "-o", "program", "program.c"], cwd=folder, check=True)
    return folder / "program"


def _names_of_files(folder: Path) -> set[str]:
    """Returns the names of the files in the events of the only log; sums of calls on several files have none."""
    (log,) = harness.logs(folder)
    job = read_log(log)
    files = job.tables["why_events"]["file"]
    return {job.names[file] for file in files[files != 0].tolist()}


def test_events_name_the_files_of_streams(program: Path, tmp_path: Path) -> None:
    """The line is long, so that reading it takes an event of its own."""
    line = 1_000_000 * "x"
    assert harness.run(program, folder=tmp_path, stdin=line, IOLENS_WHY="1").returncode == 0
    assert _names_of_files(tmp_path) == {"<STDIN>", str(tmp_path / "data")}


def test_a_wait_for_a_pipe_is_no_call_of_the_file_system(program: Path, tmp_path: Path) -> None:
    """Faster storage does not shorten the time until the shell writes its line."""
    command = f"{{ sleep 0.1; echo line; }} | {program}"
    assert harness.run("sh", "-c", command, folder=tmp_path, IOLENS_WHY="1").returncode == 0
    assert _names_of_files(tmp_path) == {str(tmp_path / "data")}
    (log,) = harness.logs(tmp_path)
    assert "fgets" not in read_log(log).tables["why_events"]["function"]
