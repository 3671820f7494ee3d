"""Starts tests/c/mpi_killed.c under `iolens run`, and checks its log."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import darshan
from iolens.lab.run.mpi_launch import mpi
from mpi_library import FLAVOUR
from patience import PATIENCE

SOURCES = Path(__file__).resolve().parents[1] / "c"
IOLENS = (sys.executable, "-m", "iolens.cli.main")


@cache
def program(name: str = "mpi_killed", compiler: str = "mpicc") -> Path:
    """Compiles the program once."""
    target = Path(mkdtemp()) / name
    subprocess.run([compiler, "-w", "-o", target, SOURCES / f"{name}.c"], check=True)
    return target


def environment(folder: Path, spool: Path | None = None) -> dict[str, str]:
    """Returns environment variables that put spools into this folder, unless another is given, and have its files
    recorded.
    """
    own = {"IOLENS_SPOOL": str(spool or folder), "IOLENS_INCLUDE": str(folder)}
    return {**os.environ, **mpi.environment(FLAVOUR, 8, "romio321"), **own}


def command(how: str, ranks: int = 3, launcher: str | None = None, options: Sequence[str] = ()) -> list[str]:
    """Returns the launcher's command line with these options."""
    return [launcher or mpi.find_launcher(FLAVOUR), "-np", str(ranks), *options, str(program()), how]


def begin(
    folder: Path,
    words: Sequence[str],
    options: Sequence[str] = (),
    logs: Path | None = None,
    spool: Path | None = None,
) -> subprocess.Popen[str]:
    """Starts `iolens run` in the folder `logs`, by default the program's; spools go there too unless another folder is
    given.
    """
    return subprocess.Popen(
        [*IOLENS, "run", *options, "--", *words],
        cwd=logs or folder,
        env=environment(folder, spool),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    """Waits for the end of a run and returns its result."""
    out, err = process.communicate(timeout=PATIENCE)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def start(folder: Path, how: str, launcher: str | None = None) -> subprocess.CompletedProcess[str]:
    """Runs three ranks under `iolens run`, which end in the given way."""
    return finish(begin(folder, command(how, launcher=launcher)))


def recover(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Runs `iolens recover`, which finds the spools in the folder by itself."""
    line = [*IOLENS, "recover", *map(str, words)]
    return subprocess.run(
        line, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False, timeout=PATIENCE
    )


def wait_until(true: Callable[[], object]) -> None:
    """Waits until a condition holds; fails if that takes too long."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    """Returns the children of process `pid` that still exist."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def kill_job(launcher: int) -> None:
    """Kills a launcher, and then its ranks, because ranks of Open MPI 5 outlive it. Ranks of MPICH are ended by its
    proxy.
    """
    ranks = children(launcher) if FLAVOUR == "openmpi" else []
    for pid in (launcher, *ranks):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def check_log(log: Path, ranks: int = 3, found: Iterable[int] | None = None) -> str:
    """Asserts that the log holds the writes of all ranks, or of the ranks `found`, and the reason why it is partial."""
    rows = list(range(ranks) if found is None else found)
    report = darshan.DarshanReport(str(log), read_all=True)
    assert report.metadata["job"]["nprocs"] == ranks
    frame = report.records["POSIX"].to_df()["counters"]
    names = frame["id"].map(report.name_records)
    shared, own = frame[names.str.endswith("/shared")], frame[names.str.contains("/own")]
    assert shared["POSIX_WRITES"].sum() == len(rows)
    assert (sorted(own["rank"]), set(own["POSIX_BYTES_WRITTEN"])) == (rows, {8})
    if len(rows) == ranks:
        assert list(shared["rank"]) == [-1]
    metadata: dict[str, Any] = report.metadata["job"]["metadata"]
    return str(metadata.get("partial", ""))
