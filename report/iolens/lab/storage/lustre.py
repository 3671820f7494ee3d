"""Lustre: stripes set and read with its client's `lfs`."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.layout import ANY_TARGET, Layout
from iolens.lab.storage.mounts import file_system

STRIPE_UNIT = 65536
"""Bytes; a stripe size is a multiple of it (lfs-setstripe(1))."""


def on_lustre(path: Path) -> bool:
    """Whether a path lies on a mounted Lustre."""
    return file_system(path)[0] == "lustre"


def set_stripes(directory: Path, layout: Layout) -> None:
    """Set a directory's default layout; `lfs` judges the count and the first target."""
    if layout.stripe_size < STRIPE_UNIT or layout.stripe_size % STRIPE_UNIT:
        raise UsageError(f"a Lustre stripe is a multiple of 64 KiB, not {layout.stripe_size} bytes")
    count, size, start = str(layout.stripe_count), str(layout.stripe_size), str(layout.start)
    lfs("setstripe", "-c", count, "-S", size, "-i", start, str(directory))


def get_stripes(path: Path) -> Layout:
    """The layout of a file, or the default layout of a directory."""
    return parse_getstripe(lfs("getstripe", *(["-d"] if path.is_dir() else []), str(path)))


def setstripe(count: int, size: int | None) -> str:
    """The line with which a person sets these stripes; None leaves the size to the file system."""
    return f"lfs setstripe -c {count}{f' -S {lfs_size(size)}' if size else ''} DIRECTORY"


def lfs_size(size: int) -> str:
    """Bytes as `lfs setstripe -S` takes them: 1048576 -> '1M', 65536 -> '64K'."""
    for unit, suffix in ((2**30, "G"), (2**20, "M"), (2**10, "K")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{suffix}"
    return str(size)


def lfs(*words: str) -> str:
    """What `lfs` prints; raises with its message when it fails."""
    if not shutil.which("lfs"):
        raise IolensError("the command lfs was not found; it comes with the Lustre client")
    done = subprocess.run(["lfs", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise IolensError(f"lfs {' '.join(words)}: {done.stderr.strip() or 'failed'}")
    return done.stdout


def parse_getstripe(text: str) -> Layout:
    """The layout that `lfs getstripe` of a file or, with -d, of a directory prints (Lustre 2.10 to 2.15).

    Of a composite layout the last component that is in use counts.
    """

    def values(name: str) -> list[int]:
        pattern = rf"(?:lmm_)?{name}:\s+(-?\d+)"
        return [int(value) for value in re.findall(pattern, text)]

    counts, sizes = values("stripe_count"), values("stripe_size")
    starts = values("stripe_offset")
    if not counts or not sizes:
        raise IolensError(f"lfs getstripe printed no layout: {text.strip()[:200]!r}")
    targets = [int(value) for value in re.findall(r"^\s*(\d+)\s+\d+\s+0x[0-9a-f]+\s+\S+\s*$", text, re.MULTILINE)]
    targets += [int(value) for value in re.findall(r"l_ost_idx:\s*(\d+)", text)]
    return Layout(counts[-1], sizes[-1], starts[-1] if starts else ANY_TARGET, tuple(targets))


LUSTRE = Backend(
    name="lustre",
    holds=on_lustre,
    set_stripes=set_stripes,
    get_stripes=get_stripes,
    stripe_command=setstripe,
    as_lustre={},
)
