"""Read the calls of MPI-IO: opens with their communicators and modes, views, transfers of each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iolens.errors import IolensError
from iolens.lab.mimic.calls import (
    CallKind,
    Calls,
    Opening,
    View,
    calls_of,
    event_names,
    events_of,
    in_order,
    joined,
    numbers_of,
    transfers_of,
)
from iolens.lab.mimic.handles import in_view
from iolens.log import Job
from iolens.log.records import Records

WORLD, SELF = 0, 1
"""Numbers of the two communicators that every program has."""

_EVENTS = {
    "MPI open": CallKind.MPI_OPEN,
    "MPI close": CallKind.MPI_CLOSE,
    "MPI sync": CallKind.MPI_SYNC,
    "MPI view": CallKind.MPI_VIEW,
}
_CREATE, _RDONLY, _WRONLY, _RDWR, _DELETED_AT_CLOSE = 1, 2, 4, 8, 16
"""Bits of the access mode, as ROMIO and Open MPI define them."""
_COLLECTIVE = {CallKind.MPI_WRITE: CallKind.MPI_WRITE_ALL, CallKind.MPI_READ: CallKind.MPI_READ_ALL}
_OTHER = {
    "NB": {CallKind.MPI_WRITE: CallKind.MPI_WRITE_LATER, CallKind.MPI_READ: CallKind.MPI_READ_LATER},
    "SPLIT": {CallKind.MPI_WRITE: CallKind.MPI_WRITE_SPLIT, CallKind.MPI_READ: CallKind.MPI_READ_SPLIT},
}
_WAYS = [
    *((kind, kind) for kind in _COLLECTIVE),
    *_COLLECTIVE.items(),
    *(pair for ways in _OTHER.values() for pair in ways.items()),
]
"""Pairs of a plain transfer and each way to make it."""
_WORDS = {CallKind.MPI_WRITE: "WRITES", CallKind.MPI_READ: "READS"}


@dataclass(frozen=True, eq=False)
class MpiFiles:
    """The calls of MPI-IO, and the tables to which they refer by number. `communicators` has the ranks of each
    communicator, in order; the second communicator is each rank by itself. `hints` are the program's hints, by file.
    """

    calls: Calls
    views: tuple[View, ...]
    openings: tuple[Opening, ...]
    communicators: tuple[tuple[int, ...], ...]
    hints: Mapping[int, Mapping[str, str]]
    notes: tuple[str, ...]


def read_mpi_files(job: Job, ids: Mapping[int, int]) -> MpiFiles:
    """Returns the MPI-IO calls of a log; raises IolensError if the log does not identify them."""
    views, numbers = _read_views(job)
    counters = _counters(job, ids)
    moved = transfers_of(job, ids, "DXT_MPIIO", CallKind.MPI_WRITE, CallKind.MPI_READ)
    calls = in_order(joined([moved, events_of(job, ids, _EVENTS, numbers)]))
    if len(calls) and "MPI-IO" not in job.records:
        raise IolensError(
            f"{job.path}: the log has traces of MPI-IO but no counters of it; record the run again without exclusions"
        )
    calls, notes = _with_kinds(calls, _collective_starts(job, ids), counters)
    _refuse_unknown_offsets(job, calls, views)
    calls, openings, communicators = _with_openings(calls, counters, job.nprocs)
    calls = in_view(calls, views, openings, communicators)
    hints = _given_hints(job, ids)
    calls = _with_hints_of_views(calls, openings, counters)
    extra, more = _calls_without_times(job, ids, calls, openings)
    return MpiFiles(in_order(joined([calls, extra])), views, openings, communicators, hints, (*notes, *more))


def _counters(job: Job, ids: Mapping[int, int]) -> dict[int, dict[str, int]]:
    """Returns, by file, the sums of the counters that a mini-app needs."""
    table = job.records.get("MPI-IO")
    found: dict[int, dict[str, int]] = {}
    if table is None:
        return found
    names = [f"{way}_{what}" for way in ("INDEP", "COLL", "SPLIT", "NB") for what in ("OPENS", "READS", "WRITES")]
    names = [name for name in [*names, "HINTS", "VIEWS", "MODE"] if f"MPIIO_{name}" in table]
    columns = [table[f"MPIIO_{name}"].tolist() for name in names]
    for key, *values in zip(table["id"].tolist(), *columns, strict=True):
        if key in ids:
            mine = found.setdefault(ids[key], dict.fromkeys(names, 0))
            for name, value in zip(names, values, strict=True):
                mine[name] = max(0, value) if name == "MODE" else mine[name] + max(0, value)
    return found


def _read_views(job: Job) -> tuple[tuple[View, ...], dict[tuple[int, int], int]]:
    """Returns the distinct views of all ranks, and the place of each view among them by rank and by the rank's own
    number of the view.
    """
    table = job.tables.get("mpiio_views", Records({}))
    rows: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    frames: dict[tuple[int, int], tuple[int, int]] = {}
    if len(table):
        names = ("offset", "length", "count1", "stride1", "count2", "stride2", "count3", "stride3")
        columns = [table[name].tolist() for name in ("rank", "view", "displacement", "extent", *names)]
        for rank, view, displacement, extent, *row in zip(*columns, strict=True):
            frames[rank, view] = displacement, extent
            rows.setdefault((rank, view), []).append(tuple(row))
    known: dict[View, int] = {}
    numbers = {}
    for pair, frame in frames.items():
        described = all(row[1] >= 0 for row in rows[pair])
        view = View(*frame, tuple(rows[pair]) if described else ())
        numbers[pair] = known.setdefault(view, len(known))
    return tuple(known), numbers


def _collective_starts(job: Job, ids: Mapping[int, int]) -> set[tuple[int, int, float]]:
    """Returns file, rank and start of each blocking collective transfer."""
    table = job.tables["traced_events"]
    mine = event_names(table) == "collective"
    files = numbers_of(ids, table["file"][mine]).tolist()
    return {*zip(files, table["rank"][mine].tolist(), table["start"][mine].tolist(), strict=True)}


def _with_kinds(
    calls: Calls, collective: set[tuple[int, int, float]], counters: Mapping[int, Mapping[str, int]]
) -> tuple[Calls, list[str]]:
    """Returns the calls, each transfer with its exact kind. The log names the collective transfers; for the others, the
    counters tell how many were split collectives and how many were non-blocking.
    """
    kinds, notes = calls.kind.copy(), []
    for kind, together in _COLLECTIVE.items():
        places = np.flatnonzero(calls.kind == kind)
        keys = zip(calls.file[places].tolist(), calls.rank[places].tolist(), calls.start[places].tolist(), strict=True)
        known = np.array([key in collective for key in keys], bool)
        kinds[places[known]] = together
        for file in np.unique(calls.file[places[~known]]).tolist():
            mine = places[~known & (calls.file[places] == file)]
            mine = mine[np.argsort(calls.start[mine], kind="stable")]
            at = 0
            for way, other in _OTHER.items():
                count = counters.get(file, {}).get(f"{way}_{_WORDS[kind]}", 0)
                if way == "SPLIT" and 0 < count < len(mine):
                    raise IolensError(
                        "the log does not tell which transfers of a file were split collective calls, which all ranks "
                        "must make together, so it has no mini-app"
                    )
                if 0 < count < len(mine):
                    notes.append(
                        f"File {file}: the log does not tell which transfers were nonblocking; the mini-app makes "
                        f"the first {count} nonblocking."
                    )
                kinds[mine[at : at + count]] = other[kind]
                at += count
    return calls.changed(kind=kinds), notes


def _refuse_unknown_offsets(job: Job, calls: Calls, views: tuple[View, ...]) -> None:
    """Raises if transfers have no offset, or if a view is not described."""
    moved = np.isin(calls.kind, (*_COLLECTIVE, *_COLLECTIVE.values())) & (calls.length > 0)
    if (moved & (calls.offset < 0)).any():
        raise IolensError(
            f"{job.path}: the log has no offsets of transfers by shared file pointers, so it has no mini-app"
        )
    seen = calls.kind == CallKind.MPI_VIEW
    if any(number < 0 or not views[number].rows for number in np.unique(calls.detail[seen]).tolist()):
        raise IolensError(f"{job.path}: a file view is too irregular for the log to describe, so it has no mini-app")


def _with_openings(
    calls: Calls, counters: Mapping[int, Mapping[str, int]], nprocs: int
) -> tuple[Calls, tuple[Opening, ...], tuple[tuple[int, ...], ...]]:
    """Returns the calls with the number of the opening as the detail of each open, the openings, and the
    communicators.
    """
    communicators: dict[tuple[int, ...], int] = {tuple(range(nprocs)): WORLD, (): SELF}
    openings: dict[Opening, int] = {}
    detail = calls.detail.copy()
    for file in np.unique(calls.file[calls.kind == CallKind.MPI_OPEN]).tolist():
        mine = np.flatnonzero((calls.file == file) & (calls.kind == CallKind.MPI_OPEN))
        facts = counters.get(file, {})
        ours = calls[calls.file == file]
        sets, bundles = _opening_ranks(calls[mine], _is_nested(ours, calls[mine]), facts)
        modes = _modes(ours, calls[mine], bundles, facts.get("MODE", 0))
        hinted = _bundles_with_hints(bundles, facts.get("HINTS", 0))
        for place, ranks, mode, bundle in zip(mine, sets, modes, bundles, strict=True):
            number = communicators.setdefault(ranks, len(communicators))
            opening = Opening(number, mode, bundle in hinted)
            detail[place] = openings.setdefault(opening, len(openings))
    return calls.changed(detail=detail), tuple(openings), tuple(communicators)


def _bundles_with_hints(bundles: Sequence[int], count: int) -> set[int]:
    """Returns the numbers of the opens, made together, that have hints: the log knows how many, taken as the first."""
    sizes = np.bincount(bundles)
    return set(np.flatnonzero(np.cumsum(sizes) <= count).tolist())


def _with_hints_of_views(calls: Calls, openings: Sequence[Opening], counters: Mapping[int, Mapping[str, int]]) -> Calls:
    """Returns the calls with the offset 1 for each view that is set with hints. The log counts opens and views with
    hints together; opens count first, then the first view of every rank, because ranks set a view together.
    """
    offsets = calls.offset.copy()
    for file, facts in counters.items():
        mine = calls.file == file
        opened = np.flatnonzero(mine & (calls.kind == CallKind.MPI_OPEN))
        rest = facts.get("HINTS", 0) - sum(openings[number].hints for number in calls.detail[opened].tolist())
        views = np.flatnonzero(mine & (calls.kind == CallKind.MPI_VIEW))
        ranks = calls.rank[views]  # They ascend.
        turns = np.arange(len(views)) - np.searchsorted(ranks, ranks)
        offsets[views[np.argsort(turns, kind="stable")][: max(0, rest)]] = 1
    return calls.changed(offset=offsets)


def _is_nested(calls: Calls, opens: Calls) -> np.ndarray:
    """Returns whether the rank of each open has the file open already."""
    closes = calls[calls.kind == CallKind.MPI_CLOSE]
    earlier = [
        int(((opens.rank == rank) & (opens.start < start)).sum())
        - int(((closes.rank == rank) & (closes.start < start)).sum())
        for rank, start in zip(opens.rank.tolist(), opens.start.tolist(), strict=True)
    ]
    return np.array(earlier) > 0


def _opening_ranks(
    opens: Calls, nested: np.ndarray, facts: Mapping[str, int]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Returns, for each open, the ranks that opened the file together (no ranks if a rank opened it alone), and the
    number of the opens made together, in the order of time.

    Collective opens that belong together overlap in time. If the counters have independent opens, an open counts as
    independent that overlaps no other, and one whose rank has the file open already.
    """
    order = np.argsort(opens.start, kind="stable")
    sets: list[tuple[int, ...]] = [()] * len(opens)
    numbers = np.argsort(order).tolist()
    if not facts.get("COLL_OPENS"):
        return sets, numbers
    group: list[int] = []
    reach = -np.inf
    bundles = []
    for place in order.tolist():
        if group and (opens.start[place] > reach or opens.rank[place] in {int(opens.rank[one]) for one in group}):
            bundles.append(group)
            group, reach = [], -np.inf
        group.append(place)
        reach = max(reach, float(opens.end[place]))
    for number, bundle in enumerate([*bundles, group]):
        ranks = tuple(sorted({int(opens.rank[place]) for place in bundle}))
        for place in bundle:
            numbers[place] = number
            own = facts.get("INDEP_OPENS") and (len(bundle) == 1 or nested[place])
            sets[place] = () if own else ranks
    return sets, numbers


