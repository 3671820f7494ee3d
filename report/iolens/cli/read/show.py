"""`iolens show LOG …`: the summary of each log in the terminal, one screen or, with --all, every table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.errors import UsageError

if TYPE_CHECKING:
    from iolens.log import Job


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "logs",
        type=Path,
        nargs="+",
        metavar="LOG",
        help="a log of iolens or Darshan (3.0 or later), or a folder: all logs in it and below it as one job",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--all", action="store_true", help="print all findings and tables instead of one screen")
    form.add_argument(
        "--json",
        action="store_true",
        help="print JSON instead: one line with one object for each log, with the judgement, facts and all tables",
    )
    form.add_argument(
        "--line",
        action="store_true",
        help="print the verdict and what was moved in one line of at most 240 characters, for a job comment",
    )


def run(args: argparse.Namespace) -> int:
    """Prints the summaries."""
    folders = [path for path in args.logs if path.is_dir()]
    if args.json and folders:
        raise UsageError(f"{folders[0]} is a folder: --json takes logs; iolens report FOLDER --json DIR has its tables")
    if args.line and folders:
        raise UsageError(f"{folders[0]} is a folder: --line takes logs")
    for path in args.logs:
        if args.json:
            _print_json(path)
        elif args.line:
            _print_line(path)
        else:
            _show_path(path, args.all)
    return 0


def _show_path(path: Path, whole: bool) -> None:
    """Prints a log, or the processes of a folder or of a log that joins several of them."""
    from iolens.log import read_log
    from iolens.log.processes import only_process

    job = None if path.is_dir() else only_process(read_log(path))
    if job is None:
        _show_processes(path, whole)
    else:
        (_show_all if whole else _show_front)(job)


def _print_json(path: Path) -> None:
    """Prints one log as a JSON object in one line."""
    from iolens.log import read_log
    from iolens.log.processes import main_process
    from iolens.pages.wording.job_lists import job_json

    print(job_json(main_process(read_log(path))))


def _print_line(path: Path) -> None:
    """Prints one log in one line."""
    from iolens.log import read_log
    from iolens.log.processes import main_process
    from iolens.pages.wording.job_lists import one_line

    print(one_line(main_process(read_log(path))))


def _show_front(job: Job) -> None:
    """Prints the first screen of one log."""
    from iolens.pages.job.job_screen import front_screen, screen

    out = screen()
    for text, style in front_screen(job, out.width):
        out.lines([text], style)


def _show_all(job: Job) -> None:
    """Prints the findings and every table of one log."""
    from iolens.pages.exhibits.job_exhibits import summary_exhibits
    from iolens.pages.job.job_screen import screen, show_job

    tables = [exhibit.table(job) for exhibit in summary_exhibits(job)]
    show_job(job, [table for table in tables if table is not None], screen())


def _show_processes(path: Path, whole: bool) -> None:
    """Prints the summary of all logs of a folder, or of all processes of a log, together."""
    from iolens.forest.forest import read_forest
    from iolens.pages.many.forest_report import show_forest

    show_forest(read_forest(path), whole)
