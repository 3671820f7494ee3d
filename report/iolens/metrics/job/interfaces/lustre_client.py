"""The counts of the Lustre clients on the job's nodes during the job, from the private region `lustre_client`."""

from __future__ import annotations

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import Groups, ordered, without_repeats
from iolens.metrics.once import once_per_job

_KEYS = ["node", "layer", "device", "counter"]


@once_per_job
def client_counters(job: Job) -> Records | None:
    """Returns one row per counter: layer, counter, unit, nodes, samples and sum (differences over the job, all nodes
    together).

    `layer` llite counts the calls of programs, osc the requests to storage targets; every program of a node is in its
    counters. If several ranks of a node have read the counters, those of the lowest rank are used. None if no rank has.
    """
    table = job.tables.get("lustre_client")
    if table is None or not len(table):
        return None
    table = without_repeats(ordered(table, "rank"), *_KEYS)
    named = ["layer", "counter", "unit"]
    groups = Groups(*(table[name] for name in named))
    sums = {
        "nodes": groups.distinct(table["node"]),
        "samples": groups.sum(table["samples_after"] - table["samples_before"]),
        "sum": groups.sum(table["sum_after"] - table["sum_before"]),
    }
    return ordered(table.take(*named).where(groups.first).beside(sums), "layer", "-samples")
