"""`iolens-job-summary LOG`: the PDF summary of a log, called as Darshan's `darshan-job-summary.pl` is.

A script that calls Darshan's program works with this one if it uses the new name.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from iolens.cli.ending import exit_code_of, secure_streams
from iolens.errors import IolensError
from iolens.foreign import print_line

_NAME = "iolens-job-summary"


def _parser() -> argparse.ArgumentParser:
    """Returns the options of darshan-job-summary.pl, which may be abbreviated like the original's."""
    made = argparse.ArgumentParser(
        prog=_NAME, description="Make the PDF summary of a log, with the options of darshan-job-summary.pl."
    )
    made.add_argument("input_file", type=Path, help="a log of iolens or Darshan (3.0 or later)")
    made.add_argument("--output", type=Path, metavar="FILE", help="the PDF to write (default: ./INPUT_FILE.pdf)")
    made.add_argument(
        "--verbose", action="store_true", help="also write every table as CSV into a new folder, and print its name"
    )
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the PDF, silently without --verbose; returns the exit code (0 done, 1 failed, 2 wrong usage)."""
    if argv is None:
        secure_streams()
    return exit_code_of(_NAME, lambda: run(argv))


def run(argv: Sequence[str] | None) -> int:
    """Writes the PDF that the options ask for; returns the exit code."""
    args = _parser().parse_args(argv)
    _summarise(args.input_file, args.output or Path(f"{args.input_file.name}.pdf"), args.verbose)
    return 0


def _summarise(log: Path, pdf: Path, verbose: bool) -> None:
    """Writes the pages and, if requested, the tables behind them."""
    from iolens.log import read_log
    from iolens.pages.base.exhibit import frames
    from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
    from iolens.pages.job.job_document import write_job
    from iolens.pages.output.export import export

    job = read_log(log)
    # The ending of a name decides the form of a document, but this command writes a PDF whatever the name.
    aside = pdf if pdf.suffix.lower() == ".pdf" else pdf.with_name(f"{pdf.name}.{os.getpid()}.pdf")
    write_job(job, aside)
    try:
        aside.replace(pdf)
    except OSError as error:
        aside.unlink()
        raise IolensError(f"{pdf} cannot be written: {error.strerror}") from error
    if verbose:
        folder = Path(tempfile.mkdtemp(prefix=f"{_NAME}-"))
        export(frames(JOB_EXHIBITS, job), f"{log.name}.", {"csv": folder})
        print_line(f"verbose: {folder}")


if __name__ == "__main__":
    sys.exit(main())
