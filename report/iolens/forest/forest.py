"""A folder of logs as one job: its processes and their files, and the logs that could not be read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from iolens.errors import IolensError
from iolens.foreign import decoded
from iolens.lazy import pd
from iolens.log import Job
from iolens.log.format.container import LogError
from iolens.log.known import REPLACED, SPOOL_FULL
from iolens.log.processes import processes_of
from iolens.log.reader import ESSENCE, read_log
from iolens.log.records import Records
from iolens.metrics.files.overview import lowest, lowest_of, paths
from iolens.metrics.files.use import id_rows
from iolens.metrics.grouping import Groups, stacked
from iolens.metrics.job.interfaces.layers import LAYERS
from iolens.metrics.job.share import KINDS, highest_records, seconds_in
from iolens.metrics.once import once_per_job
from iolens.missing import is_nan

_RANKS = (
    *("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"),
    *("JSM_NAMESPACE_RANK", "FLUX_TASK_RANK", "ALPS_APP_PE"),
)
"""Variables in which launchers give a process its rank, in the order of preference."""

_NAMED_BY_PID = re.compile(r"_id\d+-(\d+)_")
"""A log's name as iolens and Darshan make it: USER_PROGRAM_idJOB-PID_…"""
_IN_TREE = re.compile(r"(\d+)-")
JOB_FOLDER = re.compile(r"id\d+$")
"""The job's folder in a tree USER/PROGRAM/idJOB/HOST/PID-….darshan."""


@dataclass(frozen=True)
class Process:
    """`start` is in seconds since 1970 by the clock of `host`, which `tree.process_clocks` corrects; `ranks` is the
    number of ranks of an MPI job, else 1; `rank` is the rank that a launcher gave in the variable `rank_from`, or
    empty. `above` are the process ids of its ancestors, the parent first. `clock` is realtime minus monotonic time of
    the host, in seconds, or None. Processor times are those of the recorded time; NaN if the log does not know them.
    """

    log: str
    host: str
    hosts: int
    pid: int
    above: tuple[int, ...]
    forked: bool
    command: str
    user: int
    jobid: int
    rank: str
    rank_from: str
    ranks: int
    start: float
    seconds: float
    clock: float | None
    user_time: float
    system_time: float
    max_rss: float
    waits: float
    partial: tuple[str, ...]


def process_of(job: Job, log: str) -> Process:
    """Returns the process that a log describes; `log` is the log's path as it is shown."""
    info = job.info
    environment = info.get("environment", {})
    variable = next((name for name in _RANKS if str(environment.get(name, "")).strip()), "")
    parent = job.metadata.get("fork_parent", "")
    pid, host = _identity(job)
    above = tuple(int(each) for each in info.get("ancestors", ())) or ((int(parent),) if parent.isdigit() else ())
    hosts = info.get("hosts", [])
    begin = info.get("begin", {})
    clock = (begin["realtime_ns"] - begin["monotonic_ns"]) * 1e-9 if len(begin) == 2 else None
    taken = job.tables.get("process") or Records({})
    rss = taken.get("max_rss", ())
    return Process(
        log=log,
        host=host,
        hosts=max(1, len(hosts)),
        pid=pid,
        above=above,
        forked=parent.isdigit(),
        command=job.command,
        user=job.uid,
        jobid=job.jobid,
        rank=str(environment.get(variable, "")) if job.nprocs == 1 else "",
        rank_from=variable if job.nprocs == 1 else "",
        ranks=job.nprocs,
        start=job.start,
        seconds=job.run_time,
        clock=clock,
        user_time=_recorded(taken, "user"),
        system_time=_recorded(taken, "system"),
        max_rss=float(rss.max()) if len(rss) else float("nan"),
        waits=_total(taken, "voluntary_switches"),
        partial=tuple(why for why in job.partial if REPLACED not in why or SPOOL_FULL in why),
    )


def _identity(job: Job) -> tuple[int, str]:
    """Returns the process id (0: not known) and the host (empty: not known): from the log, else from its name and
    folder.
    """
    hosts = job.info.get("hosts", [])
    name = _NAMED_BY_PID.search(job.path.name)
    in_tree = _IN_TREE.match(job.path.name) if JOB_FOLDER.match(job.path.parent.parent.name) else None
    pid = int(job.info.get("pid", 0)) or int((name or in_tree or ["", "0"])[1])
    return pid, str(hosts[0]) if hosts else job.path.parent.name if in_tree else ""


def _recorded(process: Records, mode: str) -> float:
    """Returns the processor time in the program (`user`) or in the kernel (`system`) since recording began. The time of
    the loader, and of the program that ran before an exec, is not part of it.
    """
    whole = _total(process, f"{mode}_time")
    earlier = _total(process, f"earlier_{mode}")
    return whole if is_nan(earlier) else max(whole - earlier, 0.0)


def _total(process: Records, name: str) -> float:
    """Returns the sum over ranks; NaN if it is not known."""
    values = process.get(name, ())
    return float(values.sum()) if len(values) else float("nan")


_COUNTS = ("bytes_read", "bytes_written", "opens", "reads", "writes", "size")
_SECONDS = ("read_seconds", "write_seconds", "meta_seconds", "first", "last")
USES = (*_COUNTS, *_SECONDS)
"""The columns of a file's use, without its id."""

_EDGES = ("OPEN", "READ", "WRITE", "CLOSE")
_REDUCED: dict[str, np.ufunc] = {"size": np.maximum, "last": np.maximum, "first": np.minimum}
"""Columns of a file that are not sums over its records."""


