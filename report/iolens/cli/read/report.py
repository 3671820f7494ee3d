"""`iolens report LOG …`: the summary of each log as PDF or HTML, and its tables."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from iolens.cli.output import add_output, add_table_folders, output_of
from iolens.errors import UsageError
from iolens.foreign import print_line
from iolens.lazy import pd

if TYPE_CHECKING:
    from iolens.log import Job

Tables: TypeAlias = "Callable[[], Mapping[str, pd.DataFrame]]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "logs",
        type=Path,
        nargs="+",
        metavar="LOG",
        help="a log of iolens or Darshan (3.0 or later), or a folder: one report of all logs in it and below it",
    )
    add_output(parser, "LOG.FORMAT in the current folder")
    add_table_folders(parser)
    parser.add_argument("--parquet", type=Path, metavar="DIR", help="write every table as Parquet into DIR")


def run(args: argparse.Namespace) -> int:
    """Writes a document for each log and prints its name; returns 0 if all were written."""
    if args.output and len(args.logs) > 1:
        raise UsageError(f"--output names one file, but {len(args.logs)} logs are given; leave --output out")
    from iolens.pages.output.export import export, need_folders

    folders = {"csv": args.csv, "json": args.json, "parquet": args.parquet}
    need_folders(folders)
    for path in args.logs:
        name = path.resolve().name
        document = output_of(args, Path(name))
        tables = _report_path(path, document)
        if any(folders.values()):
            export(tables(), f"{name}.", folders)
        print_line(f"report: {document}")
    return 0


def _report_path(path: Path, document: Path) -> Tables:
    """Writes the document of a log, or of the processes of a folder or of a log that joins several of them; returns a
    function that makes its tables.
    """
    from iolens.log import read_log
    from iolens.log.processes import only_process

    job = None if path.is_dir() else only_process(read_log(path))
    return _report_processes(path, document) if job is None else _report_log(job, document)


def _report_log(job: Job, document: Path) -> Tables:
    """Writes the document of one log; returns a function that makes its tables."""
    from iolens.pages.base.exhibit import frames
    from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
    from iolens.pages.job.job_document import write_job

    write_job(job, document)
    return lambda: frames(JOB_EXHIBITS, job)


def _report_processes(path: Path, document: Path) -> Tables:
    """Writes the document of the processes of a folder or a log together; returns a function that makes its tables."""
    from iolens.forest.forest import read_forest
    from iolens.pages.base.exhibit import frames
    from iolens.pages.exhibits.many_processes import FOREST_EXHIBITS
    from iolens.pages.many.forest_report import write_forest

    forest = read_forest(path)
    write_forest(forest, document)
    return lambda: frames(FOREST_EXHIBITS, forest)
