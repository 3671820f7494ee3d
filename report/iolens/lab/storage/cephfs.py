"""CephFS: layouts set and read as extended attributes (https://docs.ceph.com/en/reef/cephfs/file-layouts/)."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.layout import ANY_TARGET, Layout
from iolens.lab.storage.mounts import file_system
from iolens.lab.storage.provenance import health_with

KINDS = ("ceph", "fuse.ceph-fuse", "fuse.ceph")
"""How the mount table calls the client of the kernel and the one of FUSE."""

OF_FILE = "ceph.file.layout"
OF_DIRECTORY = "ceph.dir.layout"

STRIPE_UNIT = 65536
"""Bytes; a stripe unit is a multiple of it (CEPH_MIN_STRIPE_UNIT)."""

OBJECT = 4 * 2**20
"""Bytes of an object unless a layout says otherwise."""


def on_cephfs(path: Path) -> bool:
    """Whether a path lies on a mounted CephFS."""
    return file_system(path)[0] in KINDS


def set_stripes(directory: Path, layout: Layout) -> None:
    """Set a directory's layout. Its objects keep their size where it is a multiple of the stripe unit; else they become
    as large as that."""
    if layout.stripe_size < STRIPE_UNIT or layout.stripe_size % STRIPE_UNIT:
        raise UsageError(f"a stripe unit of CephFS is a multiple of 64 KiB, not {layout.stripe_size} bytes")
    if layout.start != ANY_TARGET or layout.stripe_count < 1:
        raise UsageError("CephFS chooses the targets itself: give a stripe count of at least 1, and no --start")
    known = nearest(directory)
    size = known.object_size if known and known.object_size else OBJECT
    value = layout_text(layout, size)
    try:
        os.setxattr(directory, OF_DIRECTORY, value.encode())
    except OSError as error:
        why = "the client's capabilities lack the p flag" if error.errno in (errno.EPERM, errno.EACCES) else ""
        raise IolensError(
            f"{directory}: CephFS refused {OF_DIRECTORY}={value}: {error.strerror}{f' ({why})' if why else ''}"
        ) from error


def layout_text(layout: Layout, object_size: int) -> str:
    """The value of the attribute, for objects that were so large until now."""
    unit = layout.stripe_size
    pool = f" pool={layout.pool}" if layout.pool else ""
    whole = object_size if object_size % unit == 0 else unit
    return f"stripe_unit={unit} stripe_count={layout.stripe_count} object_size={whole}{pool}"


def get_stripes(path: Path) -> Layout:
    """The layout of a file, or the one that new files of a directory take: its own, else that of the nearest above it
    that has one."""
    found = nearest(path) if path.is_dir() else read(path, OF_FILE)
    if found is None:
        raise IolensError(
            f"{path}: no directory up to the mount point has a layout of its own; ask a file, which has one"
        )
    return found


def nearest(directory: Path) -> Layout | None:
    """The layout of a directory or of the nearest above it on this file system; None where none has one."""
    resolved = directory.resolve()
    mount = Path(file_system(resolved)[1])
    for place in (resolved, *resolved.parents):
        if found := read(place, OF_DIRECTORY):
            return found
        if place == mount:
            break
    return None


def read(path: Path, attribute: str) -> Layout | None:
    """The layout in an attribute; None where there is no such attribute."""
    try:
        return parse_layout(os.getxattr(path, attribute).decode(errors="replace"))
    except OSError as error:
        if error.errno == errno.ENODATA:
            return None
        raise IolensError(f"{path}: {attribute}: {error.strerror}") from error


def parse_layout(text: str) -> Layout:
    """The value of the attribute: `stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=cephfs_data`."""
    values = dict(re.findall(r"(\w+)=(\S+)", text))
    try:
        return Layout(
            int(values["stripe_count"]),
            int(values["stripe_unit"]),
            pool=values.get("pool"),
            object_size=int(values["object_size"]),
        )
    except (KeyError, ValueError) as error:
        raise IolensError(f"CephFS told no layout: {text[:200]!r}") from error


def layout_command(count: int, size: int | None, pool: str | None) -> str:
    """The line with which a person sets these stripes; None leaves size or pool to the file system."""
    short = f"stripe_count={count}{f' pool={pool}' if pool else ''}"
    value = layout_text(Layout(count, size, pool=pool), OBJECT) if size else short
    return f'setfattr -n {OF_DIRECTORY} -v "{value}" DIRECTORY'


CEPHFS = Backend(
    name="cephfs",
    holds=on_cephfs,
    set_stripes=set_stripes,
    get_stripes=get_stripes,
    stripe_command=layout_command,
    pools=True,
    health=health_with(get_stripes),
)
