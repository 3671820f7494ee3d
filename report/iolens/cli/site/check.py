"""`iolens check NEW --against BASE --fail LIMIT`: a gate for continuous integration."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.errors import UsageError

if TYPE_CHECKING:
    from iolens.metrics.subjects.subject import Subject


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = (
        "Ends with 0 if no limit is broken, with 1 if one is. A limit is broken only where the repetitions prove it, "
        "so that chance alone fails one check in twenty at most. Counts and bytes need no repetitions, times do."
    )
    parser.add_argument("new", type=Path, metavar="NEW", help="a log, an output, a run, or a folder of repetitions")
    parser.add_argument(
        "--against", type=Path, metavar="BASE", help="the earlier run to compare with, in the same form"
    )
    parser.add_argument(
        "--fail",
        action="append",
        default=[],
        metavar="LIMIT",
        help="a change that is too much: 'run_time>+10%%', 'posix_speed_by_the_slowest<-5%%'; may be repeated",
    )
    parser.add_argument("--list", action="store_true", help="print the names that limits can use, and stop")
    parser.add_argument("--strict", action="store_true", help="end with exit code 1 also if the runs are inconclusive")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the verdicts as JUnit's XML, too")


def run(args: argparse.Namespace) -> int:
    """Prints each limit with its verdict, and one line on all limits; returns 1 if a limit is broken."""
    from iolens.metrics.subjects import gate
    from iolens.pages.comparison.subjects_document import junit, summary, verdict_table
    from iolens.pages.job.job_screen import screen
    from iolens.pages.output.document import written_aside

    if args.list:
        _print_number_names(_subject(args.new))
        return 0
    if args.against is None or not args.fail:
        raise UsageError(
            "give --against BASE and at least one --fail LIMIT; --list shows the names that a limit can use"
        )
    limits = [gate.limit_of(text) for text in args.fail]
    verdicts = gate.judge_limit(limits, _subject(args.against), _subject(args.new))
    if args.junit:
        with written_aside(args.junit) as path:
            path.write_text(junit(verdicts), encoding="utf-8")
    out = screen()
    out.table(verdict_table(verdicts))
    print()
    out.say(summary(verdicts), "1")
    failing = (gate.BROKEN, gate.OPEN) if args.strict else (gate.BROKEN,)
    return int(any(one.outcome in failing for one in verdicts))


def _subject(path: Path) -> Subject:
    """Returns the subject at a path; raises UsageError if the path is a folder with runs of several settings."""
    from iolens.lab.subjects.subjects import subjects_of

    found = subjects_of(path)
    if len(found) != 1:
        raise UsageError(f"{path} has {len(found)} settings; name the folder of one of them: {found[0].path}")
    return found[0]


def _print_number_names(subject: Subject) -> None:
    """Prints the names of a subject's numbers, each with its group, its name in reports and its unit."""
    from iolens.metrics.subjects import gate
    from iolens.pages.base.blocks import Table
    from iolens.pages.job.job_screen import screen

    rows = [[name, f"{key[0]}: {key[1]}", key[2]] for name, key in gate.names_of(subject).items()]
    screen().table(Table("Names for limits", ["name", "number", "unit"], rows))