def _modes(calls: Calls, opens: Calls, bundles: Sequence[int], last: int) -> list[int]:
    """Returns the access mode of each open of a file, given the number of the opens that ranks made together.

    The log has the mode of the last open only. An earlier open gets the same mode, unless that would refuse what the
    ranks do with the file before they open it again, or would not create the file: then it may read, write and create.
    The file is deleted at the last close only.
    """
    writing = np.isin(calls.kind, [way for kind, way in _WAYS if kind == CallKind.MPI_WRITE])
    reading = np.isin(calls.kind, [way for kind, way in _WAYS if kind == CallKind.MPI_READ])
    wrote, read = (_used_bundles(calls[mask], opens, bundles) for mask in (writing, reading))
    earliest = calls.start[writing].min() if writing.any() else -np.inf
    modes = []
    for start, bundle in zip(opens.start.tolist(), bundles, strict=True):
        refused = (last & _RDONLY and (bundle in wrote or start < earliest)) or (last & _WRONLY and bundle in read)
        kept = last if bundle == max(bundles) else last & ~_DELETED_AT_CLOSE
        kept |= _CREATE if bundle == 0 < max(bundles) and not last & _RDONLY else 0
        modes.append(_RDWR | _CREATE if refused else kept)
    return modes


def _used_bundles(moved: Calls, opens: Calls, bundles: Sequence[int]) -> set[int]:
    """Returns the numbers of the opens in which these transfers lie: of each, the latest open of its rank before it."""
    used: set[int] = set()
    for rank in np.unique(moved.rank).tolist():
        mine = np.flatnonzero(opens.rank == rank)
        mine = mine[np.argsort(opens.start[mine], kind="stable")]
        at = np.searchsorted(opens.start[mine], moved.start[moved.rank == rank], side="right") - 1
        used |= {bundles[mine[place]] for place in np.unique(at[at >= 0]).tolist()}
    return used


