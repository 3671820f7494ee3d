"""The report on a store that `iolens ingest` made, as pages of exhibits and in the terminal."""

from __future__ import annotations

from pathlib import Path

from iolens.fleet.store import Store
from iolens.pages.base import words
from iolens.pages.base.blocks import Block, PageLayout, Row, Table, Text, laid_out
from iolens.pages.exhibits.many_jobs import (
    APPLICATIONS,
    DAMAGED,
    FILE_SYSTEMS,
    FLEET_EXHIBITS,
    OFFENDERS,
    RULES,
    TREND,
    USERS,
    day,
    hours,
)
from iolens.pages.output.document import write_document


def write_fleet(store: Store, path: Path) -> None:
    """Writes the document, a PDF or an HTML page; raises IolensError if it cannot be written."""
    write_document(path, _fleet_title(store), str(store.folder), laid_out(_PAGES, store))


def show_fleet(store: Store) -> None:
    """Prints the report in the terminal."""
    from iolens.pages.job.job_screen import screen

    out = screen()
    out.say(_fleet_title(store), "1")
    for sentence in sentences(store):
        out.say(sentence)
    for exhibit in FLEET_EXHIBITS:
        table = exhibit.table(store)
        if table is not None:
            print()
            out.table(table)


def _fleet_title(store: Store) -> str:
    """Returns the header of every page."""
    return f"{store.folder.resolve().name}: I/O of {words.plural(int(store.ask('totals')['jobs'][0]), 'job')}"


def sentences(store: Store) -> list[str]:
    """Returns the first sentences of the report."""
    total = store.ask("totals").iloc[0]
    if not total["jobs"]:
        return ["No job: none of the ingested logs could be read."]
    said = [
        f"I/O took {words.percent(total['io_hours'], total['process_hours'])} of the processes' time: "
        f"{hours(total['io_hours'])} of {hours(total['process_hours'])} hours."
    ]
    if total["advised"]:
        saved = total["saved_hours"]
        said.append(
            f"About {hours(saved)} process hours ({words.percent(saved, total['process_hours'])}) could be "
            "saved by the best remedy of each job."
        )
    missing = int(total["jobs"] - total["advised"])
    if missing:
        said.append(
            f"{words.plural(missing, 'job')} were ingested without advice, so their possible savings are unknown."
        )
    copies = int(store.ask("copies")["logs"][0])
    if copies:
        alike = "looks like a copy" if copies == 1 else "look like copies"
        said.append(
            f"{words.plural(copies, 'log')} {alike} of others (same user, job, times, bytes and size of the file): "
            "they count as separate jobs."
        )
    return said


def _fleet_overview(store: Store) -> list[Block]:
    """Returns the first lines of the document."""
    total = store.ask("totals").iloc[0]
    lead, *others = sentences(store)
    blocks: list[Block] = [Text(lead, "lead"), *(Text(each) for each in others)]
    if not total["jobs"]:
        return blocks
    left = [
        ["jobs", words.count(total["jobs"])],
        ["users", words.count(total["users"])],
        ["applications", words.count(total["applications"])],
        ["first, last", f"{day(total['first'])}, {day(total['last'])}"],
    ]
    right = [
        ["read", words.size(total["bytes_read"])],
        ["written", words.size(total["bytes_written"])],
        ["files", words.count(total["files"])],
        ["incomplete logs", words.count(total["partial"])],
    ]
    return [*blocks, Row([Table("", ["", ""], left), Table("", ["", ""], right)])]


_PAGES: tuple[PageLayout[Store], ...] = (
    PageLayout("All jobs", [_fleet_overview, TREND.figures, APPLICATIONS.tables]),
    PageLayout("What could be saved", [OFFENDERS.tables, RULES.tables]),
    PageLayout("Who and where", [USERS.tables, FILE_SYSTEMS.tables]),
    PageLayout("Time and logs", [TREND.tables, DAMAGED.tables]),
)
"""The pages from top to bottom."""
