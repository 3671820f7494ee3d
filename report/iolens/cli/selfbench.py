"""`iolens selfbench`: what the profiler costs on this machine."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from iolens.errors import UsageError
from iolens.lab.selfbench import MOST_PAIRS, THREADS, Measured, measure, variants


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `iolens selfbench`."""
    parser.add_argument(
        "--directory", type=Path, metavar="DIR", help="where its files go (/dev/shm, else the temporary folder)"
    )
    parser.add_argument("--files", type=int, default=10000, metavar="N", help="files of the test of the end (10000)")
    parser.add_argument("--pairs", type=int, default=400, metavar="N", help="pairs of blocks of calls (400)")


def run(args: argparse.Namespace) -> int:
    """Measure and print."""
    if args.files < 1:
        raise UsageError("--files must be at least 1")
    if not 1 <= args.pairs <= MOST_PAIRS:
        raise UsageError(f"--pairs must be 1 to {MOST_PAIRS}")
    place = args.directory or (Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir()))
    if not place.is_dir():
        raise UsageError(f"{place} is not a folder; give an existing one with --directory")
    with tempfile.TemporaryDirectory(prefix="iolens-selfbench-", dir=place) as name:
        folder = Path(name)
        found = [measure(variant, extra, folder, args.files, args.pairs) for variant, extra in variants(folder).items()]
    print(table(found, args.files, args.pairs))
    return 0


def table(found: Sequence[Measured], files: int, pairs: int) -> str:
    """The table of all libraries; the first one is no library."""
    plain, *libraries = found
    titles = ["ns per call of 8 bytes", "direct", *(one.name for one in libraries)]
    rows = [
        [cost.call, f"{cost.direct:.0f}", *(f"{c.extra:+.0f} ({c.low:+.0f} to {c.high:+.0f})" for c in across)]
        for cost, *across in zip(plain.calls, *(one.calls for one in libraries), strict=True)
    ]
    own = [f"{one.threads - plain.threads:+.0f}" for one in libraries]
    rows.append([f"pwrite, {THREADS} threads, own files", f"{plain.threads:.0f}", *own])
    ends = [f"{1e3 * (one.finalise - plain.finalise):+.1f}" for one in libraries]
    rows.append([f"ms to end after {files} files", f"{1e3 * plain.finalise:.1f}", *ends])
    widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(len(titles))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [titles, *rows]]
    note = f"What each library adds; in brackets the 95 % interval of the median of {pairs} pairs of blocks."
    return "\n".join([*(line.rstrip() for line in lines), note])
