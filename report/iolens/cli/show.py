"""`iolens show LOG …`: the summary of each log in the terminal."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "logs",
        type=Path,
        nargs="+",
        metavar="LOG",
        help="a log of iolens or Darshan (3.0 or later), or a folder: all logs in it and below it as one job",
    )


def run(args: argparse.Namespace) -> int:
    """Prints the summaries."""
    for path in args.logs:
        (show_folder if path.is_dir() else show_log)(path)
    return 0


def show_log(path: Path) -> None:
    """Prints the summary of one log."""
    from iolens.log import read_log
    from iolens.pages.exhibits.job import summary_exhibits
    from iolens.pages.terminal import screen, show_job

    job = read_log(path)
    tables = [exhibit.table(job) for exhibit in summary_exhibits(job)]
    show_job(job, [table for table in tables if table is not None], screen())


def show_folder(path: Path) -> None:
    """Prints that of all logs of a folder."""
    from iolens.forest.forest import read_forest
    from iolens.pages.forest import show_forest

    show_forest(read_forest(path))
