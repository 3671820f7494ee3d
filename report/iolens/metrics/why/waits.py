"""Wait states: the time in which a rank could do nothing because another rank had not arrived yet.

The patterns and formulas are those of Scalasca 2.5 (patterns `MPI_LATESENDER`, `MPI_LATERECEIVER`, wait at barrier,
wait at n-to-n, late broadcast, early reduce, early scan). No wait is longer than the call in which it occurs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.metrics.why.calls.joins import ALL, LOWER_FIRST, ROOT_FIRST, ROOT_LAST, SOME, Joins, latest_lower
from iolens.metrics.why.calls.program import REPEATED, Program
from iolens.metrics.why.calls.progress import Progress, calls_of_one, is_rendezvous

PATTERNS = (
    "late sender",
    "late sender, wrong order",
    "late receiver",
    "wait at barrier",
    "wait at n-to-n",
    "wait at collective I/O",
    "late broadcast",
    "early reduce",
    "early scan",
    "wait inside a tree",
    "wait at fence",
    "late post",
    "early wait",
    "wait for a window's lock",
    "wait for progress",
    "wait at MPI_Init",
    "wait at MPI_Finalize",
)
(
    LATE_SENDER,
    WRONG_ORDER,
    LATE_RECEIVER,
    BARRIER,
    N_TO_N,
    COLLECTIVE_IO,
    LATE_BROADCAST,
    EARLY_REDUCE,
    EARLY_SCAN,
    IN_TREE,
    FENCE,
    LATE_POST,
    EARLY_WAIT,
    WINDOW_LOCK,
    PROGRESS,
    INIT,
    FINALIZE,
) = range(len(PATTERNS))
_NEXT_RECEIVES = 100
"""Maximum number of later messages of a rank that are searched for a message that was sent earlier; if there is one,
the wait counts as wrong order.
"""
_BLOCKING_SENDS = ("MPI_Send", "MPI_Ssend", "MPI_Sendrecv", "MPI_Sendrecv_replace")


@dataclass(frozen=True)
class Waits:
    """Waits, at most one per call, ordered by the time at which the late rank arrived.

    call: the call that waited. late: the call of the other rank that it waited for. waited: seconds until that call
    began. severity: seconds by the pattern's own definition, which for an early reduce ends at the first of the other
    ranks. pattern: position in PATTERNS. violations: messages that were received before they were sent, by the clocks
    of the two ranks, and the largest such time.
    """

    call: np.ndarray
    late: np.ndarray
    waited: np.ndarray
    severity: np.ndarray
    pattern: np.ndarray
    violations: int
    largest_violation: float


def waits_of(program: Program, joins: Joins, progress: Progress | None = None) -> Waits:
    """Returns the wait states of all calls; with `progress`, also those for ranks that were outside of MPI."""
    sender = _late_senders(program, joins)
    receiver = _late_receivers(program, joins)
    parts = [sender, receiver, *_collective_waits(program, joins), _one_sided_waits(program, joins)]
    if progress is not None:
        parts.append(_progress_waits(program, progress))
    call, late, waited, severity, pattern = (np.concatenate(column) for column in zip(*parts, strict=True))
    call, late, waited, severity, pattern = _longest_waits(call, late, waited, severity, pattern)
    came = program.start[late.astype(np.int64)]
    order = np.lexsort((call, came))
    back = _backward(program, joins)
    return Waits(
        call=call[order],
        late=late[order],
        waited=waited[order],
        severity=severity[order],
        pattern=pattern[order],
        violations=int((back > 0).sum()),
        largest_violation=float(back.max(initial=0.0)),
    )


def _backward(program: Program, joins: Joins) -> np.ndarray:
    """Returns the seconds by which each message was received before it was sent."""
    known = joins.receive_done >= 0
    back: np.ndarray = program.start[joins.send[known]] - program.end[joins.receive_done[known]]
    return back


def _part(
    call: np.ndarray,
    late: np.ndarray,
    waited: np.ndarray,
    pattern: np.ndarray | int,
    severity: np.ndarray | None = None,
) -> tuple[np.ndarray, ...]:
    """Returns the columns of those calls that waited."""
    rows = waited > 0
    of_all = np.broadcast_to(np.asarray(pattern), waited.shape)
    return (call[rows], late[rows], waited[rows], (waited if severity is None else severity)[rows], of_all[rows])


def _longest_waits(call: np.ndarray, *columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """Returns the longest wait of each call; its columns are those of `Waits`: late, waited and so on."""
    order = np.lexsort((columns[1], call))
    last = np.append(call[order][1:] != call[order][:-1], True) if len(call) else np.zeros(0, bool)
    rows = order[last]
    return (call[rows].astype(np.int64), columns[0][rows].astype(np.int64), *(column[rows] for column in columns[1:]))


def _is_test(program: Program, calls: np.ndarray) -> np.ndarray:
    """Returns True for calls that never wait."""
    never = np.array(
        [name.startswith("MPI_Test") and not name.endswith(REPEATED) for name in program.functions] or [False]
    )
    tests: np.ndarray = never[program.function[calls]]
    return tests


def _late_senders(program: Program, joins: Joins) -> tuple[np.ndarray, ...]:
    known = joins.receive_done >= 0
    send, done = joins.send[known], joins.receive_done[known]
    waited = np.minimum(program.start[send], program.end[done]) - program.start[done]
    waited = np.where(_is_test(program, done), 0.0, waited)
    return _part(done, send, waited, np.where(_in_wrong_order(program, send, done), WRONG_ORDER, LATE_SENDER))


def _in_wrong_order(program: Program, send: np.ndarray, done: np.ndarray) -> np.ndarray:
    """Returns, for each message, True if one of the messages that its receiver takes next was sent before this one."""
    order = np.lexsort((done, program.rank[done]))
    rank, sent, call = program.rank[done][order], program.start[send][order], done[order]
    wrong = np.zeros(len(order), bool)
    for step in range(1, min(_NEXT_RECEIVES, len(order) - 1) + 1):
        later = (rank[step:] == rank[:-step]) & (call[step:] != call[:-step])
        wrong[:-step] |= later & (sent[step:] < sent[:-step])
    found = np.empty(len(order), bool)
    found[order] = wrong
    return found


def _late_receivers(program: Program, joins: Joins) -> tuple[np.ndarray, ...]:
    """Returns the waits of sends for their receives. A call that completes several operations can outlast the receive
    for another reason, so the message must be one that MPI does not buffer.
    """
    known = joins.send_done >= 0
    blocking = joins.send_done == joins.send
    waits = np.array([name in _BLOCKING_SENDS for name in program.functions] or [False])
    known &= ~blocking | waits[program.function[joins.send]]
    known &= calls_of_one(program)[joins.send_done] | is_rendezvous(program, joins)
    receive, done = joins.receive[known], joins.send_done[known]
    waited = np.where(program.end[done] > program.start[receive], program.start[receive] - program.start[done], 0.0)
    waited = np.where(_is_test(program, done), 0.0, waited)
    return _part(done, receive, waited, LATE_RECEIVER)


def _one_sided_waits(program: Program, joins: Joins) -> tuple[np.ndarray, ...]:
    """Returns the waits in epochs of one-sided communication."""
    late, waiting, why = joins.windows.late, joins.windows.waiting, joins.windows.why
    waited = np.minimum(program.start[late], program.end[waiting]) - program.start[waiting]
    return _part(waiting, late, waited, np.array([LATE_POST, EARLY_WAIT, WINDOW_LOCK])[why])


def _progress_waits(program: Program, progress: Progress) -> tuple[np.ndarray, ...]:
    """Returns the waits for ranks that had to come back into MPI."""
    late, waiting = progress.late[progress.is_likely], progress.waiting[progress.is_likely]
    waited = np.minimum(program.start[late], program.end[waiting]) - program.start[waiting]
    return _part(waiting, late, np.where(_is_test(program, waiting), 0.0, waited), PROGRESS)


def _collective_waits(program: Program, joins: Joins) -> list[tuple[np.ndarray, ...]]:
    """Returns the waits in collective calls, by the shape of the call."""
    if not len(joins.group):
        return []
    group, entered = joins.group, joins.entered
    begin = program.start[entered]
    done = joins.completed
    latest = _latest_member(group, begin)
    parts = []
    known = done >= 0
    at = np.maximum(done, 0)

    def until(late: np.ndarray, rows: np.ndarray, pattern: np.ndarray | int, first: np.ndarray | None = None) -> None:
        came = program.start[late]
        waited = np.minimum(came[rows], program.end[at[rows]]) - program.start[at[rows]]
        waited = np.where(_is_test(program, at[rows]) | (late == entered)[rows], 0.0, waited)
        severity = None
        if first is not None:
            severity = np.maximum(np.minimum(first[rows], program.end[at[rows]]) - program.start[at[rows]], 0.0)
        parts.append(
            _part(at[rows], late[rows], waited, pattern[rows] if isinstance(pattern, np.ndarray) else pattern, severity)
        )

    pattern = _patterns(program)[program.function[entered]]
    until(entered[latest][group], known & (joins.shape == ALL), pattern)
    roots = np.full(len(latest), -1)
    roots[group[joins.is_root]] = entered[joins.is_root]
    has_root = roots[group] >= 0
    until(np.maximum(roots, 0)[group], known & has_root & (joins.shape == ROOT_FIRST), LATE_BROADCAST)
    others = np.where(joins.is_root, -np.inf, begin)
    last_other = _latest_member(group, others)
    first_other = np.full(len(latest), np.inf)
    np.minimum.at(first_other, group, np.where(joins.is_root, np.inf, begin))
    root_waits = known & joins.is_root & (joins.shape == ROOT_LAST)
    until(entered[last_other][group], root_waits, EARLY_REDUCE, first_other[group])
    scans = np.flatnonzero(joins.shape == LOWER_FIRST)
    lower = entered.copy()
    lower[scans] = entered[scans[latest_lower(group[scans], program.rank[entered[scans]], begin[scans])]]
    until(lower, known & (joins.shape == LOWER_FIRST), EARLY_SCAN)
    near, late = joins.near, program.start[joins.near.other]
    waited = np.minimum(late, program.end[near.completed]) - program.start[near.completed]
    waited = np.where(near.gets & ~_is_test(program, near.completed), waited, 0.0)
    parts.append(_part(near.completed, near.other, waited, N_TO_N))
    of_pairs = np.where(joins.shape == SOME, N_TO_N, IN_TREE)
    until(np.maximum(joins.behind, 0), known & (joins.behind >= 0), of_pairs)
    return parts


def _patterns(program: Program) -> np.ndarray:
    """Returns the pattern of a wait for all ranks, by function."""
    found = np.full(max(len(program.functions), 1), N_TO_N)
    for place, name in enumerate(program.functions):
        bare = name.rpartition("MPI_")[2]
        if bare in ("Barrier", "Ibarrier", "Barrier_init"):
            found[place] = BARRIER
        elif bare == "Win_fence":
            found[place] = FENCE
        elif bare.startswith("File_"):
            found[place] = COLLECTIVE_IO
        elif bare in ("Init", "Init_thread"):
            found[place] = INIT
        elif bare == "Finalize":
            found[place] = FINALIZE
    return found


def _latest_member(group: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """Returns, for each group, the place of its latest member."""
    order = np.lexsort((begin, group))
    last = np.append(group[order][1:] != group[order][:-1], True)
    latest: np.ndarray = order[last]
    return latest
