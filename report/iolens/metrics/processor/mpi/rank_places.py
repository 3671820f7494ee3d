"""The nodes of the ranks, the processors that they could use, and the MPI library with its settings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import Groups, ordered, stacked
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.sampled.call_chains import table_frame, table_records

_FREE, _BOUND, CROWDED, OVERLAPS = "not bound", "", "more ranks than processors", "shares processors"
_LEVELS = ("single", "funneled", "serialized", "multiple")


@once_per_job
def rank_places(job: Job) -> Records | None:
    """Returns one row per rank: rank, host, cpus (as the kernel lists them), cpu_count, thread_level (in words),
    shared_with (number of other ranks of its node that may run on one of these processors, too) and warning.

    Warnings: "more ranks than processors" (of the node, or on the same set of processors), "shares processors" (a set
    that is neither another rank's own nor disjoint from it), "not bound" (all ranks may run on all processors, and
    there are enough). Returns None if MPI was not traced.
    """
    rows = table_records(job, "rank_places")
    if rows is None:
        return None
    rows = ordered(rows, "rank")
    masks = {rank: processors(cpus) for rank, cpus in rows.rows("rank", "cpus")}
    shared: dict[int, int] = {}
    warning: dict[int, str] = {}
    for part in Groups(rows["host"]).parts(rows["rank"]):
        ranks = part.tolist()
        for rank in ranks:
            others = [other for other in ranks if other != rank and masks[rank] & masks[other]]
            shared[rank] = len(others)
            warning[rank] = _warning_of(rank, others, masks)
    said = [
        (_LEVELS[level] if 0 <= level < len(_LEVELS) else "not known", shared[rank], warning[rank])
        for level, rank in rows.rows("thread_level", "rank")
    ]
    return rows.beside(Records.of(["thread_level", "shared_with", "warning"], said).single)


@once_per_job
def node_places(job: Job) -> Records | None:
    """Returns one row per kind of node: nodes (number of nodes of this kind), host (the first of them), ranks (on
    each), cpu_count (processors that any of its ranks may use; 0: not known), shared (number of ranks on each node that
    share processors with another rank) and warning (the most serious one of any rank). Returns None if MPI was not
    traced.
    """
    places = rank_places(job)
    if places is None:
        return None
    graver = {warning: number for number, warning in enumerate((_BOUND, _FREE, OVERLAPS, CROWDED))}
    hosts, alike = Groups(places["host"]), ["ranks", "cpu_count", "shared", "warning"]
    parts = zip(*(hosts.parts(places[name]) for name in ("cpus", "shared_with", "warning")), strict=True)
    nodes = Records.of(
        alike,
        [
            (
                len(cpus),
                len(frozenset().union(*map(processors, cpus.tolist()))),
                int((others > 0).sum()),
                max(warnings.tolist(), key=graver.__getitem__),
            )
            for cpus, others, warnings in parts
        ],
    )
    same = Groups(*(nodes[name] for name in alike))
    return nodes.where(same.first).beside({"nodes": same.sizes, "host": places["host"][hosts.first][same.first]})


def _warning_of(rank: int, others: Sequence[int], masks: dict[int, frozenset[int]]) -> str:
    """Returns the warning about where a rank may run; empty if no other rank may use its processors."""
    if not others:
        return _BOUND
    together = frozenset().union(masks[rank], *(masks[other] for other in others))
    if len(others) + 1 > len(together):
        return CROWDED
    if any(masks[other] != masks[rank] for other in others):
        return OVERLAPS
    return _FREE


def processors(text: str) -> frozenset[int]:
    """Returns the numbers in a list such as "0-3,8"; if the log cut the list off, its last numbers are missing."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            found |= set(range(int(first), int(last or first) + 1))
    return frozenset(found)


@once_per_job
def communicators(job: Job) -> pd.DataFrame | None:
    """Returns one row per size of communicators: size and remote_size (ranks of the two groups; 0: one group), ranks
    (that used communicators of these sizes; NaN: only the sum is known) and communicators (the most that a rank used).
    Returns None if MPI was not traced.
    """
    rows = table_frame(job, "mpi_communicators")
    if rows is None:
        return None
    found = rows.groupby(["size", "remote_size"]).agg(
        ranks=("rank", lambda ranks: float("nan") if (ranks < 0).any() else ranks.nunique()),
        communicators=("communicators", "max"),
    )
    return found.sort_index(ascending=False).reset_index()


_THREADS, _EAGER, _COMPONENT = "threads", "eager limit", "component"
_OTHERS = "(others)"
_SAME = ("kind", "name", "value", "source")


@once_per_job
def mpi_settings(job: Job) -> Records | None:
    """Returns columns kind, name, value and source (who set it; "": not known) as in profiler/TABLES.md, ranks (how
    many ranks have this value; NaN: not known) and first (the lowest of these ranks, -1: not known).

    A row of rank 0 holds for all ranks that have no row of the same kind and name. The thread level of rank 0 is one of
    the rows. None if MPI was not traced.
    """

    rows = table_records(job, "mpi_settings")
    if rows is None:
        return None
    known = rows.where(rows["rank"] >= 0)
    own = known.where(known["rank"] > 0)
    pairs = Groups(own["kind"], own["name"])
    others = dict(zip(own.where(pairs.first).rows("kind", "name"), pairs.distinct(own["rank"]).tolist(), strict=True))
    same = Groups(*(known[name] for name in _SAME))
    found, first = known.take(*_SAME).where(same.first), same.min(known["rank"])
    apart = np.array([others.get(key, 0) for key in found.rows("kind", "name")], "i8")
    ranks = np.where(first == 0, job.nprocs - apart, same.distinct(known["rank"]))
    if len(known) < len(rows):
        ranks = np.full(len(found), np.nan)
    found = found.beside({"ranks": ranks, "first": first})
    places = rank_places(job)
    if places is not None and len(places):
        level = ("library", _THREADS, places["thread_level"][0], "program", len(places), 0)
        threads = Records.of(found.names, [level])
        found = stacked([found.where(slice(1)), threads, found.where(slice(1, None))])
    return found


def eager_limits(job: Job) -> dict[str, int]:
    """Returns the eager limits: sizes in bytes, header included, up to which a message is sent at once, by the
    parameter that sets them. Only parameters of rank 0 whose value is a size count.
    """
    found = mpi_settings(job)
    if found is None:
        return {}
    limits = found.where((found["kind"] == _EAGER) & (found["first"] == 0)).rows("name", "value")
    return {name: int(value) for name, value in limits if str(value).isdigit() and int(value) > 0}
