"""Spools that processes left behind: finds them, determines which processes have ended, and makes one log of
each job.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from iolens.foreign import printable_text
from iolens.lab.installation import find_program
from iolens.lab.recovery.places import spool_files

_DAY = 86400.0

_BESIDE = ".spools"
"""Suffix after a log's name for the folder that keeps its spools while ranks are missing."""

State = Literal["running", "ended", "unknown"]


@dataclass(frozen=True)
class Spool:
    """Facts that `iolens-recover list` prints about one file; `ranks` is 0 for a process without MPI; `replaced` is
    true if the process continued as another program (exec); `log` names the log that was being written, or is "";
    `run` is the name that `iolens run` gave to its run, or ""; `folder` is where the process would have put its log.
    """

    spool: str
    host: str
    program: str
    boot: str
    namespace: int
    pid: int
    start_ticks: int
    job: str
    job_host: str
    jobid: int
    rank: int
    ranks: int
    start: float
    bytes: int
    overflow: bool
    replaced: bool
    log: str
    run: str
    folder: str


@dataclass(frozen=True)
class Unusable:
    """A file that is not a spool of this version: the reason, and the process that wrote it (`pid` 0 if that is not
    known).
    """

    spool: str
    unusable: str
    boot: str
    namespace: int
    pid: int
    start_ticks: int


def program() -> Path:
    """Returns the helper program; raises if it was not built."""
    return find_program("iolens-recover")


def _asked_helper(words: Sequence[str], spools: Iterable[str]) -> subprocess.CompletedProcess[bytes]:
    """Runs the helper program on some spools, whose names may be too many for a command line."""
    names = b"".join(os.fsencode(spool) + b"\0" for spool in spools)
    return subprocess.run([str(program()), *words, "-"], input=names, stdout=subprocess.PIPE, check=False)


def read_spools(folders: Iterable[Path]) -> tuple[list[Spool], list[Unusable]]:
    """Returns all spools in or below the folders, and the files that look like spools and cannot be used. Processes
    that end may remove their spools at any moment.
    """
    paths = [path for folder in folders for path in spool_files(folder)]
    if not paths:
        return [], []
    listing = _asked_helper(["list"], paths).stdout
    rows = [json.loads(line) for line in listing.splitlines()]
    names = {field.name for field in fields(Spool)}
    spools = [
        Spool(**{**{name: row[name] for name in names}, "program": printable_text(row["program"])})
        for row in rows
        if "unusable" not in row
    ]
    unusable = [Unusable(**row) for row in rows if "unusable" in row]
    return remaining(spools), [one for one in unusable if Path(one.spool).exists()]


def remaining(job: Iterable[Spool]) -> list[Spool]:
    """Returns the spools whose files still exist: a process removes its spool after writing its log."""
    return [one for one in job if Path(one.spool).exists()]


