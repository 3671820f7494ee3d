"""What the profiler costs on this machine, measured with build/bin/iolens-selfbench."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.installation import find_workload, need_library
from iolens.lab.site_darshan import site_darshan

THREADS = 2
MOST_PAIRS = 10000


@dataclass(frozen=True)
class Cost:
    """Nanoseconds of one kind of call: into the C library, and what the library adds, with a 95 % interval."""

    call: str
    direct: float
    extra: float
    low: float
    high: float


@dataclass(frozen=True)
class Measured:
    """One library: cost per call, ns per pwrite of each of two threads with a file of its own, seconds from the end of
    the program to the end of its process after writing many files."""

    name: str
    calls: tuple[Cost, ...]
    threads: float
    finalise: float


def variants(folder: Path) -> dict[str, dict[str, str]]:
    """What is compared: a name, and what it adds to the environment of the program."""
    logs = {"IOLENS_LOGPATH": str(folder), "IOLENS_INCLUDE": str(folder)}
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
    settings.write_text(f"NAME_INCLUDE {folder}.* POSIX,STDIO\nMAX_RECORDS 200000 POSIX\n", encoding="utf-8")
    switches = {"DARSHAN_ENABLE_NONMPI": "1", "DARSHAN_CONFIG_PATH": str(settings)}
    return {**found, "Darshan": {"LD_PRELOAD": str(darshan), **switches}}


def measure(name: str, extra: Mapping[str, str], folder: Path, files: int, pairs: int) -> Measured:
    """Run the three benchmarks in one environment; its log and files go to `folder`."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("IOLENS_", "DARSHAN_", "DXT_"))}

    def output(number: int, *words: object) -> str:
        log = {"DARSHAN_LOGFILE": str(folder / f"{name}-{number}.darshan")} if name == "Darshan" else {}
        program = [str(find_workload("iolens-selfbench")), *map(str, words)]
        done = subprocess.run(program, env={**clean, **extra, **log}, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise IolensError(f"the benchmark failed under {name}: {done.stderr.strip()}")
        return done.stdout

    rows = [line.split("\t") for line in output(1, "calls", folder / "file", pairs).splitlines()]
    calls = tuple(Cost(row[0], *map(float, row[1:])) for row in rows)
    threads = float(output(2, "threads", folder / "file", THREADS))
    end_of_main = float(output(3, "files", folder, files))
    return Measured(name, calls, threads, time.monotonic() - end_of_main)
