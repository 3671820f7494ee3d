"""Answers to questions about a log or a store, as plain data: each names the table and the row from which its numbers
come.
"""

from __future__ import annotations

from typing import Any

from iolens.errors import UsageError
from iolens.pages.answers.sources import S, Source
from iolens.pages.exhibit import definition
from iolens.pages.json_rows import json_rows

MOST_ROWS = 200
"""Maximum number of rows of one answer; `first` asks for the next ones."""


def overview(source: Source[S]) -> dict[str, Any]:
    """Returns the overview of a source: its facts, its judgement, and what it cannot tell."""
    return source.overview(source.subject)


def tables(source: Source[S]) -> list[dict[str, Any]]:
    """Returns the tables that the source has: name, title, columns and number of rows."""
    found = [(exhibit, exhibit.every(source.subject)) for exhibit in source.exhibits]
    return [
        {"name": one.name, "title": one.title, "columns": list(map(str, frame.columns)), "rows": len(frame)}
        for one, frame in found
        if frame is not None
    ]


def table_answer(source: Source[S], name: str, first: int = 0, count: int = MOST_ROWS) -> dict[str, Any]:
    """Returns rows of one table with full numbers, bytes and seconds, each row with its number, and the table's
    definition. Raises UsageError for a table that does not exist, or that the source has no data for.
    """
    exhibit = next((one for one in source.exhibits if one.name == name), None)
    if exhibit is None:
        raise UsageError(f"there is no table {name}; `tables` lists the names of all tables")
    frame = exhibit.every(source.subject)
    if frame is None:
        needed = f"; it needs {exhibit.source}" if exhibit.source else ""
        raise UsageError(f"this log cannot tell: it has no data for the table {name}{needed}")
    begin = max(first, 0)
    shown = frame.iloc[begin : begin + max(min(count, MOST_ROWS), 0)]
    rows = [{"row": begin + place, **row} for place, row in enumerate(json_rows(shown))]
    return {"table": name, "definition": definition(exhibit), "rows": rows, "rows_in_table": len(frame)}