def state(spool: Spool | Unusable) -> State:
    """Returns the state of a spool's process: whether it still runs as the program that wrote the spool. Only the
    process's own node can determine this.
    """
    if isinstance(spool, Spool) and spool.replaced:
        return "ended"
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    if isinstance(spool, Unusable) and (spool.pid == 0 or spool.boot != boot):
        return "unknown"
    if isinstance(spool, Spool) and spool.host != os.uname().nodename:
        return "unknown"
    if spool.boot != boot:
        return "ended"
    if spool.namespace != os.stat("/proc/self/ns/pid").st_ino:
        return "unknown"
    try:
        values = Path(f"/proc/{spool.pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return "ended"
    return "ended" if values[0] in b"ZX" or int(values[19]) != spool.start_ticks else "running"


def is_abandoned(spool: Unusable) -> bool:
    """Returns True if no process will write to a file any more. If the file's process is unknown, the file must be a
    day old.
    """
    how = state(spool)
    try:
        return how == "ended" or (how == "unknown" and time.time() - Path(spool.spool).stat().st_mtime > _DAY)
    except FileNotFoundError:
        return True


def jobs(spools: Sequence[Spool]) -> list[list[Spool]]:
    """Returns the spools grouped by job, in order of rank."""
    found: dict[tuple[str, str], list[Spool]] = {}
    for spool in sorted(spools, key=lambda one: (one.start, one.rank)):
        found.setdefault((spool.job, spool.job_host), []).append(spool)
    return [sorted(job, key=lambda one: one.rank) for job in found.values()]


def recover_job(job: Sequence[Spool], folder: Path | None = None, why: str | None = None) -> Path | None:
    """Writes the job's log and removes its spools; returns None if the log cannot be written, and then the spools stay.
    A log that the job had finished by itself is not written again. Other nodes may hold missing spools, and another
    version may read a damaged one: the spools of a job without all its ranks move beside the log, and a later log of
    more ranks replaces it. Root never moves the spools of other users; damaged ones stay where they are.
    """
    job = remaining(job)
    unfinished = _unfinished(job)
    finished = next((Path(one.log) for one in job if not unfinished and os.path.isfile(one.log)), None)
    made = _merge_spools(job, folder, why) if job and finished is None else None
    log, damaged = made or (finished, frozenset())
    if log is None:
        # A merge fails if a process removes its spool in the meantime; the spools of the others are still enough for a
        # log.
        vanished = len(remaining(job)) < len(job)
        return recover_job(job, folder, why) if vanished else None
    earlier = {Path(one.spool).parent for one in job if Path(one.spool).parent.name.endswith(_BESIDE)}
    for place in earlier:
        if place.parent == log.parent and finished is None:
            log = log.replace(place.with_suffix(""))
    used = [one for one in job if one.spool not in damaged]
    if finished is None and all(map(is_own, job)) and len(used) < used[0].ranks:
        set_aside(job, log.with_name(log.name + _BESIDE))
    else:
        for one in used:
            Path(one.spool).unlink(missing_ok=True)
    for path in unfinished:
        path.unlink(missing_ok=True)
    for place in earlier:
        if place.with_suffix("") != log:
            place.with_suffix("").unlink(missing_ok=True)
        with suppress(OSError):  # Spools of other nodes remain in the folder.
            place.rmdir()
    return log


def _unfinished(job: Iterable[Spool]) -> list[Path]:
    """Returns the files in which the job was writing its log when it was killed. Each has the log's name and the number
    of the process that began it. A damaged spool may name a log that no file system accepts.
    """
    names = {f"{one.log}.{one.job.partition('-')[0]}.iolens-partial" for one in job if one.log}
    return [Path(name) for name in sorted(names) if os.path.isfile(name)]


def is_own(spool: Spool) -> bool:
    """Returns True if a spool belongs to this user, or if it has vanished."""
    try:
        return Path(spool.spool).stat().st_uid == os.geteuid()
    except FileNotFoundError:
        return True


def _merge_spools(job: Sequence[Spool], folder: Path | None, why: str | None) -> tuple[Path, frozenset[str]] | None:
    """Returns the log that iolens-recover makes of the spools, and the damaged spools that it left out; if it fails,
    prints a message and returns None.
    """
    options = [*(["-o", str(folder)] if folder else []), *(["-w", why] if why else [])]
    done = _asked_helper(["merge", *options], (one.spool for one in job))
    return printed_paths(done.stdout) if done.returncode == 0 else None


def printed_paths(text: bytes) -> tuple[Path, frozenset[str]]:
    """Returns the log that `iolens-recover merge` printed as a line, and the damaged spools that it named before, each
    ended by a zero byte. The name of a program, and therefore of its log, may contain any other byte.
    """
    *damaged, log = text.removesuffix(b"\n").split(b"\0")
    return Path(os.fsdecode(log)), frozenset(map(os.fsdecode, damaged))


def set_aside(job: Iterable[Spool], folder: Path) -> bool:
    """Moves spools of any node to a folder; a file there gets its name only when it is complete. Returns False if there
    is no room; then the spools stay where they are.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for one in job:
            program = f"-{Path(one.spool).stem.rpartition('-')[2]}" if one.replaced else ""
            target = folder / f"{Path(one.host).name}-{one.pid}-{one.start_ticks}{program}.spool"
            if Path(one.spool) == target:
                continue
            part = target.with_suffix(".part")
            try:
                shutil.copy(one.spool, part)
            except FileNotFoundError:
                if Path(one.spool).exists():
                    raise
                continue
            part.rename(target)
            Path(one.spool).unlink(missing_ok=True)
    except OSError:
        return False
    return True
