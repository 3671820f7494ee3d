"""A job's summary for the terminal: the tables of the document, with as many columns as fit."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from iolens.advise import diagnosis
from iolens.log import Job
from iolens.pages.blocks import Table
from iolens.pages.job.judgement.paragraphs import confident_verdict, spoken
from iolens.pages.job.words import fact_columns, labels, title, verdicts
from iolens.pages.text.lines import pair, paragraph, table_text

_WIDTH, _NARROWEST = 110, 40
"""Number of columns if the output is not a terminal, and the smallest number of columns that is used."""


@dataclass(frozen=True)
class Screen:
    """The properties of the output: its number of columns, and whether it can show bold text."""

    width: int = _WIDTH
    styled: bool = False

    def lines(self, lines: Iterable[str], style: str = "") -> None:
        """Prints lines; `style` is an ANSI code such as "1" (bold), which is used if the terminal can show it."""
        for line in lines:
            print(f"\x1b[{style}m{line}\x1b[0m" if style and self.styled and line else line)

    def say(self, text: str, style: str = "") -> None:
        """Prints a paragraph."""
        self.lines(paragraph(text, self.width), style)

    def table(self, table: Table) -> None:
        """Prints a table, its title in bold."""
        title, *others = table_text(table, self.width)
        self.lines([title], "1" if table.title else "")
        self.lines(others)


def screen() -> Screen:
    """Returns the screen with its width from COLUMNS or the terminal; without escape sequences in a file, a pipe, or if
    NO_COLOR is set.
    """
    width = max(_NARROWEST, shutil.get_terminal_size((_WIDTH, 24)).columns)
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Screen(width, styled=not plain)


def show_job(job: Job, tables: Iterable[Table], out: Screen) -> None:
    """Prints facts, sentences and tables."""
    out.say(title(job), "1")
    for label in labels(job):
        out.say(label, "1;31")
    for name, value in [fact for part in fact_columns(job) for fact in part]:
        out.lines(pair(name, value, out.width))
    caveats = [f"Not followed: {reason}" for reason in job.unfollowed]
    out.say(confident_verdict(diagnosis(job)), "1")
    for sentence in [*verdicts(job), *caveats]:
        out.say(sentence)
    for sentence in spoken(job):
        out.say(sentence)
    for table in tables:
        print()
        out.table(table)
