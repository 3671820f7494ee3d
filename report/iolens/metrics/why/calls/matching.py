"""Matches operations of different ranks by their order, by the neighbours in topologies, and by the epochs of one-
sided communication.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from iolens.log.records import Records
from iolens.metrics.why.calls.program import REPEATED, Program

_MOST = 1 << 62
"""Upper limit of the keys, which must fit into 64 bits."""


def matched(sends: np.ndarray, receives: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Returns the positions of sends and receives that belong together, and the number without a partner. Rows are
    integers that both must have in common, such as communicator, sender, receiver and tag; the k-th send with a row
    belongs to the k-th receive with the same row.
    """
    both = np.concatenate([sends, receives])
    if not len(both):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), 0
    keys = row_keys(both)
    ours, theirs = keys[: len(sends)], keys[len(sends) :]
    send_order, receive_order = np.argsort(ours, kind="stable"), np.argsort(theirs, kind="stable")
    ours, theirs = ours[send_order], theirs[receive_order]
    place = np.searchsorted(theirs, ours, side="left") + numbered_in_runs(ours)
    known = place < np.searchsorted(theirs, ours, side="right")
    return send_order[known], receive_order[place[known]], len(both) - 2 * int(known.sum())


def row_keys(rows: np.ndarray) -> np.ndarray:
    """Returns an integer for each row of integers; equal rows have equal integers, and the integers are ordered as the
    rows are.
    """
    keys: np.ndarray = np.zeros(len(rows), np.int64)
    width = 1
    for column in rows.T if len(rows) else ():
        least, span = int(column.min()), int(column.max()) - int(column.min()) + 1
        if span > 4 * len(rows):
            values, column = np.unique(column, return_inverse=True)
            least, span = 0, len(values)
        if width * span >= _MOST:
            values, keys = np.unique(keys, return_inverse=True)
            width = len(values)
        keys = keys.reshape(-1) * span + (column.reshape(-1) - least)
        width *= span
    return keys


def numbered_in_runs(groups: np.ndarray) -> np.ndarray:
    """Returns 0, 1, 2 … within each run of equal values."""
    if not len(groups):
        return groups
    begins = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    numbered: np.ndarray = np.arange(len(groups)) - np.repeat(begins, np.diff(np.append(begins, len(groups))))
    return numbered


class Near(NamedTuple):
    """Pairs of calls of neighbours in one collective call: the call of the neighbour, and the call that completes it on
    the rank of the pair. gets: True if this rank receives from the neighbour, so that it waits for it; False if it
    sends to the neighbour.
    """

    other: np.ndarray
    completed: np.ndarray
    gets: np.ndarray


def near_of(
    links: Records, communicator: np.ndarray, rank: np.ndarray, group: np.ndarray, entered: np.ndarray, done: np.ndarray
) -> tuple[Near, np.ndarray]:
    """Returns the pairs of neighbours in collective calls on topologies, and for each role True if the neighbours of
    its rank are known.

    links: roles of calls, of which those of kind `neighbour` name the neighbours. The other arrays have a value for
    each role in a neighbourhood's collective call: communicator, rank, number of the call of all ranks, and the calls
    that entered and completed it.
    """
    said = links.where(links["kind"] == "neighbour")
    if not len(said) or not len(group):
        none = np.zeros(0, np.int64)
        return Near(none, none, np.zeros(0, bool)), np.zeros(len(group), bool)
    of_topology = np.stack([said["communicator"], said["rank"]], axis=1).astype(np.int64)
    of_role = np.stack([communicator, rank], axis=1).astype(np.int64)
    keys = row_keys(np.concatenate([of_topology, of_role]))
    theirs, ours = keys[: len(said)], keys[len(said) :]
    order = np.argsort(theirs, kind="stable")
    low, high = (np.searchsorted(theirs[order], ours, side) for side in ("left", "right"))
    many = high - low
    role = np.repeat(np.arange(len(group)), many)
    at = order[np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many) + np.repeat(low, many)]
    wanted = np.stack([group[role], said["peer"][at].astype(np.int64)], axis=1)
    other = _entered_by(np.stack([group, rank.astype(np.int64)], axis=1), wanted, entered)
    kept = (other >= 0) & (done[role] >= 0)
    kept &= other != done[role]
    is_topology = np.isin(communicator, said["communicator"])
    return Near(other[kept], done[role][kept], said["tag"][at][kept] == 1), is_topology


