"""CephFS: layouts set and read as extended attributes (https://docs.ceph.com/en/reef/cephfs/file-layouts/)."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.ceph_tool import check_ceph_pool, data_pools, object_names, pool_targets, targets_of_objects
from iolens.lab.storage.layout import ANY_TARGET, Layout
from iolens.lab.storage.mounts import file_system
from iolens.lab.storage.provenance import health_with
from iolens.lab.storage.targets import StorageTarget

_KINDS = ("ceph", "fuse.ceph-fuse", "fuse.ceph")
"""Names of the kernel client and of the FUSE client in the mount table."""

OF_FILE = "ceph.file.layout"
_OF_DIRECTORY = "ceph.dir.layout"

_STRIPE_UNIT = 65536
"""A stripe unit is a multiple of this number of bytes (CEPH_MIN_STRIPE_UNIT)."""

_OBJECT = 4 * 2**20
"""Default size of an object in bytes."""

_TRIES = 100
"""Maximum number of attempts to make a file whose objects lie on the wanted targets."""


def _on_cephfs(path: Path) -> bool:
    """Returns True if a path lies on a mounted CephFS."""
    return file_system(path)[0] in _KINDS


def _set_stripes(directory: Path, layout: Layout) -> None:
    """Sets a directory's layout. Without a requested object size the present one is kept if it is a multiple of the
    stripe unit; else it becomes the stripe unit.
    """
    if layout.stripe_size < _STRIPE_UNIT or layout.stripe_size % _STRIPE_UNIT:
        raise UsageError(f"a stripe unit of CephFS must be a multiple of 64 KiB, not {layout.stripe_size} bytes")
    if layout.start != ANY_TARGET or layout.stripe_count < 1:
        raise UsageError("CephFS chooses the targets itself: give a stripe count of at least 1, and no --start")
    if layout.object_size and layout.object_size % layout.stripe_size:
        raise UsageError(
            f"an object of CephFS must be a multiple of the stripe unit ({layout.stripe_size} bytes), not "
            f"{layout.object_size} bytes"
        )
    known = nearest_layout(directory)
    size = layout.object_size or (known.object_size if known and known.object_size else _OBJECT)
    value = _layout_text(layout, size)
    try:
        os.setxattr(directory, _OF_DIRECTORY, value.encode())
    except OSError as error:
        why = _reason(directory, layout.pool, error.errno)
        raise IolensError(
            f"{directory}: CephFS refused {_OF_DIRECTORY}={value}: {error.strerror}{f' ({why})' if why else ''}"
        ) from error


def _reason(directory: Path, pool: str | None, code: int | None) -> str:
    """Returns why CephFS may have refused a layout; raises UsageError for a pool that is known not to exist."""
    if code in (errno.EPERM, errno.EACCES):
        return "the client's capabilities lack the p flag"
    if code != errno.EINVAL or not pool:
        return ""
    try:
        check_ceph_pool(directory, pool)
    except UsageError:
        raise
    except IolensError:
        return f"perhaps {pool} is not a data pool of this file system; `ceph fs ls` lists its pools"
    return ""


def _layout_text(layout: Layout, object_size: int) -> str:
    """Returns the value of the attribute for a layout; `object_size` is the size so far."""
    unit = layout.stripe_size
    pool = f" pool={layout.pool}" if layout.pool else ""
    whole = object_size if object_size % unit == 0 else unit
    return f"stripe_unit={unit} stripe_count={layout.stripe_count} object_size={whole}{pool}"


def _get_stripes(path: Path) -> Layout:
    """Returns the layout of a file, or the layout that new files of a directory take: its own, or that of the nearest
    directory above it that has one. A file's layout has the target of each of its first objects, if `ceph` tells them.
    """
    found = nearest_layout(path) if path.is_dir() else layout_attribute(path, OF_FILE)
    if found is None:
        raise IolensError(f"{path}: no directory up to the mount point has its own layout; give a file, which has one")
    return found if path.is_dir() else replace(found, targets=_targets_of_file(path, found))


def _targets_of_file(path: Path, layout: Layout) -> tuple[int, ...]:
    """Returns the target of each object of a file, in the order of the objects; empty if `ceph` cannot be asked."""
    try:
        status = path.stat()
        return targets_of_objects(layout.pool or "", object_names(status.st_ino, status.st_size, layout))
    except (OSError, IolensError):
        return ()


def _targets(path: Path, pool: str | None) -> tuple[StorageTarget, ...]:
    """Returns the targets of a pool, or of the pool that new files below a path go to."""
    if pool:
        check_ceph_pool(path, pool)
    known = nearest_layout(path if path.is_dir() else path.parent)
    return pool_targets(pool or (known.pool if known and known.pool else data_pools()[0]))


def _spread_files(directory: Path, names: Sequence[str], layout: Layout) -> None:
    """Makes empty files of which all stripes lie on different targets, as long as there are targets without one.

    A hash of a file's inode number places its objects, so a file is made again until its objects lie on free targets.
    Makes no files if `ceph` does not say where objects lie.
    """
    try:
        count = len(_targets(directory, layout.pool))
        taken: set[int] = set()
        for name in names:
            taken = set() if len(taken) + layout.stripe_count > count else taken
            for _ in range(_TRIES):
                (directory / name).unlink(missing_ok=True)
                (directory / name).touch()
                targets = _first_targets(directory / name, layout)
                if len({*targets} - taken) == layout.stripe_count:
                    break
            taken |= {*targets}
    except IolensError:
        return


def _first_targets(file: Path, layout: Layout) -> tuple[int, ...]:
    """Returns the targets of the objects that a file's first stripes will lie in."""
    known = layout_attribute(file, OF_FILE) or layout
    names = object_names(file.stat().st_ino, layout.stripe_count * layout.stripe_size, known)
    return targets_of_objects(known.pool or "", names)


