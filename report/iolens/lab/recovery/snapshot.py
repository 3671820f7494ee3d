"""Running jobs on this node: find them by their spools, and make a log of their records so far."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Sequence
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.files import rename_new
from iolens.lab.recovery import recover
from iolens.lab.recovery.places import SNAPSHOT_MARK, default_folders
from iolens.lab.recovery.recover import Spool
from iolens.log import Job


def running_jobs() -> list[list[Spool]]:
    """Returns the jobs with a running process on this node, the earliest first; each with the spools of all its ranks
    on this node.
    """
    spools, _ = recover.read_spools(default_folders())
    return [job for job in recover.jobs(spools) if any(recover.state(one) == "running" for one in job)]


def chosen(jobs: Sequence[list[Spool]], number: int) -> list[Spool]:
    """Returns the job with this job id, or with a process of this id; raises unless exactly one matches."""
    found = [job for job in jobs if number == job[0].jobid or any(number == one.pid for one in job)]
    if len(found) == 1:
        return found[0]
    if found:
        pids = ", ".join(str(job[0].pid) for job in found)
        raise UsageError(f"{len(found)} jobs have the id {number}; give the id of a process instead: {pids}")
    raise UsageError(
        f"no job {number} runs under the profiler on this node (searched "
        f"{' and '.join(map(str, default_folders()))}); it may run on another node, have ended, or keep no "
        f"spools (IOLENS_SPOOL)"
    )


def has_ended(job: Sequence[Spool]) -> bool:
    """Returns True if none of the job's processes on this node is running any more."""
    return all(recover.state(one) == "ended" for one in job)


def take(job: Sequence[Spool], folder: Path) -> Path:
    """Writes the job's records so far as a log in `folder`; the job continues undisturbed. Raises if the job has ended
    in the meantime, or if nothing is recorded yet.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(dir=folder, prefix=".iolens-") as aside:
        words = [str(recover.program()), "merge", "-s", "-o", aside, *(one.spool for one in job)]
        done = subprocess.run(words, capture_output=True, check=False)
        if done.returncode != 0:
            reason = done.stderr.decode(errors="replace").strip().splitlines() or ["it has ended"]
            raise IolensError(f"{job[0].program}, job {job[0].jobid}, cannot be read now: {reason[-1]}")
        made, _ = recover.printed_paths(done.stdout)
        names = (folder / f"{made.stem}{SNAPSHOT_MARK}{number}{made.suffix}" for number in itertools.count(1))
        return next(name for name in names if rename_new(made, name))


def look(job: Sequence[Spool]) -> Job:
    """Returns the job's records so far, which `take` would write as a log, and leaves no log behind."""
    from tempfile import TemporaryDirectory

    from iolens.log import read_log

    with TemporaryDirectory(prefix="iolens-") as aside:
        return read_log(take(job, Path(aside)))
