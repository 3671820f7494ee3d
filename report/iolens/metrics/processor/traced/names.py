"""The names of traced functions; those of the program's own functions come from its symbols."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.processor.mpi.nodes import chains, frame_name

OWN = "functions"
"""The group of the program's own functions."""


def with_function_names(job: Job, rows: Records) -> Records:
    """Adds the name of each function to the rows; rows that stand for several functions get `(others)`."""
    known = chains(job) if (rows["group"] == OWN).any() else {}
    columns = (rows[name].tolist() for name in ("rank", "node", "group", "function"))
    names = [
        frame_name(known[rank, node][-1]) if group == OWN and known.get((rank, node)) else function or "(others)"
        for rank, node, group, function in zip(*columns, strict=True)
    ]
    return rows.beside({"function": np.array(names, object)})
