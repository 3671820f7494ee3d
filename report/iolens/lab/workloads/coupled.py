"""A model with a rank that reads and one that writes (workloads/coupled)."""

from __future__ import annotations

from collections.abc import Sequence

from iolens.lab.workloads.workload import Workload, size_of


def _bytes_of_history(arguments: Sequence[str], ranks: int) -> int:
    """Returns the bytes that the last rank writes in all steps."""
    return size_of(arguments, 10, "-s", "--steps") * size_of(arguments, 4 << 20, "-w", "--history")


COUPLED = Workload(
    "coupled",
    ("write_bandwidth",),
    hint_option=None,
    keep_option="--keep",
    volume=_bytes_of_history,
    refuses=lambda arguments, ranks: "it needs at least 3 ranks" if ranks < 3 else None,
)
