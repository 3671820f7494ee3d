"""`iolens advise LOG …`: names changes that would make this run's I/O faster, and the most that each can gain."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.errors import UsageError

if TYPE_CHECKING:
    from iolens.log import Job


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = (
        "Print what limits a run, which changes would make its I/O faster (with text to paste), and how much of the "
        "run time each can save at most. A healthy or very short job gets no advice. report/ADVICE.md explains the "
        "rules and thresholds."
    )
    parser.add_argument("logs", type=Path, nargs="*", metavar="LOG", help="a log of iolens or Darshan (3.0 or later)")
    parser.add_argument("--json", action="store_true", help="print JSON instead: one line with one object for each log")
    parser.add_argument(
        "--write-hints",
        type=Path,
        metavar="FILE",
        help="write the MPI-IO hints of the advice into this file; for one log",
    )
    parser.add_argument(
        "--threshold", action="append", default=[], metavar="KEY=VALUE", help="set a threshold; may be repeated"
    )
    parser.add_argument(
        "--mtbf",
        type=float,
        metavar="HOURS",
        help="mean time between failures of all the job's nodes: also print how often to write checkpoints",
    )
    parser.add_argument(
        "--rules",
        nargs="?",
        const="",
        metavar="RULE",
        help="print the rules and thresholds as Markdown: all, or those of one rule",
    )
    parser.add_argument(
        "--thresholds", type=Path, metavar="YAML", help="a file of thresholds, with one line KEY: VALUE for each"
    )


def _which_process(whole: Job, judged: Job) -> list[str]:
    """Returns the line that names the judged process of a log with several; empty for other logs."""
    if judged is whole:
        return []
    return [f"Process {judged.path.name} of {whole.nprocs:,}, which did most I/O ({judged.log_name}):"]


def run(args: argparse.Namespace) -> int:
    """Prints the advice on each log; returns 0, whatever was found."""
    if args.rules is not None:
        from iolens.pages.wording.job_lists import rules_text

        print(rules_text(args.rules))
        return 0
    if not args.logs:
        raise UsageError("name a log, such as job.darshan; --rules prints the rules")
    from iolens.advise import diagnosed
    from iolens.advise.limits import DEFAULTS, changed, from_file
    from iolens.log import read_log
    from iolens.log.processes import main_process
    from iolens.pages.job.job_screen import screen
    from iolens.pages.wording.job_lists import advice_json, checkpoint_sentence, styled_lines, wrapped, write_hints

    if args.mtbf is not None and not 0 < args.mtbf < float("inf"):
        raise UsageError(f"--mtbf {args.mtbf:g}: a mean time between failures must be more than 0 hours")
    if args.write_hints and len(args.logs) > 1:
        raise UsageError(f"--write-hints names one file, but {len(args.logs)} logs are given")
    out = screen()
    limits = changed(args.threshold, from_file(args.thresholds) if args.thresholds else DEFAULTS)
    for number, path in enumerate(args.logs):
        whole = read_log(path)
        job = main_process(whole)
        found = diagnosed(job, limits)
        if args.json:
            print(advice_json(job, found))
        else:
            out.lines([""] if number else [])
            out.lines(_which_process(whole, job))
            for line, style in styled_lines(job, found, out.width):
                out.lines([line], style)
            if args.mtbf is not None:
                out.lines(["", *wrapped(checkpoint_sentence(job, 3600 * args.mtbf), out.width)])
        if args.write_hints:
            write_hints(args.write_hints, found)
    return 0
