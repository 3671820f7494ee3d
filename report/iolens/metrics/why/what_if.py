"""Run times with parts of the work left out, by replay: the most that faster storage and other changes could save."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from iolens.metrics.why.calls.joins import ALL, Joins
from iolens.metrics.why.calls.program import CORE, FAULT, FILE, FILES, LOCK, MPI, Program
from iolens.metrics.why.replay import Graph, replayed_run_time
from iolens.metrics.why.unknown import Unknown, unknown_of

MOST_RANKS = _MOST_FILES = _MOST_TARGETS = 3
"""Number of ranks, of files and of storage targets for which a question is asked one by one: those with the most I/O.
Ranks whose I/O others waited for come first.
"""

_INDEPENDENT = re.compile(r"MPI_File_i?(read|write)(_at|_shared)?(_c)?$")
"""Functions of MPI-IO that each rank calls by itself."""

_NO_MATTER = 0.01
"""Maximum share of the run time in which a rank may have waited for something that the events do not record. If it is
more, and more than the error of the replay, no saving is certain.
"""

STORAGE = "storage infinitely fast"
FASTER = {STORAGE: 0.0, "storage four times as fast": 0.25, "storage twice as fast": 0.5}
"""Questions about all I/O, with the part of each call's time that is left."""

OWN_CORES = "no core shared"
BALANCED = "computing balanced"
LOCKS_FREE = "file locks take no time"
FAULTS_FREE = "page faults take no time"
NO_CHANGE = "nothing changed"
_FREE = {LOCK: LOCKS_FREE, FAULT: FAULTS_FREE}
"""Questions that leave out all times of one kind."""


class WhatIfQuestion(NamedTuple):
    """A question, with the rank (-1: all) and the record id of the file (0: all) that it concerns."""

    question: str
    rank: int = -1
    file: int = 0


class Answer(NamedTuple):
    """The run time of a replay in seconds, and by how much it is less than the replay without any change. least, most:
    the interval of the saved seconds. Its width is the error of the unchanged replay, plus the time that calls may
    have waited for something that the events do not record. run_time and saved are NaN if only a bound is known.
    """

    change: WhatIfQuestion
    run_time: float
    saved: float
    least: float
    most: float


@dataclass(frozen=True)
class Beside:
    """Facts that the calls alone do not tell. targets: the storage targets of each file, by record id. without_core:
    two arrays of seconds in which each rank was ready to run and had no core: a lower bound outside of calls, and the
    sum (None: not known). late: ranks whose I/O others waited for, the one with most waits first.
    """

    targets: Mapping[int, frozenset[int]] = field(default_factory=dict)
    without_core: tuple[np.ndarray, np.ndarray] | None = None
    late: Sequence[int] = ()


class _Asked(NamedTuple):
    """A question with the gaps and costs to replay. high: gaps and costs for an upper bound on the saving, if that is
    larger. is_bound: no replay tells the saving, and `high` bounds it.
    """

    change: WhatIfQuestion
    gap: np.ndarray
    cost: np.ndarray
    high: tuple[np.ndarray, np.ndarray] | None = None
    is_bound: bool = False


def what_if(
    program: Program,
    joins: Joins,
    graph: Graph,
    unknown: Unknown | None = None,
    beside: Beside | None = None,
    others: Sequence[Graph] = (),
) -> list[Answer]:
    """Returns the answers to all questions; the first one is for no change at all. others: graphs with fewer or with
    more dependencies than the likely ones of `graph`: the interval of an answer holds for them too. The first of them
    has only dependencies that are certain.
    """
    dark = unknown_of(program, joins, graph) if unknown is None else unknown
    plain = others[0] if others else graph
    base = {id(each): replayed_run_time(program, each, each.gap, each.cost) for each in (graph, *others)}
    error = abs(base[id(graph)] - program.run_time)
    no_matter = max(error, _NO_MATTER * program.run_time)
    does_io = dark.threads_do_io or dark.of_strangers > no_matter
    found = [Answer(WhatIfQuestion(NO_CHANGE), base[id(graph)], 0.0, 0.0, error)]
    asked_of = {
        id(each): {asked.change: asked for asked in _changes(program, joins, each, does_io, beside or Beside())}
        for each in (graph, *others)
    }
    for change, asked in asked_of[id(graph)].items():
        time = replayed_run_time(program, graph, asked.gap, asked.cost)
        saved = [base[id(graph)] - time]
        for each in others:
            same = asked_of[id(each)].get(change)
            saved += [base[id(each)] - replayed_run_time(program, each, same.gap, same.cost)] if same else []
        most = max(*saved, _most_saved(program, plain, dark, asked_of[id(plain)].get(change, asked), base[id(plain)]))
        least = 0.0 if dark.seconds > no_matter else max(min(saved) - error, 0.0)
        told = (math.nan, math.nan) if asked.is_bound else (time, saved[0])
        found.append(Answer(change, *told, least, max(most, 0.0) + error))
    return found