def _entered_by(members: np.ndarray, wanted: np.ndarray, entered: np.ndarray) -> np.ndarray:
    """Returns the calls with which ranks entered collective calls; -1 for a rank that is no member."""
    keys = row_keys(np.concatenate([members, wanted]))
    ours, theirs = keys[: len(members)], keys[len(members) :]
    order = np.argsort(ours, kind="stable")
    place = np.minimum(np.searchsorted(ours[order], theirs), len(members) - 1)
    found: np.ndarray = np.where(ours[order][place] == theirs, entered[order[place]], -1)
    return found


LATE_POST, EARLY_WAIT, LOCKED = range(3)
"""The reason why a call waits: the target has not exposed its memory, an origin has not completed its access, or
another rank holds a lock.
"""

_ENDS = {
    "MPI_Win_start": ("MPI_Win_complete",),
    "MPI_Win_post": ("MPI_Win_wait", "MPI_Win_test", "MPI_Win_test" + REPEATED),
    "MPI_Win_lock": ("MPI_Win_unlock",),
    "MPI_Win_lock_all": ("MPI_Win_unlock_all",),
}
"""The calls that end an epoch, by the call that begins it."""


@dataclass(frozen=True)
class WindowWaits:
    """Pairs of calls: a call of `waiting` cannot end before the call of another rank in `late` has begun. Both are
    arrays of positions in the program's calls; the reason is LATE_POST, EARLY_WAIT or LOCKED.
    """

    late: np.ndarray
    waiting: np.ndarray
    why: np.ndarray


def window_waits(program: Program) -> WindowWaits:
    """Returns the dependencies between the one-sided epochs of different ranks."""
    links = program.links.where(program.links["kind"] == "win")
    names = np.array(program.functions, object)[program.function[links["call"]]] if len(links) else np.zeros(0, object)
    parts = []
    starts, posts = _epochs_of(links, names, "MPI_Win_start"), _epochs_of(links, names, "MPI_Win_post")
    exposed = np.stack([posts.window, posts.rank, posts.peer], axis=1)
    accessed = np.stack([starts.window, starts.peer, starts.rank], axis=1)
    at_post, at_start, _ = matched(exposed, accessed)
    post, complete, wait = posts.begin[at_post], starts.end[at_start], posts.end[at_post]
    parts.append((post, _running(program, starts.begin[at_start], complete, program.start[post]), LATE_POST))
    parts.append((complete, wait, EARLY_WAIT))
    locks = [_epochs_of(links, names, name) for name in ("MPI_Win_lock", "MPI_Win_lock_all")]
    every = _Epochs(*(np.concatenate(columns) for columns in zip(*locks, strict=True)))
    late, behind = _holders(program, every)
    unlock = every.end[late]
    parts.append((unlock, _running(program, every.begin[behind], every.end[behind], program.start[unlock]), LOCKED))
    return WindowWaits(
        np.concatenate([late for late, _, _ in parts]),
        np.concatenate([waiting for _, waiting, _ in parts]),
        np.concatenate([np.full(len(late), why) for late, _, why in parts]),
    )


class _Epochs(NamedTuple):
    """Epochs of ranks with one partner each (peer -1: all ranks of the window), as arrays. begin, end: calls."""

    window: np.ndarray
    rank: np.ndarray
    peer: np.ndarray
    exclusive: np.ndarray
    begin: np.ndarray
    end: np.ndarray


