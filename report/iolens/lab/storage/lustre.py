"""Lustre: stripes set and read with its client's `lfs`."""

from __future__ import annotations

import shlex
from pathlib import Path

from iolens.errors import UsageError
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.layout import Layout
from iolens.lab.storage.lfs import parse_df, parse_getstripe
from iolens.lab.storage.mounts import file_system
from iolens.lab.storage.provenance import health_with
from iolens.lab.storage.targets import StorageTarget
from iolens.lab.storage.tool import run_tool

STRIPE_UNIT = 65536
"""Unit of stripe sizes in bytes: a stripe size is a multiple of it (lfs-setstripe(1))."""

_CLIENT = "the Lustre client contains it"


def _on_lustre(path: Path) -> bool:
    """Returns whether a path lies on a mounted Lustre."""
    return file_system(path)[0] == "lustre"


def _set_stripes(directory: Path, layout: Layout) -> None:
    """Sets a directory's default layout; `lfs` itself checks the count, the first target and the pool."""
    if layout.stripe_size < STRIPE_UNIT or layout.stripe_size % STRIPE_UNIT:
        raise UsageError(f"a Lustre stripe must be a multiple of 64 KiB, not {layout.stripe_size} bytes")
    count, size, start = str(layout.stripe_count), str(layout.stripe_size), str(layout.start)
    pool = ["-p", layout.pool] if layout.pool else []
    _lfs("setstripe", "-c", count, "-S", size, "-i", start, *pool, str(directory.absolute()))


def _get_stripes(path: Path) -> Layout:
    """Returns the layout of a file, or the default layout of a directory."""
    return parse_getstripe(_lfs("getstripe", *(["-d"] if path.is_dir() else []), str(path.absolute())))


def _targets(path: Path, pool: str | None) -> tuple[StorageTarget, ...]:
    """Returns the object storage targets below a path, or those of a pool, including deactivated ones."""
    return parse_df(_lfs("df", "-v", *(["-p", pool] if pool else []), str(path.absolute())))


def setstripe(count: int, size: int | None, pool: str | None, object_size: int | None = None) -> str:
    """Returns the command line that sets these stripes; None leaves the size or the pool to the file system."""
    of_size, of_pool = f" -S {_lfs_size(size)}" if size else "", f" -p {shlex.quote(pool)}" if pool else ""
    return f"lfs setstripe -c {count}{of_size}{of_pool} DIRECTORY"


def _lfs_size(size: int) -> str:
    """Returns bytes as `lfs setstripe -S` takes them: 1048576 -> '1M', 65536 -> '64K'."""
    for unit, suffix in ((2**30, "G"), (2**20, "M"), (2**10, "K")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{suffix}"
    return str(size)


def _lfs(*words: str) -> str:
    """Runs `lfs` and returns its output; raises with its message if it fails."""
    return run_tool(("lfs", *words), _CLIENT)


LUSTRE = Backend(
    name="lustre",
    holds=_on_lustre,
    set_stripes=_set_stripes,
    get_stripes=_get_stripes,
    stripe_command=setstripe,
    targets=_targets,
    pools=True,
    health=health_with(_get_stripes, _targets),
    as_lustre={},
)
