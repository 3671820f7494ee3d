"""Paths as the loader reads them in LD_PRELOAD, where a space and a colon part one library from the next."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from iolens.errors import IolensError

_READ_BY_THE_LOADER = frozenset(" :;$\t\n")
"""Characters that have a special meaning to the loader."""


def as_preloaded(library: Path) -> str:
    """Returns the library's path, or where a letter of it would be misread, one through a link to its folder.

    The link lies in a folder of this user alone on this node, has the same name every time and stays, for processes
    that outlive the run. Raises when there is no place for it.
    """
    if not _READ_BY_THE_LOADER & set(str(library)):
        return str(library)
    from hashlib import sha256

    target = library.parent.resolve()
    link = _own_folder() / sha256(os.fsencode(target)).hexdigest()[:16]
    if not (link.is_symlink() and link.readlink() == target):
        fresh = link.with_name(f"{link.name}-{os.getpid()}")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(target)
        fresh.replace(link)
    return str(link / library.name)


def _own_folder() -> Path:
    """Returns a folder to which only this user can write, inside a folder whose path has no character special to the
    loader.
    """
    places = [os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", "/dev/shm"]
    for place in places:
        if not place.startswith("/") or _READ_BY_THE_LOADER & set(place):
            continue
        folder = Path(place) / f"iolens-{os.geteuid()}"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            info = folder.lstat()
        except OSError:
            continue
        if stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and not info.st_mode & 0o077:
            return folder
    raise IolensError(
        "the path of the libraries' folder has a space or colon, which the loader cannot handle, and no link to it "
        "could be made in XDG_RUNTIME_DIR, /tmp or /dev/shm; set IOLENS_LIB to a folder without a space or colon in "
        "its path"
    )
