"""Call chains: the names of their frames, who called whom, and to which group of functions a frame belongs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.once import once_per_job
from iolens.metrics.processor.private import table

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

NO_NODE = -1
DEEPEST = 64
"""Frames of a chain that are looked at."""

ROOTS = frozenset(("main", "MAIN__"))
"""Where a program begins: what called it says nothing."""


@dataclass(frozen=True)
class Nodes:
    """The nodes of all ranks in one row each: `place` finds a node by rank and number, `parent` is a row or -1.

    `function`, `source`, `line` (0: not known) and `object` (a path) are those of `job.private["call_frames"]`, which
    holds what the addresses were resolved to; without it a function is `library+0xaddress`.
    """

    place: dict[tuple[int, int], int]
    parent: np.ndarray
    function: list[str]
    source: list[str]
    line: np.ndarray
    object: list[str]


@once_per_job
def nodes(job: Job) -> Nodes | None:
    """The private table `call_nodes` with names; None where the log has none."""
    rows = table(job, "call_nodes")
    if rows is None:
        return None
    keys = list(zip(rows["rank"].tolist(), rows["node"].tolist(), strict=True))
    place = {key: row for row, key in enumerate(keys)}
    parents = zip(rows["rank"].tolist(), rows["parent"].tolist(), strict=True)
    parent = np.array([place.get(key, NO_NODE) for key in parents], dtype=np.int64)
    objects = object_paths(job)
    paths = [objects.get(key, "") for key in zip(rows["rank"].tolist(), rows["object"].tolist(), strict=True)]
    names = [address(path, offset) for path, offset in zip(paths, rows["offset"].tolist(), strict=True)]
    sources, numbers = [""] * len(names), np.zeros(len(names), dtype=np.int64)
    frames = table(job, "call_frames")
    if frames is not None:
        columns = ("rank", "node", "function", "source", "line")
        for rank, node, function, source, line in zip(*(frames[name].tolist() for name in columns), strict=True):
            row = place.get((rank, node))
            if row is not None:
                names[row], sources[row], numbers[row] = function or names[row], source, line
    return Nodes(place, parent, names, sources, numbers, paths)


def object_paths(job: Job) -> dict[tuple[int, int], str]:
    """The files that addresses lie in, by rank and number."""
    rows = table(job, "objects")
    if rows is None:
        return {}
    return dict(
        zip(zip(rows["rank"].tolist(), rows["object"].tolist(), strict=True), rows["path"].tolist(), strict=True)
    )


def address(path: str, offset: int) -> str:
    """A place without a name."""
    return f"{PurePosixPath(path).name}+{offset:#x}" if path else f"{offset:#x}"


def with_callers(job: Job, rows: pd.DataFrame) -> pd.DataFrame:
    """`rows` (rank, node) with the functions of their chains, from the inside: `caller 1`, `caller 2` …

    Empty: no more. A chain ends with the program's main function.
    """
    known = nodes(job)
    if known is None:
        return rows.assign(**{"caller 1": ""})
    keys = zip(rows["rank"].tolist(), rows["node"].tolist(), strict=True)
    at = np.array([known.place.get(key, NO_NODE) for key in keys], dtype=np.int64)
    names = np.array([*known.function, ""], dtype=object)
    parent = np.append(known.parent, NO_NODE)
    columns: dict[str, object] = {}
    while len(columns) < DEEPEST and (at != NO_NODE).any():
        each = names[at]
        columns[f"caller {len(columns) + 1}"] = each
        at = np.where([name in ROOTS for name in each], NO_NODE, parent[at])
    return rows.assign(**(columns or {"caller 1": ""}))
