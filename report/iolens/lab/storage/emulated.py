"""Emulated targets: the state folder of a mount point, its layouts and the accounts of each job (storage/README.md)."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.foreign import text_of_file
from iolens.lab.files import write_aside
from iolens.lab.installation import storage_config
from iolens.lab.sizes import parse_size
from iolens.lab.storage.backend import Backend, Health
from iolens.lab.storage.layout import ANY_TARGET, Layout
from iolens.lab.storage.lustre import setstripe
from iolens.lab.storage.targets import StorageTarget

_NAME = "emulated"
_STATE = ".ost"
_PAGE = 4096
"""A stripe size is a multiple of this number of bytes."""


@dataclass(frozen=True)
class Target:
    """The work of one target in a job: bytes moved and busy seconds."""

    bytes: int
    busy_seconds: float


@dataclass(frozen=True)
class JobStatus:
    """The accounts of one job: whether its timing may be used, and the reason if not; sizes in bytes."""

    valid: bool
    reasons: tuple[str, ...]
    bytes_written: int
    bytes_read: int
    modelled_seconds: float
    lock_handovers: int
    targets: tuple[Target, ...]


def make_mount(directory: Path, config: Path | None = None) -> Path:
    """Makes `directory` an emulated mount point, or renews its configuration; returns its full path."""
    source = config or storage_config()
    text = text_of_file(source)
    try:
        for name in ("layouts", "jobs"):
            (directory / _STATE / name).mkdir(parents=True, exist_ok=True)
        write_aside(directory / _STATE / "ost.yaml", text)
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error
    return directory.resolve()


def _find_mount(path: Path) -> Path | None:
    """Returns the emulated mount point that holds `path`, or None."""
    resolved = path.resolve()
    return next((folder for folder in (resolved, *resolved.parents) if (folder / _STATE).is_dir()), None)


def _mount_of(path: Path) -> Path:
    """Returns the emulated mount point that holds `path`; raises if there is none."""
    mount = _find_mount(path)
    if mount is None:
        raise UsageError(f"{path} is not an emulated mount point; make it one: iolens stripe mount {path}")
    return mount


def _environment(path: Path, job: str) -> dict[str, str]:
    """Returns the variables that make one run emulate the storage below `path`; every run needs its own job name."""
    root = _mount_of(path)
    return {
        "OST_MOUNT": str(root),
        "OST_CONFIG": str(root / _STATE / "ost.yaml"),
        "OST_JOB": job,
        "IOLENS_STORAGE": _NAME,
        "IOLENS_MOUNTS": f"ost:{root}",
        "IOLENS_INCLUDE": str(root),
    }


def job_status(mount: Path, job: str) -> JobStatus:
    """Returns the accounts of the job; raises if it left none."""
    path = mount / _STATE / "jobs" / f"{job}.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise IolensError(f"the emulated storage wrote no statistics of the run to {path}") from error
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
    """Removes the job's clocks, which are large; its accounts stay."""
    (mount / _STATE / "jobs" / f"{job}.state").unlink(missing_ok=True)


def _health(mount: Path, job: str) -> Health:
    """Returns the health of a job by its accounts; a job without accounts cannot be judged and is invalid."""
    try:
        books = job_status(mount, job)
    except IolensError as error:
        return Health("ost", valid=False, reason=str(error))
    counts = {"bytes_written": books.bytes_written, "lock_handovers": books.lock_handovers}
    return Health("ost", books.valid, "; ".join(books.reasons) or None, counts)


def _settings(mount: Path) -> tuple[Path, ...]:
    """Returns the configuration file of a mount that has one."""
    config = mount / _STATE / "ost.yaml"
    return (config,) if config.exists() else ()


def _config_value(mount: Path, key: str) -> str:
    """Returns one value of the mount's configuration."""
    for line in (mount / _STATE / "ost.yaml").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition("#")[0].partition(":")
        if name.strip() == key:
            return value.strip()
    raise IolensError(f"{mount / _STATE / 'ost.yaml'} has no key {key}")


def _layout_file(mount: Path, path: Path) -> Path:
    """Returns the path of the file that holds the layout of an existing file or directory."""
    return mount / _STATE / "layouts" / str(path.stat().st_ino)


def _born(path: Path) -> int:
    """Returns the time at which the inode of `path` was created, in nanoseconds; 0 if the file system does not
    record it.
    """
    done = subprocess.run(
        ["stat", "--dereference", "--format=%.9W", "--", str(path)], capture_output=True, text=True, check=False
    )
    seconds, _, fraction = done.stdout.strip().partition(".")
    return int(seconds + fraction) if fraction.isdigit() else 0


def set_emulated_stripes(directory: Path, layout: Layout) -> None:
    """Sets a directory's default layout; raises if its mount has too few targets or cannot make stripes of
    this size.
    """
    mount = _mount_of(directory)
    targets = int(_config_value(mount, "targets"))
    if not 1 <= layout.stripe_count <= targets or not ANY_TARGET <= layout.start < targets:
        raise UsageError(
            f"{directory} has {targets} targets; give at most {targets} stripes and a first target from 0 to "
            f"{targets - 1}"
        )
    if layout.stripe_size < _PAGE or layout.stripe_size % _PAGE:
        raise UsageError(f"a stripe must be a multiple of {_PAGE} bytes, not {layout.stripe_size}")
    kept = f"{layout.stripe_count} {layout.stripe_size} {layout.start} {_born(directory)}\n"
    write_aside(_layout_file(mount, directory), kept)


def _get_stripes(path: Path) -> Layout:
    """Returns a file's own layout, else that of its nearest ancestor, else the configuration's default."""
    mount = _mount_of(path)
    targets = int(_config_value(mount, "targets"))
    for place in (path.resolve(), *path.resolve().parents):
        kept = _layout_file(mount, place)
        words = kept.read_text(encoding="utf-8").split() if kept.exists() else []
        if len(words) == 4 and int(words[3]) == _born(place):
            count, size, start = (int(word) for word in words[:3])
            fixed = tuple((start + i) % targets for i in range(count)) if place.is_file() else ()
            return Layout(count, size, start, fixed)
        if place == mount:
            break
    return Layout(int(_config_value(mount, "stripe_count")), parse_size(_config_value(mount, "stripe_size")))


def _targets(path: Path, pool: str | None) -> tuple[StorageTarget, ...]:
    """Returns the targets of the mount's configuration, which are always in order; they have no space of their own."""
    count = int(_config_value(_mount_of(path), "targets"))
    return tuple(StorageTarget(index, f"OST{index:04x}") for index in range(count))


EMULATED = Backend(
    name=_NAME,
    holds=lambda path: _find_mount(path) is not None,
    set_stripes=set_emulated_stripes,
    get_stripes=_get_stripes,
    targets=_targets,
    stripe_command=setstripe,  # The command is the one of Lustre, which this storage imitates.
    make=make_mount,
    settings=_settings,
    environment=_environment,
    libraries=("libost.so",),
    health=_health,
    end=forget_job,
    one_node=True,
    times_by_model=True,
    as_lustre={"OST_AS_LUSTRE": "1"},
    mark="EMULATED STORAGE",
    caution=(
        "The storage is emulated on this machine: its speed comes from a model of object storage targets. Use only "
        "the ratios, and repeat the sweep on the real file system."
    ),
)
