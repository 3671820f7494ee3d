"""The time of a job that its events do not explain: calls without a known partner, and calls of other threads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from iolens.log.records import Records
from iolens.metrics.why.calls.joins import NEIGHBOURS, Joins
from iolens.metrics.why.calls.program import CORE, FAULT, FILE, FILES, LOCK, MPI, SLEEP, Program
from iolens.metrics.why.calls.progress import CERTAINLY_BLOCKED, Progress, calls_of_one, is_rendezvous
from iolens.metrics.why.replay import Graph

_WAITS_ALONE = re.compile(
    r"MPI_(Neighbor_|M?[Pp]robe$|Wait(all|any|some)?$|Intercomm_|Comm_(accept|connect|disconnect|join|spawn)"
    r"|Win_(flush|lock|unlock)|File_i(read|write)(_at)?_all|File_(read|write)(_at)?_(all|ordered)_(begin|end)"
    r"|(Put|Get|Accumulate|Get_accumulate|Fetch_and_op|Compare_and_swap)(_c)?$)"
)
"""Functions that can wait for other ranks, and whose rows do not name a partner."""

_ASKS = re.compile("MPI_(Test(all|any|some)?|Iprobe|Improbe|Request_get_status|Win_test|Win_sync|Parrived)$")
"""Functions that programs call again and again until they find something."""

_OPENS = re.compile("(f?open|openat|creat)(64)?$")
"""Functions of the file system that programs call again and again until a file is there."""

_LOOKS = re.compile("(__)?[fl]?x?stat(at|x|64)*$|f?access(at)?$")
"""Functions with which programs look for a file that another process makes; no event has the calls that fail."""

_LEAST_SLEEP = 0.01
"""Minimum share of the run time that a rank must have slept between such calls. Smaller shares are uncertain, because
processor times are not exact enough.
"""

_OF_FILES = re.compile(r"MPI_File_(?!i(read|write)(_at)?_all|(read|write)(_at)?_(all|ordered)_(begin|end))")
"""Functions of MPI-IO whose waits for other ranks are joined, or that wait for none."""

_OF_NEIGHBOURS = re.compile("MPI_(Neighbor_|Ineighbor_)")
_OF_OTHER_PROGRAMS = re.compile("MPI_Comm_(accept|connect|disconnect|join|spawn)")
"""Functions in which a rank can wait for processes that the log does not have."""

_OF_RANKS = ("send", "isend", "recv", "irecv", "all", "iall")
"""Kinds of roles in a call that other ranks take part in."""


@dataclass(frozen=True)
class Unknown:
    """Seconds of each call (`cost`) and of the time before it (`gap`) in which its rank may have waited for something
    that the events do not record. functions: the functions of these calls, the one with most seconds first.
    in_calls: the largest sum of `cost` of any rank. in_gaps: the largest sum of `gap` in which other threads were in a
    call. asleep: the largest sum in which a rank slept between calls that asked for something and found nothing, or for
    processes that it had started. threads_do_io: True if other threads call the file system. of_strangers: the largest
    sum of a rank in which it may have waited for processes that the log does not have; it is in the other sums as well.
    perhaps: seconds of each call, beside `cost`, in which its rank may have waited for ranks outside of MPI or for the
    holder of a file's lock. They make no saving uncertain, but others may be larger.
    """

    cost: np.ndarray
    gap: np.ndarray
    functions: tuple[str, ...]
    in_calls: float
    in_gaps: float
    asleep: float
    threads_do_io: bool
    of_strangers: float
    perhaps: np.ndarray

    @property
    def seconds(self) -> float:
        """Returns the most seconds for which a rank may have waited for something that the events do not record."""
        return self.in_calls + self.in_gaps + self.asleep


class OfRanks(NamedTuple):
    """Facts about ranks that the events do not have. on_core: seconds in which each rank computed (None: not known).
    parents: ranks that started other processes.
    """

    on_core: np.ndarray | None = None
    parents: frozenset[int] = frozenset()


NOTHING_OF_RANKS = OfRanks()


def unknown_of(
    program: Program,
    joins: Joins,
    graph: Graph,
    other_threads: Records | None = None,
    of_ranks: OfRanks = NOTHING_OF_RANKS,
    progress: Progress | None = None,
) -> Unknown:
    """Returns the time that the events do not explain. other_threads: rows of `why_events` of threads that are not
    followed.
    """
    alone = (program.kind == MPI) & _may_wait(program)
    known = ~_named(program, _OF_OTHER_PROGRAMS)[joins.entered]
    known &= ~_named(program, _OF_NEIGHBOURS)[joins.entered] | (joins.shape == NEIGHBOURS)
    messages = joins.send, joins.send_done, joins.receive, joins.receive_done
    for calls in (*messages, joins.entered[known], joins.completed[known], joins.windows.waiting):
        alone[calls[calls >= 0]] = False
    inner = np.bincount(program.inner_call, weights=program.inner_seconds, minlength=len(program))
    cost = np.where(alone, np.maximum(graph.cost - inner, 0.0), _in_several(program, joins, graph))
    nothing = np.zeros(len(program))
    beside, held = (nothing, nothing) if other_threads is None else _gaps_with_calls(program, graph, other_threads)
    slept, asking = _asleep(program, graph, of_ranks)
    of_function = np.bincount(program.function, weights=cost, minlength=len(program.functions))
    order = np.argsort(-of_function, kind="stable")[: np.count_nonzero(of_function)]
    return Unknown(
        cost=np.maximum(np.maximum(cost, asking), held),
        gap=np.minimum(beside + slept, graph.gap),
        functions=tuple(program.functions[at] for at in order.tolist()),
        in_calls=_largest_of_ranks(program, cost),
        in_gaps=_largest_of_ranks(program, beside + held),
        asleep=_largest_of_ranks(program, slept + asking),
        threads_do_io=other_threads is not None and bool(np.isin(other_threads["kind"], ("file", "files")).any()),
        of_strangers=_for_strangers(program, cost, asking, of_ranks.parents),
        perhaps=_perhaps(program, graph, progress),
    )


def _for_strangers(program: Program, cost: np.ndarray, asking: np.ndarray, parents: frozenset[int]) -> float:
    """Returns the largest sum of seconds of a rank in which it may have waited for processes that the log does not
    have.
    """
    links = program.links
    strange = _named(program, _OF_OTHER_PROGRAMS) & (program.kind == MPI)
    strange[links["call"][np.isin(links["kind"], _OF_RANKS) & (links["communicator"] == 0)]] = True
    slept = np.isin(program.rank, list(parents)) & (program.kind == SLEEP)
    return _largest_of_ranks(program, np.where(strange, cost, 0.0) + np.where(slept, asking, 0.0))


def _perhaps(program: Program, graph: Graph, progress: Progress | None) -> np.ndarray:
    """Returns the seconds of calls that may have waited for a rank outside of MPI, for the holder of a lock, or for the
    core that a rank gave up in I/O.
    """
    found = (program.kind == LOCK) | _back_from_io(program)
    if progress is not None:
        found[progress.posted] = True
        found[progress.waiting] = True
    seconds: np.ndarray = np.where(found, graph.cost, 0.0)
    return seconds


def _back_from_io(program: Program) -> np.ndarray:
    """Returns True for times without a core directly behind calls of the file system: a rank that waits for storage
    gives its core up, and another one may have it then.
    """
    of_files = np.isin(program.kind, (FILE, FILES, LOCK, FAULT))
    behind = np.append(False, of_files[:-1] & (program.rank[1:] == program.rank[:-1]))[: len(program)]
    found: np.ndarray = behind & (program.kind == CORE)
    return found


def _asleep(program: Program, graph: Graph, of_ranks: OfRanks) -> tuple[np.ndarray, np.ndarray]:
    """Returns two times for each call: the seconds before it, and the seconds of it, in which its rank slept until it
    found something, or may have slept for processes that it had started.
    """
    nothing = np.zeros(len(program))
    sleeps = program.kind == SLEEP
    if not sleeps.any():
        return (nothing, nothing) if of_ranks.on_core is None else _between_asks(program, graph, of_ranks.on_core)
    all_calls, of_files = np.ones(len(program), bool), np.isin(program.kind, (FILE, FILES))
    opens, looks = (_named(program, each) & of_files for each in (_OPENS, _LOOKS))
    in_vain = _asks_in_vain(program)
    loops = in_vain | opens | _between(program, in_vain, all_calls) | _between(program, opens, opens)
    loops |= _between(program, all_calls, looks)
    loops |= np.isin(program.rank, list(of_ranks.parents)) & sleeps
    seconds = np.where(loops & sleeps, graph.cost, 0.0)
    slept = np.bincount(program.rank, weights=seconds, minlength=program.ranks)
    return nothing, np.where(loops & (slept >= _LEAST_SLEEP * program.run_time)[program.rank], graph.cost, 0.0)


def _between(program: Program, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Returns True for spans asleep or without a core that lie directly between one of the calls `begins` of a rank and
    one of `ends`.
    """
    held, place, last = np.isin(program.kind, (CORE, FAULT, SLEEP)), np.arange(len(program)), len(program) - 1
    before = np.maximum(np.maximum.accumulate(np.where(held, -1, place)), 0)
    after = np.minimum(np.minimum.accumulate(np.where(held, last, place)[::-1])[::-1], last)
    same = (program.rank[before] == program.rank) & (program.rank[after] == program.rank)
    found: np.ndarray = held & same & begins[before] & ends[after]
    return found


