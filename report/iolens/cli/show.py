"""`iolens show LOG …`: the summary of each log in the terminal."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("logs", type=Path, nargs="+", metavar="LOG", help="a log of iolens or Darshan (3.0 or later)")


def run(args: argparse.Namespace) -> int:
    """Print the summaries."""
    from iolens.log import read_log
    from iolens.pages.exhibits.job import JOB_EXHIBITS
    from iolens.pages.terminal import screen, show_job

    out = screen()
    for path in args.logs:
        job = read_log(path)
        tables = [exhibit.table(job) for exhibit in JOB_EXHIBITS if not exhibit.apart]
        show_job(job, [table for table in tables if table is not None], out)
    return 0
