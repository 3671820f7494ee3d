"""The words of a job's summary: title, facts, the first sentences, labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from iolens.advise import say
from iolens.lab.storage.backends import storage_marks
from iolens.log import Job
from iolens.metrics.files import overview as files
from iolens.metrics.files.families import family_name
from iolens.metrics.job import cost
from iolens.metrics.job.gauges import LITTLE_IO
from iolens.metrics.job.interfaces import mpiio, operations
from iolens.metrics.job.ranks import io_span_share
from iolens.pages.base import words
from iolens.pages.exhibits.waits import storage_note
from iolens.pages.text.lines import middle

if TYPE_CHECKING:
    from collections.abc import Sequence


_LONGEST_PROGRAM = 60
"""Maximum length of the program's path in the title, in characters, so that the rest of the title has room."""

_PARTIAL, _ANONYMIZED = "PARTIAL LOG", "ANONYMIZED LOG"


_MOST_PROGRAMS = 4
"""Maximum number of a job's programs that its facts list; the table of programs has all of them."""

_LONGEST_NAME = 30
"""Maximum length of a program's name, in characters, in a title that has several."""

_LONGEST_RANKS = 40
"""Maximum length of the list of a program's ranks, in characters; a longer list is replaced by the number of ranks."""


def _program(job: Job) -> str:
    """Returns the program's name without its folder; of several programs, those of the first ranks."""
    several = [middle(name, _LONGEST_NAME) if len(name) > _LONGEST_NAME else name for name in job.programs]
    if several:
        return ", ".join(several[:2]) + (f" and {len(several) - 2} more" if len(several) > 2 else "")
    return PurePosixPath(job.exe).name or "unknown program"


def _programs(job: Job) -> str:
    """Returns `ocean (ranks 0-1), atmos (ranks 2-3)`, and the ranks whose program is not known; empty for one
    program.
    """
    if not job.programs:
        return ""
    said = [f"{name} ({_which_ranks(ranks)})" for name, ranks in job.programs.items()]
    more = [f"{len(said) - _MOST_PROGRAMS} more"] if len(said) > _MOST_PROGRAMS else []
    others = sorted(set(range(job.nprocs)).difference(*job.programs.values()))
    unknown = [f"not known ({_which_ranks(others)})"] if others else []
    return ", ".join([*said[:_MOST_PROGRAMS], *more, *unknown])


def _which_ranks(ranks: Sequence[int]) -> str:
    """Returns the ranks as ranges, or their number if the ranges would be long."""
    ranges = mpiio.listed_ranks(ranks)
    if len(ranges) > _LONGEST_RANKS:
        return words.plural(len(ranks), "rank")
    return f"rank{'' if len(ranks) == 1 else 's'} {ranges}"


def title(job: Job) -> str:
    """Returns the header of every page; it does not name I/O for a job with hardly any time in I/O."""
    is_about_io = (io_span_share(job) or 0.0) >= LITTLE_IO
    return f"{_program(job)}: {'I/O of job' if is_about_io else 'job'} {job.jobid}"


def job_subtitle(job: Job) -> str:
    """Returns the text below the title."""
    return ", ".join(
        [
            _short(job.exe or "unknown program"),
            words.plural(job.nprocs, "process"),
            words.moment(job.start),
            _run_time(job).partition(" (")[0],
        ]
    )


def labels(job: Job) -> list[str]:
    """Returns the marks that every page must show, such as that the log is partial."""
    states = ((_PARTIAL, job.partial), (_ANONYMIZED, job.anonymized))
    return [*storage_marks({job.storage}), *(label for label, holds in states if holds)]


def _short(path: str) -> str:
    """Returns a path shortened so that the words after it have room."""
    return middle(path, _LONGEST_PROGRAM) if len(path) > _LONGEST_PROGRAM else path


