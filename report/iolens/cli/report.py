"""`iolens report LOG …`: the summary of each log as PDF or HTML, and its tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from iolens.cli.output import add_output, output_of
from iolens.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("logs", type=Path, nargs="+", metavar="LOG", help="a log of iolens or Darshan (3.0 or later)")
    add_output(parser, "LOG.FORMAT in this folder")
    parser.add_argument("--csv", type=Path, metavar="DIR", help="write every table as CSV into DIR")
    parser.add_argument("--json", type=Path, metavar="DIR", help="write every table as JSON into DIR")
    parser.add_argument("--parquet", type=Path, metavar="DIR", help="write every table as Parquet into DIR")


def run(args: argparse.Namespace) -> int:
    """Write a document per log and say where; 0 when all are done."""
    if args.output and len(args.logs) > 1:
        raise UsageError(f"--output names one document, but {len(args.logs)} logs are given; leave it out")
    from iolens.log import read_log
    from iolens.pages.exhibit import frames
    from iolens.pages.exhibits.job import JOB_EXHIBITS
    from iolens.pages.export import export
    from iolens.pages.job import write_job

    for path in args.logs:
        job, document = read_log(path), output_of(args, Path(path.name))
        write_job(job, document)
        folders = {"csv": args.csv, "json": args.json, "parquet": args.parquet}
        if any(folders.values()):
            export(frames(JOB_EXHIBITS, job), f"{path.name}.", folders)
        print(f"report: {document}")
    return 0
