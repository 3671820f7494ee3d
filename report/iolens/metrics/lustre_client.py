"""What the Lustre clients of the job's nodes counted while it ran, from the private region `lustre_client`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

KEYS = ["node", "layer", "device", "counter"]


@once_per_job
def client_counters(job: Job) -> pd.DataFrame | None:
    """One row a counter: layer, counter, unit, nodes, samples and sum (differences over the job, all nodes together).

    `layer` llite counts the calls of programs, osc the requests to storage targets; every program of a node is in its
    counters. Where several ranks of a node have read them, the lowest one is taken. None where nobody has.
    """
    table = job.private.get("lustre_client")
    if table is None or isinstance(table, dict) or table.empty:
        return None
    table = table.sort_values("rank", kind="stable").drop_duplicates(KEYS)
    table = table.assign(
        samples=table["samples_after"] - table["samples_before"], sum=table["sum_after"] - table["sum_before"]
    )
    found = table.groupby(["layer", "counter", "unit"], as_index=False, sort=False).agg(
        nodes=("node", "nunique"), samples=("samples", "sum"), sum=("sum", "sum")
    )
    return found.sort_values(["layer", "samples"], ascending=[True, False], ignore_index=True)
