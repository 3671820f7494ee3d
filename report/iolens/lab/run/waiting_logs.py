"""Leaves out the logs of processes that only waited for an MPI job, as `timeout` or a shell before a launcher does."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.errors import IolensError

if TYPE_CHECKING:
    from iolens.log import Job

_LOOKED_AT = 16
"""Number of logs up to which they are read; a run with more has more programs than a job and what started it."""

_LEAST_SECONDS = 0.5
"""Seconds of processor time from which a process has worked itself, as in the profiler's table `process`."""


_OF_EVERY_PROCESS = {"job", "process", "start_up", "failed_calls", "counters"}
"""Tables that have rows in the log of each process, whatever it did."""


def without_waiting(logs: Sequence[Path]) -> tuple[Path, ...]:
    """Returns the logs of a run without those of waiting processes, which it removes. Keeps all logs of a run without
    an MPI job.
    """
    if not 1 < len(logs) <= _LOOKED_AT:
        return tuple(logs)
    from iolens.log import read_log

    jobs: dict[Path, Job] = {}
    for log in logs:
        with suppress(IolensError, OSError):
            jobs[log] = read_log(log)
    if not any(_is_of_mpi(job) for job in jobs.values()):
        return tuple(logs)
    waiting = {log for log, job in jobs.items() if not _is_of_mpi(job) and _only_waited(job)}
    for log in waiting:
        with suppress(OSError):
            log.unlink(missing_ok=True)
    return tuple(log for log in logs if log not in waiting)


def _is_of_mpi(job: Job) -> bool:
    return job.nprocs > 1 or bool(job.info.get("mpi"))


def _only_waited(job: Job) -> bool:
    """Returns whether a process used no file, connection or other thing of its own and hardly computed, as a shell in
    front of a launcher does. A log that is not whole says nothing about this.
    """
    others = job.private.keys() - _OF_EVERY_PROCESS
    if any(name.startswith("/") for name in job.names.values()) or any(len(job.private[name]) for name in others):
        return False
    if job.partial or "process" not in job.private:
        return False
    used = job.private["process"]
    return float((used["user_time"] + used["system_time"]).sum()) < _LEAST_SECONDS
