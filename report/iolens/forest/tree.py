"""The tree of the processes by who started whom, with equal processes folded into groups."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

import numpy as np

from iolens.forest.forest import Forest, Process
from iolens.lazy import pd

_INTERPRETER = re.compile(r"(python|pypy|perl|ruby|node|Rscript|julia|lua|bash|dash|sh|zsh|ksh|csh|tcsh)[\d.]*$")
_WORKERS = (
    ("--multiprocessing-fork", "multiprocessing worker"),
    ("multiprocessing.resource_tracker", "multiprocessing resource tracker"),
    ("multiprocessing.forkserver", "multiprocessing fork server"),
)
"""The text in the command of a process that Python's multiprocessing starts anew, and the label of such a process."""


def label(command: str, forked: bool) -> str:
    """Returns a label such as `gcc`, `python train.py`, `python -m pytest` or `bash -c`. `forked` is True for a child
    of fork, which keeps the command of its parent.
    """
    words = command.split()
    if not words:
        return "unknown program"
    name = PurePosixPath(words[0]).name or words[0]
    return f"{name}{_script(name, words[1:])}{' (forked)' if forked else ''}"


def _script(name: str, words: Sequence[str]) -> str:
    """Returns the script (or module, or option such as `-c`) that an interpreter runs, after a space; empty for other
    programs.
    """
    if not _INTERPRETER.match(name.lstrip("-")):
        return ""
    line = " ".join(words)
    for mark, kind in _WORKERS:
        if mark in line:
            return f" ({kind})"
    for place, word in enumerate(words):
        if word == "-m" and place + 1 < len(words):
            return f" -m {words[place + 1]}"
        if word in ("-c", "-e"):
            return f" {word}"
        if not word.startswith("-"):
            return f" {PurePosixPath(word).name}"
    return ""


_SLACK = 1e-3
"""Seconds by which a child may appear to begin before its parent."""


@dataclass(frozen=True, eq=False)
class ProcessTree:
    """The tree of processes. For each process: `start` in seconds since the first one began, by aligned clocks;
    `parent`, the number of a process, or -1 if no ancestor has a log; `gap`, the number of ancestors between the two
    that left no log; `group`; and `skew`, the correction of its clock in seconds (`process_clocks`). Groups are
    numbered in the order of the tree: `labels`, `depth`, and `above`, the group of their parents or -1.
    """

    start: np.ndarray
    parent: np.ndarray
    gap: np.ndarray
    group: np.ndarray
    labels: tuple[str, ...]
    depth: tuple[int, ...]
    above: tuple[int, ...]
    skew: np.ndarray


@cache
def tree_of(forest: Forest) -> ProcessTree:
    """Returns the tree of a forest's processes."""
    skew = process_clocks(forest.processes)
    start = np.array([each.start for each in forest.processes]) + skew
    start = start - start.min()
    parent, gap = _parents(forest.processes, start)
    group, labels, above = _process_groups(forest.processes, parent, start)
    order = _depth_first(above, _first_starts(group, start, len(labels)))
    place = np.empty(len(order), int)
    place[order] = np.arange(len(order))
    new_above = [int(place[above[old]]) if above[old] >= 0 else -1 for old in order]
    depth: list[int] = []
    for each in new_above:
        depth.append(depth[each] + 1 if each >= 0 else 0)
    labels = [labels[old] for old in order]
    return ProcessTree(start, parent, gap, place[group], tuple(labels), tuple(depth), tuple(new_above), skew)


def process_clocks(processes: tuple[Process, ...]) -> np.ndarray:
    """Returns the seconds to add to the start of each process, so that all processes of a host have one clock.

    A host's realtime clock may be set while a job runs; its monotonic clock is not. The difference of both is taken as
    the host's median for all of its processes. Clocks of different hosts are left as they are.
    """
    by_host: dict[str, list[float]] = defaultdict(list)
    for each in processes:
        if each.clock is not None:
            by_host[each.host].append(each.clock)
    middle = {host: float(np.median(values)) for host, values in by_host.items()}
    return np.array([0.0 if each.clock is None else middle[each.host] - each.clock for each in processes])


def _parents(processes: tuple[Process, ...], start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the nearest ancestor with a log, and the number of ancestors without a log in between.

    A process id may be reused: of several processes with the id, the one that began last before the child counts.
    """
    with_id: dict[tuple[str, int], list[int]] = defaultdict(list)
    for number in np.argsort(start, kind="stable").tolist():
        with_id[processes[number].host, processes[number].pid].append(number)
    parent, gap = np.full(len(processes), -1), np.zeros(len(processes), int)
    for number, each in enumerate(processes):
        for distance, pid in enumerate(each.above):
            known = with_id.get((each.host, pid), ())
            before = [other for other in known if other != number and start[other] <= start[number] + _SLACK]
            if before:
                parent[number], gap[number] = before[-1], distance
                break
    return parent, gap


def _process_groups(
    processes: tuple[Process, ...], parent: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, list[str], list[int]]:
    """Returns the group of each process, the groups' labels, and the groups above them.

    Processes with the same label whose parents are in the same group are one group.
    """
    known: dict[tuple[int, str], int] = {}
    labels: list[str] = []
    above: list[int] = []
    group = np.full(len(processes), -1)
    for number in _top_down(parent, start):
        over = int(group[parent[number]]) if parent[number] >= 0 else -1
        name = label(processes[number].command, processes[number].forked)
        if (over, name) not in known:
            known[over, name] = len(labels)
            labels.append(name)
            above.append(over)
        group[number] = known[over, name]
    return group, labels, above


def _top_down(parent: np.ndarray, start: np.ndarray) -> list[int]:
    """Returns numbers of processes, parents before their children."""
    children: dict[int, list[int]] = defaultdict(list)
    for number in np.argsort(start, kind="stable").tolist():
        children[int(parent[number])].append(number)
    order, queue = [], children[-1]
    while queue:
        order += queue
        queue = [child for number in queue for child in children[number]]
    return order


def _first_starts(group: np.ndarray, start: np.ndarray, count: int) -> np.ndarray:
    """Returns the time at which the first process of each group began."""
    first = np.full(count, np.inf)
    np.minimum.at(first, group, start)
    return first


def _depth_first(above: list[int], first: np.ndarray) -> list[int]:
    """Returns the groups in the order of the tree: each one is followed by its children, in the order of their
    start.
    """
    children: dict[int, list[int]] = defaultdict(list)
    for number in np.argsort(first, kind="stable").tolist():
        children[above[number]].append(number)
    order, stack = [], children[-1][::-1]
    while stack:
        number = stack.pop()
        order.append(number)
        stack += children[number][::-1]
    return order


def process_names(forest: Forest) -> pd.Series[str]:
    """Returns a name such as `3 × gcc` for each group, with the group's number as index."""
    tree = tree_of(forest)
    counts = np.bincount(tree.group, minlength=len(tree.labels))
    return pd.Series([name if n == 1 else f"{n:,} × {name}" for name, n in zip(tree.labels, counts, strict=True)])
