"""Answers to questions about a log, as plain data: each names the table and the row from which its numbers come."""

from __future__ import annotations

from typing import Any

from iolens.advise import diagnosis
from iolens.errors import UsageError
from iolens.log import Job
from iolens.metrics.job.unknown import unknown
from iolens.pages.exhibit import definition
from iolens.pages.exhibits.job import JOB_EXHIBITS
from iolens.pages.job.advice_lists import judgement
from iolens.pages.job.as_json import frame_rows
from iolens.pages.job.words import fact_columns

MOST_ROWS = 200
"""Maximum number of rows of one answer; `first` asks for the next ones."""

_EXHIBITS = {exhibit.name: exhibit for exhibit in JOB_EXHIBITS}


def overview(job: Job) -> dict[str, Any]:
    """Returns the facts of the job, its verdict with the confidence, the findings with their bounds and remedies, and
    the facts that the log cannot tell, with the reasons.
    """
    gaps = unknown(job)
    return {
        "facts": {name: value for part in fact_columns(job) for name, value in part},
        "judgement": judgement(job, diagnosis(job)),
        "not_known": [{"fact": what, "reason": why} for what, why in gaps.rows("what", "why")] if gaps else [],
    }


def tables(job: Job) -> list[dict[str, Any]]:
    """Returns the tables that this log has: name, title, columns and number of rows."""
    found = [(exhibit, exhibit.every(job)) for exhibit in JOB_EXHIBITS]
    return [
        {"name": one.name, "title": one.title, "columns": list(map(str, frame.columns)), "rows": len(frame)}
        for one, frame in found
        if frame is not None
    ]


def table_text(job: Job, name: str, first: int = 0, count: int = MOST_ROWS) -> dict[str, Any]:
    """Returns rows of one table with full numbers, bytes and seconds, each row with its number, and the table's
    definition. Raises UsageError for a table that does not exist, or that this log has no data for.
    """
    exhibit = _EXHIBITS.get(name)
    if exhibit is None:
        raise UsageError(f"there is no table {name}; the names of all tables are those that `tables` lists")
    frame = exhibit.every(job)
    if frame is None:
        needed = f"; it needs {exhibit.source}" if exhibit.source else ""
        raise UsageError(f"this log cannot tell: it has no data for the table {name}{needed}")
    begin = max(first, 0)
    shown = frame.iloc[begin : begin + max(min(count, MOST_ROWS), 0)]
    rows = [{"row": begin + place, **row} for place, row in enumerate(frame_rows(shown))]
    return {"table": name, "definition": definition(exhibit), "rows": rows, "rows_in_table": len(frame)}
