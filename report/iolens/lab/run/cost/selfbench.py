"""The cost of the profiler on this machine, measured with build/bin/iolens-selfbench."""

from __future__ import annotations

import os
import statistics
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.installation import find_program, need_library
from iolens.lab.run.site_darshan import site_darshan

THREADS = 2
MOST_PAIRS = 10000


@dataclass(frozen=True)
class CallCost:
    """Nanoseconds of one kind of call: in the C library alone, and the time that the profiler adds, with a 95 %
    interval.
    """

    call: str
    direct: float
    extra: float
    low: float
    high: float


@dataclass(frozen=True)
class ProcessCost:
    """The cost of one process: processor seconds in total and since the end of `main`; bytes of memory at the end of
    `main`.
    """

    seconds: float
    ending: float
    peak: float


@dataclass(frozen=True)
class LibraryCosts:
    """The costs of one library: of each kind of call; of a pwrite (ns) while two threads write to their own files; and
    of processes that write one file, or many files.
    """

    name: str
    calls: tuple[CallCost, ...]
    threads: float
    small: tuple[ProcessCost, ...]
    large: tuple[ProcessCost, ...]


def variants(folder: Path, files: int) -> dict[str, dict[str, str]]:
    """Returns the variants to compare: a name, and the variables that it adds."""
    logs = {"IOLENS_LOGPATH": str(folder), "IOLENS_INCLUDE": str(folder), "IOLENS_MEMORY": "65536"}
    iolens = {"LD_PRELOAD": str(need_library("libiolens.so")), **logs}
    found = {
        "no library": {},
        "iolens": iolens,
        "iolens, traced": {**iolens, "IOLENS_DXT": "1"},
        "iolens, off": {**iolens, "IOLENS_DISABLE": "1"},
    }
    try:
        darshan = site_darshan()
    except IolensError:
        return found
    settings = folder / "darshan.conf"
    limits = f"MAX_RECORDS {2 * files + 1024} POSIX\nMODMEM {64 + files // 500}\nNAMEMEM {8 + files // 2000}\n"
    settings.write_text(f"NAME_INCLUDE {folder}.* POSIX,STDIO\n{limits}", encoding="utf-8")
    switches = {"DARSHAN_ENABLE_NONMPI": "1", "DARSHAN_CONFIG_PATH": str(settings)}
    return {**found, "Darshan": {"LD_PRELOAD": str(darshan), **switches}}


def surroundings(extra: Mapping[str, str]) -> dict[str, str]:
    """Returns this process's environment, without the settings of profilers and with the variables in `extra`."""
    mine = ("IOLENS_", "DARSHAN_", "DXT_")
    return {**{key: value for key, value in os.environ.items() if not key.startswith(mine)}, **extra}


def start(name: str, extra: Mapping[str, str], folder: Path, *words: object) -> tuple[str, float]:
    """Runs the benchmark; returns its output and the processor seconds. Removes its log."""
    log = {"DARSHAN_LOGFILE": str(folder / "darshan.darshan")} if name == "Darshan" else {}
    program = [str(find_program("iolens-selfbench")), *map(str, words)]
    with subprocess.Popen(program, env=surroundings({**extra, **log}), stdout=subprocess.PIPE, text=True) as process:
        printed = process.stdout.read() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    for left in folder.glob("*.darshan*"):
        left.unlink()
    if process.returncode != 0:
        raise IolensError(f"the benchmark failed under {name}: {' '.join(program)}")
    return printed, used.ru_utime + used.ru_stime


def _write_files(name: str, extra: Mapping[str, str], folder: Path, files: int) -> ProcessCost:
    """Returns the cost of a process that writes this number of files."""
    printed, seconds = start(name, extra, folder, "files", folder, files)
    until_end, peak = printed.split()
    return ProcessCost(seconds, seconds - float(until_end), 1024.0 * int(peak))


def measure(name: str, extra: Mapping[str, str], folder: Path, files: int, pairs: int, rounds: int) -> LibraryCosts:
    """Runs the benchmarks in one environment; its log and files go to `folder`."""
    printed, _ = start(name, extra, folder, "calls", folder / "file", pairs)
    rows = [line.split("\t") for line in printed.splitlines()]
    calls = tuple(CallCost(row[0], *map(float, row[1:])) for row in rows)
    threads = float(start(name, extra, folder, "threads", folder / "file", THREADS)[0])
    small = tuple(_write_files(name, extra, folder, 1) for _ in range(rounds))
    large = tuple(_write_files(name, extra, folder, files) for _ in range(3))
    return LibraryCosts(name, calls, threads, small, large)


def typical_cost(values: Iterable[float]) -> float:
    """Returns the median of the values."""
    return statistics.median(values)
