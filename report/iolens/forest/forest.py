"""A folder of logs as one job: its processes and their files, and the logs that could not be read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from iolens.errors import IolensError
from iolens.foreign import decoded
from iolens.forest.process import Process, process_of
from iolens.forest.uses import USES, uses_of
from iolens.lazy import pd
from iolens.log import Job
from iolens.log.format.container import LogError
from iolens.log.reader import ESSENCE, read_log
from iolens.log.records import Records
from iolens.metrics.files.overview import lowest_of, paths

_SUFFIX = ".darshan"
_SPOOLS = "*.spool"


@dataclass(frozen=True)
class Damaged:
    """A log that could not be read, and the reason."""

    log: str
    reason: str


@dataclass(frozen=True, eq=False)
class Forest:
    """Processes in the order of their start; `files[p]` are the rows of process p, whose paths are numbers into
    `paths`; `heat[p]` its bytes over time (number and width of the bin, written, read). `spools`: files of processes
    without a log so far.
    """

    folder: Path
    processes: tuple[Process, ...]
    paths: tuple[str, ...]
    files: tuple[tuple[np.ndarray, Records], ...]
    heat: tuple[Records, ...]
    kinds: dict[str, str]
    damaged: tuple[Damaged, ...] = ()
    spools: int = 0

    @cached_property
    def uses(self) -> pd.DataFrame:
        """Returns a row per process and file: process, path (numbers) and the columns of USES."""
        lengths = [len(places) for places, _ in self.files]
        columns = {name: np.concatenate([uses[name] for _, uses in self.files]) for name in USES}
        where = {
            "process": np.repeat(np.arange(len(self.files)), lengths),
            "path": np.concatenate([places for places, _ in self.files]),
        }
        return pd.DataFrame(where | columns)


def _logs_below(folder: Path) -> list[Path]:
    """Returns all logs in a folder and below it, in order of their paths; hidden files are left out."""
    found = (path for path in folder.rglob(f"*{_SUFFIX}") if path.is_file() or path.is_symlink())
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts))


def printable(path: Path | str) -> str:
    """Returns a path as printable text; bytes of a name that are not UTF-8 are replaced."""
    return decoded(os.fsencode(path))


def read_forest(folder: Path) -> Forest:
    """Returns all logs below a folder; raises IolensError if there is none that can be read."""
    logs = _logs_below(folder)
    if not logs:
        raise IolensError(f"{folder}: this folder has no log ({_SUFFIX}) in it or below it")
    return _forest_of(folder, logs, sum(1 for _ in folder.rglob(_SPOOLS)))


def _forest_of(folder: Path, logs: Iterable[Path], spools: int = 0) -> Forest:
    """Returns these logs as one job; each is read once, and those that cannot be read are listed."""
    damaged: list[Damaged] = []
    places: dict[str, int] = {}
    kinds: dict[str, str] = {}
    rows = list(_rows_of_logs(folder, logs, damaged, places, kinds))
    if not rows:
        first = damaged[0]
        raise IolensError(f"{folder}: none of the {len(damaged)} logs can be read; {first.log} {first.reason}")
    rows = _newest(rows)
    processes, files, heat = zip(*rows, strict=True)
    return Forest(folder, processes, tuple(places), files, heat, kinds, tuple(damaged), spools)


Row = tuple[Process, tuple[np.ndarray, Records], Records]


def _newest(rows: list[Row]) -> list[Row]:
    """Returns rows in the order of their start, one for each process. If a process has several logs, as one with
    snapshots has, the log that lasts longest counts.
    """
    kept: dict[object, Row] = {}
    for row in sorted(rows, key=lambda row: (row[0].seconds, row[0].log)):
        one = row[0]
        kept[one.log if one.clock is None else (one.host, one.pid, one.start)] = row
    return sorted(kept.values(), key=lambda row: (row[0].start, row[0].log))


def _rows_of_logs(
    folder: Path, logs: Iterable[Path], damaged: list[Damaged], places: dict[str, int], kinds: dict[str, str]
) -> Iterator[Row]:
    """Yields a row per log; `places` numbers the paths, `kinds` names the type of each mount point."""
    for log in logs:
        name = printable(log.relative_to(folder))
        try:
            job = read_log(log, ESSENCE)
        except LogError as error:
            damaged.append(Damaged(name, printable(str(error).removeprefix(f"{log}: "))))
            continue
        uses = uses_of(job)
        numbers = np.array([places.setdefault(path, len(places)) for path in paths(job, uses["id"].tolist())], "i8")
        kinds.update(job.file_systems)
        yield process_of(job, name), (numbers, uses), _heat_of(job)


def _heat_of(job: Job) -> Records:
    """Returns the bins of a log's heat maps in which bytes were moved, of the layers at which bytes reach a file."""
    heat = job.records.get("HEATMAP", Records({}))
    if not len(heat):
        return heat
    wanted = np.isin(heat["module"].astype(str), lowest_of(set(heat["module"].tolist())))
    moved = wanted & (heat["width"] > 0) & ((heat["written"] > 0) | (heat["read"] > 0))
    return heat.where(moved).take("bin", "width", "written", "read")
