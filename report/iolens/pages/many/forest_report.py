"""The document of a job of many processes, as pages of exhibits and in the terminal."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.forest import files, pipeline, summary
from iolens.forest.forest import Forest, printable, read_forest
from iolens.pages.base import words
from iolens.pages.base.blocks import Block, PageLayout, Row, Table, Text, laid_out
from iolens.pages.exhibits.many_processes import (
    ACTIVITY,
    DAMAGED,
    FILES,
    FOREST_EXHIBITS,
    HANDED_OVER,
    HEAVIEST,
    HOSTS,
    PARTIAL,
    PIPELINE,
    PROCESS_TREE,
    READ_AGAIN,
    ROLES,
    RUNNING,
    WAITING,
)
from iolens.pages.output.document import write_document
from iolens.pages.text.lines import paragraph, shortened

if TYPE_CHECKING:
    from iolens.pages.job.job_screen import Line

_FRONT = {PROCESS_TREE.name: 7, PIPELINE.name: 3, FILES.name: 5}
"""The tables of the first screen, and the most rows of each."""

_NAME = 60
"""Longest command in a title."""

_LITTLE = 0.05
"""Shares below this are negligible: sentences leave them out, or say that little can be gained."""


def write_forest(forest: Forest, path: Path) -> None:
    """Writes the document, a PDF or an HTML page; raises IolensError if it cannot be written."""
    write_document(path, _forest_title(forest), _forest_subtitle(forest), laid_out(_PAGES, forest), _page_marks(forest))


def processes_summary(log: Path, width: int) -> list[Line]:
    """Returns the lines that end a run of several processes, at most ten."""
    from iolens.pages.job.job_screen import Line

    _, *said = forest_sentences(read_forest(log))
    return [Line(text) for sentence in said for text in paragraph(sentence, width)][:10]


def show_forest(forest: Forest, whole: bool) -> None:
    """Prints the report in the terminal: all tables, or those of one screen with their first rows."""
    from iolens.pages.job.job_screen import screen

    out = screen()
    out.say(_forest_title(forest), "1")
    for sentence in forest_sentences(forest):
        out.say(sentence)
    for exhibit in FOREST_EXHIBITS:
        shown = not exhibit.apart and (whole or exhibit.name in _FRONT)
        table = exhibit.table(forest) if shown else None
        if table is not None:
            print()
            out.table(table if whole else replace(table, rows=table.rows[: _FRONT[exhibit.name]], note=""))
    if not whole:
        out.lines([""])
        out.say("All tables: iolens show --all LOG. Names of single processes: iolens table heaviest LOG")


def forest_sentences(forest: Forest) -> list[str]:
    """Returns the lines below the title: where and when, the marks that every output must show, and what happened."""
    return [_forest_subtitle(forest), *_page_marks(forest), *_first_sentences(forest)]


def _forest_title(forest: Forest) -> str:
    """Returns the header of every page."""
    ranks = words.plural(sum(each.ranks for each in forest.processes), "process")
    rows = summary.processes(forest)
    much = float(rows["io_seconds"].sum()) >= _LITTLE * float((rows["seconds"] * rows["ranks"]).sum())
    of_io = "I/O of " if much or rows[["bytes_read", "bytes_written"]].to_numpy().any() else ""
    name = forest.command or printable(forest.source.resolve().name)
    return f"{shortened(name, _NAME)}: {of_io}{ranks}"


def _forest_subtitle(forest: Forest) -> str:
    """Returns the text below the title."""
    jobs = {each.jobid for each in forest.processes}
    job = f", job {jobs.pop()}" if len(jobs) == 1 else ""
    begin = words.moment(min(each.start for each in forest.processes))
    return f"{printable(forest.source)}{job}, {begin}, {words.duration(summary.end_of(forest))}"


def _page_marks(forest: Forest) -> list[str]:
    """Returns the marks that every page must show, such as PARTIAL LOGS."""
    states = (("PARTIAL LOGS", any(each.partial for each in forest.processes)), ("DAMAGED LOGS", bool(forest.damaged)))
    return [label for label, holds in states if holds]


def _first_sentences(forest: Forest) -> list[str]:
    """Returns the first sentences of the report: amounts, durations, and outliers."""
    rows = summary.processes(forest)
    spent, wall = float(rows["io_seconds"].sum()), float((rows["seconds"] * rows["ranks"]).sum())
    share = spent / wall if wall else 0.0
    part = words.percent(spent, wall) if share <= 1 else "up to all"
    why = "; little can be gained there" if share < _LITTLE else "; calls that copy count for both files" * (share > 1)
    said = [
        f"I/O took {part} of the processes' time: {words.duration(spent)} of {words.duration(wall)}, both summed over "
        f"{words.plural(int(rows['ranks'].sum()), 'process')}{why}."
    ]
    times = summary.process_waiting(forest)
    if times is not None:
        total, busy, waiting = (float(times[name].sum()) for name in ("wall", "cpu", "in_io"))
        said.append(
            f"They were on a processor for {words.percent(busy, total)} of this time, in I/O without one for at most "
            f"{words.percent(waiting, total)}; the rest of the time they waited for children, pipes, locks or a core, "
            f"or slept."
        )
    said += _pipeline_sentences(forest)
    again = files.read_again(forest)
    if again is not None:
        read, more = int(rows["bytes_read"].sum()), int(again["again"].sum())
        if more >= _LITTLE * read:
            said.append(
                f"{words.size(more)} of the {words.size(read)} read ({words.percent(more, read)}) had been read "
                "before by "
                "this job: memory or a node's own disk could keep it."
            )
    if not summary.is_one_job(forest):
        nobody = f"No process ran for {words.duration(summary.idle(forest))}"
        if forest.command:
            said.append(f"{nobody} by these logs: if the command was not idle, the clocks of its processes differ.")
        else:
            said.append(f"{nobody}: these seem to be several jobs. `iolens ingest` and `iolens fleet` report on many.")
    if forest.spools:
        said.append(
            f"{words.plural(forest.spools, 'process')} left records without a log: "
            f"run `iolens recover {shlex.quote(printable(forest.folder))}`."
        )
    if forest.damaged:
        said.append(f"{words.plural(len(forest.damaged), 'log')} cannot be read and are not included in any number.")
    return said


def _pipeline_sentences(forest: Forest) -> list[str]:
    """Returns a sentence about the main process that waits longest for its workers; none if it hardly waits."""
    found = pipeline.input_pipeline(forest)
    found = None if found is None else found[found["limit"].ne("") & (found["waits"] >= _LITTLE * found["seconds"])]
    if found is None or found.empty:
        return []
    row = found.loc[found["waits"].idxmax()]
    return [
        f"{row['label']} waited for its {words.plural(int(row['workers']), 'worker')} for "
        f"{words.percent(row['waits'], row['seconds'])} of {words.duration(row['seconds'])}, held up by "
        f"{row['limit']}: more workers or more batches ahead would gain at most "
        f"{words.duration(row['more_workers'])}, faster storage at most {words.duration(row['faster_storage'])}."
    ]


def _fact_table(forest: Forest) -> tuple[list[list[str]], list[list[str]]]:
    """Returns facts for two columns side by side, each fact with its name and its value."""
    rows = summary.processes(forest)
    hosts = {each.host for each in forest.processes if each.host}
    tree = summary.process_groups(forest)
    unread = f", {len(forest.damaged):,} not" if forest.damaged else ""
    left = [
        ["processes" if forest.command else "logs", f"{len(rows):,} read{unread}"],
        ["programs", f"{tree['name'].str.replace(r'^[0-9,]+ × ', '', regex=True).nunique():,}"],
        ["hosts", f"{len(hosts):,}" if hosts else words.NONE],
        ["first to last", words.duration(summary.end_of(forest))],
    ]
    right = [
        ["read", words.size(int(rows["bytes_read"].sum()))],
        ["written", words.size(int(rows["bytes_written"].sum()))],
        ["files", words.count(len(files.file_rows(forest)))],
        ["opens", words.count(int(rows["opens"].sum()))],
    ]
    return [fact for fact in left if fact[1] != words.NONE], right


def _forest_overview(forest: Forest) -> list[Block]:
    """Returns the first lines of the document."""
    first, *others = _first_sentences(forest)
    table = Row([Table("", ["", ""], part) for part in _fact_table(forest)])
    return [Text(first, "lead"), *(Text(each) for each in others), table]


_PAGES: tuple[PageLayout[Forest], ...] = (
    PageLayout("Job of many processes", [_forest_overview, ACTIVITY.figures, RUNNING.figures]),
    PageLayout("Processes", [PROCESS_TREE.tables, HEAVIEST.tables, WAITING.tables, PIPELINE.tables]),
    PageLayout("Files", [ROLES.tables, HANDED_OVER.tables, READ_AGAIN.tables, FILES.tables]),
    PageLayout("About these logs", [HOSTS.tables, PARTIAL.tables, DAMAGED.tables]),
)
"""The pages from top to bottom."""
