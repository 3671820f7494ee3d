#!/usr/bin/env python3
"""Measures what it costs to make the log of a killed job, by its number of ranks.

    .venv/bin/python tests/bench/recover.py [RANKS ...]

The spool of one process with ten files is copied for each rank, so that the ranks share the files. A row has the
elapsed seconds of `iolens-recover list` and `merge`, the processor time of both with all their processes, and by how
much the machine's free memory fell meanwhile. Copies and log lie in TMPDIR.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "py"))

import profiler_harness as harness  # noqa: E402
from spool_copies import copy_ranks  # noqa: E402

RECOVER = ROOT / "build" / "bin" / "iolens-recover"


def free_memory() -> int:
    """Returns the KiB of memory that the kernel could give to programs."""
    return int(re.findall(r"MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text())[0])


def run(names: bytes, *words: str) -> tuple[float, float]:
    """Runs the helper program on some spools; returns the seconds, and the GiB of memory that were taken at most."""
    before, least, ended = free_memory(), [free_memory()], threading.Event()

    def watch() -> None:
        while not ended.wait(0.05):
            least.append(free_memory())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    begun = time.monotonic()
    subprocess.run([RECOVER, *words, "-"], input=names, stdout=subprocess.DEVNULL, check=True)
    seconds = time.monotonic() - begun
    ended.set()
    watcher.join()
    return seconds, (before - min(least)) / 2**20


def measure(spool: Path, folder: Path, ranks: int) -> None:
    """Prints the row for one number of ranks."""
    paths = copy_ranks(spool, folder / "spools", ranks)
    names = b"".join(str(path).encode() + b"\0" for path in paths)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    listing, _ = run(names, "list")
    merging, memory = run(names, "merge", "-o", str(folder))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"| {ranks} | {listing:.2f} s | {merging:.2f} s | {busy:.2f} s | {memory:.2f} GiB |", flush=True)
    for path in paths:
        path.unlink()


def main(arguments: Sequence[str]) -> None:
    harness.build_library()
    print("| ranks | list | merge | processor | memory |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="iolens-recover-") as name:
        folder = Path(name)
        program = harness.build_program("spool_killed")
        harness.run(program, "kill", "10", folder=folder, IOLENS_SPOOL=str(folder))
        (spool,) = folder.glob("iolens-*/*.spool")
        for ranks in map(int, arguments or ("100", "1000", "10000")):
            measure(spool, folder, ranks)


if __name__ == "__main__":
    main(sys.argv[1:])
