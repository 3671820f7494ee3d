"""Logs and stores of logs as sources of answers: each answer is plain data and names the table and the rows with its
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from iolens.advise import diagnosis
from iolens.errors import UsageError
from iolens.fleet.store import Store
from iolens.log import Job
from iolens.metrics.job.unknown import unknown
from iolens.pages.base.exhibit import Exhibit, definition
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
from iolens.pages.output.export import json_rows
from iolens.pages.wording.job_lists import judgement_object
from iolens.pages.wording.job_words import fact_columns, verdicts

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Source(Generic[S]):
    """A log or a store: `exhibits` are its tables, `overview` returns its facts, its judgement, and what it cannot
    tell.
    """

    subject: S
    exhibits: Sequence[Exhibit[S]]
    overview: Callable[[S], dict[str, Any]]


def of_log(job: Job) -> Source[Job]:
    """Returns a log as a source."""
    return Source(job, JOB_EXHIBITS, _overview_of_log)


def of_store(store: Store) -> Source[Store]:
    """Returns the source of answers for a store of logs (`iolens ingest`): its tables and its overview."""
    from iolens.pages.exhibits.many_jobs import FLEET_EXHIBITS

    return Source(store, FLEET_EXHIBITS, _overview_of_store)


def _overview_of_log(job: Job) -> dict[str, Any]:
    """Returns the facts of the job, its first sentences, its judgement with the confidence, the findings with their
    bounds and remedies, and the facts that the log cannot tell, with the reasons.
    """
    gaps = unknown(job)
    return {
        "facts": {name: value for part in fact_columns(job) for name, value in part},
        "sentences": verdicts(job),
        "judgement": judgement_object(job, diagnosis(job)),
        "not_known": [{"fact": what, "reason": why} for what, why in gaps.rows("what", "why")] if gaps else [],
    }


def _overview_of_store(store: Store) -> dict[str, Any]:
    """Returns the first sentences of the report on a store."""
    from iolens.pages.many.fleet_report import sentences

    facts = {"store": store.folder.resolve().name, "jobs": str(store.ask("totals")["jobs"][0])}
    return {"facts": facts, "sentences": sentences(store)}


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
