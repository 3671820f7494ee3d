"""`iolens diff A B …`: prints the differences between logs, outputs, or folders of repetitions, in the terminal."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iolens.metrics.subjects.subject import Subjects


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = (
        "Compares each PATH with the first. Reads outputs of NPB and its BT-IO, BTIO, IOR (text, JSON, CSV), mdtest, "
        "MAPL's simulators and OSU micro-benchmarks, and with X.out also the log X.darshan in the same folder."
    )
    parser.add_argument(
        "paths", type=Path, nargs="+", metavar="PATH", help="a log, a benchmark's output, a run, or a folder of these"
    )
    parser.add_argument("--all", action="store_true", help="also print the numbers that are equal")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")


def run(args: argparse.Namespace) -> int:
    """Prints the differences; returns 0, whether anything differs or not."""
    from iolens.lab.subjects.subjects import read_subjects

    subjects = read_subjects(args.paths)
    if args.json:
        from iolens.pages.comparison.subjects_document import as_json

        print(as_json(subjects))
    else:
        _print_differences(subjects, args.all)
    return 0


def _print_differences(subjects: Subjects, whole: bool) -> None:
    """Prints the subjects, the differences in numbers, findings and files, and warnings about the comparison."""
    from iolens.pages.base.blocks import Table
    from iolens.pages.exhibits.subjects import FACTS, FILES, FINDINGS, WHO, grouped_tables
    from iolens.pages.job.job_screen import screen
    from iolens.pages.wording.subject_words import headline, notes, subject_doubts

    out = screen()
    for doubt in subject_doubts(subjects):
        out.say(f"caution: {doubt}")
    for sentence in headline(subjects):
        out.say(sentence, "1")
    for note in notes(subjects):
        out.say(note)
    exhibits = (WHO.table(subjects), FACTS.table(subjects), FINDINGS.table(subjects))
    for table in (*exhibits, *grouped_tables(subjects, whole), FILES.table(subjects)):
        if isinstance(table, Table):
            print()
            out.table(table)
