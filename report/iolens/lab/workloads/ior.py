"""The bundled IOR (workloads/ior)."""

from __future__ import annotations

from collections.abc import Sequence

from iolens.lab.workloads.workload import Workload, size_of


def _bytes_of_blocks(arguments: Sequence[str], ranks: int) -> int | None:
    """Returns the bytes that a run writes: a block of each rank in each segment, and with -m a file for each
    repetition. Returns None for the tests of a script, which is not read.
    """
    if {"-f", "--scriptFile"} & set(arguments):
        return None
    block = size_of(arguments, 2**20, "-b", "--blockSize")
    files = size_of(arguments, 1, "-i", "--repetitions") if {"-m", "--multiFile"} & set(arguments) else 1
    return ranks * block * size_of(arguments, 1, "-s", "--segmentCount") * files


IOR = Workload(program="ior", metrics=("write_bandwidth", "read_bandwidth"), keep_option="-k", volume=_bytes_of_blocks)
