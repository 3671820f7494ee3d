"""Read one run from disk: a log, a text that a benchmark printed, or the folder of a run with its run.json."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from iolens.errors import IolensError, UsageError
from iolens.lab.outputs.outputs import READERS, read_output
from iolens.lab.sweep.read.results import limits_of
from iolens.log import read_log
from iolens.metrics.subjects.subject import Trial

LOG = ".darshan"
OUTPUTS = (".out", ".txt", ".log", ".json", ".csv")
"""Suffixes of files that may hold a benchmark's output."""

PROCESSES = "processes.csv"
"""The table of a run whose processes left a log each (report/RUN.md)."""

OWN = ("run.json", "stderr.txt", PROCESSES, "files.csv")
"""Files of a run's folder that hold no benchmark's output."""

_RESULTS = ("result.json", "stdout.txt")
"""Files of a run's folder with the numbers of its program, the most exact file first."""


def is_log(path: Path) -> bool:
    """Returns True if a file is a log and not a text, by its name, or because it contains a byte that occurs in no
    text.
    """
    if path.name.endswith(LOG):
        return True
    try:
        with path.open("rb") as file:
            return b"\0" in file.read(4096)
    except OSError as error:
        raise IolensError(f"{path}: cannot be read ({error.strerror})") from error


def trial_of_file(path: Path) -> Trial:
    """Returns the run of a log or of an output, with the log of the same name beside it; raises if the file is
    neither.
    """
    if is_log(path):
        return Trial(path, job=read_log(path))
    output = read_output(path)
    if output is None:
        raise UsageError(
            f"{path}: this is neither a log nor an output that iolens reads ({', '.join(READERS)}), or the run did "
            "not finish"
        )
    beside = [path.with_name(name + LOG) for name in (path.name, path.stem)]
    log = next((one for one in beside if one.is_file()), None)
    return Trial(path, job=read_log(log) if log else None, output=output)


def trial_of_run(folder: Path) -> Trial:
    """Returns the run in a folder with a run.json; raises if the run failed or is invalid, or if its files
    cannot be read.
    """
    record = read_json(folder / "run.json")
    if record.get("status") != "ok":
        raise IolensError(f"{folder}: the run is {record.get('status')}: {record.get('reason') or 'no reason given'}")
    outputs = (read_output(folder / name) for name in _RESULTS if (folder / name).is_file())
    trial = trial_of_processes(folder) if (folder / PROCESSES).is_file() else _trial_of_log(folder, record)
    return replace(
        trial,
        output=next((output for output in outputs if output is not None), None),
        record=record,
        seconds=float(record.get("seconds") or trial.seconds),
        limits=next((found for parent in list(folder.parents)[:3] if (found := limits_of(parent))), {}),
    )


def _trial_of_log(folder: Path, record: Mapping[str, Any]) -> Trial:
    """Returns the run with the log that its run.json names, if there is one."""
    log = folder / str(record["log"]) if record.get("log") else None
    return Trial(folder, job=read_log(log) if log is not None and log.is_file() else None)


def trial_of_processes(folder: Path) -> Trial:
    """Returns the run whose processes left the logs in processes.csv; raises if that table cannot be read."""
    path = folder / PROCESSES
    try:
        with path.open(encoding="utf-8", newline="") as table:
            rows = list(csv.DictReader(table))
        busiest = max(rows, key=lambda row: float(row["io_seconds"]))["log"]
        seconds = _span(rows)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise IolensError(f"{path}: cannot be read ({error})") from error
    log = folder / str(busiest)
    return Trial(folder, job=read_log(log) if log.is_file() else None, logs=len(rows), seconds=seconds)


def _span(rows: Sequence[Mapping[str, str]]) -> float:
    """Returns the seconds from the start of the first process to the end of the last."""
    begun = [datetime.fromisoformat(row["started"]).timestamp() for row in rows]
    ended = [start + float(row["seconds"]) for start, row in zip(begun, rows, strict=True)]
    return max(ended) - min(begun)


def read_json(path: Path) -> Mapping[str, Any]:
    """Returns the object in a JSON file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise IolensError(f"{path}: cannot be read ({error})") from error
    if not isinstance(found, dict):
        raise IolensError(f"{path}: holds no object")
    return found
