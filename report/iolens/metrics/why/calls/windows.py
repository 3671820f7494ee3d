"""Epochs of one-sided communication: which calls on a window must wait for a call of another rank.

report/WHY.md defines the three patterns. The calls that fence or free a window are collective calls (`joins`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from iolens.log.records import Records
from iolens.metrics.why.calls.matching import matched
from iolens.metrics.why.calls.polling import REPEATED
from iolens.metrics.why.calls.program import Program

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
