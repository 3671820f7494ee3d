"""Programs that do the unusual print the same and end alike with the recorder and without."""

from __future__ import annotations

import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest

HOW = (
    "no_descriptors closed little_stack small_files no_address_space no_processes handler handler_threads fork_threads "
    "threads clone_memory clone_vfork spawn execveat dlmopen descriptors_gone at_exit"
).split()


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


@pytest.mark.parametrize("before", [[], ["before"]], ids=["first", "recorded"])
@pytest.mark.parametrize("how", HOW)
def test_the_program_does_not_notice(how: str, before: list[str], tmp_path: Path) -> None:
    """`recorded`: the recorder has a file and a spool when it happens; `first`: it gets them then or not at all."""
    program = harness.build_program("harm_odd")
    (tmp_path / "alone").mkdir()
    alone = subprocess.run([program, how, *before], cwd=tmp_path / "alone", capture_output=True, text=True, check=False)
    done = harness.run(program, how, *before, folder=tmp_path)
    assert (done.stdout, done.returncode) == (alone.stdout, alone.returncode)
    sentences = 2 if how == "small_files" else 1  # neither the spool nor the log has room
    assert done.stderr.count("\n") <= sentences, done.stderr
