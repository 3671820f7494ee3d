"""Spools that processes left behind: find them, tell which have ended, and make one log of each job."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from iolens.errors import IolensError
from iolens.lab.installation import folders_of_libraries

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


def read_spools(folders: Iterable[Path], quiet: bool = False) -> list[Spool]:
    """All usable spools in or below the folders; unless `quiet`, standard error says which are not."""
    paths = [str(path) for folder in folders if folder.is_dir() for path in sorted(folder.rglob("*.spool"))]
    if not paths:
        return []
    words, errors = [str(program()), "list", *paths], subprocess.DEVNULL if quiet else None
    listing = subprocess.run(words, stdout=subprocess.PIPE, stderr=errors, text=True, check=False).stdout
    names = {field.name for field in fields(Spool)}
    rows = [json.loads(line) for line in listing.splitlines()]
    return [Spool(**{name: row[name] for name in names}) for row in rows]


def state(spool: Spool) -> State:
    """Whether its process still runs; that can be told on its own node only."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    if spool.host != os.uname().nodename:
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
    mine = [one for one in read_spools(default_folders(), quiet=True) if one.logpath == str(logs)]
    ended = [job for job in jobs(mine) if all(state(one) == "ended" for one in job)]
    return [log for job in ended if (log := recover_job(job, logs, why))]
