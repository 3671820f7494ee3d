"""Read the exchanges between ranks that `iolens run --why` recorded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.lab.mimic.calls import CallKind, Calls, calls_of
from iolens.log import Job
from iolens.log.records import Records

_COLLECTIVES = {
    "Barrier": CallKind.BARRIER,
    "Bcast": CallKind.BCAST,
    "Reduce": CallKind.REDUCE,
    "Allreduce": CallKind.ALLREDUCE,
    "Gather": CallKind.GATHER,
    "Gatherv": CallKind.GATHER,
    "Allgather": CallKind.ALLGATHER,
    "Allgatherv": CallKind.ALLGATHER,
    "Scatter": CallKind.SCATTER,
    "Scatterv": CallKind.SCATTER,
    "Alltoall": CallKind.ALLTOALL,
    "Alltoallv": CallKind.ALLTOALL,
    "Comm_split": CallKind.BARRIER,
    "Comm_split_type": CallKind.BARRIER,
    "Comm_dup": CallKind.BARRIER,
    "Scan": CallKind.ALLREDUCE,
    "Exscan": CallKind.ALLREDUCE,
    "Reduce_scatter": CallKind.ALLREDUCE,
    "Reduce_scatter_block": CallKind.ALLREDUCE,
}
"""The collective calls of the log, each with the call that a mini-app makes in its place. Both calls move the same
number of bytes per rank.
"""

_NOT_NEEDED = {"Init", "Init_thread", "Finalize"}


@dataclass(frozen=True, eq=False)
class Exchanges:
    """The exchanges as calls: `detail` is the communicator's number, `offset` the other rank or the root."""

    calls: Calls
    communicators: tuple[tuple[int, ...], ...]
    notes: tuple[str, ...]


def read_exchanges(job: Job, communicators: tuple[tuple[int, ...], ...]) -> Exchanges:
    """Returns the blocking collective calls of a log; `communicators` has the communicators that are already known."""
    table = job.tables.get("why_events", Records({}))
    if not len(table):
        note = (
            "The log has no exchanges between ranks (record the run with iolens run --dxt --why): the time that "
            "ranks waited for one another is kept as waiting of the same length."
        )
        return Exchanges(calls_of(0), communicators, (note,) if job.nprocs > 1 else ())
    kinds = _texts(table["kind"])
    names = np.char.replace(_texts(table["function"]), "MPI_", "")
    mapped = np.full(len(table), -1, np.int64)
    for name, kind in _COLLECTIVES.items():
        mapped[(names == name) & (kinds == "all")] = kind
    known = {ranks: number for number, ranks in enumerate(communicators)}
    members = _communicator_ranks(table, kinds == "all", job.nprocs)
    numbers = {key: known.setdefault(ranks, len(known)) for key, ranks in members.items()}
    mine = (mapped >= 0) & np.isin(table["communicator"], [*numbers])
    left = {*names[~mine & ~np.isin(kinds, ("file", "files", "call")) & ~np.isin(names, [*_NOT_NEEDED])].tolist()}
    notes = (f"The mini-app does not make these exchanges between ranks: {', '.join(sorted(left))}.",) if left else ()
    calls = calls_of(
        int(mine.sum()),
        rank=table["rank"][mine],
        kind=mapped[mine],
        offset=np.maximum(table["peer"][mine], -1),
        length=table["bytes"][mine],
        detail=np.array([numbers[int(key)] for key in table["communicator"][mine]], np.int64),
        start=table["start"][mine],
        end=table["end"][mine],
    )
    if not len(calls):
        return Exchanges(calls, tuple(known), notes)
    whole, lengths = _matched(calls, tuple(known))
    if not whole.all():
        notes = (*notes, f"{int((~whole).sum())} exchanges are not made, because the log has only some of their ranks.")
    return Exchanges(calls.changed(length=lengths)[whole], tuple(known), notes)


def _matched(calls: Calls, communicators: tuple[tuple[int, ...], ...]) -> tuple[np.ndarray, np.ndarray]:
    """Returns for each call whether all ranks of its communicator made it, and the bytes of one rank's part.

    All members make the collective calls of a communicator in the same order. The log has the bytes that a rank sent or
    received, whichever are more; with parts of different sizes, each gets the mean.
    """
    order = np.lexsort((calls.start, calls.rank, calls.detail))
    pair = np.stack([calls.detail[order], calls.rank[order]])
    fresh = np.r_[True, (pair[:, 1:] != pair[:, :-1]).any(axis=0)]
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order)) - np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))
    _, instance = np.unique(np.stack([calls.detail, number]), axis=1, return_inverse=True)
    instance = instance.ravel()
    size = np.array([len(ranks) or 1 for ranks in communicators])[calls.detail]
    most = np.zeros(len(order), np.int64)
    least = np.full(len(order), len(CallKind))
    largest = np.zeros(len(order), np.int64)
    np.maximum.at(most, instance, calls.kind)
    np.minimum.at(least, instance, calls.kind)
    np.maximum.at(largest, instance, calls.length)
    whole = (np.bincount(instance, minlength=len(order))[instance] == size) & (most == least)[instance]
    spread = np.isin(calls.kind, (CallKind.GATHER, CallKind.ALLGATHER, CallKind.SCATTER, CallKind.ALLTOALL))
    return whole, np.where(spread, largest[instance] // size, largest[instance])


def _texts(column: np.ndarray) -> np.ndarray:
    return np.char.decode(column, "ascii") if column.dtype.kind == "S" else column.astype(str)


def _communicator_ranks(table: Records, together: np.ndarray, nprocs: int) -> dict[int, tuple[int, ...]]:
    """Returns the ranks of each communicator: those that made collective calls in it, if their number equals its size.
    If some rank made none, the communicator cannot be created again.
    """
    found: dict[int, tuple[int, ...]] = {}
    pairs = np.stack([table["communicator"][together].astype(np.int64), table["rank"][together].astype(np.int64)])
    sizes = dict(zip(table["communicator"][together].tolist(), table["size"][together].tolist(), strict=True))
    distinct = np.unique(pairs, axis=1)
    for key in np.unique(distinct[0]).tolist():
        ranks = tuple(distinct[1][distinct[0] == key].tolist())
        if key and len(ranks) == sizes[key] and len(ranks) > 1:
            found[key] = ranks
    return found