def nearest_layout(directory: Path) -> Layout | None:
    """Returns the layout of a directory, or of the nearest one above it on this file system; None if none has one."""
    resolved = directory.resolve()
    mount = Path(file_system(resolved)[1])
    for place in (resolved, *resolved.parents):
        if found := layout_attribute(place, _OF_DIRECTORY):
            return found
        if place == mount:
            break
    return None


def layout_attribute(path: Path, attribute: str) -> Layout | None:
    """Returns the layout in an attribute; None if the attribute does not exist."""
    try:
        return parse_layout(os.getxattr(path, attribute).decode(errors="replace"))
    except OSError as error:
        if error.errno == errno.ENODATA:
            return None
        raise IolensError(f"{path}: {attribute}: {error.strerror}") from error


def parse_layout(text: str) -> Layout:
    """Parses the value of the attribute: `stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=cephfs_data`."""
    values = dict(re.findall(r"(\w+)=(\S+)", text))
    try:
        return Layout(
            int(values["stripe_count"]),
            int(values["stripe_unit"]),
            pool=values.get("pool"),
            object_size=int(values["object_size"]),
        )
    except (KeyError, ValueError) as error:
        raise IolensError(f"CephFS gave no layout: {text[:200]!r}") from error


def _layout_command(count: int, size: int | None, pool: str | None, object_size: int | None = None) -> str:
    """Returns the command line that sets these stripes; None keeps a size or the pool of the directory."""
    given = {"stripe_unit": size, "stripe_count": count, "object_size": object_size, "pool": pool}
    value = " ".join(f"{key}={value}" for key, value in given.items() if value)
    return f'setfattr -n {_OF_DIRECTORY} -v "{value}" DIRECTORY'


CEPHFS = Backend(
    name="cephfs",
    holds=_on_cephfs,
    set_stripes=_set_stripes,
    get_stripes=_get_stripes,
    stripe_command=_layout_command,
    targets=_targets,
    spread=_spread_files,
    pools=True,
    objects=True,
    health=health_with(_get_stripes, _targets),
)
