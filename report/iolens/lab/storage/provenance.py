"""The facts about a real file system in a run's record: the layout of its data, and the state of the targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from iolens.errors import IolensError
from iolens.lab.storage.backend import Health
from iolens.lab.storage.layout import Layout
from iolens.lab.storage.mounts import file_system
from iolens.lab.storage.targets import StorageTarget, record


def health_with(
    get_stripes: Callable[[Path], Layout],
    targets: Callable[[Path, str | None], tuple[StorageTarget, ...]] | None = None,
) -> Callable[[Path, str], Health]:
    """Returns a back end's `health`: layout and targets as its tools report them after the job, or the reason why they
    do not.
    """

    def health(directory: Path, job: str) -> Health:
        counts: dict[str, Any] = {
            "layout": _answer_or_reason(lambda: asdict(get_stripes(_first_data_file(directory / job))))
        }
        if targets:
            counts["targets"] = _answer_or_reason(lambda: record(targets(directory, None)))
        return Health(file_system(directory)[0], counts=counts)

    return health


def _answer_or_reason(question: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Returns the answer to a question, or the reason why there is none: a tool that fails after the run does not
    invalidate the run.
    """
    try:
        return question()
    except IolensError as error:
        return {"unknown": str(error)}


def _first_data_file(folder: Path) -> Path:
    """Returns the first data file of a job, because all of its files have the same layout; the folder if there is
    none.
    """
    return min((path for path in folder.rglob("*") if path.is_file()), default=folder)
