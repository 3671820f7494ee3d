"""Finds the hosts of a run's processes, for its run.json."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.run.mpi_launch.allocation import allocation


def hosts_of(logs: Sequence[Path], ranks: int | None = 1) -> list[str]:
    """Returns each host once: the hosts that the logs name, in their order, or else the hosts that the launcher fills.

    Logs of other profilers name no hosts. The function then returns the nodes of this batch job on which the launcher
    starts `ranks` ranks; outside of a batch job, this machine. If `ranks` is None, the run was on other machines, and
    only its logs can name them.
    """
    named = list(dict.fromkeys(host for log in logs for host in _hosts_in(log)))
    if named or ranks is None:
        return named
    return allocation().hosts(ranks) or [os.uname().nodename]


def _hosts_in(log: Path) -> list[str]:
    """Returns the hosts that a log names; no hosts if the log cannot be read or is from another profiler."""
    from iolens.log import read_log

    try:
        return read_log(log).hosts
    except (IolensError, OSError):
        return []
