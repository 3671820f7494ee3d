"""A job's summary in a terminal: on one screen, or with all tables of the document, with as many columns as fit."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from iolens.advise import diagnosis, say
from iolens.foreign import printable_text
from iolens.log import Job
from iolens.pages.base import words
from iolens.pages.base.blocks import Table
from iolens.pages.exhibits.files import COSTLY_FILES
from iolens.pages.exhibits.overview import GAUGES, PERFORMANCE
from iolens.pages.job.time_bar import parts_of_time
from iolens.pages.text.lines import pair, paragraph, shortened, table_text
from iolens.pages.wording.job_judgement import confident_verdict, no_action_sentence, opening, spoken, to_paste
from iolens.pages.wording.job_words import fact_columns, labels, main_file_system, title, verdicts

if TYPE_CHECKING:
    from iolens.advise import Diagnosis, Finding


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


LINES = 40
"""Number of lines of a usual terminal window; the screen has at most as many."""

_PARTS, _FILES, _FINDINGS, _PASTED = 5, 5, 3, 3
"""Maximum numbers of parts of the time, of files, of findings, and of lines to paste."""

_LEFT_OUT = ("all ranks, s", "files")
"""Columns of the table of files for which a screen has no room."""

_BAR = 30
"""Width of the longest bar, in characters."""

_STATES = {"yes": "within", "no": "outside:"}
"""The words for gauges on the right and on the wrong side of their bounds."""

_NAME = 24
"""Width of the names beside bars and gauges, in characters."""


class Line(NamedTuple):
    """A line of the screen and its style, an ANSI code such as "1" (bold) or "" (none)."""

    text: str
    style: str = ""


def front_screen(job: Job, width: int) -> list[Line]:
    """Returns the lines of the first screen, each of at most `width` characters."""
    found = diagnosis(job)
    before = [
        _head(job, width),
        _judged(found, width),
        _time_bars(job, width),
        _gauges(job, width),
        _other_findings(found, width),
    ]
    more = "All tables: iolens show --all LOG. Pages: iolens report LOG -o job.html"
    after = [_unknown(found, width), [Line(text) for text in paragraph(more, width)]]
    taken = sum(len(group) + 1 for group in (*before, *after) if group)
    files = _busiest_files(job, LINES - taken, width)
    return [line for group in (*before, files, *after) if group for line in (*group, Line(""))][:-1]


def brief_summary(job: Job, width: int) -> list[Line]:
    """Returns the lines that end a run: times, transfers, verdict and the one action, at most ten."""
    found = diagnosis(job)
    facts = [f"run time {say.run_time(job)}", _process_count(job), *_peak_memory(job)]
    parts = sorted(parts_of_time(job), key=lambda part: -part.seconds)
    whole = sum(part.seconds for part in parts)
    shares = [f"{part.name} {words.percent(part.seconds, whole)}" for part in parts[:_PARTS]]
    return [
        Line(_cut_line(", ".join(facts), width)),
        *([Line(_as_many(f"time: {shares[0]}", shares[1:], width))] if shares else []),
        *(Line(_cut_line(text, width)) for text in _layers(job)),
        *_judged(found, width)[:5],
    ]


def _head(job: Job, width: int) -> list[Line]:
    """Returns the title, the marks that every output must show, and the facts of the run."""
    facts = [
        _process_count(job) + (f" on {words.plural(len(job.hosts), 'host')}" if job.hosts else ""),
        say.run_time(job),
        *_peak_memory(job),
        f"started {words.moment(job.start)}",
    ]
    lines = paragraph(", ".join(facts), width)[:2]
    if main_file_system(job) != words.NONE:
        lines.append(f"main file system: {main_file_system(job)}")
    return [
        Line(shortened(printable_text(title(job)), width), "1"),
        *(Line(label, "1;31") for label in labels(job)),
        *(Line(shortened(text, width)) for text in lines),
    ]


def _process_count(job: Job) -> str:
    """Returns the number of processes; for one of several in a log, which one it is, and the time of the whole run."""
    if "processes" in job.info:
        whole = words.duration(job.info["run_seconds"])
        return f"process {job.path.name} of {job.info['processes']:,} ({whole} in all)"
    return words.plural(job.nprocs, "process")


def _peak_memory(job: Job) -> list[str]:
    """Returns the largest memory of a rank, in words; empty if the log does not have it."""
    table = job.tables.get("process")
    if table is None or not len(table):
        return []
    return [f"peak memory {words.size(float(table['max_rss'].max()))}" + (" in a process" if job.nprocs > 1 else "")]


def _layers(job: Job) -> list[str]:
    """Returns a line for each layer with bytes: what it moved, and how fast."""
    table = PERFORMANCE.table(job)
    if table is None:
        return []
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return [
        f"{row['layer']}: {row['read']} read, {row['written']} written in {row['I/O time']} ({row['speed']})"
        for row in rows[:3]
    ]


def _judged(found: Diagnosis, width: int) -> list[Line]:
    """Returns the verdict, followed by the one change that can gain most."""
    lines = [Line(text, "1") for text in paragraph(confident_verdict(found), width)]
    if not found.worth:
        return [*lines, *(Line(text) for text in paragraph(no_action_sentence(found), width))]
    return [*lines, *(Line(text) for text in _action(found.worth[0], width))]


def _action(finding: Finding, width: int) -> list[str]:
    """Returns a finding's remedy: its opening sentence, and the first lines to paste, which keep their form."""
    remedy = finding.remedy.strip().splitlines()
    said = paragraph(f"What to do: {opening(remedy) or finding.title}", width)
    pasted = [text for text in to_paste(remedy, _PASTED) if len(text) <= width]
    return [*said[:2], *pasted[:_PASTED]]