def _given_hints(job: Job, ids: Mapping[int, int]) -> dict[int, dict[str, str]]:
    """Returns the hints that the program or the user gave, by file."""
    table = job.tables.get("mpiio_hints", Records({}))
    found: dict[int, dict[str, str]] = {}
    if len(table):
        columns = [table[name].tolist() for name in ("file", "key", "requested", "given")]
        for file, *texts in zip(*columns, strict=True):
            key, requested, given = (text.decode() if isinstance(text, bytes) else str(text) for text in texts)
            if (given or requested) and file in ids:
                found.setdefault(ids[file], {})[key] = (given or requested).strip()
    return found


def _calls_without_times(
    job: Job,
    ids: Mapping[int, int],
    calls: Calls,
    openings: Sequence[Opening],
) -> tuple[Calls, list[str]]:
    """Returns the calls of MPI-IO for which the log has only counts: sizes that were asked for or set."""
    parts, notes = [calls_of(0)], []
    only_read = np.flatnonzero([opening.mode & _RDONLY for opening in openings])
    refusing = (calls.kind == CallKind.MPI_OPEN) & np.isin(calls.detail, only_read)
    table = job.tables.get("mpiio_extra", Records({}))
    for word, kind in (
        (("get_sizes", CallKind.MPI_GET_SIZE), ("set_sizes", CallKind.MPI_SET_SIZE)) if len(table) else ()
    ):
        rows = zip(table["file"].tolist(), table["rank"].tolist(), table[word].tolist(), strict=True)
        total = 0
        for key, rank, count in rows:
            usable = ~refusing if kind == CallKind.MPI_SET_SIZE else np.ones(len(calls), bool)
            every = calls[(calls.file == ids.get(key, -1)) & usable]
            mine = every[every.rank == rank]
            if count and (mine.kind == CallKind.MPI_OPEN).any():
                parts += _sizes(kind, mine, every, count)
                total += count
        if total:
            notes.append(
                f"The log has neither the times nor the sizes of MPI-IO's {total} {word}; the mini-app makes them as "
                "HDF5 does: one after each open, to empty a file that is then written, and the others later."
            )
    return joined(parts), notes


