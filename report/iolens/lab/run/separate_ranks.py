"""Explains why the ranks of a job left a log each, instead of one log together."""

from __future__ import annotations

import mmap
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from iolens.errors import IolensError
from iolens.log import Job, read_log
from iolens.log.processes import processes_of

_RANKS = (
    "OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK MV2_COMM_WORLD_RANK PALS_RANKID ALPS_APP_PE JSM_NAMESPACE_RANK "
    "FLUX_TASK_RANK"
).split()
"""Variables by which launchers number ranks."""

_LOOKED_AT = 64
"""Number of logs that are looked at; a script may leave thousands."""

_OF_MPI = (b"MPI_Init", b"MPI_Init_thread")
"""Texts in the file of a program that calls MPI."""


def why_ranks_are_apart(logs: Sequence[Path]) -> str | None:
    """Returns the sentence for the first program of which several ranks have logs of their own; None if there is
    none. Ranks with a log together may leave others: of their children, and of the time after MPI_Finalize.
    """
    programs: dict[str, set[str]] = {}
    together: set[str] = set()
    for job in _read(logs[:_LOOKED_AT]):
        variables = job.info.get("environment", {})
        rank = next((variables[name] for name in _RANKS if name in variables), None)
        if job.nprocs > 1:
            together.add(job.exe)
        elif rank is not None and variables.get("IOLENS_MPI") != "0" and not job.info.get("after_finalize"):
            programs.setdefault(job.exe, set()).add(rank)
    apart = next((name for name, ranks in programs.items() if len(ranks) > 1 and name not in together), None)
    return f"the ranks of {apart} were recorded as processes apart: {_reason(apart)}" if apart else None


def _read(logs: Iterable[Path]) -> Iterable[Job]:
    for log in logs:
        try:
            job = read_log(log)
            yield from processes_of(job, range(min(job.nprocs, _LOOKED_AT)))
        except (IolensError, OSError):
            continue


def _reason(program: str) -> str:
    found = shutil.which(program)
    if found is None or not _calls_mpi(Path(found)):
        return "the profiler saw no call of MPI_Init. If the ranks are one MPI job, its MPI is of an unknown kind"
    return (
        "it has MPI, but MPI_Init did not come to the profiler. If MPI is linked statically, link its shared library; "
        "otherwise a message above gives the reason, and `iolens doctor` shows which adapters there are"
    )


def _calls_mpi(program: Path) -> bool:
    try:
        with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(text + b"\0") >= 0 for text in _OF_MPI)
    except (OSError, ValueError):
        return False
