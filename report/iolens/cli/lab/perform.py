"""`iolens perform FOLDER`: do the run of a sweep that was handed to this batch job."""

from __future__ import annotations

import argparse
import os
from datetime import datetime, timezone
from pathlib import Path

_ENDED = 143
"""The exit code of a run that was ended from outside, as a shell gives it for SIGTERM."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", help="folder of the run, with the task.json of `iolens sweep`"
    )


def run(args: argparse.Namespace) -> int:
    """Performs the run on the nodes of this job, and leaves an outcome.json for the sweep; returns the exit code of the
    program.

    A job that Slurm starts again has finished some of its runs before: a run with an outcome is not repeated.
    """
    from iolens.errors import IolensError
    from iolens.lab.launchers.local import LOCAL
    from iolens.lab.launchers.task_file import read_outcome, read_task, write_outcome
    from iolens.lab.run.execute import Outcome, interruptible
    from iolens.lab.run.hosts import hosts_of

    folder = args.folder.resolve()
    task = read_task(folder)
    if before := read_outcome(folder):
        print(f"{folder}: finished before this job was started again")
        return before.exit_code
    began, load = datetime.now(timezone.utc), os.getloadavg()[0]

    def failed(code: int, why: str) -> Outcome:
        seconds = (datetime.now(timezone.utc) - began).total_seconds()
        moment = began.isoformat(timespec="seconds")
        return Outcome(task.words, moment, load, code, seconds, (), reason=why)

    with interruptible():
        try:
            _, outcome = next(LOCAL.run([task]))
        except IolensError as error:
            outcome = failed(1, str(error))
        except KeyboardInterrupt:
            outcome = failed(_ENDED, "the batch job was ended during the run, by its time limit or by somebody")
    write_outcome(folder, outcome._replace(hosts=tuple(hosts_of(outcome.logs, task.ranks))))
    return outcome.exit_code
