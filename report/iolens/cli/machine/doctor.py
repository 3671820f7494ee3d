"""`iolens doctor`: lists what is installed on this machine, which features work, and why others do not."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

_MARKS = {True: "ok  ", False: "NO  ", None: "    "}
_WIDE = 20
"""Maximum width of a name, in characters."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `iolens doctor`."""
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    """Prints all findings; returns 0 if programs can be recorded on this machine, otherwise 1."""
    from iolens.lab.doctor.checks import examined
    from iolens.pages.job.job_screen import screen
    from iolens.pages.text.lines import paragraph

    found = examined()
    if args.json:
        print(json.dumps({section: [asdict(row) for row in rows] for section, rows in found.items()}, indent=1))
    else:
        out = screen()
        for section, rows in found.items():
            out.say(section, "1")
            for row in rows:
                words = "; ".join(filter(None, [row.found, row.remedy]))
                out.lines(paragraph(f"  {row.name:{_WIDE}} {_MARKS[row.works]}{words}", out.width, " " * (_WIDE + 7)))
    return 1 if any(row.works is False for row in found["Trials"]) else 0