def _most_saved(program: Program, graph: Graph, dark: Unknown, asked: _Asked, base: float) -> float:
    """Returns the seconds that are saved if the time that the events do not explain is left out as well."""
    if not (dark.seconds > 0 or dark.perhaps.any() or asked.high is not None):
        return 0.0
    gap, cost = asked.high or (asked.gap, asked.cost)
    cost = np.maximum(cost - np.maximum(dark.cost, dark.perhaps), 0.0)
    return base - replayed_run_time(program, graph, np.maximum(gap - dark.gap, 0.0), cost)


def most_on_files(program: Program, joins: Joins, graph: Graph, unknown: Unknown, files: Collection[int]) -> float:
    """Returns the most seconds that free I/O on these files (record ids) would save."""
    gap, cost = _FileWork(program, joins, graph).on_files([*files, 0])
    base = replayed_run_time(program, graph, graph.gap, graph.cost)
    free = np.maximum(cost - unknown.perhaps, 0.0)
    return max(base - replayed_run_time(program, graph, gap, free), 0.0) + abs(base - program.run_time)


def _changes(program: Program, joins: Joins, graph: Graph, does_io: bool, beside: Beside) -> Iterator[_Asked]:
    """Yields each what-if question with the gaps between calls and the costs of calls with which the run is
    replayed. does_io: True if the job may do I/O that no call shows.
    """
    work = _FileWork(program, joins, graph)
    everywhere = np.ones(len(program), bool), np.ones(len(program.inner_call), bool)
    if work.seconds > 0 or does_io:
        for question, left in FASTER.items():
            yield _Asked(WhatIfQuestion(question), graph.gap, work.cost(*everywhere, left))
        for rank in work.ranks(beside.late):
            rows = program.rank == rank, program.rank[program.inner_call] == rank
            yield _Asked(WhatIfQuestion("I/O of this rank takes no time", rank=rank), graph.gap, work.cost(*rows, 0.0))
        for file in work.files():
            yield _Asked(
                WhatIfQuestion("I/O on this file takes no time", file=file),
                *work.on_files([file]),
                work.on_files([file, 0]),
            )
        yield from _target_questions(work, beside.targets)
    for kind, question in _FREE.items():
        if (program.kind == kind).any():
            yield _Asked(WhatIfQuestion(question), graph.gap, np.where(program.kind == kind, 0.0, graph.cost))
    if program.ranks > 1:
        yield from _collective(program, graph)
        yield _Asked(WhatIfQuestion("messages free"), graph.gap, work.without_messages())
        yield _Asked(WhatIfQuestion(BALANCED), _balanced(program, graph), graph.cost)
    if beside.without_core is not None or (program.kind == CORE).any():
        nothing = np.zeros(program.ranks)
        yield _own_cores(program, graph, *(beside.without_core or (nothing, nothing)))


def _target_questions(work: _FileWork, targets: Mapping[int, frozenset[int]]) -> Iterator[_Asked]:
    """Yields the questions about the storage targets with the most I/O. For the lower bound, the files that lie on this
    target alone are free; for the upper bound, all files that have a part on it.
    """
    spent: dict[int, float] = {}
    for file, seconds in work.by_file().items():
        for target in targets.get(file, ()):
            spent[target] = spent.get(target, 0.0) + seconds / len(targets[file])
    for target in sorted(spent, key=lambda one: -spent[one])[: _MOST_TARGETS if len(spent) > 1 else 0]:
        alone = [file for file, on in targets.items() if on == {target}]
        some = [file for file, on in targets.items() if target in on]
        yield _Asked(
            WhatIfQuestion(f"I/O on target {target} takes no time"), *work.on_files(alone), work.on_files([*some, 0])
        )


def _collective(program: Program, graph: Graph) -> Iterator[_Asked]:
    """Yields the question about independent calls of MPI-IO: their time bounds the saving by collective calls."""
    single = np.array([bool(_INDEPENDENT.match(name)) for name in program.functions] or [False])[program.function]
    if single.any():
        high = graph.gap, np.where(single, 0.0, graph.cost)
        yield _Asked(WhatIfQuestion("independent MPI-IO made collective"), graph.gap, graph.cost, high, is_bound=True)