def _time_bars(job: Job, width: int) -> list[Line]:
    """Returns a bar for each of the largest parts of the run time of an average rank."""
    parts = sorted(parts_of_time(job), key=lambda part: -part.seconds)
    whole = sum(part.seconds for part in parts)
    if not 0 < whole < math.inf:
        return []
    shown, others = parts[:_PARTS], parts[_PARTS:]
    rows = [(part.name, part.seconds) for part in shown]
    if others:
        rows.append((f"{len(others)} smaller parts", sum(part.seconds for part in others)))
    rank = "an average rank" if job.nprocs > 1 else "the program"
    room = min(_BAR, width - _NAME - 22)
    lines = [Line(f"Where the time of {rank} went", "1")]
    for name, seconds in rows:
        bar = "█" * round(room * seconds / whole)
        share = f"{words.percent(seconds, whole):>8}  {words.brief_duration(seconds)}"
        lines.append(Line(f"{shortened(name, _NAME):<{_NAME}} {bar:<{room}} {share}"))
    return lines


def _gauges(job: Job, width: int) -> list[Line]:
    """Returns a line for each gauge: its value, its bound, and the finding that explains a value outside the bound."""
    table = GAUGES.table(job)
    if table is None:
        return []
    lines = [Line("Four gauges", "1")]
    for name, value, bound, within, because, _ in table.rows:
        state = " ".join(filter(None, [_STATES.get(str(within), ""), str(because)]))
        lines.append(Line(_cut_line(f"{name:<26}{value:>9}  bound {bound:<9}  {state}".rstrip(), width)))
    return lines


def _other_findings(found: Diagnosis, width: int) -> list[Line]:
    """Returns the findings, one line each, with the most that each can save."""
    told = [*found.worth, *found.minor]
    if not told:
        return []
    lines = [
        Line(_cut_line(f"{number}. {one.title}: {one.gain_words}", width))
        for number, one in enumerate(told[:_FINDINGS], 1)
    ]
    more = f" ({words.plural(len(told) - _FINDINGS, 'more')}: iolens advise LOG)" if len(told) > _FINDINGS else ""
    return [Line(f"Findings{more}", "1"), *lines]


def _busiest_files(job: Job, room: int, width: int) -> list[Line]:
    """Returns the files with the most time or bytes, as many as `room` lines hold; empty if there are none."""
    table = COSTLY_FILES.table(job)
    if table is None:
        return []
    kept = [number for number, name in enumerate(table.columns) if name not in _LEFT_OUT]
    rows = [[row[number] for number in kept] for row in table.rows]
    short = Table("The busiest files", [table.columns[number] for number in kept], rows[:_FILES])
    lines = table_text(short, width)[: max(0, room)]
    heads = next((number for number, text in enumerate(lines) if text.startswith("─")), len(lines))
    return [Line(lines[0], "1"), *map(Line, lines[1:])] if len(lines) > heads + 1 else []


def _unknown(found: Diagnosis, width: int) -> list[Line]:
    """Returns the names of the facts that the log does not have, in at most three lines."""
    if not found.unknown:
        return []
    lines = paragraph(f"This log cannot tell: {'; '.join(what for what, _ in found.unknown)}.", width)
    return [Line(text) for text in _cut(lines, 3)]


def _as_many(line: str, more: Sequence[str], width: int) -> str:
    """Returns a line with as many further parts as have room."""
    for part in more:
        if len(line) + 2 + len(part) > width:
            break
        line += f", {part}"
    return line


def _cut_line(text: str, width: int) -> str:
    """Returns the beginning of a line that has room, with an ellipsis if something is missing."""
    return text if len(text) <= width else f"{text[: width - 2].rstrip()} …"


def _cut(lines: Sequence[str], most: int) -> list[str]:
    """Returns the lines; if there are more than `most`, the last one ends in an ellipsis."""
    return list(lines) if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1][:-2]} …"]