def _sizes(kind: CallKind, mine: Calls, every: Calls, count: int) -> list[Calls]:
    """Returns `count` calls of one rank that ask for the size of a file, or set it.

    `mine` are the rank's calls on the file; `every` are those of all ranks, because all must set the same size. The
    calls are placed after opens (after the last opens, if there are more of them, because a new file is empty). Further
    calls that ask for the size are placed after the first transfers; further calls that set it are placed before
    closes.
    """
    opens = np.flatnonzero(mine.kind == CallKind.MPI_OPEN)
    moved = mine.kind >= CallKind.MPI_WRITE
    nexts = [np.flatnonzero(moved & (mine.start > mine.start[place])) for place in opens]
    moves_of_all = every[every.kind >= CallKind.MPI_WRITE]
    moves_of_all = moves_of_all[np.argsort(moves_of_all.start, kind="stable")]
    at = np.searchsorted(moves_of_all.start, mine.start[opens])
    writes = np.array([place < len(moves_of_all) and moves_of_all.kind[place] % 2 == 0 for place in at])
    early = min(count, len(opens))
    end = int((moves_of_all.offset + moves_of_all.length).max(initial=0))
    setting = kind == CallKind.MPI_SET_SIZE
    chosen = slice(len(opens) - early, None) if setting else slice(early)
    first = _shared_out(kind, mine[opens[chosen]], early, behind=True, gap=2e-9 if setting else 1e-9)
    first = first.changed(length=np.where(writes[chosen], 0, end))
    if count == early:
        return [first]
    moves = np.array([later[0] for later in nexts if len(later)], np.int64)
    closes = np.flatnonzero(mine.kind == CallKind.MPI_CLOSE)
    later = closes if setting or not len(moves) else moves
    if not len(later):
        return [_shared_out(kind, mine[opens], count, behind=True).changed(length=np.full(count, end))]
    rest = _shared_out(kind, mine[later], count - early, behind=not setting)
    return [first, rest.changed(length=np.full(count - early, end))]


def _shared_out(kind: CallKind, near: Calls, count: int, *, behind: bool, gap: float = 1e-9) -> Calls:
    """Returns `count` calls of a kind, distributed evenly, `gap` seconds after or before the calls `near`."""
    each = np.full(len(near), count // len(near)) + (np.arange(len(near)) < count % len(near))
    at = np.repeat(near.end + gap if behind else near.start - gap, each)
    return calls_of(count, rank=np.repeat(near.rank, each), kind=kind, file=near.file[0], start=at, end=at)