def _epochs_of(links: Records, names: np.ndarray, name: str) -> _Epochs:
    """Returns the epochs that calls of this name begin and other calls of the same rank end."""
    begins = np.flatnonzero((names == name) & (links["communicator"] != 0))
    ends = np.flatnonzero(np.isin(names, _ENDS[name]))
    has_target = name == "MPI_Win_lock"
    last: dict[tuple[int, ...], list[int]] = {}
    columns = [links["rank"].tolist(), links["communicator"].tolist(), links["peer"].tolist()]
    found = np.full(len(links), -1)
    for row in np.sort(np.concatenate([begins, ends])).tolist():
        rank, window, peer = (column[row] for column in columns)
        key = (rank, window, peer if has_target else -1)
        if names[row] == name:
            last.setdefault(key, []).append(row)
        else:
            found[last.pop(key, [])] = row
    begins = begins[found[begins] >= 0]
    call = links["call"]
    whole = (links["communicator"], links["rank"], links["peer"], links["tag"] == 1)
    window, rank, peer, exclusive = (column[begins] for column in whole)
    return _Epochs(window.astype(np.int64), rank, peer.astype(np.int64), exclusive, call[begins], call[found[begins]])


def _running(program: Program, first: np.ndarray, last: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Returns, for each epoch from call `first` to call `last` of a rank, the call in which the rank waited until
    `time`: the call that ran at that time, or the next call if the rank was computing.
    """
    found = np.empty(len(first), np.int64)
    for at, (low, high, when) in enumerate(zip(first.tolist(), last.tolist(), time.tolist(), strict=True)):
        found[at] = min(low + int(np.searchsorted(program.end[low : high + 1], when, side="left")), high)
    return found


def _holders(program: Program, epochs: _Epochs) -> tuple[np.ndarray, np.ndarray]:
    """Returns pairs of epochs, the second of which had to wait for a lock until the first one ended. Of several epochs
    that held the lock before, the one that ended last counts. Two shared locks do not exclude each other.
    """
    begins, ends = program.start[epochs.begin], program.start[epochs.end]
    pairs: list[tuple[int, int]] = []
    latest: dict[int, dict[tuple[int, bool], int]] = {}
    for at in np.argsort(_moments_held(program, epochs), kind="stable").tolist():
        held = latest.setdefault(int(epochs.window[at]), {})
        peer = int(epochs.peer[at])
        keys = list(held) if peer < 0 else [(each, kind) for each in (peer, -1) for kind in (False, True)]
        conflicts = [held[key] for key in keys if key in held and _exclude(epochs, held[key], at)]
        last = max(conflicts, key=lambda one: float(ends[one]), default=-1)
        if last >= 0 and ends[last] > begins[at]:
            pairs.append((last, at))
        held[peer, bool(epochs.exclusive[at])] = at
    rows = np.array(pairs, np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def _moments_held(program: Program, epochs: _Epochs) -> np.ndarray:
    """Returns, for each epoch, a moment at which its rank certainly held the lock. This is the end of the call that
    ended the epoch, because a library may take the lock as late as in that call. After a flush the rank already has the
    lock. The moment is then the begin of the ending call, which may return later than the next rank's.
    """
    is_flush = np.array([name in ("MPI_Win_flush", "MPI_Win_flush_all") for name in program.functions] or [False])
    flushes = np.cumsum(is_flush[program.function])
    has_lock = flushes[epochs.end] > flushes[epochs.begin]
    moments: np.ndarray = np.where(has_lock, program.start[epochs.end], program.end[epochs.end])
    return moments


def _exclude(epochs: _Epochs, one: int, other: int) -> bool:
    """Returns True if two epochs with a common target cannot be at the same time."""
    exclusive = epochs.exclusive[one] or epochs.exclusive[other]
    return bool(exclusive and epochs.rank[one] != epochs.rank[other])