@once_per_job
def uses_of(job: Job) -> Records:
    """Returns a row per file: record id, bytes and calls as whole numbers, `size` (the highest offset that was touched
    plus one, 0: not known), seconds of reading, writing and metadata over all ranks, and the `first` and `last` moment
    of any call in seconds since the log's start (0: not known).
    """
    parts = [Records(dict(_use_columns(job, name))) for name in lowest(job)]
    if not parts:
        return Records({"id": np.zeros(0, "u8")} | {name: np.zeros(0, "i8") for name in _COUNTS}).beside(
            {name: np.zeros(0) for name in _SECONDS}
        )
    both = stacked(parts)
    same = Groups(both["id"])
    found = {name: same.reduced(_REDUCED.get(name, np.add), both[name]) for name in USES}
    found["first"] = np.where(np.isfinite(found["first"]), found["first"], 0.0)
    return Records({"id": both["id"][same.first], **found})


def _use_columns(job: Job, name: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yields the columns of `uses_of`, with a row for each record of a layer; the first moment is infinite if it is not
    known.
    """
    layer, records = LAYERS[name], job.records[name]
    nothing = np.zeros(len(records), "i8")

    def known(counter: str) -> np.ndarray:
        return np.asarray(np.maximum(records.get(f"{layer.prefix}_{counter}", nothing), 0))

    read, written = known("BYTES_READ"), known("BYTES_WRITTEN")
    yield from (("id", records["id"]), ("bytes_read", read), ("bytes_written", written))
    for kind in ("open", "read", "write"):
        yield f"{kind}s", np.sum([known(counter) for counter in layer.operations[kind]], axis=0)
    highest = np.maximum(known("MAX_BYTE_READ"), known("MAX_BYTE_WRITTEN"))
    yield "size", np.where((read + written > 0) & layer.offsets, highest + 1, 0)
    for kind in KINDS:
        yield f"{kind.lower()}_seconds", known(f"F_{kind}_TIME")
    starts, ends = (np.array([known(f"F_{edge}_{end}_TIMESTAMP") for edge in _EDGES]) for end in ("START", "END"))
    yield "first", np.where((ends > 0) & (starts > 0), starts, np.inf).min(axis=0)
    yield "last", ends.max(axis=0)


def file_seconds(job: Job, ids: np.ndarray) -> np.ndarray:
    """Returns the seconds in I/O of each of these files over all processes, in the highest layer that knows the file,
    without the time that opens waited for other processes.
    """
    spent, order = np.zeros(len(ids)), np.argsort(ids)
    for name, chosen in highest_records(job):
        row = id_rows(job.records[name]["id"][chosen], ids[order])
        known = row < len(ids)
        seconds = sum((seconds_in(job, name, kind, waits=False)[chosen] for kind in KINDS), start=np.zeros(len(row)))
        np.add.at(spent, order[row[known]], seconds[known])
    return spent


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
    without a log so far. `source` is the folder of the logs, or the log that joins them; `command` started them all,
    and is empty if it is not known.
    """

    source: Path
    processes: tuple[Process, ...]
    paths: tuple[str, ...]
    files: tuple[tuple[np.ndarray, Records], ...]
    heat: tuple[Records, ...]
    kinds: dict[str, str]
    damaged: tuple[Damaged, ...] = ()
    spools: int = 0
    command: str = ""

    @property
    def folder(self) -> Path:
        """Returns the folder in which the logs lie."""
        return self.source if self.source.is_dir() else self.source.parent

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
    """Returns all logs below a folder, or the processes of one log; raises IolensError if no log can be read."""
    if not folder.is_dir():
        return replace(_forest_of(folder, [folder]), command=read_log(folder, ("job",)).command)
    logs = _logs_below(folder)
    if not logs:
        raise IolensError(f"{folder}: this folder has no log ({_SUFFIX}) in it or below it")
    return _forest_of(folder, logs, sum(1 for _ in folder.rglob(_SPOOLS)))


def _forest_of(source: Path, logs: Iterable[Path], spools: int = 0) -> Forest:
    """Returns these logs as one job; each is read once, and those that cannot be read are listed."""
    damaged: list[Damaged] = []
    places: dict[str, int] = {}
    kinds: dict[str, str] = {}
    rows = list(_rows_of_logs(source if source.is_dir() else source.parent, logs, damaged, places, kinds))
    if not rows:
        first = damaged[0]
        raise IolensError(f"{source}: none of the {len(damaged)} logs can be read; {first.log} {first.reason}")
    rows = _newest(rows)
    processes, files, heat = zip(*rows, strict=True)
    return Forest(source, processes, tuple(places), files, heat, kinds, tuple(damaged), spools)


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
        kinds.update(job.file_systems)
        for one in processes_of(job):
            uses = uses_of(one)
            numbers = np.array([places.setdefault(path, len(places)) for path in paths(one, uses["id"].tolist())], "i8")
            inside = name if one is job else f"{name}/{one.path.name}"
            yield process_of(one, inside), (numbers, uses), _heat_of(one)


def _heat_of(job: Job) -> Records:
    """Returns the bins of a log's heat maps in which bytes were moved, of the layers at which bytes reach a file."""
    heat = job.records.get("HEATMAP", Records({}))
    if not len(heat):
        return heat
    wanted = np.isin(heat["module"].astype(str), lowest_of(set(heat["module"].tolist())))
    moved = wanted & (heat["width"] > 0) & ((heat["written"] > 0) | (heat["read"] > 0))
    return heat.where(moved).take("bin", "width", "written", "read")
