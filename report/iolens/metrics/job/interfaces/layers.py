"""The reported layers of I/O, and the counters of Darshan that mean the same in each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from iolens.lazy import pd

if TYPE_CHECKING:
    from iolens.log.records import Records

    Table: TypeAlias = pd.DataFrame | Records

MIB = 1 << 20


@dataclass(frozen=True)
class Layer:
    """A module with reads and writes: its counters' prefix, and the counters of each kind of operation.

    `sized` tells whether the layer keeps a histogram of access sizes, `offsets` whether it keeps the highest
    offset of a file.
    """

    name: str
    prefix: str
    operations: Mapping[str, tuple[str, ...]]
    sized: bool = False
    offsets: bool = False


LAYERS: dict[str, Layer] = {
    layer.name: layer
    for layer in (
        Layer(
            "POSIX",
            "POSIX",
            {
                "read": ("READS",),
                "write": ("WRITES",),
                "open": ("OPENS",),
                "stat": ("STATS",),
                "seek": ("SEEKS",),
                "mmap": ("MMAPS",),
                "fsync": ("FSYNCS", "FDSYNCS"),
            },
            sized=True,
            offsets=True,
        ),
        Layer(
            "MPI-IO",
            "MPIIO",
            {
                "independent read": ("INDEP_READS", "NB_READS"),
                "independent write": ("INDEP_WRITES", "NB_WRITES"),
                "independent open": ("INDEP_OPENS",),
                "collective read": ("COLL_READS", "SPLIT_READS"),
                "collective write": ("COLL_WRITES", "SPLIT_WRITES"),
                "collective open": ("COLL_OPENS",),
                "sync": ("SYNCS",),
            },
            sized=True,
        ),
        Layer(
            "STDIO",
            "STDIO",
            {
                "read": ("READS",),
                "write": ("WRITES",),
                "open": ("OPENS",),
                "seek": ("SEEKS",),
                "flush": ("FLUSHES",),
            },
            offsets=True,
        ),
        Layer(
            "H5D",
            "H5D",
            {"read": ("READS",), "write": ("WRITES",), "open": ("OPENS",), "flush": ("FLUSHES",)},
            sized=True,
        ),
        Layer(
            "PNETCDF_VAR",
            "PNETCDF_VAR",
            {
                "independent read": ("INDEP_READS", "NB_READS"),
                "independent write": ("INDEP_WRITES", "NB_WRITES"),
                "collective read": ("COLL_READS",),
                "collective write": ("COLL_WRITES",),
                "open": ("OPENS",),
            },
            sized=True,
        ),
        Layer(
            "DFS", "DFS", {"read": ("READS", "READXS"), "write": ("WRITES", "WRITEXS"), "open": ("OPENS",)}, sized=True
        ),
        Layer(
            "DAOS",
            "DAOS",
            {
                "read": ("OBJ_FETCHES", "ARRAY_READS", "KV_GETS"),
                "write": ("OBJ_UPDATES", "ARRAY_WRITES", "KV_PUTS"),
                "open": ("OBJ_OPENS", "ARRAY_OPENS", "KV_OPENS"),
            },
            sized=True,
        ),
    )
}
"""The layers in the order in which they are shown."""


def total(frame: Table, *columns: str) -> int | None:
    """Returns the sum of counters over all records; None if they were not recorded (-1 in every record)."""
    values = [np.asarray(frame[column]) for column in columns if column in frame]
    recorded = [each for each in values if (each >= 0).any()]
    if not recorded:
        return None if len(frame) else 0
    return sum(int(np.maximum(each, 0).sum()) for each in recorded)


def seconds(frame: Table, column: str) -> float:
    """Returns the sum of a column of times over all records, in seconds; values that were not recorded (-1)
    count as 0.
    """
    return float(np.maximum(np.asarray(frame[column]), 0).sum())


def io_time(frame: Table, prefix: str) -> np.ndarray:
    """Returns read, write and metadata time of each record together, in seconds; values that were not recorded (-1)
    count as 0.
    """
    times = [np.maximum(np.asarray(frame[f"{prefix}_F_{kind}_TIME"]), 0.0) for kind in ("READ", "WRITE", "META")]
    return np.asarray(times[0] + times[1] + times[2])
