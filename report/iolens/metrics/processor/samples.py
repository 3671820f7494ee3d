"""Samples: where the time went by group, function, line, thread, region and chain of callers."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, Ask
from iolens.metrics.processor.drill import Levels, Measures, answer
from iolens.metrics.processor.groups import (
    BLAS,
    ETC,
    FFT,
    HEAP,
    MATH,
    MPI,
    MPIIO,
    OMP,
    POSIX,
    STDIO,
    STRING,
    TOOL,
    USER,
    group_of,
    mpi_name,
)
from iolens.metrics.processor.nodes import DEEPEST, NO_NODE, ROOTS, Nodes, nodes
from iolens.metrics.processor.private import table
from iolens.metrics.processor.regions import region_paths

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

HELD = frozenset((MPI, MPIIO, POSIX, STDIO, BLAS, FFT, OMP))
"""Groups whose call owns whatever runs below it."""

ENTRY = frozenset((MATH, HEAP, STRING, ETC, TOOL))
"""Groups that give way to one of `HELD` further in: HDF5 calls MPI-IO, and that is what the time is of."""

LEVELS = Levels(("group", "function", "source", "line", "caller", "region", "thread", "state"), ("group", "function"))
SAMPLES = Measures("samples")


@once_per_job
def profile(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """Samples of an average rank by group and function: rows of `drill`, all threads of a rank together.

    A sample belongs to the user's own function that was running, or to the library call that the innermost one made:
    `MPI_Allreduce`, `pwrite`, `dgemm_`, `sin`; of nested ones to the outermost of MPI, I/O, BLAS, FFT and OpenMP.
    """
    found: pd.DataFrame | None = answer(job, sample_rows(job), LEVELS, SAMPLES, ask)
    return found


@once_per_job
def lines(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """`profile` down to source files and lines, of functions whose program has debug information."""
    levels = Levels(LEVELS.known, ("group", "function", "source", "line"))
    found: pd.DataFrame | None = answer(job, sample_rows(job), levels, SAMPLES, ask)
    return found


@once_per_job
def callers(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """`profile` from the inside to the outside: each function, who called it, and who called that."""
    levels = Levels(LEVELS.known, ("function", "caller"))
    found: pd.DataFrame | None = answer(job, sample_rows(job), levels, SAMPLES, ask)
    return found


@once_per_job
def calltree(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """From the main function to the inside; a row's samples are its own and those of all it called."""
    levels = Levels((*LEVELS.known, "frame"), ("frame",))
    found: pd.DataFrame | None = answer(job, sample_rows(job), levels, SAMPLES, ask)
    return found


@once_per_job
def sample_rows(job: Job) -> pd.DataFrame | None:
    """The private table `samples` with group, function, source, line, `caller 1` …, and from the outside `frame 1` …"""
    import pandas as pd

    rows, known = table(job, "samples"), nodes(job)
    if rows is None:
        return None
    place = {} if known is None else known.place
    at = [place.get(key, NO_NODE) for key in zip(rows["rank"].tolist(), rows["node"].tolist(), strict=True)]
    found = rows[["rank"]].assign(
        samples=rows["count"],
        thread=[f"thread {number}" for number in rows["thread"]],
        region=region_paths(job, rows["rank"], rows["region"]),
        state=np.where(rows["kind"] == 0, "running", "blocked or not known"),
    )
    if known is None:
        return found.assign(group=ETC, function="(chain not kept)", source="", line="")
    places = Places(known)
    described = pd.DataFrame([places.describe(row) for row in at], index=found.index)
    chains = [places.chain(row) for row in at]
    depth = max(map(len, chains), default=0)
    spread = {f"frame {n + 1}": [chain[n] if n < len(chain) else "" for chain in chains] for n in range(depth)}
    spread |= {f"caller {n}": [chain[-n - 1] if n < len(chain) else "" for chain in chains] for n in range(1, depth)}
    return pd.concat([found, described, pd.DataFrame(spread, index=found.index)], axis=1)


class Places:
    """To which function each node's samples belong, found once per node."""

    def __init__(self, known: Nodes) -> None:
        self.known = known
        self.owners: dict[int, tuple[str, str, int]] = {NO_NODE: ("", "", NO_NODE)}
        self.chains: dict[int, tuple[str, ...]] = {NO_NODE: ()}

    def path(self, row: int) -> list[int]:
        """The rows of a chain from the outside, at most DEEPEST of the innermost."""
        found: list[int] = []
        while row != NO_NODE and len(found) < DEEPEST:
            found.append(row)
            row = int(self.known.parent[row])
        return found[::-1]

    def owner(self, row: int) -> tuple[str, str, int]:
        """Group, function, and the row of the frame that it is of."""
        if row not in self.owners:
            state = self.owners[NO_NODE]
            for one in self.path(row):
                state = self.owners.get(one) or self.next(state, one)
                self.owners[one] = state
        return self.owners[row]

    def next(self, outer: tuple[str, str, int], row: int) -> tuple[str, str, int]:
        """The owner of a frame, from that of the frame that called it."""
        function = self.known.function[row]
        group = group_of(function, self.known.object[row])
        keeps = outer[0] in HELD or (outer[0] in ENTRY and group not in HELD)
        if group != USER and keeps:
            return outer
        return group, mpi_name(function) or function, row

    def describe(self, row: int) -> dict[str, str]:
        """group, function, source and line of a sample."""
        group, function, owner = self.owner(row)
        if row == NO_NODE:
            return {"group": ETC, "function": "(chain not kept)", "source": "", "line": ""}
        own = group == USER and self.known.source[owner]
        source = PurePosixPath(self.known.source[owner]).name if own else ""
        return {"group": group, "function": function, "source": source, "line": self.line(owner) if own else ""}

    def line(self, row: int) -> str:
        """A line of source as text."""
        number = int(self.known.line[row])
        return f"line {number}" if number else ""

    def chain(self, row: int) -> tuple[str, ...]:
        """The functions from `main` to the one that a sample belongs to."""
        _, _, owner = self.owner(row)
        if owner not in self.chains:
            names = [mpi_name(name) or name for name in (self.known.function[one] for one in self.path(owner))]
            begin = max((place for place, name in enumerate(names) if name in ROOTS), default=0)
            self.chains[owner] = tuple(names[begin:])
        return self.chains[owner]
