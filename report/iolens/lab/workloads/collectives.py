"""Latency of MPI's collective operations (workloads/collectives): no files, so no folder and no hints."""

from __future__ import annotations

from iolens.lab.workloads.workload import Workload

COLLECTIVES = Workload(
    "collectives", ("latency",), directory_option=None, hint_option=None, volume=lambda arguments, ranks: 0
)
