"""The files by which a sweep passes a task to a batch job, and the job reports the outcome."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from iolens.errors import IolensError
from iolens.lab.files import like_a_log, write_aside
from iolens.lab.launchers.around import Around
from iolens.lab.launchers.launcher import RunSpec
from iolens.lab.run.execute import Outcome
from iolens.lab.run.own_logs import run_of_log
from iolens.lab.run.preload import Setup
from iolens.lab.storage.backends import backend_named

_TASK = "task.json"
OUTCOME = "outcome.json"

_KEYS = tuple(one.name for one in fields(RunSpec))
"""Keys of task.json. A sweep's specification holds more, which the job does not need."""


def write_task(task: RunSpec) -> None:
    """Writes the task into its folder."""
    setup = task.setup._asdict() | {"storage": task.setup.storage.name if task.setup.storage else None}
    content = {key: getattr(task, key) for key in _KEYS} | {"setup": setup, "around": vars(task.around)}
    write_aside(task.folder / _TASK, json.dumps(content, indent=1, default=str) + "\n", like_a_log())


def read_task(folder: Path) -> RunSpec:
    """Returns the task that a folder holds; raises IolensError if there is none."""
    try:
        content = json.loads((folder / _TASK).read_text(encoding="utf-8"))
        setup = content["setup"]
        storage = backend_named(setup["storage"]) if setup["storage"] else None
        made = Setup(**{**setup, "storage": storage, "logs": Path(setup["logs"])})
        return RunSpec(
            **{
                **content,
                "folder": folder,
                "starter": tuple(content["starter"]),
                "words": tuple(content["words"]),
                "setup": made,
                "around": Around(**content["around"]),
            }
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IolensError(f"{folder / _TASK} is not a task of a sweep: {error}") from error


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Writes how the task of this folder ended."""
    write_aside(folder / OUTCOME, json.dumps(outcome._asdict(), indent=1, default=str) + "\n", like_a_log())


def read_outcome(folder: Path) -> Outcome | None:
    """Returns the outcome of the task in this folder, with the logs that exist so far; None if there is no
    outcome yet.
    """
    try:
        content: dict[str, Any] = json.loads((folder / OUTCOME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    texts: Sequence[str] = ("command", "hosts")
    content |= {key: tuple(content[key]) for key in texts} | {"logs": ()}
    outcome = Outcome(**content)
    # Logs without the name of a run are Darshan's, or of a version before runs had names.
    own = (None, outcome.run) if outcome.run else ()
    return outcome._replace(logs=tuple(log for log in logs_in(folder) if not own or run_of_log(log) in own))


def logs_in(folder: Path) -> tuple[Path, ...]:
    """Returns the logs of a folder, the latest last."""
    return tuple(sorted(folder.glob("*.darshan"), key=lambda path: path.stat().st_mtime))
