"""The table of back ends, and the search for the one that holds a path."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.beegfs import BEEGFS
from iolens.lab.storage.cephfs import CEPHFS
from iolens.lab.storage.emulated import EMULATED
from iolens.lab.storage.layout import Layout
from iolens.lab.storage.lustre import LUSTRE
from iolens.lab.storage.mounts import file_system
from iolens.lab.storage.plain import PLAIN
from iolens.lab.storage.targets import StorageTarget, usable

BACKENDS: dict[str, Backend] = {backend.name: backend for backend in (EMULATED, LUSTRE, BEEGFS, CEPHFS)}
"""Back ends by name. A path that none of them holds is a plain folder."""

DIRECTORY = "directory"
"""The `storage.kind` that accepts any storage on which the given directory lies."""


def backend_named(name: str) -> Backend:
    """Returns the back end with this name in run.json; raises KeyError."""
    return {**BACKENDS, PLAIN.name: PLAIN}[name]


def backend_at(path: Path) -> Backend:
    """Returns the back end that holds a path."""
    return next((backend for backend in BACKENDS.values() if backend.holds(path)), PLAIN)


def backend_for(kind: str, directory: Path) -> Backend:
    """Returns the back end of a sweep in this directory, by the experiment's `storage.kind`; raises if the directory is
    not on it.
    """
    if kind == DIRECTORY:
        return backend_at(existing(directory))
    backend = BACKENDS[kind]
    if backend.make is None and not backend.holds(existing(directory)):
        there, mount = file_system(existing(directory))
        raise UsageError(
            f"{directory} is on {there} (mounted at {mount}), but storage.kind is {kind}; change one of them"
        )
    return backend


def existing(path: Path) -> Path:
    """Returns the path itself, or its nearest ancestor that exists."""
    return next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())


def set_stripes(path: Path, layout: Layout) -> str:
    """Sets the default layout of a directory, which files created in it later take. Returns a note for the user if a
    file's stripes must share targets, otherwise an empty text.
    """
    if not path.is_dir():
        raise UsageError(f"{path} is not a directory; stripes are set on a directory before files are made in it")
    backend = backend_at(path)
    if backend.set_stripes is None:
        raise _without_stripes(path)
    if layout.pool and not backend.pools:
        raise UsageError(f"{path} is on {backend.name} storage, which has no pools; leave --pool out")
    if layout.object_size and not backend.objects:
        raise UsageError(f"{path} is on {backend.name} storage, which has no object size; leave --object-size out")
    backend.set_stripes(path, layout)
    return _shared_targets(backend, path, layout) if backend.objects and backend.targets else ""


def _shared_targets(backend: Backend, path: Path, layout: Layout) -> str:
    """Returns a note if a layout has more stripes than there are targets that take files."""
    try:
        found = usable(backend.targets(path, layout.pool)) if backend.targets else 0
    except IolensError:
        return ""
    if layout.stripe_count <= found:
        return ""
    return f"{path}: {layout.stripe_count} stripes of a file share {found} targets, because there are no more targets"


def get_stripes(path: Path) -> Layout:
    """Returns the layout of a file, or the default layout of a directory."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or directory")
    backend = backend_at(path)
    if backend.get_stripes is None:
        raise _without_stripes(path)
    return backend.get_stripes(path)


def get_targets(path: Path, pool: str | None = None) -> tuple[StorageTarget, ...]:
    """Returns the storage targets below a path, or of a pool."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or directory")
    backend = backend_at(path)
    if backend.targets is None:
        kind, mount = file_system(path)
        raise UsageError(
            f"{kind} (mounted at {mount}) does not list its targets; Lustre, CephFS and emulated storage do"
        )
    if pool and not backend.pools:
        raise UsageError(f"{path} is on {backend.name} storage, which has no pools; leave --pool out")
    return backend.targets(path, pool)


def _without_stripes(path: Path) -> UsageError:
    """Returns the error for a file system without stripes."""
    kind, mount = file_system(path)
    return UsageError(
        f"this file system has no stripes ({kind} at {mount}); use a directory on Lustre, BeeGFS or CephFS, or "
        f"emulate one with: iolens stripe mount DIR"
    )


def storage_marks(kinds: Collection[str | None]) -> list[str]:
    """Returns the marks that every page about runs on these kinds of storage must show (`storage.kind` of run.json)."""
    return [backend.mark for name, backend in BACKENDS.items() if name in kinds and backend.mark]


def cautions(kinds: Collection[str | None]) -> list[str]:
    """Returns the cautions about these kinds of storage that a reader needs before the numbers."""
    return [backend.caution for name, backend in BACKENDS.items() if name in kinds and backend.caution]
