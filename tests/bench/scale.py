"""Counts the cost of a job with traced MPI and samples, by its number of ranks: python tests/bench/scale.py [FOLDER]

Runs tests/c/halo_f08.f90 at RANKS ("1 2 4 8 16 32 64"), with `--trace mpi,io --sample` and without, and counts: bytes
of the log by table, rows, the used bytes of a rank's spool, the resident memory added to a rank, and the collective
calls that the profiler makes on a communicator of its own. A line over the ranks is fitted to each series by least
squares, from 4 ranks to half the largest number, and its value at the largest number is compared with the measured one.
Numbers beyond that are extrapolated, and marked as such: a table has at most a million rows (IOLENS_FILE_RANKS).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from iolens.lab.run.mpi_launch import openmpi
from iolens.log import read_log
from iolens.log.format.container import open_container
from iolens.log.format.private import entries_of

ROOT = Path(__file__).resolve().parents[2]
SMALL = 0.5  # Differences below this number of bytes per rank are ignored.
# Smallest number of ranks of a job that is fitted: with fewer than 4, not every rank has the four neighbours that it
# has on larger grids.
LEAST = 4
BEYOND = (10**4, 10**5, 10**6)
MOST_ROWS = 10**6
MPI = openmpi.openmpi_variables(["as root", "oversubscribed", "yielding", "unbound"], None)


@dataclass(frozen=True)
class RunMeasures:
    """Results of one run: resident KiB of a rank (median), collective calls, bytes of each region of the log, rows of
    each table.
    """

    memory: float
    collectives: int
    regions: Mapping[str, int]
    rows: Mapping[str, int]

    @property
    def log(self) -> int:
        """Returns the bytes of all regions together."""
        return sum(self.regions.values())


@dataclass(frozen=True)
class FittedLine:
    """The fitted line `begin + slope * ranks`, and the largest relative distance of a measured number from the line."""

    begin: float
    slope: float
    residual: float

    def at(self, ranks: int) -> float:
        """Returns the cost that the fitted line gives for a number of ranks."""
        return self.begin + self.slope * ranks


def fitted(ranks: Sequence[int], values: Sequence[float]) -> FittedLine:
    """Fits a line by least squares of the relative distances, so that small jobs count as much as large ones."""
    weights = 1 / np.maximum(np.asarray(values, dtype=float), 1)
    slope, begin = np.polyfit(ranks, values, 1, w=weights)
    line = FittedLine(float(begin), float(slope), 0.0)
    distances = [abs(line.at(p) - value) / max(value, 1) for p, value in zip(ranks, values, strict=True)]
    return FittedLine(line.begin, line.slope, max(distances))


def compiled(folder: Path) -> None:
    """Builds the program and the library that counts collective calls."""
    sources = [ROOT / "profiler/include/iolens.f90", ROOT / "tests/c/halo_f08.f90"]
    subprocess.run(["mpifort", "-O2", "-g", *sources, "-o", "halo", "-ldl"], cwd=folder, check=True)
    counter = ["mpicc", "-std=gnu11", "-D_GNU_SOURCE", "-shared", "-fPIC", ROOT / "tests/c/collective_counter.c"]
    subprocess.run([*counter, "-o", "counter.so", "-ldl"], cwd=folder, check=True)


def run(folder: Path, ranks: int, preload: bool, **settings: str) -> RunMeasures:
    """Runs a job with this number of ranks; `preload` runs it under the profiler."""
    for log in folder.glob("*.darshan*"):
        log.unlink()
    libraries = [ROOT / "build/lib/libiolens.so", folder / "counter.so"]
    its = {**settings, "IOLENS_LOGPATH": str(folder), "IOLENS_INCLUDE": str(folder)}
    if preload:
        its["LD_PRELOAD"] = ":".join(map(str, libraries))
    inner = [
        "env",
        *(f"{name}={value}" for name, value in its.items()),
        "./halo",
        "data",
        os.environ.get("ROUNDS", "50"),
    ]
    command = ["mpirun", "-np", str(ranks), *inner]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **MPI}, capture_output=True, text=True, check=False, timeout=900
    )
    if done.returncode != 0:
        sys.exit(f"scale: {' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    memory = [int(kib) for kib in re.findall(r"memory \d+\s+(\d+) kB", done.stdout)]
    calls = re.search(r"collective calls: (\d+)", done.stdout)
    logs = list(folder.glob("*.darshan"))
    regions, rows = sizes(logs[0]) if logs else ({}, {})
    return RunMeasures(float(np.median(memory)), int(calls[1]) if calls else 0, regions, rows)


def sizes(log: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Returns the stored bytes of each region, and the number of rows of each table."""
    container = open_container(log)
    stored = {entry.name: entry.length for entry in entries_of(container) or ()}
    rows = {name: len(table) for name, table in read_log(log).private.items() if not isinstance(table, dict)}
    return {**stored, "everything else": log.stat().st_size - sum(stored.values())}, rows


