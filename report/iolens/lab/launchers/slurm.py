"""Slurm: runs as batch jobs, one after another, which continue when the user's session ends."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from iolens.errors import IolensError
from iolens.lab import values
from iolens.lab.files import write_aside
from iolens.lab.launchers.launcher import Launcher, RunSpec
from iolens.lab.launchers.slurm_batches import batches
from iolens.lab.launchers.slurm_queue import QueuedJob, states
from iolens.lab.launchers.slurm_script import DIRECTIVES, TIME, nodes_of, script
from iolens.lab.launchers.task_file import OUTCOME, logs_in, read_outcome, write_task
from iolens.lab.run.execute import Outcome
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.say import say

_JOB = "job.json"
"""File in a run's folder that names the job to which the run was submitted."""

_QUEUED = 4
"""Number of jobs that wait in the queue at a time: enough that the queue does not run empty, few enough that little
must be cancelled when the user stops.
"""

_PERIODS = (0.5, 10.0)
"""Seconds between two checks of the queue: at first, and at most."""

_GROWTH = 1.5
"""Growth of the time between checks while no job ends, because the controller of a cluster serves many users."""

_SHARED = 10.0
"""Seconds to wait for a file that another node wrote: some file systems show new files late.
"""

_KEYS = {
    "nodes": (values.positive, "Nodes of a job"),
    "ranks_per_node": (values.positive, "Ranks on each node; without this key ranks are spread evenly"),
    "time": (values.duration, "Longest time of one run, in seconds or hours:minutes:seconds"),
    "runs_per_job": (values.positive, "Number of runs in one job, one after the other on the same nodes"),
    "exclusive": (values.yes_or_no, "No other jobs on the nodes"),
    "modules": (values.words, "Modules that the job loads"),
    "start": (values.text, "Command that starts the ranks, such as srun --mpi=pmix"),
    "options": (values.words, "Further options of sbatch"),
    **{name: (values.text, f"Passed on to sbatch: {option}") for name, option in DIRECTIVES.items()},
}

_CAUSES = {
    "NODE_FAIL": "a node of the job failed",
    "BOOT_FAIL": "a node of the job did not start",
    "OUT_OF_MEMORY": "the job ran out of memory",
    "PREEMPTED": "another job took its nodes",
    "TIMEOUT": "it reached its time limit",
}
"""Causes of the end of a job by Slurm's states, in plain words."""


@dataclass(frozen=True)
class Handed:
    """A task that was submitted: its job, the output of the job's script, and the time."""

    task: RunSpec
    job: int
    submitted: float
    output: str


def run(tasks: Iterable[RunSpec]) -> Generator[tuple[RunSpec, Outcome], None, None]:
    """Submits the tasks in jobs of several runs, and yields each task as it ends. Tasks that an earlier sweep submitted
    are waited for. If the iteration is abandoned, jobs stay in the queue.
    """
    left = batches(tasks)
    under_way: list[Handed] = []
    period = _PERIODS[0]
    try:
        while _refill(left, under_way):
            ended = list(_ended_tasks(under_way))
            for handed, outcome in ended:
                under_way.remove(handed)
                (handed.task.folder / _JOB).unlink(missing_ok=True)
                yield handed.task, outcome
            period = _PERIODS[0] if ended else min(_GROWTH * period, _PERIODS[1])
            time.sleep(0 if ended else period)
    finally:
        if jobs := sorted({handed.job for handed in under_way}):
            say(
                f"The jobs {', '.join(map(str, jobs))} continue in Slurm; run the same command again to wait for their "
                f"results"
            )


def _refill(left: Iterator[Sequence[RunSpec]], under_way: list[Handed]) -> list[Handed]:
    """Submits more jobs while fewer than wanted are in the queue, and returns all submitted tasks. Each task is added
    to `under_way` as soon as it is submitted, so that none is forgotten if the user interrupts the sweep.
    """
    while len({handed.job for handed in under_way}) < _QUEUED and (batch := next(left, None)):
        known = {task.folder: _handed_before(task) for task in batch}
        under_way += [handed for handed in known.values() if handed]
        if fresh := [task for task in batch if not known[task.folder]]:
            under_way += _submit(fresh)
    return under_way


def _submit(tasks: Sequence[RunSpec]) -> list[Handed]:
    """Writes the job's script beside its first run, and submits it to Slurm; raises IolensError if Slurm refuses."""
    for task in tasks:
        (task.folder / OUTCOME).unlink(missing_ok=True)
        write_task(_for_job(task))
    first = tasks[0].folder
    path, output = first / "job.sh", str(first / "job.out")
    write_aside(path, _script_of(tasks))
    done = subprocess.run(["sbatch", "--parsable", str(path)], capture_output=True, text=True, check=False)
    number = done.stdout.strip().partition(";")[0]
    if done.returncode != 0 or not number.isdecimal():
        why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise IolensError(f"sbatch refused {path}: {why}")
    now = time.time()
    for task in tasks:
        write_aside(task.folder / _JOB, json.dumps({"job": int(number), "submitted": now, "output": output}) + "\n")
    return [Handed(task, int(number), now, output) for task in tasks]


