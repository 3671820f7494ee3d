"""Make the rows of a pat_report table from rows of single ranks: Total > Group > Function > … > PE, each for an average
rank.

A row's value is the mean over all N ranks, whether or not they took part; a group is the sum of its functions, the
total that of its groups. Percentages are of the total at every level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.records import Records, as_records
from iolens.metrics.grouping import Groups, labelled, ordered
from iolens.metrics.processor.ask import (
    DEFAULT,
    EVERY_PE,
    NOT_KNOWN,
    PE,
    THREAD,
    Ask,
    check_levels,
    imbalance,
    imbalance_percent,
    kept,
    matching_ranks,
)

_SUMS_OF_OTHERS = ("total", "group")
"""Levels whose rows get no imbalance: the parts of such a row may be uneven in opposite ways, and their sum would hide
that.
"""

TOGETHER = "ranks known together, mean"
"""Name of the row for values that the log has only as one sum over several ranks."""


@dataclass(frozen=True)
class Measures:
    """`first` decides the order of rows and is compared with the threshold; it also has share, imbalance and the rank
    with the most. `others` are means too. `extremes` maps columns about single calls to `min` or `max`. `weighed`: the
    one among `others` to which the threshold applies in place of `first`.
    """

    first: str
    others: tuple[str, ...] = ()
    extremes: Mapping[str, str] = field(default_factory=dict)
    weighed: str = ""

    @property
    def sums(self) -> list[str]:
        """Returns the columns that are added up."""
        return [self.first, *self.others]


@dataclass(frozen=True)
class Levels:
    """`known`: the levels by which a table can be grouped; `default`: the levels if the user requests none."""

    known: tuple[str, ...]
    default: tuple[str, ...]


def answer(
    job: Job, rows: Records | pd.DataFrame | None, levels: Levels, measures: Measures, ask: Ask = DEFAULT
) -> Records | None:
    """Returns the job's rows in the form of `drill`, as requested; None without rows. Raises UsageError for an unknown
    level or column.
    """
    if rows is None or not len(rows):
        return None
    check_levels(ask.by, levels.known)
    ranks = matching_ranks(ask.where, max(job.nprocs, 1))
    return drill(kept(as_records(rows), ask.where), ask.by or levels.default, measures, ranks, ask.threshold)


def drill(
    rows: Records, by: Sequence[str], measures: Measures, ranks: int, threshold: float, whole: float | None = None
) -> Records:
    """Returns the rows of a pat_report table; `rows` have `rank`, the levels as text and the measures. A level may be
    spread over columns `name 1`, `name 2` …

    An empty text ends a row's path. It is shown as (no LEVEL) in the first level, and if other rows of the same path
    have a name. Columns of the result: depth (0: the total), level, name, the measures (means over `ranks`; extremes
    unchanged), and for the first measure share (per cent of the total), imbalance, imbalance_percent, most and
    most_rank. The row of a single rank holds that rank's own values; its share is of the sum over all ranks, so that
    the shares of ranks add up to the share of the row above them. NaN means that a value has no meaning here, or that
    only the sum of several ranks is known (rank -1). Rows of less than `threshold` per cent are left out with all rows
    below them; `left_out` is their number without the rows below them. Per cent refers to `whole` (of an average rank),
    else to the total. Where the last level is that of threads, the imbalance of the rows above is among all threads of
    all ranks.
    """
    single, wanted = by[-1] if by and by[-1] in (PE, EVERY_PE) else "", _level_columns(by, rows)
    keys = ["total", *wanted]
    rows = _without_gaps(labelled(rows, "total", "Total"), keys, by)
    rank_names = [f"pe.{rank}" if rank >= 0 else TOGETHER for rank in rows["rank"].tolist()]
    rows = rows.beside({PE: np.array(rank_names, object)})
    units = ["rank", THREAD] if keys[-1] == THREAD else ["rank"]
    each = [_per_unit(rows, keys[: depth + 1], units, measures) for depth in range(len(keys))]
    if whole is None:
        whole = float(each[0][measures.first].sum()) / max(ranks, 1)
    threads = len(Groups(*(rows[name] for name in units))) if len(units) > 1 else 0
    table = DrillTable(keys, each, measures, max(ranks, 1), whole, threshold, single, threads)
    columns = ["depth", "level", "name", *measures.sums, *measures.extremes, "share", *_UNKNOWN]
    found = Records.of(columns, [[row[name] for name in columns] for row in table.walk(("Total",), 0)])
    found.left_out = table.left_out
    return found


def _level_columns(by: Sequence[str], rows: Records) -> list[str]:
    """Returns the columns of the levels, without the last one if it is the level of single ranks."""
    columns: list[str] = []
    for place, name in enumerate(by):
        if name in (PE, EVERY_PE):
            columns += [PE] if place < len(by) - 1 else []
        elif name in rows:
            columns.append(name)
        else:
            columns += [column for column in rows.names if column.rpartition(" ")[0] == name]
    return columns


def _without_gaps(rows: Records, keys: Sequence[str], named: Sequence[str]) -> Records:
    """Returns the rows; in the `named` columns, an empty name is replaced if other rows of the same path have a name,
    so that the rows add up.
    """
    for depth in range(1, len(keys)):
        key, path = keys[depth], keys[:depth]
        if key not in named or key not in rows or not (rows[key] == "").any():
            continue
        same = Groups(*(rows[above] for above in path))
        some = (same.sum((rows[key] != "").astype(int)) > 0)[same.place]
        lacking = (rows[key] == "") & (rows[path[-1]] != "") & (some | (depth == 1))
        rows = rows.beside({key: np.where(lacking, f"(no {key})", rows[key])})
    return rows


def _per_unit(rows: Records, keys: list[str], units: list[str], measures: Measures) -> Records:
    """Returns the measures of each path at one depth, added up for each unit: a rank, or a thread of a rank."""
    part = rows.where(rows[keys[-1]] != "")
    same = Groups(*(part[key] for key in dict.fromkeys([*keys, *units])))
    sums = {name: same.sum(part[name]) for name in measures.sums}
    extremes = {name: getattr(same, how)(part[name]) for name, how in measures.extremes.items()}
    return part.take(*dict.fromkeys([*keys, *units])).where(same.first).beside(sums | extremes)


class DrillTable:
    """Computes the rows of a table that is grouped by several levels, from the sums at each level."""

    def __init__(
        self,
        keys: list[str],
        each: Sequence[Records],
        measures: Measures,
        ranks: int,
        whole: float,
        threshold: float,
        single: str,
        threads: int = 0,
    ) -> None:
        self.keys, self.measures, self.ranks, self.threads = keys, measures, ranks, threads
        self.whole, self.threshold, self.single = whole, threshold, single
        self.left_out = 0
        self.nodes: dict[tuple[str, ...], Records] = {}
        self.below: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for depth, sums in enumerate(each):
            named = keys[: depth + 1]
            same = Groups(*(sums[key] for key in named))
            paths = sums.where(same.first).rows(*named)
            for path, rows in zip(paths, same.parts(np.arange(len(sums))), strict=True):
                self.nodes[path] = sums.where(rows)
                self.below.setdefault(path[:-1], []).append(path)

    def mean(self, path: tuple[str, ...]) -> float:
        """Returns the first measure of an average rank."""
        return float(self.nodes[path][self.measures.first].sum()) / self.ranks

    def weight(self, path: tuple[str, ...]) -> float:
        """Returns the value of an average rank that is compared with the threshold."""
        return float(self.nodes[path][self.measures.weighed or self.measures.first].sum()) / self.ranks

    def share(self, value: float) -> float:
        """Returns the value in per cent of the total."""
        return 100.0 * value / self.whole if self.whole else NOT_KNOWN

    def children(self, path: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Returns the paths below a path, the largest first, without those under the threshold."""
        found = sorted(self.below.get(path, ()), key=lambda one: (-self.mean(one), one))
        return [one for one in found if not self.share(self.weight(one)) < self.threshold]

    def walk(self, path: tuple[str, ...], depth: int) -> Iterator[dict[str, Any]]:
        """Yields the row of a path and all rows below it."""
        if path not in self.nodes:
            return
        children = self.children(path)
        self.left_out += len(self.below.get(path, ())) - len(children)
        yield self.row(path, depth, children)
        for child in children:
            yield from self.walk(child, depth + 1)
        if self.single and not self.below.get(path):
            yield from self.pe_rows(path, depth + 1)

    def row(self, path: tuple[str, ...], depth: int, children: Sequence[tuple[str, ...]]) -> dict[str, Any]:
        """Returns one row of an average rank; a group with only one function shown repeats the function's imbalance, as
        pat_report does.
        """
        level, node = self.keys[depth], self.nodes[path]
        values = {name: float(node[name].sum()) / self.ranks for name in self.measures.sums}
        values |= {name: float(getattr(node[name], how)()) for name, how in self.measures.extremes.items()}
        says = level not in _SUMS_OF_OTHERS or len(self.keys) == (2 if self.threads else 1)
        uneven = node if says else self.nodes[children[0]] if level == "group" and len(children) == 1 else None
        return {
            "depth": depth,
            "level": level.rpartition(" ")[0] or level,
            "name": path[-1],
            **values,
            "share": self.share(values[self.measures.first]),
            **(_UNKNOWN if uneven is None else self.unevenness(uneven, self.threads * (level != THREAD) or self.ranks)),
        }

    def unevenness(self, node: Records, units: int) -> dict[str, float]:
        """Returns the imbalance over `units` ranks or threads; those without a row count as 0."""
        values, ranks = node[self.measures.first], node["rank"]
        if (ranks < 0).any() or not len(values):
            return _UNKNOWN
        most, mean = float(values.max()), float(values.sum()) / units
        return {
            "imbalance": imbalance(most, mean) if units > 1 else NOT_KNOWN,
            "imbalance_percent": imbalance_percent(most, mean, units),
            "most": most,
            "most_rank": float(ranks[values.argmax()]),
        }

    def pe_rows(self, path: tuple[str, ...], depth: int) -> Iterator[dict[str, Any]]:
        """Yields the rows of single ranks: all of them, or those with the largest, the median (the lower of two) and
        the smallest value.

        Ranks that did not take part have no row.
        """
        node = ordered(ordered(self.nodes[path], "rank"), f"-{self.measures.first}")
        known, others = node.where(node["rank"] >= 0), node.where(node["rank"] < 0)
        chosen = dict.fromkeys(range(len(known)), "")
        if self.single == PE and len(known) > 1:
            chosen = {0: "max", len(known) // 2: "median", len(known) - 1: "min"}
        for place, what in chosen.items():
            yield self.pe_row(known, place, f"pe.{known['rank'][place]}" + (f" ({what})" if what else ""), depth, 1)
        for place in range(len(others)):
            yield self.pe_row(others, place, TOGETHER, depth, self.ranks)

    def pe_row(self, node: Records, place: int, name: str, depth: int, ranks: int) -> dict[str, Any]:
        """Returns the row of one rank. With `ranks` above 1 the row has the mean over these ranks, of values that are
        known only as a sum.
        """
        numbers = {column: float(node[column][place]) / ranks for column in self.measures.sums}
        numbers |= {column: float(node[column][place]) for column in self.measures.extremes}
        share = self.share(float(node[self.measures.first][place]) / self.ranks)
        return {"depth": depth, "level": PE, "name": name, **numbers, "share": share, **_UNKNOWN}


_UNKNOWN = dict.fromkeys(("imbalance", "imbalance_percent", "most", "most_rank"), NOT_KNOWN)
