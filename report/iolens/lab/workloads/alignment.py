"""Strided collective writes with file domains of three kinds (workloads/alignment)."""

from __future__ import annotations

from collections.abc import Sequence

from iolens.lab.workloads.workload import Workload, size_of


def _bytes_of_transfers(arguments: Sequence[str], ranks: int) -> int:
    """Returns the bytes that a run writes: one transfer of each rank in each collective call."""
    return ranks * size_of(arguments, 1_000_000, "-t", "--transfer") * size_of(arguments, 32, "-s", "--segments")


ALIGNMENT = Workload(
    "alignment", ("write_bandwidth", "read_bandwidth"), keep_option="--keep", volume=_bytes_of_transfers
)
