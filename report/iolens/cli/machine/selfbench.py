"""`iolens selfbench`: measures the cost of the profiler on this machine, and an upper bound on its cost for a recorded
job.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from iolens.errors import UsageError
from iolens.lab.run.cost.overhead import CostPart, overhead_bound
from iolens.lab.run.cost.selfbench import MOST_PAIRS, THREADS, LibraryCosts, measure, typical_cost, variants
from iolens.log import Job, read_log


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `iolens selfbench`."""
    parser.add_argument(
        "--directory",
        type=Path,
        metavar="DIR",
        help="folder for the files of the tests (default: /dev/shm, else the temporary folder)",
    )
    parser.add_argument(
        "--files",
        type=int,
        default=10000,
        metavar="N",
        help="number of files in the test of how long a program takes to end (default: 10000)",
    )
    parser.add_argument("--pairs", type=int, default=400, metavar="N", help="pairs of blocks of calls (default: 400)")
    parser.add_argument(
        "--jobs", type=int, default=10, metavar="N", help="processes, or pairs of jobs, to start (default: 10)"
    )
    parser.add_argument(
        "--log",
        type=Path,
        metavar="LOG",
        help="estimate an upper bound of the cost of recording this job: its calls, its start and its end",
    )


def run(args: argparse.Namespace) -> int:
    """Measures the costs and prints them."""
    if args.files < 2:
        raise UsageError("--files must be at least 2")
    if not 1 <= args.pairs <= MOST_PAIRS:
        raise UsageError(f"--pairs must be 1 to {MOST_PAIRS}")
    if args.jobs < 1:
        raise UsageError("--jobs must be at least 1")
    place = args.directory or (Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir()))
    if not place.is_dir():
        raise UsageError(f"{place} is not a folder; give an existing one with --directory")
    job = read_log(args.log) if args.log else None
    with tempfile.TemporaryDirectory(prefix="iolens-selfbench-", dir=place) as name:
        folder = Path(name)
        wanted = variants(folder, args.files)
        found = [measure(key, extra, folder, args.files, args.pairs, args.jobs) for key, extra in wanted.items()]
        print(_cost_table(found, args.files, args.pairs))
        if job:
            mine = next(one for one in found if one.name == ("iolens, traced" if _has_trace(job) else "iolens"))
            print(f"\n{_bound_table(job, overhead_bound(job, found[0], mine, args.files, folder, args.jobs))}")
    return 0


def _has_trace(job: Job) -> bool:
    """Returns True if the job's log has a trace of every transfer (DXT)."""
    return any(name.startswith("DXT") for name in job.frames)


def _cost_table(found: Sequence[LibraryCosts], files: int, pairs: int) -> str:
    """Returns the added cost of each library as a table; the first of `found` is the run without a library."""
    plain, *libraries = found
    titles = ["ns per call of 8 bytes", "direct", *(one.name for one in libraries)]
    rows = [
        [cost.call, f"{cost.direct:.0f}", *(f"{c.extra:+.0f} ({c.low:+.0f} to {c.high:+.0f})" for c in across)]
        for cost, *across in zip(plain.calls, *(one.calls for one in libraries), strict=True)
    ]
    own = [f"{one.threads - plain.threads:+.0f}" for one in libraries]
    rows.append([f"pwrite, {THREADS} threads, own files", f"{plain.threads:.0f}", *own])
    small = [1e3 * typical_cost(process.seconds for process in one.small) for one in found]
    large = [1e3 * typical_cost(process.ending for process in one.large) for one in found]
    grown = [typical_cost(p.peak for p in one.large) - typical_cost(p.peak for p in one.small) for one in found]
    for words, values in (
        ("ms of a process with one file", small),
        (f"ms to end after {files} files", large),
        ("KiB of memory per file", [value / 1024 / (files - 1) for value in grown]),
    ):
        rows.append([words, f"{values[0]:.1f}", *(f"{value - values[0]:+.1f}" for value in values[1:])])
    note = (
        f"Added cost of each library; in brackets the 95 % interval of the median of {pairs} pairs of blocks of\n"
        "calls (at most 200 with cold caches). Processes: median processor time, and largest memory until the end of\n"
        "main, with the spool."
    )
    return "\n".join([*_lay_out([titles, *rows]), note])


def _lay_out(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the rows as lines in which the cells of a column begin at the same place."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _bound_table(job: Job, parts: Sequence[CostPart]) -> str:
    """Returns the parts of the upper bound on the profiler's cost, and their sum, in seconds and as shares of the job's
    run time.
    """
    run_time = max(job.run_time, 1e-9)
    low, high = sum(part.low for part in parts), sum(part.high for part in parts)
    rows = [["seconds of the busiest rank", "number", "at least", "at most", "share of run time"]]
    for part in [*parts, CostPart("all", 0, low, high)]:
        shares = f"{100 * part.low / run_time:.4f} to {100 * part.high / run_time:.4f} %"
        rows.append([part.what, str(part.count or ""), f"{part.low:.6f}", f"{part.high:.6f}", shares])
    note = (
        f"{job.log_name}: {job.nprocs} ranks, {job.run_time:.2f} s. A call costs between the values with warm and\n"
        "with cold caches; calls of MPI-IO and calls that move no data are charged as open and close. Start and end:\n"
        "a job of as many ranks that writes 8 bytes from each, in pairs; 95 % interval of the median of the difference."
    )
    return "\n".join([*_lay_out(rows), note])
