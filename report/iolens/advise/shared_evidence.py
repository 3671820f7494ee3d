"""Evidence that rules share: enough calls for a finding, and the stripes and aggregators that a file can use."""

from __future__ import annotations

import numpy as np

from iolens.advise.limits import Limits
from iolens.advise.rule import ProposedStripes
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.stripes.striping import file_stripes, reached_stripes, striped_files
from iolens.metrics.files.use import by_file, id_rows, most_first
from iolens.metrics.job.about import host_ranks
from iolens.metrics.job.spent import Spent


def is_costly(job: Job, limits: Limits, spent: Spent) -> bool:
    """Returns whether calls took a part of the run that is worth advice."""
    return spent.about >= limits["worth_gain"] * job.run_time


def enough_calls(job: Job, limits: Limits, calls: float, spent: Spent) -> bool:
    """Returns whether calls are many, or are costly although they are not many."""
    return calls >= max(1.0, limits["few_calls"]) or (calls >= limits["some_calls"] and is_costly(job, limits, spent))


_SMALLEST_UNIT = 1 << 20
"""Smallest stripe size, in bytes, that is advised."""


def filled_stripes(sizes: np.ndarray, limits: Limits) -> np.ndarray:
    """Returns, for files of these `sizes`, how many stripes they fill if each stripe holds `much_bytes`, or 1 MiB (the
    smallest stripe that is advised) if that is more.
    """
    return np.asarray(sizes // max(_SMALLEST_UNIT, limits["much_bytes"]))


def fitting_unit(unit: int, size: float, count: int) -> int:
    """Returns a stripe size with which `size` bytes reach `count` stripes: `unit`, or a smaller multiple of 1 MiB, at
    least 1 MiB.
    """
    return max(_SMALLEST_UNIT, min(unit, int(size / max(1, count)) >> 20 << 20))


def useful_aggregators(job: Job, ids: np.ndarray) -> np.ndarray:
    """Returns for each of these files how many aggregators can write it side by side; 0 if the log does not tell.

    On Lustre this is the number of stripes that hold bytes of the file, because a second client on one stripe waits for
    its lock. If the log does not know the file's layout, it is one aggregator for each node. It never exceeds the
    number of ranks.
    """
    layout, posix, places = file_stripes(job), by_file(job, "POSIX"), host_ranks(job)
    nodes = 0 if places is None else len(places)
    found = []
    for key in ids.tolist():
        most = nodes
        if layout is not None and posix is not None:
            row = int(id_rows(np.array([key], layout["id"].dtype), layout["id"])[0])
            at = int(id_rows(np.array([key], posix["id"].dtype), posix["id"])[0])
            if row < len(layout):
                size = _touched_bytes(posix, at) if at < len(posix) else 0.0
                stripes, unit = int(layout["stripes"][row]), int(layout["stripe_size"][row])
                most = reached_stripes(stripes, unit, size) if size else stripes
        found.append(min(most, max(job.nprocs, 1)))
    return np.array(found, dtype=np.int64)


def _touched_bytes(posix: Records, row: int) -> float:
    """Returns the bytes of a file up to the highest one that POSIX touched."""
    read, written = posix["MAX_BYTE_READ"][row], posix["MAX_BYTE_WRITTEN"][row]
    return float(max(read, written)) + 1


def wider_layout(job: Job, limits: Limits) -> ProposedStripes | None:
    """Returns a layout of the largest written file over as many targets as its bytes can use; None if that is one
    target, or if the log knows no layouts.
    """
    table = striped_files(job)
    if table is None or not len(table):
        return None
    first = most_first(table["BYTES_WRITTEN"])[0]
    size = float(table["size"][first])
    count = min(job.nprocs, int(limits["enough_stripes"]), int(filled_stripes(table["size"], limits)[first]))
    if count <= max(1, int(table["stripes"][first])):
        return None
    return ProposedStripes(
        count, fitting_unit(int(table["stripe_size"][first]), size, count), (int(table["id"][first]),)
    )
