"""What the MPI library of a job was, and how it was set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.metrics.once import once_per_job
from iolens.metrics.processor.private import table

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

THREADS, EAGER, COMPONENT = "threads", "eager limit", "component"
OTHERS = "(others)"


@once_per_job
def mpi_settings(job: Job) -> pd.DataFrame | None:
    """kind, name, value and source (who set it; "": not known) as profiler/TABLES.md has them, ranks (how many have it
    so; NaN: not known) and first (the lowest of them, -1: not known).

    A row of rank 0 is that of all ranks that have no row of the same kind and name. The level of threads of rank 0 is
    one of the rows. None where MPI was not traced.
    """
    from iolens.metrics.processor.rank_places import rank_places

    rows = table(job, "mpi_settings")
    if rows is None:
        return None
    import pandas as pd

    exact = not (rows["rank"] < 0).any()
    known = rows[rows["rank"] >= 0]
    others = known[known["rank"] > 0].groupby(["kind", "name"])["rank"].nunique()
    same = ["kind", "name", "value", "source"]
    found = known.groupby(same, sort=False).agg(ranks=("rank", "nunique"), first=("rank", "min")).reset_index()
    of_all = found["first"] == 0
    apart = [others.get(key, 0) for key in zip(found["kind"], found["name"], strict=True)]
    found["ranks"] = found["ranks"].where(~of_all, job.nprocs - pd.Series(apart, index=found.index))
    if not exact:
        found["ranks"] = float("nan")
    places = rank_places(job)
    if places is not None and len(places):
        level = {"kind": "library", "name": THREADS, "value": places["thread_level"].iloc[0]}
        threads = pd.DataFrame([{**level, "source": "program", "ranks": len(places), "first": 0}])
        found = pd.concat([found.iloc[:1], threads, found.iloc[1:]], ignore_index=True)
    return found


def eager_limits(job: Job) -> dict[str, int]:
    """Bytes up to which a message is sent at once, header included, by the parameter that says so: on rank 0, of those
    that are a size."""
    found = mpi_settings(job)
    if found is None:
        return {}
    limits = found[(found["kind"] == EAGER) & (found["first"] == 0)]
    return {
        name: int(value)
        for name, value in zip(limits["name"], limits["value"], strict=True)
        if str(value).isdigit() and int(value) > 0
    }