def fact_columns(job: Job) -> tuple[list[list[str]], list[list[str]]]:
    """Returns facts for two columns side by side, each with its name and its value; facts that this log does not know
    are left out.
    """
    info = job.info
    compilers = info.get("compiler") or []
    left = [
        ["programs", _programs(job) or words.NONE],
        ["program", words.NONE if job.command.startswith(job.exe) else job.exe],
        ["command of rank 0" if job.programs else "command", job.command or words.NONE],
        ["job, user", f"{job.jobid}, {job.uid}"],
        ["processes", f"{job.nprocs:,}" + (f" on {words.plural(len(job.hosts), 'host')}" if job.hosts else "")],
        ["started", words.moment(job.start)],
        ["run time", _run_time(job)],
    ]
    right = [
        ["log", job.log_name],
        ["profiler", _profiler(job, info)],
        ["MPI library", str(info.get("mpi") or words.NONE)],
        ["MPI-IO component", _component(info) if info.get("mpi") else words.NONE],
        ["compiler", "; ".join(str(one) for one in compilers) if compilers else words.NONE],
        ["storage", str(info.get("storage") or words.NONE)],
        ["main file system", main_file_system(job)],
    ]
    return [fact for fact in left if fact[1] != words.NONE], [fact for fact in right if fact[1] != words.NONE]


def _run_time(job: Job) -> str:
    """Returns the run time; logs of old formats know whole seconds only."""
    return say.run_time(job) + (" (this log counts whole seconds)" if job.coarse else "")


def _component(info: Mapping[str, Any]) -> str:
    """Returns the implementation of MPI-IO that was seen in use, else the requested one."""
    used, asked = info.get("io_component_used"), info.get("io_component")
    if used:
        return f"{used} (asked for: {asked})" if asked and asked != used else str(used)
    return f"{asked} (as asked for)" if asked else words.NONE


def _profiler(job: Job, info: Mapping[str, Any]) -> str:
    """Returns the name of the profiler that wrote the log."""
    if "iolens" in info:
        return f"iolens {info['iolens']}, log format {job.version}"
    return f"Darshan {job.metadata.get('lib_ver', 'of unknown version')}, log format {job.version}"


def main_file_system(job: Job) -> str:
    """Returns the file system that got most bytes."""
    found = files.file_systems(job)
    found = found.where((found["bytes_written"] + found["bytes_read"] > 0) & (found["mount"] != files.UNMOUNTED))
    if not len(found):
        return words.NONE
    mount, kind = found["mount"][0], found["type"][0]
    return f"{mount} ({kind})" if kind else str(mount)


def verdicts(job: Job) -> list[str]:
    """Returns the first sentences: how much, how fast, who wrote."""
    first = [*filter(None, [storage_note(job)])]
    moved = cost.moved_once(job)
    if not moved:
        return [*first, "This log records no bytes read or written."]
    main, *others = moved
    if main == "STDIO" and not others and not operations.file_bytes(job, "STDIO"):
        size = words.size(moved[main])
        return [*first, f"No bytes of files were read or written: {size} went through standard streams."]
    layer = cost.performance(job, main)
    known = layer.mib_per_second is not None and cost.SHORTEST <= layer.seconds <= job.run_time
    speed = f" at {words.speed(layer.mib_per_second)} (estimate)" if known else ""
    said = [f"Transferred {words.size(moved[main])} through {main}{speed}."]
    more = [f"{words.size(moved[name])} through {name}" for name in others if moved[name] >= sum(moved.values()) / 100]
    if more:
        said[0] = f"{said[0][:-1]}, and {' and '.join(more)}."
    said = [*first, *said]
    wrote = mpiio.aggregators(job)
    if wrote is not None and len(wrote):
        path, members, writers, unseen, common = next(wrote.rows("path", "files", "writers", "others", "common_write"))
        ranks = mpiio.writer_count(writers, unseen)
        noun = "rank" if ranks == "1" else "ranks"
        said.append(
            f"{_file_with_verb(path, members)} written by {ranks} {noun} of {job.nprocs}, mostly in pieces of "
            f"{words.exact_size(common)}."
        )
    return said


def _file_with_verb(path: str, members: int) -> str:
    """Returns a file or a family of files with its verb: `out.dat was`, `plt#####/Cell_# (48 files) were`."""
    if members == 1:
        return f"{PurePosixPath(path).name} was"
    return f"{family_name(path)} ({words.count(members)} files) were"
