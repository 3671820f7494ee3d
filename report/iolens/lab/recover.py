"""Spools that processes left behind: find them, tell which have ended, and make one log of each job."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from iolens.errors import IolensError
from iolens.lab.installation import folders_of_libraries

DAY = 86400.0
State = Literal["running", "ended", "unknown"]


@dataclass(frozen=True)
class Spool:
    """What `iolens-recover list` says of one file; `ranks` 0: a process without MPI; `log`: the log that was being
    written of it, or ""."""

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
    log: str
    logpath: str


@dataclass(frozen=True)
class Unusable:
    """A file that is no spool for this version: why; and whose it was, `pid` 0 when even that cannot be told."""

    spool: str
    unusable: str
    boot: str
    namespace: int
    pid: int
    start_ticks: int


def default_folders() -> list[Path]:
    """Where the profiler keeps spools on this node."""
    asked = os.environ.get("IOLENS_SPOOL")
    return [Path(folder) / f"iolens-{os.geteuid()}" for folder in ([asked] if asked else ["/dev/shm", "/tmp"])]


def program() -> Path:
    """The helper program; raises when it was not built."""
    for folder in folders_of_libraries():
        path = folder.parent / "bin" / "iolens-recover"
        if path.is_file():
            return path
    raise IolensError("iolens-recover was not found; run `make build`")


def read_spools(folders: Iterable[Path]) -> tuple[list[Spool], list[Unusable]]:
    """All spools in or below the folders, and what looks like one but cannot be used."""
    paths = [str(path) for folder in folders if folder.is_dir() for path in sorted(folder.rglob("*.spool"))]
    if not paths:
        return [], []
    listing = subprocess.run([str(program()), "list", *paths], stdout=subprocess.PIPE, text=True, check=False).stdout
    rows = [json.loads(line) for line in listing.splitlines()]
    names = {field.name for field in fields(Spool)}
    spools = [Spool(**{name: row[name] for name in names}) for row in rows if "unusable" not in row]
    return spools, [Unusable(**row) for row in rows if "unusable" in row]


def state(spool: Spool | Unusable) -> State:
    """Whether its process still runs; that can be told on its own node only."""
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
        values = Path(f"/proc/{spool.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "ended"
    return "ended" if values[0] in "ZX" or int(values[19]) != spool.start_ticks else "running"


def is_abandoned(spool: Unusable) -> bool:
    """Whether nobody will write to it any more; a process that cannot be told had a day for it."""
    how = state(spool)
    return how == "ended" or (how == "unknown" and time.time() - Path(spool.spool).stat().st_mtime > DAY)


def jobs(spools: Sequence[Spool]) -> list[list[Spool]]:
    """Spools of the same job together, in order of rank."""
    found: dict[tuple[str, str], list[Spool]] = {}
    for spool in sorted(spools, key=lambda one: (one.start, one.rank)):
        found.setdefault((spool.job, spool.job_host), []).append(spool)
    return [sorted(job, key=lambda one: one.rank) for job in found.values()]


def recover_job(job: Sequence[Spool], folder: Path | None = None, why: str | None = None) -> Path | None:
    """Write the job's log and remove its spools; None when it cannot be written, and then they stay.
    A log that the job had finished by itself is not written again."""
    finished = next((Path(one.log) for one in job if one.log and Path(one.log).is_file()), None)
    if finished is None:
        options = [*(["-o", str(folder)] if folder else []), *(["-w", why] if why else [])]
        words = [str(program()), "merge", *options, *(one.spool for one in job)]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            return None
        finished = Path(done.stdout.strip())
    for one in job:
        Path(one.spool).unlink(missing_ok=True)
    return finished


def recover_run(logs: Path, why: str) -> list[Path]:
    """At the end of a run on this node: the logs of processes that left none in its folder."""
    mine = [one for one in read_spools(default_folders())[0] if one.logpath == str(logs)]
    ended = [job for job in jobs(mine) if all(state(one) == "ended" for one in job)]
    return [log for job in ended if (log := recover_job(job, logs, why))]
