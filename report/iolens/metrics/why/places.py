"""The places in the source of the work that ranks waited for, or that is on the critical path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.processor.mpi.nodes import Chain, chains
from iolens.metrics.processor.sampled.groups import USER, group_of
from iolens.metrics.processor.sampled.samples import place_of

_Work = tuple[int, str, str]
"""Rank, function and file name of a piece of work. Computing has neither function nor file name (empty texts), and
calls of MPI have no file name.
"""


def with_places(job: Job, rows: Records, labels: Mapping[int, str]) -> Records:
    """Returns rows of work (rank, function, file) with a column `place`: the function and line of the program in which
    the rank spent most time with such work; an empty text where no place is recorded. labels: the names of files that
    are not shown by their paths, by record id.

    `why_events` has the callers of each call of the file system of at least 1 ms, `mpi_sites` those of calls of MPI.
    Computing has a place if the run was sampled.
    """
    known = _places(job, labels)
    work = zip(*(rows[name].tolist() for name in ("rank", "function", "file")), strict=True)
    return rows.beside({"place": np.array([known.get(each, "") for each in work], object)})


def _places(job: Job, labels: Mapping[int, str]) -> dict[_Work, str]:
    """Returns the place with most time for each rank and its work."""
    known = chains(job)
    spent: dict[tuple[_Work, str], float] = {}
    for work, node, seconds in (*_of_files(job, labels), *_of_mpi(job), *_of_samples(job)):
        text = _text(known.get((work[0], node), ()))
        spent[work, text] = spent.get((work, text), 0.0) + seconds
    return {work: text for (work, text), _ in sorted(spent.items(), key=lambda each: each[1]) if text}


def _of_files(job: Job, labels: Mapping[int, str]) -> Iterator[tuple[_Work, int, float]]:
    """Yields calls of the file system with the node of their place and their seconds."""
    events = job.tables.get("why_events")
    if events is None or "node" not in events:
        return
    rows = events.where((events["node"] >= 0) & (events["thread"] == 0))
    for rank, function, file, node, start, end in rows.rows("rank", "function", "file", "node", "start", "end"):
        yield (rank, function, labels.get(file) or job.names.get(file, "")), node, end - start


def _of_mpi(job: Job) -> Iterator[tuple[_Work, int, float]]:
    """Yields the places that called functions of MPI, with their seconds."""
    sites = job.tables.get("mpi_sites")
    for rank, function, node, seconds in () if sites is None else sites.rows("rank", "function", "node", "time"):
        yield (rank, function, ""), node, seconds


def _of_samples(job: Job) -> Iterator[tuple[_Work, int, float]]:
    """Yields the places in the program's own functions at which the first thread was sampled, with the samples."""
    samples = job.tables.get("samples")
    if samples is None:
        return
    known = chains(job)
    first = samples.where((samples["thread"] == 0) & (samples["kind"] == 0))
    for rank, node, count in first.rows("rank", "node", "count"):
        if place_of(known.get((rank, node), ()), waits=False).group == USER:
            yield (rank, "", ""), node, float(count)


def _text(chain: Chain) -> str:
    """Returns the innermost function of the program itself, with its line."""
    own = [frame for frame in chain if group_of(frame.function, frame.object) == USER]
    return own[-1].text if own else ""
