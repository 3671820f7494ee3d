"""Records programs, makes their mini-apps, and compares the counters of both logs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from iolens.cli.main import main
from iolens.lab.run.mpi_launch import mpi, openmpi
from iolens.log import Job, read_log
from patience import PATIENCE

_MODULES = {"POSIX": "POSIX_", "MPI-IO": "MPIIO_"}
_OF_TIME = ("FASTEST", "SLOWEST", "MAX_READ_TIME", "MAX_WRITE_TIME", "_F_")
_OF_NAMES = ("RENAMED_FROM",)

_MPI_SETTINGS = openmpi.openmpi_variables(["as root", "oversubscribed", "yielding"], None)

Row = tuple[tuple[str, int], ...]


def record(
    folder: Path, command: Sequence[object], ranks: int, options: Sequence[str] = ("--dxt",), io: str = "romio321"
) -> Path:
    """Runs a command with this many ranks in a folder under the profiler, and returns its log."""
    log = folder / "run.darshan"
    log.unlink(missing_ok=True)
    words = [sys.executable, "-m", "iolens", "run", *options, "--", "mpirun", "-np", ranks, *command]
    settings = mpi.environment("openmpi", ranks, io, launcher="mpirun")
    done = subprocess.run(
        list(map(str, words)),
        cwd=folder,
        env=os.environ | _MPI_SETTINGS | settings | {"IOLENS_LOGFILE": str(log), "IOLENS_INCLUDE": str(folder)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return log


def mini_app(log: Path, folder: Path, *options: str) -> Path:
    """Makes and builds the mini-app of a log in a folder, and returns the program."""
    assert main(["mimic", str(log), "-o", str(folder), *options]) == 0
    subprocess.run(["make", "-s", "-C", folder, "CFLAGS=-O1 -Wall -Wextra -Wshadow -Werror"], check=True)
    return folder / "mimic"


def mimicked(log: Path, folder: Path, ranks: int, *options: str, io: str = "romio321") -> Path:
    """Makes, builds and runs the mini-app of a log under the profiler, and returns the log of the mini-app."""
    program = mini_app(log, folder / "mini")
    (folder / "data").mkdir()
    return record(folder, [program, "--directory", "data", *options], ranks, io=io)


def rows(job: Job, module: str) -> list[Row]:
    """Returns a module's integer counters, one row for each record, without those that depend on times or names."""
    frame = job.frames.get(module)
    if frame is None:
        return []
    left_out = (*_OF_TIME, *_OF_NAMES)
    names = [n for n in frame.columns if n.startswith(_MODULES[module]) and not any(word in n for word in left_out)]
    streams = [job.names.get(int(key), "").startswith("<") for key in frame["id"]]
    mine = frame.loc[[not stream for stream in streams], ["rank", *names]]
    # MPI treats the only rank of a job as all ranks, so its records have the rank -1.
    mine = mine.assign(rank=-1) if job.nprocs == 1 else mine
    plain = [tuple(zip(mine.columns, map(int, values), strict=True)) for values in mine.to_numpy().tolist()]
    return [_without_ties(_without_ties(row, "ACCESS"), "STRIDE") for row in plain]


def _without_ties(row: Row, word: str) -> Row:
    """Returns the row with 0 in place of the most frequent values (`ACCESS` or `STRIDE`) that are not determined. A log
    lists the four most frequent values; if it lists four, others may be as frequent as the last one.
    """
    numbers = dict(row)
    found = {name: value for name, value in row if re.search(rf"{word}[1-4]_", name)}
    counts = {name: value for name, value in found.items() if name.endswith("_COUNT")}
    least = min(counts.values(), default=0)
    numbers.update({name.replace("COUNT", word): 0 for name, count in counts.items() if count == least})
    by_count = sorted(((numbers[name.replace("COUNT", word)], count) for name, count in counts.items()), reverse=True)
    for name, (value, count) in zip(counts, by_count, strict=True):
        numbers[name.replace("COUNT", word)], numbers[name] = value, count
    return tuple(numbers.items())


def differences(original: Path, other: Path) -> list[str]:
    """Returns how the records of two logs differ in their counters, in words; files are matched by their counters."""
    one, two = read_log(original), read_log(other)
    found = []
    for module in _MODULES:
        first, second = Counter(rows(one, module)), Counter(rows(two, module))
        left = [*(second - first).elements()]
        for row in (first - second).elements():
            nearest = min(left, key=lambda other: sum(a != b for a, b in zip(row, other, strict=True)), default=())
            pairs = [(a[0], a[1], b[1]) for a, b in zip(row, nearest, strict=bool(nearest)) if a != b]
            found.append(f"{module}: {pairs or 'no such record'}")
        if len(left) > sum((first - second).values()):
            found.append(f"{module}: {len(left)} records that the original has not")
    return found
