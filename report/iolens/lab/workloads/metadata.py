"""Many small files that are created, examined, read and removed (workloads/metadata); the program uses no MPI-IO, so it
takes no hints.
"""

from __future__ import annotations

from collections.abc import Sequence

from iolens.lab.workloads.workload import Workload, size_of, value_of


def _bytes_of_items(arguments: Sequence[str], ranks: int) -> int | None:
    """Returns the bytes of all files; None with a preset, whose sizes only the program knows."""
    if value_of(arguments, "--preset"):
        return None
    return ranks * size_of(arguments, 1000, "-n", "--items") * size_of(arguments, 0, "-w", "--write-bytes")


METADATA = Workload("metadata", ("latency", "read_bandwidth"), hint_option=None, volume=_bytes_of_items)
