"""Logs and stores of logs as sources of answers: their tables, and what they say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from iolens.advise import diagnosis
from iolens.fleet.store import Store
from iolens.log import Job
from iolens.metrics.job.unknown import unknown
from iolens.pages.exhibit import Exhibit
from iolens.pages.exhibits.job import JOB_EXHIBITS
from iolens.pages.job.judgement.lists import judgement_object
from iolens.pages.job.words import fact_columns, verdicts

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
    from iolens.pages.exhibits.fleet import FLEET_EXHIBITS

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
    from iolens.pages.fleet import sentences

    facts = {"store": store.folder.resolve().name, "jobs": str(store.ask("totals")["jobs"][0])}
    return {"facts": facts, "sentences": sentences(store)}
