"""A log whose ranks are the processes of one command: each process as a job of its own, and the one that matters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np

from iolens.foreign import printable_text
from iolens.log.format.header import metadata_of
from iolens.log.job import Job
from iolens.log.known import PROCESSES, SINCE_START
from iolens.log.records import Frames, LazyRows, Records

_LITTLE = 0.05
"""A process with less than this part of the bytes, of the time in I/O and of the run beside another one is a helper."""

_SHELLS = frozenset(("sh", "bash", "dash", "ksh", "zsh", "csh", "tcsh", "env", "time", "timeout", "nice", "xargs"))
"""Programs that start others."""


def is_joined(job: Job) -> bool:
    """Returns whether the ranks of a job are the processes of a command without MPI."""
    return job.nprocs > 1 and PROCESSES in job.private and len(job.private[PROCESSES][PROCESSES]) == job.nprocs


def processes_of(job: Job, ranks: Iterable[int] | None = None) -> list[Job]:
    """Returns each process, or those of some ranks, as a job of its own; a job that is not joined is returned as it
    is.
    """
    if not is_joined(job):
        return [job]
    rows = job.private[PROCESSES][PROCESSES]
    first_ns = min(row["numbers"][1] * 10**9 + row["numbers"][2] for row in rows)
    cuts = {
        (kind, name): np.searchsorted(table["rank"], np.arange(len(rows) + 1))
        for kind, tables in (("records", job.records), ("tables", job.tables))
        for name, table in tables.items()
        if "rank" in table and not (table["rank"] < 0).any()
    }
    return [_process(job, rank, rows, first_ns, cuts) for rank in (range(len(rows)) if ranks is None else ranks)]


def process_of_rank(job: Job, rank: int) -> Job | None:
    """Returns one process of a joined log; None if the log has no such process."""
    return processes_of(job, [rank])[0] if is_joined(job) and rank < job.nprocs else None


def main_process(job: Job) -> Job:
    """Returns the process with the most time in I/O, or the longest if none did any; other jobs are returned as they
    are.
    """
    if not is_joined(job):
        return job
    seconds, lasted = _io_seconds(job), _durations(job)
    return processes_of(job, [max(range(job.nprocs), key=lambda rank: (seconds[rank], lasted[rank]))])[0]


def only_process(job: Job) -> Job | None:
    """Returns the process beside which all others only helped, as the shells do that start a program; None if several
    processes matter. Other jobs are returned as they are.
    """
    if not is_joined(job):
        return job
    is_shell = np.array([_is_shell(row["command"]) for row in job.private[PROCESSES][PROCESSES]])
    # A shell lasts as long as what it starts, and reads its script; only a shell that writes does the program's work.
    lasted = np.where(is_shell, 0.0, _durations(job))
    written = _sums(job, ("BYTES_WRITTEN",))
    seconds = np.where(is_shell, np.where(written > 0, _sums(job, ("F_WRITE_TIME",)), 0.0), _io_seconds(job))
    moved = np.where(is_shell, written, written + _sums(job, ("BYTES_READ",)))
    matters = seconds > _LITTLE * max(seconds.sum(), _LITTLE * job.run_time)
    matters |= moved > _LITTLE * moved.sum()
    matters |= lasted > _LITTLE * lasted.max()
    return processes_of(job, np.flatnonzero(matters).tolist())[0] if matters.sum() == 1 else None


def _durations(job: Job) -> np.ndarray:
    """Returns the run time of each process, in seconds."""
    numbers = np.array([row["numbers"] for row in job.private[PROCESSES][PROCESSES]], "f8")
    return np.asarray(numbers[:, 3] - numbers[:, 1] + (numbers[:, 4] - numbers[:, 2]) * 1e-9)


def _is_shell(command: str) -> bool:
    """Returns whether a command runs a shell or another program that only starts others."""
    return PurePath(command.strip().split(" ")[0]).name.lstrip("-") in _SHELLS


def _io_seconds(job: Job) -> np.ndarray:
    """Returns the time in I/O of each process, in POSIX and stdio."""
    return _sums(job, ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"))


def _sums(job: Job, counters: Sequence[str]) -> np.ndarray:
    """Returns the sum of some counters for each process."""
    total = np.zeros(job.nprocs)
    for name in ("POSIX", "STDIO"):
        table = job.records.get(name)
        if table is not None and len(table):
            for counter in counters:
                total += np.bincount(table["rank"], np.maximum(table[f"{name}_{counter}"], 0), job.nprocs)
    return total


def _process(
    job: Job, rank: int, rows: Sequence[Mapping[str, Any]], first_ns: int, cuts: Mapping[tuple[str, str], np.ndarray]
) -> Job:
    """Returns the process of one rank; the first process began at `first_ns` nanoseconds since 1970."""
    row = rows[rank]
    user, start_s, start_ns, end_s, end_ns, _, jobid = row["numbers"]
    seconds = (end_s - start_s) + (end_ns - start_ns) * 1e-9
    shift = (start_s * 10**9 + start_ns - first_ns) * 1e-9

    def part(kind: str, name: str, table: Records) -> Records:
        """Returns the rows of this process in a table."""
        if "rank" not in table:
            return table
        if (kind, name) in cuts:
            begin, end = cuts[kind, name][rank : rank + 2]
            own = table.where(slice(int(begin), int(end)))
        else:  # Rows of rank -1, such as the nodes of call chains, are for all ranks.
            own = table.where((table["rank"] < 0) | (table["rank"] == rank))
        return _earlier(name, own, shift, seconds)

    frames = {name: part("records", name, table) for name, table in job.records.items() if name in row["modules"]}
    private = {name: part("tables", name, table) for name, table in job.tables.items()}
    private = {name: table for name, table in private.items() if len(table)}
    command = printable_text(row["command"].strip())
    whole = {"processes": len(rows), "run_seconds": job.run_time}
    return replace(
        job,
        path=job.path / str(rank),
        exe=command.split(" ")[0],
        command=command,
        uid=user,
        jobid=jobid,
        start=start_s + start_ns * 1e-9,
        end=end_s + end_ns * 1e-9,
        run_time=seconds,
        nprocs=1,
        metadata=metadata_of("\n".join(map(str, row["metadata"]))),
        modules=tuple(module for module in job.modules if module.name in frames),
        frames=Frames(frames),
        private=Frames({**private, "job": {**rows[0]["job"], **row["job"], **whole}}),
    )


def _earlier(name: str, table: Records, shift: float, seconds: float) -> Records:
    """Returns the rows of one process with its times counted from its own start, and with rank 0."""
    single = dict(table.single)
    single["rank"] = np.minimum(single["rank"], 0)
    moments = ("start", "end") if name.startswith("DXT") else SINCE_START.get(name, ())
    for moment in moments:
        single[moment] = _sooner(single[moment], shift)
    blocks = [(names, _shifted(names, values, shift)) for names, values in table.blocks]
    found = Records(single, blocks, table.coded)
    if name != "HEATMAP" or not len(found):
        return found
    single["bin"] = single["bin"] - (shift // single["width"]).astype("i8")
    return found.where((single["bin"] >= 0) & (single["bin"] * single["width"] <= seconds))


def _shifted(names: Mapping[str, int], values: Any, shift: float) -> LazyRows:
    """Returns rows of counters in which moments count from a later start."""
    moments = {place for name, place in names.items() if name.endswith("_TIMESTAMP")}
    return LazyRows(lambda place: _sooner(values[place], shift) if place in moments else values[place])


def _sooner(moments: np.ndarray, shift: float) -> np.ndarray:
    """Returns moments since a start that is `shift` seconds later; 0 and negative ones, which are none, stay."""
    return np.where(moments > 0, np.maximum(moments - shift, 0.0), moments)
