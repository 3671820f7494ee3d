"""What a job's summary says in words: title, facts, the first sentences, labels."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from iolens.lab.storage.backends import marks
from iolens.metrics import cost, files, mpiio
from iolens.pages import words

if TYPE_CHECKING:
    from iolens.log import Job

PARTIAL, ANONYMIZED = "PARTIAL LOG", "ANONYMIZED LOG"


def program(job: Job) -> str:
    """The program's name without its folder."""
    return PurePosixPath(job.exe).name or "unknown program"


def title(job: Job) -> str:
    """The header of every page."""
    return f"{program(job)}: I/O of job {job.jobid}"


def subtitle(job: Job) -> str:
    """Below the title."""
    return ", ".join(
        [
            job.exe or "unknown program",
            f"job {job.jobid}",
            words.plural(job.nprocs, "process"),
            words.moment(job.start),
            f"{words.seconds(job.run_time)} s",
        ]
    )


def labels(job: Job) -> list[str]:
    """What must stand on every page."""
    states = ((PARTIAL, job.partial), (ANONYMIZED, job.anonymized))
    return [*marks({job.storage}), *(label for label, holds in states if holds)]


def facts(job: Job) -> tuple[list[list[str]], list[list[str]]]:
    """Two columns of name and value."""
    info = job.private.get("job")
    info = info if isinstance(info, dict) else {}
    hosts = [str(host) for host in info.get("hosts", [])]
    compilers = info.get("compiler") or []
    left = [
        ["program", job.exe or words.NONE],
        ["command", job.command or words.NONE],
        ["job, user", f"{job.jobid}, {job.uid}"],
        ["processes", f"{job.nprocs:,}" + (f" on {words.plural(len(hosts), 'host')}" if hosts else "")],
        ["started", words.moment(job.start)],
        ["run time", f"{words.seconds(job.run_time)} s"],
    ]
    right = [
        ["log", job.path.name],
        ["profiler", profiler(job, info)],
        ["MPI library", str(info.get("mpi") or words.NONE)],
        ["MPI-IO component", component(info)],
        ["compiler", "; ".join(str(one) for one in compilers) if compilers else words.NONE],
        ["storage", str(info.get("storage") or words.NONE)],
        ["main file system", main_file_system(job)],
    ]
    return left, right


def component(info: dict[str, Any]) -> str:
    """The implementation of MPI-IO: what was seen, else what was asked for."""
    used, asked = info.get("io_component_used"), info.get("io_component")
    if used:
        return f"{used} (asked for: {asked})" if asked and asked != used else str(used)
    return f"{asked} (as asked for)" if asked else words.NONE


def profiler(job: Job, info: dict[str, object]) -> str:
    """Who wrote the log."""
    if "iolens" in info:
        return f"iolens {info['iolens']}, log format {job.version}"
    return f"Darshan {job.metadata.get('lib_ver', 'of unknown version')}, log format {job.version}"


def main_file_system(job: Job) -> str:
    """Where most bytes went."""
    found = files.file_systems(job)
    found = found[found["bytes_written"] + found["bytes_read"] > 0]
    if found.empty:
        return words.NONE
    first = found.iloc[0]
    return f"{first['mount']} ({first['type']})" if first["type"] else str(first["mount"])


def verdicts(job: Job) -> list[str]:
    """The first sentences: how much, how fast, who wrote."""
    performances = [one for one in cost.all_performance(job) if one.bytes_read + one.bytes_written > 0]
    if not performances:
        return ["This log records no bytes read or written."]
    upper = next((one for one in performances if one.module == "MPI-IO"), None)
    main = upper or max(performances, key=lambda one: one.bytes_read + one.bytes_written)
    moved = main.bytes_read + main.bytes_written
    speed = f" at {words.ratio(main.mib_per_second)} MiB/s (estimate)" if main.mib_per_second is not None else ""
    said = [f"Transferred {words.size(moved)} through {main.module}{speed}."]
    wrote = mpiio.aggregators(job)
    if wrote is not None and len(wrote):
        first = wrote.iloc[0]
        ranks = mpiio.writer_count(first["writers"], first["others"])
        noun = "rank" if ranks == "1" else "ranks"
        said.append(
            f"{PurePosixPath(first['path']).name} was written by {ranks} {noun} of {job.nprocs}, mostly in pieces of "
            f"{words.exact_size(first['common_write'])}."
        )
    return said
