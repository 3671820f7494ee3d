"""One process of a forest, or one MPI job: the facts in its log, without its files."""

from __future__ import annotations

import re
from dataclasses import dataclass

from iolens.log import Job
from iolens.log.records import Records
from iolens.missing import is_nan

_RANKS = (
    *("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"),
    *("JSM_NAMESPACE_RANK", "FLUX_TASK_RANK", "ALPS_APP_PE"),
)
"""Variables in which launchers give a process its rank, in the order of preference."""

_NAMED_BY_PID = re.compile(r"_id\d+-(\d+)_")
"""A log's name as iolens and Darshan make it: USER_PROGRAM_idJOB-PID_…"""
_IN_TREE = re.compile(r"(\d+)-")
JOB_FOLDER = re.compile(r"id\d+$")
"""The job's folder in a tree USER/PROGRAM/idJOB/HOST/PID-….darshan."""


@dataclass(frozen=True)
class Process:
    """`start` is in seconds since 1970 by the clock of `host`, which `tree.process_clocks` corrects; `ranks` is the
    number of ranks of an MPI job, else 1; `rank` is the rank that a launcher gave in the variable `rank_from`, or
    empty. `above` are the process ids of its ancestors, the parent first. `clock` is realtime minus monotonic time of
    the host, in seconds, or None. Processor times are those of the recorded time; NaN if the log does not know them.
    """

    log: str
    host: str
    hosts: int
    pid: int
    above: tuple[int, ...]
    forked: bool
    command: str
    user: int
    jobid: int
    rank: str
    rank_from: str
    ranks: int
    start: float
    seconds: float
    clock: float | None
    user_time: float
    system_time: float
    max_rss: float
    waits: float
    partial: tuple[str, ...]


def process_of(job: Job, log: str) -> Process:
    """Returns the process that a log describes; `log` is the log's path as it is shown."""
    info = job.info
    environment = info.get("environment", {})
    variable = next((name for name in _RANKS if str(environment.get(name, "")).strip()), "")
    parent = job.metadata.get("fork_parent", "")
    pid, host = _identity(job)
    above = tuple(int(each) for each in info.get("ancestors", ())) or ((int(parent),) if parent.isdigit() else ())
    hosts = info.get("hosts", [])
    begin = info.get("begin", {})
    clock = (begin["realtime_ns"] - begin["monotonic_ns"]) * 1e-9 if len(begin) == 2 else None
    taken = job.tables.get("process") or Records({})
    rss = taken.get("max_rss", ())
    return Process(
        log=log,
        host=host,
        hosts=max(1, len(hosts)),
        pid=pid,
        above=above,
        forked=parent.isdigit(),
        command=job.command,
        user=job.uid,
        jobid=job.jobid,
        rank=str(environment.get(variable, "")) if job.nprocs == 1 else "",
        rank_from=variable if job.nprocs == 1 else "",
        ranks=job.nprocs,
        start=job.start,
        seconds=job.run_time,
        clock=clock,
        user_time=_recorded(taken, "user"),
        system_time=_recorded(taken, "system"),
        max_rss=float(rss.max()) if len(rss) else float("nan"),
        waits=_total(taken, "voluntary_switches"),
        partial=job.partial,
    )


def _identity(job: Job) -> tuple[int, str]:
    """Returns the process id (0: not known) and the host (empty: not known): from the log, else from its name and
    folder.
    """
    hosts = job.info.get("hosts", [])
    name = _NAMED_BY_PID.search(job.path.name)
    in_tree = _IN_TREE.match(job.path.name) if JOB_FOLDER.match(job.path.parent.parent.name) else None
    pid = int(job.info.get("pid", 0)) or int((name or in_tree or ["", "0"])[1])
    return pid, str(hosts[0]) if hosts else job.path.parent.name if in_tree else ""


def _recorded(process: Records, mode: str) -> float:
    """Returns the processor time in the program (`user`) or in the kernel (`system`) since recording began. The time of
    the loader, and of the program that ran before an exec, is not part of it.
    """
    whole = _total(process, f"{mode}_time")
    earlier = _total(process, f"earlier_{mode}")
    return whole if is_nan(earlier) else max(whole - earlier, 0.0)


def _total(process: Records, name: str) -> float:
    """Returns the sum over ranks; NaN if it is not known."""
    values = process.get(name, ())
    return float(values.sum()) if len(values) else float("nan")
