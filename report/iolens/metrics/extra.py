"""Calls on files that Darshan has no counters for, from the private regions `posix_extra` and `mpiio_extra`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

KEYS = ("file", "rank", "seconds")


@once_per_job
def other_calls(job: Job) -> pd.DataFrame:
    """One row per kind of call that occurred: `call` (plural, as in the region), `count` and `files` over all ranks."""
    import pandas as pd

    table = job.private.get("posix_extra")
    rows = []
    if isinstance(table, pd.DataFrame):
        for call in (column for column in table.columns if column not in KEYS):
            used = table[table[call] > 0]
            rows.append((call, int(used[call].sum()), int(used["file"].nunique())))
    found = pd.DataFrame(rows, columns=["call", "count", "files"])
    return found[found["count"] > 0].sort_values("count", ascending=False, ignore_index=True)


@once_per_job
def other_mpiio_calls(job: Job) -> pd.DataFrame:
    """One row per kind of MPI-IO call that occurred: `call`, `count`, `files` and `seconds`, over all ranks."""
    import pandas as pd

    table = job.private.get("mpiio_extra")
    rows = []
    if isinstance(table, pd.DataFrame):
        for call in (column for column in table.columns if f"{column}_seconds" in table.columns):
            used = table[table[call] > 0]
            seconds = float(used[f"{call}_seconds"].sum())
            rows.append((call.replace("_", " "), int(used[call].sum()), int(used["file"].nunique()), seconds))
    found = pd.DataFrame(rows, columns=["call", "count", "files", "seconds"])
    return found[found["count"] > 0].sort_values("seconds", ascending=False, ignore_index=True)