def _for_job(task: RunSpec) -> RunSpec:
    """Returns the task in the form that its job performs: the job ends the task when its own time is over, so that time
    remains for the next task.
    """
    limit = task.setup.timeout or task.options.get("time", TIME)
    return replace(task, setup=task.setup._replace(timeout=limit))


def _script_of(tasks: Sequence[RunSpec]) -> str:
    """Returns the script of one job of these tasks."""
    first = tasks[0].folder
    return script(_name_of(first), tasks, str(first / "job.out"))


def _job_scripts(tasks: Sequence[RunSpec]) -> list[str]:
    """Returns the scripts of all jobs."""
    return [_script_of(batch) for batch in batches(tasks)]


def _name_of(folder: Path) -> str:
    """Returns the name that all jobs of a sweep share: the name of the folder that holds `points`, `confirm` and
    `first`.
    """
    parts = folder.resolve().parts
    inside = next((i for i, part in enumerate(parts) if part in ("points", "confirm", "first")), len(parts) - 1)
    return "iolens-" + re.sub("[^A-Za-z0-9.+-]+", "-", parts[inside - 1])


def _handed_before(task: RunSpec) -> Handed | None:
    """Returns the job to which this sweep or an earlier one submitted the task; None if neither did."""
    try:
        known = json.loads((task.folder / _JOB).read_text(encoding="utf-8"))
        return Handed(task, int(known["job"]), float(known["submitted"]), str(known["output"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _ended_tasks(under_way: Sequence[Handed]) -> Iterator[tuple[Handed, Outcome]]:
    """Yields the tasks whose jobs have ended. If Slurm does not answer, the remaining jobs are checked again later."""
    found = {handed.task.folder: read_outcome(handed.task.folder) for handed in under_way}
    known = states({handed.job for handed in under_way if not found[handed.task.folder]}) or {}
    for handed in under_way:
        outcome = found[handed.task.folder]
        job = known.get(handed.job)
        if outcome is None and job and job.ended:
            outcome = _awaited(handed.task.folder) or without_outcome(handed, job)
        if outcome:
            yield handed, _with_job(handed, outcome, job)


def _awaited(folder: Path) -> Outcome | None:
    """Returns the outcome that a node wrote just before its job ended; None if it wrote none."""
    end = time.monotonic() + _SHARED
    while (outcome := read_outcome(folder)) is None and time.monotonic() < end and (folder / "stdout.txt").exists():
        time.sleep(_PERIODS[0])
    return outcome


def without_outcome(handed: Handed, job: QueuedJob) -> Outcome:
    """Returns the outcome of a run whose job ended before it could report one."""
    for name in ("stdout.txt", "stderr.txt"):
        (handed.task.folder / name).touch()
    began = datetime.fromtimestamp(handed.submitted, timezone.utc).isoformat(timespec="seconds")
    state = f"{job.state}: {_CAUSES[job.state]}" if job.state in _CAUSES else job.state
    why = f"Slurm job {handed.job} ended ({state}) before this run ended; its output is in {handed.output}"
    return Outcome(handed.task.words, began, 0.0, 1, 0.0, logs_in(handed.task.folder), reason=why)


def _with_job(handed: Handed, outcome: Outcome, job: QueuedJob | None) -> Outcome:
    """Returns the outcome with the known facts about its job."""
    began = datetime.fromisoformat(outcome.started).timestamp()
    batch: dict[str, Any] = {
        "system": "slurm",
        "job": handed.job,
        "waited": max(0.0, round(began - handed.submitted, 1)),
    }
    if job:
        batch |= {"state": job.state}
    return outcome._replace(batch={**batch, **outcome.batch})


def _starter(flavour: mpi.Flavour | None) -> str:
    """Returns the launcher of the program's MPI, which starts ranks through Slurm; raises if Slurm's commands do not
    answer.
    """
    if states([]) is None:
        raise IolensError(
            "squeue does not answer; run this on a node where Slurm's commands work, or set `launcher: local`"
        )
    return mpi.find_launcher(flavour)


def _holds(folder: Path) -> bool:
    """Returns True for a run that was submitted in a job and whose outcome has not been read yet."""
    return (folder / _JOB).exists()


SLURM = Launcher(
    name="slurm",
    starter=_starter,
    run=run,
    holds=_holds,
    elsewhere=True,
    keys=_KEYS,
    nodes=nodes_of,
    preview=_job_scripts,
)
