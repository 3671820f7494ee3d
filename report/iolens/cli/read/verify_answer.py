"""`iolens verify-answer LOG TEXT`: check every number of a text against a log."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from iolens.foreign import text_of_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("log", type=Path, metavar="LOG", help="a log of iolens or Darshan (3.0 or later)")
    parser.add_argument("text", metavar="TEXT", help="a file with the text; - for standard input")
    parser.add_argument("--sources", action="store_true", help="print the sources of all other numbers, too")


def run(args: argparse.Namespace) -> int:
    """Prints the numbers that the log does not have; returns 1 if there are any."""
    from iolens.log import read_log
    from iolens.pages.answers.named_logs import numbers_in_text
    from iolens.pages.answers.sources import of_log

    found = numbers_in_text(of_log(read_log(args.log)), _answer_text(args.text))
    wrong = [one for one in found if not one.source]
    for one in found if args.sources else wrong:
        print(f"{one.text}: {one.source or 'the log has no such number'}")
    print(f"{len(found) - len(wrong)} of {len(found)} numbers are in the log")
    return 1 if wrong else 0


def _answer_text(name: str) -> str:
    """Returns the answer whose numbers are checked: the file `name`, or standard input for "-"."""
    if name == "-":
        return sys.stdin.read()
    return text_of_file(Path(name))
