"""The MPI functions that Darshan's module APMPI timed, for logs whose MPI calls were not traced."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.format.apmpi import CALLS, TIME
from iolens.log.records import Records
from iolens.metrics.grouping import ordered
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.mpi.calls import mpi_rows
from iolens.metrics.processor.sampled.parts import mpi_part


@once_per_job
def function_seconds(job: Job) -> dict[str, np.ndarray]:
    """Returns the seconds of each rank in each MPI function by name; empty if the log has no APMPI records, or if MPI
    was traced.
    """
    rows, ranks = job.records.get("APMPI"), max(1, job.nprocs)
    if rows is None or mpi_rows(job) is not None:
        return {}
    who = rows["rank"].astype(np.int64)
    known = (who >= 0) & (who < ranks)
    return {
        name.removeprefix(TIME): np.bincount(who[known], np.maximum(rows[name][known], 0.0), ranks)
        for name in rows.names
        if name.startswith(TIME)
    }


@once_per_job
def mpi_functions(job: Job) -> Records | None:
    """Returns one row per MPI function that Darshan's module APMPI timed, most time first.

    Columns: function, part (of the time: point-to-point, collective …), seconds and calls (of an average rank), least,
    least_rank, most and most_rank (seconds). The calls by which an MPI-IO library exchanges data are among them. None
    without the module, and if MPI was traced: then `mpi_calls` has more.
    """
    spent = function_seconds(job)
    if not spent:
        return None
    names, each = np.array(list(spent), object), np.array(list(spent.values()))
    calls = np.array([job.records["APMPI"][f"{CALLS}{name}"].sum() for name in spent]) / max(1, job.nprocs)
    found = Records(
        {
            "function": names,
            "part": mpi_part(names),
            "seconds": each.mean(axis=1),
            "calls": calls,
            "least": each.min(axis=1),
            "least_rank": each.argmin(axis=1),
            "most": each.max(axis=1),
            "most_rank": each.argmax(axis=1),
        }
    )
    return ordered(found, "-seconds")
