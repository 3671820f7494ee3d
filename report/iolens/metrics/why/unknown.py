"""The time of a job that its events do not explain: calls without a known partner, and calls of other threads."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from iolens.log.records import Records
from iolens.metrics.why.calls.joins import Joins
from iolens.metrics.why.calls.program import CORE, MPI, Program
from iolens.metrics.why.calls.rendezvous import CERTAINLY_BLOCKED, calls_of_one, is_rendezvous
from iolens.metrics.why.replay import Graph

_WAITS_ALONE = re.compile(
    r"MPI_(Neighbor_|M?[Pp]robe$|Wait(all|any|some)?$|Intercomm_|Comm_(accept|connect|disconnect|join|spawn)"
    r"|Win_(flush|unlock)"
    r"|(Put|Get|Accumulate|Get_accumulate|Fetch_and_op|Compare_and_swap)(_c)?$)"
)
"""Functions that can wait for other ranks, and whose rows do not name a partner."""

_ASKS = re.compile("MPI_(Test(all|any|some)?|Iprobe|Improbe|Request_get_status|Win_test|Parrived)$")
"""Functions that programs call again and again until they find something."""

_LEAST_SLEEP = 0.01
"""Minimum share of the run time that a rank must have slept between such calls. Smaller shares are uncertain, because
processor times are not exact enough.
"""

_OF_FILES = re.compile("MPI_File_")
_FOR_UNNAMED = re.compile("MPI_(Neighbor_|Ineighbor_|Comm_spawn)")
"""Collective functions in which a rank can wait for others that the events do not name: neighbours, a new program."""


@dataclass(frozen=True)
class Unknown:
    """Seconds of each call (`cost`) and of the time before it (`gap`) in which its rank may have waited for something
    that the events do not record. functions: the functions of these calls, the one with most seconds first.
    in_calls: the largest sum of `cost` of any rank. in_gaps: the largest sum of `gap` in which other threads were in a
    call. asleep: the largest sum between calls that asked for something and found nothing. threads_do_io: True if other
    threads call the file system.
    """

    cost: np.ndarray
    gap: np.ndarray
    functions: tuple[str, ...]
    in_calls: float
    in_gaps: float
    asleep: float
    threads_do_io: bool

    @property
    def seconds(self) -> float:
        """Returns the most seconds for which a rank may have waited for something that the events do not record."""
        return self.in_calls + self.in_gaps + self.asleep


def unknown_of(
    program: Program,
    joins: Joins,
    graph: Graph,
    other_threads: Records | None = None,
    on_core: np.ndarray | None = None,
) -> Unknown:
    """Returns the time that the events do not explain. other_threads: rows of `why_events` of threads that are not
    followed. on_core: seconds in which each rank computed (None: not known).
    """
    alone = (program.kind == MPI) & _may_wait(program)
    known = ~_named(program, _FOR_UNNAMED)[joins.entered]
    messages = joins.send, joins.send_done, joins.receive, joins.receive_done
    for calls in (*messages, joins.entered[known], joins.completed[known], joins.windows.waiting):
        alone[calls[calls >= 0]] = False
    inner = np.bincount(program.inner_call, weights=program.inner_seconds, minlength=len(program))
    cost = np.where(alone, np.maximum(graph.cost - inner, 0.0), _in_several(program, joins, graph))
    nothing = np.zeros(len(program))
    beside = nothing if other_threads is None else _gaps_with_calls(program, graph, other_threads)
    slept, asking = (nothing, nothing) if on_core is None else _between_asks(program, graph, on_core)
    of_function = np.bincount(program.function, weights=cost, minlength=len(program.functions))
    order = np.argsort(-of_function, kind="stable")[: np.count_nonzero(of_function)]
    return Unknown(
        cost=np.maximum(cost, asking),
        gap=np.minimum(beside + slept, graph.gap),
        functions=tuple(program.functions[at] for at in order.tolist()),
        in_calls=_largest_of_ranks(program, cost),
        in_gaps=_largest_of_ranks(program, beside),
        asleep=_largest_of_ranks(program, slept + asking),
        threads_do_io=other_threads is not None and bool(np.isin(other_threads["kind"], ("file", "files")).any()),
    )


def _between_asks(program: Program, graph: Graph, on_core: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns two times for each call: first, the seconds before the call in which its rank may have slept since a call
    that found nothing; second, on ranks that slept in this way, the seconds of the calls that found nothing and of the
    waits for a core after them.

    Programs sleep between calls of MPI_Test to leave the core to others. A rank sleeps no longer than all its time
    between calls without the time in which it computes.
    """
    asked = _named(program, _ASKS)
    asked[program.links["call"]] = False
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
    found[links["call"][(links["kind"] != "win") & ~by_itself]] = True
    chosen: np.ndarray = found & ~_named(program, _OF_FILES)
    return chosen


def _named(program: Program, pattern: re.Pattern[str]) -> np.ndarray:
    """Returns True for calls of functions whose names match."""
    matches = np.array([bool(pattern.match(name)) for name in program.functions] or [False])
    found: np.ndarray = matches[program.function]
    return found


def _gaps_with_calls(program: Program, graph: Graph, others: Records) -> np.ndarray:
    """Returns for each call the seconds of the gap before it in which other threads of the rank were in a call."""
    found = np.zeros(len(program))
    for rank in np.unique(others["rank"]).tolist():
        rows = others["rank"] == rank
        order = np.argsort(others["start"][rows], kind="stable")
        start, end = others["start"][rows][order], np.maximum.accumulate(others["end"][rows][order])
        begins = np.maximum(start, np.concatenate([[0.0], end[:-1]]))
        times = np.stack([begins, np.maximum(end, begins)], axis=1).reshape(-1)
        spent = np.maximum(end - begins, 0.0)
        totals = np.stack([np.cumsum(spent) - spent, np.cumsum(spent)], axis=1).reshape(-1)
        calls = slice(int(program.first[rank]), int(program.first[rank + 1]))
        until = program.start[calls]
        found[calls] = np.interp(until, times, totals) - np.interp(until - graph.gap[calls], times, totals)
    return found
