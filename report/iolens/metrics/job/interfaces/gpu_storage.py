"""Transfers between storage and GPUs, as cuFile and hipFile counted them, from the private region `gpu_storage`."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.once import once_per_job

_REASONS = {
    0: "no transfers",
    -1: "was unloaded or had ended before the profiler asked it",
    -2: "crashed when the profiler asked it",
    -3: "did not answer within 2 s",
    -4: "could not be asked: no process could be started for it",
    -5: "keeps no statistics",
    -6: "gave contradictory numbers; perhaps iolens does not know its version",
}
"""Explanations of the negative values in the column `error`, by which the profiler says why it has no numbers. All
other values are error codes of the library.
"""


@once_per_job
def gpu_storage(job: Job) -> Records:
    """Returns one row per rank and GPU: `rank`, `library`, `gpu`, `bytes_read`, `reads`, `posix_reads` (through memory
    of the processor), `bytes_written`, `writes`, `posix_writes`, and `read_seconds` and `write_seconds`, which are
    sums made by the library. NaN if the library reported nothing; `lacks` says why.
    """
    table = job.tables.get("gpu_storage", Records({}))
    if not len(table):
        return Records({})
    counts = "bytes_read reads posix_reads bytes_written writes posix_writes read_seconds write_seconds".split()
    told = table["gpu"] >= 0
    known = {name: np.where(told, table[name], np.nan) for name in counts}
    lacks = ["" if gpu >= 0 else _silence_reason(error) for gpu, error in table.rows("gpu", "error")]
    gpus = np.where(told, table["gpu"], np.nan)
    return table.take("rank", "library").beside({"gpu": gpus} | known | {"lacks": np.array(lacks, dtype=object)})


def _silence_reason(error: int) -> str:
    """Returns the reason why the library reported nothing."""
    return _REASONS.get(error, f"no statistics of level 3 (error {error})")