def _asks_in_vain(program: Program) -> np.ndarray:
    """Returns True for calls of MPI that ask for something and find nothing."""
    asked = _named(program, _ASKS)
    asked[program.links["call"]] = False
    return asked


def _between_asks(program: Program, graph: Graph, on_core: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns two times for each call: first, the seconds before the call in which its rank may have slept since a call
    that found nothing; second, on ranks that slept in this way, the seconds of the calls that found nothing and of the
    waits for a core after them.

    Programs sleep between calls of MPI_Test to leave the core to others. A rank sleeps no longer than all its time
    between calls without the time in which it computes.
    """
    asked = _asks_in_vain(program)
    behind = np.append(False, asked[:-1] & (program.rank[1:] == program.rank[:-1])) if len(program) else asked
    gap = graph.gap.copy()
    gap[program.first[:-1][program.first[:-1] < program.first[1:]]] = 0.0
    seconds = np.where(behind, gap, 0.0)
    total, of_rank = (np.bincount(program.rank, weights=each, minlength=program.ranks) for each in (gap, seconds))
    slept = np.minimum(total - np.nan_to_num(on_core, nan=np.inf), of_rank)
    slept = np.where(slept >= _LEAST_SLEEP * program.run_time, slept, 0.0)
    share = np.divide(slept, of_rank, out=np.zeros(program.ranks), where=of_rank > 0)[program.rank]
    in_loop = (share > 0) & (asked | (behind & (program.kind == CORE)))
    return seconds * share, np.where(in_loop, graph.cost, 0.0)


def _in_several(program: Program, joins: Joins, graph: Graph) -> np.ndarray:
    """Returns the seconds in which each call that completes several operations may have waited for one of them.

    Such an operation is the send of a message that MPI usually buffers, because the first message to a rank can wait
    until that rank calls MPI; or a collective call in which this rank gets the data of a late rank.
    """
    found = np.zeros(len(program))
    rows = np.flatnonzero((joins.send_done >= 0) & ~is_rendezvous(program, joins))
    rows = rows[~calls_of_one(program)[joins.send_done[rows]]]
    parts = np.flatnonzero(joins.perhaps_behind >= 0)
    done = np.concatenate([joins.send_done[rows], joins.completed[parts]])
    came = program.start[np.concatenate([joins.receive[rows], joins.perhaps_behind[parts]])]
    free = program.end[done] - graph.cost[done]
    waited = np.where(came < program.end[done], came - free, 0.0)
    np.maximum.at(found, done, np.where(waited >= CERTAINLY_BLOCKED, waited, 0.0))
    return found


def _largest_of_ranks(program: Program, seconds: np.ndarray) -> float:
    """Returns the largest sum of these seconds over the calls of one rank."""
    return float(np.bincount(program.rank, weights=seconds, minlength=program.ranks).max(initial=0.0))


def _may_wait(program: Program) -> np.ndarray:
    """Returns True for calls that wait for another rank, or for the work of a thread or of the file system."""
    found = _named(program, _WAITS_ALONE)
    links = program.links
    by_itself = np.isin(links["kind"], ("all", "iall")) & (links["communicator"] != 0) & (links["size"] == 1)
    found[links["call"][~np.isin(links["kind"], ("win", "neighbour")) & ~by_itself]] = True
    chosen: np.ndarray = found & ~_named(program, _OF_FILES)
    return chosen


def _named(program: Program, pattern: re.Pattern[str]) -> np.ndarray:
    """Returns True for calls of functions whose names match."""
    matches = np.array([bool(pattern.match(name)) for name in program.functions] or [False])
    found: np.ndarray = matches[program.function]
    return found


def _gaps_with_calls(program: Program, graph: Graph, others: Records) -> tuple[np.ndarray, np.ndarray]:
    """Returns two times for each call: the seconds of the gap before it, and those of a time asleep or without a core,
    in which other threads of the rank were in a call.
    """
    found, held = np.zeros(len(program)), np.zeros(len(program))
    is_held = np.isin(program.kind, (CORE, SLEEP))
    for rank in np.unique(others["rank"]).tolist():
        rows = others["rank"] == rank
        order = np.argsort(others["start"][rows], kind="stable")
        start, end = others["start"][rows][order], np.maximum.accumulate(others["end"][rows][order])
        begins = np.maximum(start, np.concatenate([[0.0], end[:-1]]))
        times = np.stack([begins, np.maximum(end, begins)], axis=1).reshape(-1)
        spent = np.maximum(end - begins, 0.0)
        totals = np.stack([np.cumsum(spent) - spent, np.cumsum(spent)], axis=1).reshape(-1)
        calls = slice(int(program.first[rank]), int(program.first[rank + 1]))
        until, end = program.start[calls], program.end[calls]
        found[calls] = np.interp(until, times, totals) - np.interp(until - graph.gap[calls], times, totals)
        held[calls] = np.where(is_held[calls], np.interp(end, times, totals) - np.interp(until, times, totals), 0.0)
    return found, held
