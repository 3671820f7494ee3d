"""Asks Slurm about jobs: which are still in the queue, and how the others ended.

Nothing here needs accounting: `squeue` lists present jobs; `scontrol` describes a job for some minutes after its end,
and `sacct` later, on sites that have it. If a command fails, nothing is assumed about the job.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_ENDED = frozenset(
    "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED REVOKED TIMEOUT".split()
)
"""The final states of a job (squeue(1), JOB STATE CODES). Preempted jobs that are put back are listed as REQUEUED or
PENDING soon after.
"""

_GONE = "GONE"
"""State of a job that Slurm no longer knows."""

PATIENCE = 30.0
"""Maximum time in seconds that a command of Slurm may take."""


@dataclass(frozen=True)
class QueuedJob:
    """A job's state in Slurm's words, and Slurm's reason for its waiting or its end."""

    state: str
    reason: str = ""

    @property
    def ended(self) -> bool:
        return self.state in _ENDED or self.state == _GONE


def ask_slurm(*words: str) -> str | None:
    """Returns the output of a command of Slurm; None if it fails or is not installed."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def states(jobs: Iterable[int]) -> Mapping[int, QueuedJob] | None:
    """Returns the state of each job; None if squeue cannot be asked now."""
    wanted = set(jobs)
    listed = ask_slurm("squeue", "--noheader", "--me", "--states=all", "--format=%i|%T|%r")
    if listed is None:
        return None
    found = {number: job for number, job in map(_listed_job, listed.splitlines()) if number in wanted}
    return {number: found.get(number) or _of_a_gone(number) for number in wanted}


def _listed_job(line: str) -> tuple[int, QueuedJob]:
    """Returns the number and the state of a job from a line of squeue. The number is 0 if squeue prints no plain
    number, as for an array of jobs.
    """
    number, state, reason = [*line.split("|", 2), "", ""][:3]
    return (int(number) if number.isdecimal() else 0), QueuedJob(state, reason)


def _of_a_gone(job: int) -> QueuedJob:
    """Returns a job that squeue does not list, as `scontrol` or `sacct` describe it."""
    shown = ask_slurm("scontrol", "--oneliner", "show", "job", str(job)) or ""
    state = re.search(r"\bJobState=(\w+)", shown)
    if state:
        reason = re.search(r"\bReason=(\S+)", shown)
        return QueuedJob(state[1], reason[1] if reason else "")
    rows = (ask_slurm("sacct", "-j", str(job), "-X", "-n", "-P", "-o", "State") or "").split()
    return QueuedJob(rows[0] if rows else _GONE)
