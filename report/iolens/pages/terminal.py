"""A job's summary for the terminal: the same tables, in as many columns as there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from iolens.pages.blocks import Table
from iolens.pages.cells import NUMBER, middle
from iolens.pages.job_words import facts, labels, title, verdicts

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from iolens.log import Job

WIDTH = 110
"""Columns where the output is no terminal."""

MOST_ROWS, SHORTEST = 24, 16


def console() -> Console:
    """As wide as the terminal; without colours and at a fixed width where the output is a file or a pipe."""
    from rich.console import Console

    plain = Console(highlight=False, soft_wrap=False)
    return plain if plain.is_terminal else Console(width=WIDTH, highlight=False, no_color=True)


def show_job(job: Job, tables: Iterable[Table], out: Console) -> None:
    """Print facts, sentences and tables."""
    from rich.text import Text

    out.print(Text(title(job), style="bold"))
    for label in labels(job):
        out.print(Text(label, style="bold red"))
    for name, value in [pair for part in facts(job) for pair in part]:
        out.print(Text(f"  {name:<17} {value}"), overflow="ellipsis", no_wrap=True)
    caveats = [f"Incomplete. {reason}" for reason in job.partial]
    caveats += [f"Not followed: {reason}" for reason in job.unfollowed]
    for sentence in [*verdicts(job), *caveats]:
        out.print(Text(sentence, style="bold"))
    for table in tables:
        out.print()
        show_table(table, out)


def show_table(table: Table, out: Console) -> None:
    """Print one table."""
    for part in table_parts(table, out.width):
        out.print(part)


def table_parts(table: Table, width: int) -> list[RenderableType]:
    """One table and its note; numbers flush right, the widest column's words shortened where the terminal is too
    narrow."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(title=Text(table.title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, head in enumerate(table.columns):
        numeric = all(NUMBER.match(row[number]) for row in table.rows)
        grid.add_column(head, justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    for row in fitted(table, table.rows[:MOST_ROWS], width):
        grid.add_row(*(Text(cell) for cell in row))
    parts: list[RenderableType] = [grid]
    if len(table.rows) > MOST_ROWS:
        parts.append(Text(f"{len(table.rows) - MOST_ROWS} more rows: export them with iolens report --csv DIR"))
    if table.note:
        parts.append(Text(table.note, style="dim"))
    return parts


def fitted(table: Table, rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """The rows with the longest words of the widest column shortened, so that the table fits into `width`."""
    columns = [max([len(head), *(len(row[n]) for row in rows)]) for n, head in enumerate(table.columns)]
    widest = columns.index(max(columns))
    room = max(SHORTEST, width - (sum(columns) - columns[widest]) - 3 * len(columns))
    return [
        [middle(cell, room - 1) if n == widest and len(cell) > room else cell for n, cell in enumerate(row)]
        for row in rows
    ]
