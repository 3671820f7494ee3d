"""Completes a run: waits for its processes, and makes logs of the processes that left none."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path

from iolens.lab.recovery.choice import JobSelection
from iolens.lab.recovery.places import default_folders
from iolens.lab.recovery.recover import (
    Spool,
    jobs,
    read_spools,
    recover_job,
    remaining,
    set_aside,
    state,
)
from iolens.lab.say import say

PATIENCE = 10.0
"""Maximum time in seconds that the ranks of a job may take to end after their launcher."""

PERIOD = 0.1
"""Seconds between two checks for processes that still run."""


def rescue(run: str, logs: Path, why: str) -> tuple[list[Path], bool]:
    """Makes logs of the processes that a run left behind, in this folder, and prints a message about the processes that
    stay without one, with the command that makes their log. Returns the logs, and True if there are processes without a
    log.
    """
    made, lacking = [], False
    for job in _remains(run):
        where = shlex.join(sorted({str(Path(one.spool).parent) for one in job}))
        what = f"{job[0].program} ({len(job)} of {max(job[0].ranks, 1)} processes)"
        if _still_runs(job):
            command = f"iolens recover --job {job[0].pid} {where}"
            say(f"{what} still runs and has no log yet; if it ends without one, `{command}` makes the log")
            lacking = True
        elif log := recover_job(job, logs, why):
            made.append(log)
        elif remaining(job):
            command = f"iolens recover -o FOLDER --job {job[0].pid} {where}"
            say(f"there is no log of {what}; `{command}` makes the log from the records in that folder")
            lacking = True
    return made, lacking


def _remains(run: str) -> list[list[Spool]]:
    """Returns the jobs of a run that have spools. A launcher may return before its ranks are gone, so an MPI job is
    waited for. Processes without MPI are not waited for, because the user may want them to continue in the background.
    """
    end = time.monotonic() + PATIENCE
    while True:
        found = jobs([one for one in read_spools(default_folders())[0] if one.run == run])
        if time.monotonic() > end or not any(job[0].ranks and _still_runs(job) for job in found):
            return found
        time.sleep(PERIOD)


def collect_rescued(folder: Path, choice: JobSelection) -> tuple[int, int]:
    """Moves the spools of the chosen jobs' ended processes from this node to a folder that several nodes share. Returns
    how many spools were moved, and how many stay. Processes of named jobs, and of a batch job, are given time to end.
    """
    end = time.monotonic() + PATIENCE
    while True:
        found = [one for job in jobs(read_spools(default_folders())[0]) if choice.takes(job) for one in job]
        if not (choice.names or choice.batch_job) or time.monotonic() > end or not _still_runs(found):
            break
        time.sleep(PERIOD)
    ended = [one for one in found if state(one) == "ended"]
    moved = sum(set_aside([one], folder) for one in ended)
    return moved, len(found) - moved


def _still_runs(job: Sequence[Spool]) -> bool:
    """Returns whether a process of the job still runs. A process on another node counts as ended, because its launcher
    has ended.
    """
    return any(state(one) == "running" for one in job)
