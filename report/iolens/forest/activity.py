"""The times at which processes ran and moved bytes, on one axis: seconds since the first process began."""

from __future__ import annotations

import numpy as np

from iolens.forest.forest import Forest
from iolens.forest.tree import tree_of
from iolens.lazy import pd

_ROWS, _BINS = 64, 200
_HOUR = 3600.0


def end_of(forest: Forest) -> float:
    """Returns the time at which the last process ended."""
    seconds = np.array([each.seconds for each in forest.processes])
    return float((tree_of(forest).start + seconds).max())


def idle(forest: Forest) -> float:
    """Returns the time in which no process ran, between the first begin and the last end, in seconds."""
    start = tree_of(forest).start
    order = np.argsort(start, kind="stable")
    ends = np.maximum.accumulate((start + np.array([each.seconds for each in forest.processes]))[order])
    return float(np.maximum(start[order][1:] - ends[:-1], 0.0).sum())


def is_one_job(forest: Forest) -> bool:
    """Returns False if nothing ran for more than an hour and for more than half of the time, because the logs are then
    of several jobs.
    """
    return idle(forest) <= max(_HOUR, end_of(forest) / 2)


def _order_of(forest: Forest) -> np.ndarray:
    """Returns processes in the order of the tree: by group, then by begin."""
    tree = tree_of(forest)
    order: np.ndarray = np.lexsort((tree.start, tree.group))
    return order


def bytes_over_time(forest: Forest) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Returns bytes written and read, arrays (rows of neighbouring processes in the tree, bins), and the bins' width.

    A log's bin that overlaps several of these bins is spread evenly over them; sums stay the same. A log without bytes
    over time is left out. None if no log has bytes over time.
    """
    count, length = len(forest.processes), end_of(forest)
    each = -(-count // _ROWS)
    row = np.empty(count, int)
    row[_order_of(forest)] = np.arange(count) // each
    written, read = (np.zeros((-(-count // each), _BINS)) for _ in range(2))
    width = max(length, 1e-9) / _BINS
    start = tree_of(forest).start
    for number, heat in enumerate(forest.heat):
        if len(heat):
            begin, end = ((start[number] + heat["width"] * (heat["bin"] + after)) / width for after in (0, 1))
            _spread_over_bins(written[row[number]], heat["written"], begin, end)
            _spread_over_bins(read[row[number]], heat["read"], begin, end)
    return (written, read, width) if written.any() or read.any() else None


def _spread_over_bins(line: np.ndarray, values: np.ndarray, begin: np.ndarray, end: np.ndarray) -> None:
    """Spreads each value evenly over the bins of `line` from its begin to its end, which are given in bins; values of 0
    add nothing.
    """
    for place in np.flatnonzero(values > 0).tolist():
        low, high = float(begin[place]), float(min(end[place], len(line)))
        low = min(low, len(line) - 1e-6)
        high = max(high, low + 1e-9)
        first, last = int(low), min(int(np.ceil(high)), len(line))
        bins = np.arange(first, max(last, first + 1))
        parts = np.minimum(bins + 1, high) - np.maximum(bins, low)
        line[bins] += values[place] * parts / parts.sum()


def running(forest: Forest, most: int = 6) -> pd.DataFrame:
    """Returns the number of running processes over time: a row per bin, a column per group with its label (those with
    most time; the rest together as `others`), the average number in the bin; the index is the bin's start in
    seconds.
    """
    tree = tree_of(forest)
    seconds = np.array([each.seconds for each in forest.processes])
    width = max(end_of(forest), 1e-9) / _BINS
    spent: dict[str, float] = {}
    labels = [tree.labels[group] for group in tree.group]
    for name, long in zip(labels, seconds.tolist(), strict=True):
        spent[name] = spent.get(name, 0.0) + long
    chosen = sorted(spent, key=lambda name: -spent[name])[: most if len(spent) <= most else most - 1]
    table = {name: np.zeros(_BINS) for name in [*chosen, *(["others"] if len(spent) > len(chosen) else [])]}
    edges = np.arange(_BINS + 1) * width
    for name, begin, long in zip(labels, tree.start.tolist(), seconds.tolist(), strict=True):
        inside = np.minimum(edges[1:], begin + long) - np.maximum(edges[:-1], begin)
        table[name if name in table else "others"] += np.maximum(inside, 0) / width
    return pd.DataFrame(table, index=pd.Index(edges[:-1], name="start"))