def _own_cores(program: Program, graph: Graph, outside: np.ndarray, whole: np.ndarray) -> _Asked:
    """Returns the question about ranks that share cores. Seconds without a core that are in no event are spread evenly:
    those outside of calls over the gaps between calls, or, for the upper bound, all of them over gaps and calls.
    """
    known = program.kind == CORE
    cost = np.where(known, 0.0, graph.cost)
    in_events = np.bincount(program.rank, weights=np.where(known, graph.cost, 0.0), minlength=program.ranks)

    def left(seconds: np.ndarray, without: np.ndarray) -> np.ndarray:
        total = np.bincount(program.rank, weights=seconds, minlength=program.ranks)
        share = np.divide(np.maximum(without - in_events, 0.0), total, out=np.zeros(program.ranks), where=total > 0)
        kept: np.ndarray = np.clip(1.0 - share, 0.0, 1.0)[program.rank]
        return kept

    least, most = left(graph.gap, outside), left(graph.gap + cost, whole)
    high = np.minimum(graph.gap * least, graph.gap * most), cost * most
    return _Asked(WhatIfQuestion(OWN_CORES), graph.gap * least, cost, high)


def _balanced(program: Program, graph: Graph) -> np.ndarray:
    """Returns the gaps, scaled so that all ranks compute for the same time between MPI_Init and MPI_Finalize."""
    inside = program.start > 0
    total = np.bincount(program.rank[inside], weights=graph.gap[inside], minlength=program.ranks)
    factor = np.divide(total.mean(), total, out=np.ones(program.ranks), where=total > 0)
    balanced: np.ndarray = graph.gap * factor[program.rank]
    return balanced


class _FileWork:
    """The time in calls of the file system: calls of their own, and those inside of MPI calls."""

    def __init__(self, program: Program, joins: Joins, graph: Graph) -> None:
        self.program, self.graph = program, graph
        self.is_file = np.isin(program.kind, (FILE, FILES, FAULT))
        self.spent = np.where(self.is_file, graph.cost, 0.0)
        together = (joins.shape == ALL) & (joins.completed >= 0)
        self.group_of = np.full(len(program), -1)
        self.group_of[joins.completed[together]] = joins.group[together]
        self.seconds = float(self.spent.sum() + program.inner_seconds.sum())

    def ranks(self, late: Sequence[int]) -> list[int]:
        """Returns the ranks that others waited for (`late`), then those with the most I/O."""
        spent = np.bincount(self.program.rank, weights=self.spent, minlength=self.program.ranks)
        inner_rank = self.program.rank[self.program.inner_call]
        spent += np.bincount(inner_rank, weights=self.program.inner_seconds, minlength=self.program.ranks)
        chosen = dict.fromkeys([*late, *np.argsort(-spent, kind="stable").tolist()])
        return [rank for rank in chosen if spent[rank] > 0 and self.program.ranks > 1][:MOST_RANKS]

    def by_file(self) -> dict[int, float]:
        """Returns the seconds of I/O on each file, most first; calls on several files at once are left out."""
        files = np.concatenate([self.program.file[self.is_file], self.program.inner_file])
        seconds = np.concatenate([self.spent[self.is_file], self.program.inner_seconds])
        unique, which = np.unique(files, return_inverse=True)
        spent = np.bincount(which.reshape(-1), weights=seconds, minlength=len(unique))
        order = np.argsort(-spent, kind="stable").tolist()
        return {int(unique[place]): float(spent[place]) for place in order if spent[place] > 0 and unique[place] != 0}

    def files(self) -> list[int]:
        """Returns the files with the most I/O."""
        return list(self.by_file())[:_MOST_FILES]

    def on_files(self, files: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Returns gaps and costs with free I/O on these files (record ids); 0 stands for calls on several files."""
        ids = np.array(files, np.uint64)
        rows = np.isin(self.program.file, ids), np.isin(self.program.inner_file, ids)
        return self.graph.gap, self.cost(*rows, 0.0)

    def cost(self, calls: np.ndarray, inner: np.ndarray, factor: float) -> np.ndarray:
        """Returns the costs of calls if the chosen calls of the file system take `factor` of their time.

        A collective call in which some ranks do I/O for others becomes shorter by the time that is saved in the longest
        I/O of one rank in it.
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
        """Returns the costs of calls if MPI takes no time in them, and only the file system calls inside them take
        time.
        """
        program = self.program
        inner = np.bincount(program.inner_call, weights=program.inner_seconds, minlength=len(program))
        starts = np.array([name.startswith(("MPI_Init", "MPI_Finalize")) for name in program.functions] or [False])
        free = (program.kind == MPI) & ~starts[program.function]
        least: np.ndarray = np.where(free, np.minimum(self._of_group(inner), self.graph.cost), self.graph.cost)
        return least
