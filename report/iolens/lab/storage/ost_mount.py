"""An emulated mount point: its folder of state, its layouts and the books of each job (storage/README.md)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.installation import storage_config

STATE = ".ost"
ANY_TARGET = -1


@dataclass(frozen=True)
class Target:
    """What one target did in a job: bytes moved, seconds at work."""

    bytes: int
    busy_seconds: float


@dataclass(frozen=True)
class JobStatus:
    """The books of one job: whether its timing may be used, and if not why; sizes in bytes."""

    valid: bool
    reasons: tuple[str, ...]
    bytes_written: int
    bytes_read: int
    modelled_seconds: float
    lock_handovers: int
    targets: tuple[Target, ...]


def make_mount(directory: Path, config: Path | None = None) -> Path:
    """Make `directory` an emulated mount point, or renew its configuration; returns its full path."""
    source = config or storage_config()
    try:
        text = source.read_text(encoding="utf-8")
        for name in ("layouts", "jobs"):
            (directory / STATE / name).mkdir(parents=True, exist_ok=True)
        write_aside(directory / STATE / "ost.yaml", text)
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error
    return directory.resolve()


def find_mount(path: Path) -> Path | None:
    """The emulated mount point that holds `path`, or None."""
    resolved = path.resolve()
    return next((folder for folder in (resolved, *resolved.parents) if (folder / STATE).is_dir()), None)


def emulated_environment(mount: Path, job: str | None = None) -> dict[str, str]:
    """Variables that make one run emulate the storage below `mount`; every run needs a job name of its own."""
    root = find_mount(mount)
    if root is None:
        raise UsageError(f"{mount} is not an emulated mount point; make it one: iolens stripe mount {mount}")
    return {
        "OST_MOUNT": str(root),
        "OST_CONFIG": str(root / STATE / "ost.yaml"),
        "OST_JOB": job or f"job-{uuid.uuid4().hex[:12]}",
        "IOLENS_STORAGE": "emulated",
        "IOLENS_MOUNTS": f"ost:{root}",
        "IOLENS_INCLUDE": str(root),
    }


def job_status(mount: Path, job: str) -> JobStatus:
    """The books that the job left; raises when it left none."""
    path = mount / STATE / "jobs" / f"{job}.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise IolensError(f"the emulated storage left no account of the run at {path}") from error
    return JobStatus(
        valid=content["valid"],
        reasons=tuple(content["reasons"]),
        bytes_written=content["bytes_written"],
        bytes_read=content["bytes_read"],
        modelled_seconds=content["modelled_seconds"],
        lock_handovers=content["lock_handovers"],
        targets=tuple(Target(**target) for target in content["targets"]),
    )


def forget_job(mount: Path, job: str) -> None:
    """Remove the job's clocks, which are large; its books stay."""
    (mount / STATE / "jobs" / f"{job}.state").unlink(missing_ok=True)


def remove_mount(mount: Path) -> None:
    """Remove the mount point with everything below it."""
    shutil.rmtree(mount, ignore_errors=True)


def config_value(mount: Path, key: str) -> str:
    """One value of the mount's configuration."""
    for line in (mount / STATE / "ost.yaml").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition("#")[0].partition(":")
        if name.strip() == key:
            return value.strip()
    raise IolensError(f"{mount / STATE / 'ost.yaml'} has no key {key}")


def layout_file(mount: Path, path: Path) -> Path:
    """Where the layout of an existing file or directory is kept."""
    return mount / STATE / "layouts" / str(path.stat().st_ino)


def born(path: Path) -> int:
    """When the inode of `path` was made, in nanoseconds; 0 where the file system does not record it."""
    done = subprocess.run(
        ["stat", "--dereference", "--format=%.9W", "--", str(path)], capture_output=True, text=True, check=False
    )
    seconds, _, fraction = done.stdout.strip().partition(".")
    return int(seconds + fraction) if fraction.isdigit() else 0


def write_aside(path: Path, text: str) -> None:
    """Write a file under another name, then rename it, so that nobody sees half of it."""
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)
