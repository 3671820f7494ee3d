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
    from iolens.pages.job import exhibits
    from iolens.pages.terminal import console, show_job

    out = console()
    for path in args.logs:
        job = read_log(path)
        show_job(job, [one.table for one in exhibits(job).values()], out)
    return 0
