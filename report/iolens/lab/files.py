"""Write files that other processes may read at any moment, move files without replacing others, and notice changes."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

State = Mapping[str, tuple[int, int]]
"""Size and time of the last change, in nanoseconds, of each of some files by its path; (-1, -1) for other paths."""


def write_aside(path: Path, text: str, mode: int | None = None) -> None:
    """Writes a file under another name, then renames it, so that no reader sees an incomplete file. The file has these
    permissions from its first moment on, whatever the umask; without `mode` it has the usual ones.
    """
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        aside.touch(0o666 if mode is None else mode | 0o200)
        aside.write_text(text, encoding="utf-8")
        if mode is not None:
            aside.chmod(mode)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def like_a_log() -> int:
    """Returns the permissions of files that hold what only the readers of a log may know, such as command lines: those
    that IOLENS_LOG_MODE gives to logs, and writing for the owner.
    """
    text = os.environ.get("IOLENS_LOG_MODE") or "0400"
    with suppress(ValueError):
        mode = int(text, 8)
        if 0 <= mode <= 0o777:
            return mode | 0o200
    return 0o600


def move_into(folder: Path, path: Path) -> Path:
    """Moves a file into a folder of the same file system, and returns its new path. A file there that has the name
    already stays; the moved one then gets a number before its suffix.
    """
    for number in itertools.count(1):
        target = folder / (path.name if number == 1 else f"{path.stem}-{number}{path.suffix}")
        if rename_new(path, target):
            return target
    raise AssertionError("the numbers have no end")


def rename_new(path: Path, target: Path) -> bool:
    """Renames a file; returns False if the new name is taken. Only a hard link finds that out in the same moment."""
    try:
        os.link(path, target, follow_symlinks=False)
    except FileExistsError:
        return False
    except FileNotFoundError:
        raise
    except OSError:  # A file system without hard links.
        if target.exists():
            return False
        path.rename(target)
        return True
    path.unlink()
    return True


def state_of(path: str | Path) -> tuple[int, int]:
    """Returns the state of one path, which exists."""
    found = os.lstat(path)
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else (-1, -1)
