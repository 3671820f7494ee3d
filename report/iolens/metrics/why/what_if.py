"""Run times with parts of the work left out, by replay: what faster storage could save at most, and what else could."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from iolens.metrics.why.joins import ALL, Joins
from iolens.metrics.why.program import FILE, FILES, LOCK, MPI, Program
from iolens.metrics.why.replay import Graph, run_time
from iolens.metrics.why.unknown import Unknown, unknown_of

_MOST_RANKS = _MOST_FILES = 3
"""Ranks and files with the most I/O for which the question is asked one by one."""

_NO_MATTER = 0.01
"""Share of the run time that calls without a known partner may take before nothing is certain to be saved."""

STORAGE = "storage infinitely fast"
NO_CHANGE = "nothing changed"


class Change(NamedTuple):
    """A question, with the rank (-1: all) and the record id of the file (0: all) that it is about."""

    question: str
    rank: int = -1
    file: int = 0


class Answer(NamedTuple):
    """The run time of a replay in seconds, and by how much it is less than the replay without any change. least, most:
    the interval of the saved seconds. Its width is the error of the unchanged replay, and what calls may have waited
    for that the events do not tell.
    """

    change: Change
    run_time: float
    saved: float
    least: float
    most: float


def what_if(program: Program, joins: Joins, graph: Graph, unknown: Unknown | None = None) -> list[Answer]:
    """Returns the answers to all questions; the first one is for no change at all."""
    dark = unknown_of(program, joins, graph) if unknown is None else unknown
    base = run_time(program, graph, graph.gap, graph.cost)
    error = abs(base - program.run_time)
    is_dark = dark.seconds > max(error, _NO_MATTER * program.run_time)
    found = [Answer(Change(NO_CHANGE), base, 0.0, 0.0, error)]
    for change, gap, cost in _changes(program, joins, graph, dark.threads_do_io):
        time = lowest = run_time(program, graph, gap, cost)
        if dark.seconds > 0:
            shorter = np.maximum(gap - dark.gap, 0.0), np.maximum(cost - dark.cost, 0.0)
            lowest = min(time, run_time(program, graph, *shorter))
        least = 0.0 if is_dark else max(base - time - error, 0.0)
        found.append(Answer(change, time, base - time, least, max(base - lowest, 0.0) + error))
    return found


def _changes(
    program: Program, joins: Joins, graph: Graph, threads_do_io: bool
) -> Iterator[tuple[Change, np.ndarray, np.ndarray]]:
    """Yields each question with the gaps and costs that it replays."""
    work = _FileWork(program, joins, graph)
    everywhere = np.ones(len(program), bool), np.ones(len(program.inner_call), bool)
    if work.seconds > 0 or threads_do_io:
        yield Change(STORAGE), graph.gap, work.cost(*everywhere, 0.0)
        yield Change("storage twice as fast"), graph.gap, work.cost(*everywhere, 0.5)
        for rank in work.ranks():
            rows = program.rank == rank, program.rank[program.inner_call] == rank
            yield Change("I/O of this rank free", rank=rank), graph.gap, work.cost(*rows, 0.0)
        for file in work.files():
            rows = program.file == file, program.inner_file == file
            yield Change("I/O on this file free", file=file), graph.gap, work.cost(*rows, 0.0)
    if (program.kind == LOCK).any():
        yield Change("locks of files free"), graph.gap, np.where(program.kind == LOCK, 0.0, graph.cost)
    if program.ranks > 1:
        yield Change("messages free"), graph.gap, work.without_messages()
        yield Change("computing balanced"), _balanced(program, graph), graph.cost


def _balanced(program: Program, graph: Graph) -> np.ndarray:
    """Returns gaps scaled so that all ranks compute equally long between MPI_Init and MPI_Finalize."""
    inside = program.start > 0
    total = np.bincount(program.rank[inside], weights=graph.gap[inside], minlength=program.ranks)
    factor = np.divide(total.mean(), total, out=np.ones(program.ranks), where=total > 0)
    balanced: np.ndarray = graph.gap * factor[program.rank]
    return balanced


class _FileWork:
    """The time in calls of the file system: calls of their own, and those inside of MPI calls."""

    def __init__(self, program: Program, joins: Joins, graph: Graph) -> None:
        self.program, self.graph = program, graph
        self.is_file = np.isin(program.kind, (FILE, FILES))
        self.spent = np.where(self.is_file, graph.cost, 0.0)
        together = (joins.shape == ALL) & (joins.completed >= 0)
        self.group_of = np.full(len(program), -1)
        self.group_of[joins.completed[together]] = joins.group[together]
        self.seconds = float(self.spent.sum() + program.inner_seconds.sum())

    def ranks(self) -> list[int]:
        """Returns the ranks with the most I/O, if not all ranks are alike."""
        spent = np.bincount(self.program.rank, weights=self.spent, minlength=self.program.ranks)
        inner_rank = self.program.rank[self.program.inner_call]
        spent += np.bincount(inner_rank, weights=self.program.inner_seconds, minlength=self.program.ranks)
        order = np.argsort(-spent, kind="stable")[:_MOST_RANKS]
        return [int(rank) for rank in order if spent[rank] > 0 and self.program.ranks > 1]

    def files(self) -> list[int]:
        """Returns the files with the most I/O."""
        files = np.concatenate([self.program.file[self.is_file], self.program.inner_file])
        seconds = np.concatenate([self.spent[self.is_file], self.program.inner_seconds])
        unique, which = np.unique(files, return_inverse=True)
        spent = np.bincount(which.reshape(-1), weights=seconds, minlength=len(unique))
        order = np.argsort(-spent, kind="stable")[:_MOST_FILES]
        return [int(unique[place]) for place in order if spent[place] > 0 and unique[place] != 0]

    def cost(self, calls: np.ndarray, inner: np.ndarray, factor: float) -> np.ndarray:
        """Returns the costs of calls if the chosen calls of the file system take `factor` of their time.

        A collective call in which some ranks do I/O for others is as much shorter as the longest I/O of one rank in it.
        """
        cost = np.where(self.is_file & calls, self.graph.cost * factor, self.graph.cost)
        program = self.program
        now = np.bincount(program.inner_call, weights=program.inner_seconds, minlength=len(program))
        changed = program.inner_seconds * np.where(inner, factor, 1.0)
        then = np.bincount(program.inner_call, weights=changed, minlength=len(program))
        less = self._of_group(now) - self._of_group(then)
        shorter: np.ndarray = np.maximum(cost - less, 0.0)
        return shorter

    def _of_group(self, seconds: np.ndarray) -> np.ndarray:
        """Returns for each call the largest value among the calls of its group."""
        member = self.group_of >= 0
        largest = np.zeros(int(self.group_of.max(initial=-1)) + 1)
        np.maximum.at(largest, self.group_of[member], seconds[member])
        found: np.ndarray = np.where(member, largest[np.maximum(self.group_of, 0)] if len(largest) else 0.0, seconds)
        return found

    def without_messages(self) -> np.ndarray:
        """Returns costs of calls in which MPI takes no time, but the file system calls inside do."""
        program = self.program
        inner = np.bincount(program.inner_call, weights=program.inner_seconds, minlength=len(program))
        starts = np.array([name.startswith(("MPI_Init", "MPI_Finalize")) for name in program.functions] or [False])
        free = (program.kind == MPI) & ~starts[program.function]
        least: np.ndarray = np.where(free, np.minimum(self._of_group(inner), self.graph.cost), self.graph.cost)
        return least
