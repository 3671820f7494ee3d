"""The MPI library of a job, and its settings."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import Groups, stacked
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.sampled.private import table_records

_THREADS, _EAGER, _COMPONENT = "threads", "eager limit", "component"
_OTHERS = "(others)"
_SAME = ("kind", "name", "value", "source")


@once_per_job
def mpi_settings(job: Job) -> Records | None:
    """Returns columns kind, name, value and source (who set it; "": not known) as in profiler/TABLES.md, ranks (how
    many ranks have this value; NaN: not known) and first (the lowest of these ranks, -1: not known).

    A row of rank 0 holds for all ranks that have no row of the same kind and name. The thread level of rank 0 is one of
    the rows. None if MPI was not traced.
    """
    from iolens.metrics.processor.mpi.rank_places import rank_places

    rows = table_records(job, "mpi_settings")
    if rows is None:
        return None
    known = rows.where(rows["rank"] >= 0)
    own = known.where(known["rank"] > 0)
    pairs = Groups(own["kind"], own["name"])
    others = dict(zip(own.where(pairs.first).rows("kind", "name"), pairs.distinct(own["rank"]).tolist(), strict=True))
    same = Groups(*(known[name] for name in _SAME))
    found, first = known.take(*_SAME).where(same.first), same.min(known["rank"])
    apart = np.array([others.get(key, 0) for key in found.rows("kind", "name")], "i8")
    ranks = np.where(first == 0, job.nprocs - apart, same.distinct(known["rank"]))
    if len(known) < len(rows):
        ranks = np.full(len(found), np.nan)
    found = found.beside({"ranks": ranks, "first": first})
    places = rank_places(job)
    if places is not None and len(places):
        level = ("library", _THREADS, places["thread_level"][0], "program", len(places), 0)
        threads = Records.of(found.names, [level])
        found = stacked([found.where(slice(1)), threads, found.where(slice(1, None))])
    return found


def eager_limits(job: Job) -> dict[str, int]:
    """Returns the eager limits: sizes in bytes, header included, up to which a message is sent at once, by the
    parameter that sets them. Only parameters of rank 0 whose value is a size count.
    """
    found = mpi_settings(job)
    if found is None:
        return {}
    limits = found.where((found["kind"] == _EAGER) & (found["first"] == 0)).rows("name", "value")
    return {name: int(value) for name, value in limits if str(value).isdigit() and int(value) > 0}
