"""`iolens ingest FOLDER … -o STORE`: take the logs below folders into a data set that `iolens fleet` reports on."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from iolens.cli.numbers import positive
from iolens.foreign import print_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="a folder with logs in it or below it")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="STORE",
        help="folder of the data set, made if absent",
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=positive,
        default=len(os.sched_getaffinity(0)),
        metavar="N",
        help="number of processes that read logs (default: one per core)",
    )
    parser.add_argument(
        "--no-advice", action="store_true", help="leave out the findings of `iolens advise`; this is quicker"
    )
    parser.add_argument(
        "--dask-scheduler",
        metavar="ADDRESS",
        help="read on the workers of this Dask cluster (tcp://host:port, or the scheduler's file)",
    )


def run(args: argparse.Namespace) -> int:
    """Reads new logs and prints how many there were."""
    from iolens.fleet.job_rows import need

    need("fleet", "pyarrow")
    if args.dask_scheduler:
        need("dask", "distributed")
    from iolens.fleet.ingest import ingest

    taken = ingest(args.folders, args.output, args.jobs, not args.no_advice, args.dask_scheduler)
    damaged = f", {taken.damaged} could not be read (iolens fleet lists them)" if taken.damaged else ""
    print_line(f"{args.output}: {taken.read} logs read, {taken.unchanged} unchanged{damaged}")
    return 0
