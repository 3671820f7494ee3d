"""Sampling: the unwinder, that no program notices it, and that no period is lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pandas as pd
import profiler_harness as harness
import pytest
from iolens.log.reader import read_log

UNWINDER = sorted(str(path) for path in (harness.ROOT / "profiler/src/unwind").glob("*.c"))


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def sampled(folder: Path, name: str, *arguments: str, hz: int = 1000, **settings: str) -> list[Path]:
    """The logs of a program of tests/c that ran as it would without being sampled."""
    done = harness.run(harness.build_program(name), *arguments, folder=folder, IOLENS_SAMPLE=str(hz), **settings)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return harness.logs(folder)


def table(log: Path, name: str) -> pd.DataFrame:
    found = read_log(log).private[name]
    assert isinstance(found, pd.DataFrame)
    return found


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_the_unwinder_finds_the_callers_that_functions_know(level: str, tmp_path: Path) -> None:
    source, program = harness.ROOT / "tests/c/unwind_units.c", tmp_path / "unwind_units"
    command = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-w", "-fno-builtin", level, str(source), *UNWINDER]
    subprocess.run([*command, "-o", str(program), "-ldl", "-lpthread", "-lrt"], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)


def test_no_wait_ends_early_and_signals_stay_the_programs_own(tmp_path: Path) -> None:
    """The first log is the parent's: its waits are counted for all of their time, and as waits."""
    log = max(sampled(tmp_path, "sampling_waits"), key=lambda path: path.stat().st_size)
    threads, samples = table(log, "sampling"), table(log, "samples")
    main = threads[threads["thread"] == 0].iloc[0]
    assert main["samples"] >= 0.98 * main["duration"] * 1000
    assert samples.loc[(samples["thread"] == 0) & (samples["kind"] == 1), "count"].sum() > 1300
    assert set(threads["thread"]) == {0, 1, 2}