def spool_bytes(folder: Path, **settings: str) -> list[int]:
    """Returns the bytes in the spools of a job's ranks after the job was aborted at its end."""
    spool = folder / "spool"
    shutil.rmtree(spool, ignore_errors=True)
    spool.mkdir()
    libraries = f"{ROOT}/build/lib/libiolens.so"
    its = {**settings, "IOLENS_LOGPATH": str(folder), "IOLENS_INCLUDE": str(folder), "IOLENS_SPOOL": str(spool)}
    inner = ["env", *(f"{name}={value}" for name, value in its.items()), f"LD_PRELOAD={libraries}", "./halo", "data"]
    command = ["mpirun", "-np", str(LEAST), *inner, os.environ.get("ROUNDS", "50"), "64", "abort"]
    subprocess.run(command, cwd=folder, env={**os.environ, **MPI}, capture_output=True, check=False, timeout=900)
    return sorted(path.stat().st_blocks * 512 for path in spool.rglob("*.spool"))


def show(title: str, ranks: Sequence[int], runs: Mapping[int, RunMeasures], plain: Mapping[int, RunMeasures]) -> None:
    """Prints the tables of results for one setting."""
    print(f"\n{title}\n\n| ranks | log, bytes | rows | collective calls | memory added to a rank, KiB |")
    print("|---|---|---|---|---|")
    for count in ranks:
        one = runs[count]
        added = one.memory - plain[count].memory
        print(f"| {count} | {one.log:,} | {sum(one.rows.values()):,} | {one.collectives} | {added:,.0f} |")
    learned, held = [p for p in ranks if LEAST <= p < ranks[-1]], ranks[-1]
    print(f"\n| region of the log | a job | a rank | largest residual | at {held}: predicted | measured | error |")
    print("|---|---|---|---|---|---|---|")
    names = sorted(runs[held].regions, key=lambda name: -runs[held].regions[name])
    lines = {name: fitted(learned, [runs[p].regions.get(name, 0) for p in learned]) for name in names}
    grow = [name for name in names if lines[name].slope > SMALL]
    for name in grow:
        row(f"`{name}`", lines[name], held, runs[held].regions[name])
    fixed = [sum(size for name, size in runs[p].regions.items() if name not in grow) for p in ranks]
    row("all others", fitted(learned, [fixed[ranks.index(p)] for p in learned]), held, fixed[-1])
    row("all", fitted(learned, [runs[p].log for p in learned]), held, runs[held].log)
    print("\nExtrapolated, not measured:", end="")
    for count in BEYOND:
        whole = sum(bounded(lines[name], runs[held].rows.get(name, 0) / held, count) for name in grow) + fixed[-1]
        free = lines["everything else"].at(count)
        print(f" {whole / 1e6:,.1f} MB at {count:,} ranks ({free / 1e6:,.1f} of them in Darshan's modules);", end="")
    print()


def bounded(line: FittedLine, rows: float, ranks: int) -> float:
    """Returns the bytes of a table with this many rows per rank, of which at most MOST_ROWS are kept; 0 if the table
    has no such bound.
    """
    room = MOST_ROWS / rows if rows else ranks
    return line.at(int(min(ranks, room)))


def row(name: str, line: FittedLine, held: int, measured: int) -> None:
    """Prints a line of results."""
    predicted = line.at(held)
    error = f"{100 * (predicted - measured) / measured:+.1f} %" if measured else "n/a"
    print(
        f"| {name} | {line.begin:,.0f} | {line.slope:,.1f} | {100 * line.residual:.1f} % | {predicted:,.0f} "
        f"| {measured:,} | {error} |"
    )


def main() -> None:
    """Makes all runs and prints the results."""
    ranks = [int(word) for word in os.environ.get("RANKS", "1 2 4 8 16 32 64").split()]
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if sys.argv[1:] else None, prefix="scale.") as name:
        folder = Path(name)
        compiled(folder)
        plain = {count: run(folder, count, False) for count in ranks}
        settings = {"I/O alone": {}, "`--trace mpi,io --sample`": {"IOLENS_TRACE": "mpi,io", "IOLENS_SAMPLE": "100"}}
        for title, chosen in settings.items():
            show(title, ranks, {count: run(folder, count, True, **chosen) for count in ranks}, plain)
            print(f"\nA rank's spool: {spool_bytes(folder, **chosen)} bytes")


if __name__ == "__main__":
    main()
