"""BeeGFS: stripe patterns set and read with its `beegfs` (version 8) or its `beegfs-ctl` (version 7)."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.sizes import parse_size
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.layout import ANY_TARGET, Layout
from iolens.lab.storage.mounts import file_system
from iolens.lab.storage.provenance import health_with
from iolens.lab.storage.tool import run_tool

_SMALLEST = 65536
"""Minimum chunk size in bytes; a chunk is a power of two (ctl/internal/cmd/entry/flags.go of BeeGFS 8)."""

_CLIENT = "beegfs (BeeGFS 8) and beegfs-ctl (BeeGFS 7) come with the tools of BeeGFS"


def _on_beegfs(path: Path) -> bool:
    """Returns True if a path lies on a mounted BeeGFS."""
    return file_system(path)[0] == "beegfs"


def _set_stripes(directory: Path, layout: Layout) -> None:
    """Sets a directory's pattern; the tool checks the number of targets and the pool."""
    size = layout.stripe_size
    if size < _SMALLEST or size & (size - 1):
        raise UsageError(f"a BeeGFS chunk must be a power of two of at least 64 KiB, not {size} bytes")
    if layout.start != ANY_TARGET:
        raise UsageError("BeeGFS chooses the first target itself; leave --start out")
    place = str(directory.absolute())
    if _version_8():
        pool = [f"--pool={layout.pool}"] if layout.pool else []
        _tool("beegfs", "entry", "set", f"--num-targets={layout.stripe_count}", f"--chunk-size={size}", *pool, place)
    else:
        pool = [f"--storagepoolid={layout.pool}"] if layout.pool else []
        _tool("beegfs-ctl", "--setpattern", f"--numtargets={layout.stripe_count}", f"--chunksize={size}", *pool, place)


def _get_stripes(path: Path) -> Layout:
    """Returns the pattern of a file, or the pattern that a directory gives to new files."""
    words = ("beegfs", "entry", "info", "--retro") if _version_8() else ("beegfs-ctl", "--getentryinfo")
    return parse_entry(_tool(*words, str(path.absolute())))


def parse_entry(text: str) -> Layout:
    """Parses the output of `beegfs-ctl --getentryinfo` or `beegfs entry info --retro` for an entry; the targets of
    mirrored files are buddy groups.
    """
    size = re.search(r"^\+ Chunksize:\s*(\S+)", text, re.MULTILINE)
    count = re.search(r"^\+ Number of storage targets:\s*desired:\s*(\d+)(?:;\s*actual:\s*(\d+))?", text, re.MULTILINE)
    if not size or not count:
        raise IolensError(f"BeeGFS printed no stripe pattern: {text.strip()[:200]!r}")
    pool = re.search(r"^\+ Storage Pool:\s*(\S.*?)\s*$", text, re.MULTILINE)
    targets = re.findall(r"^\s*\+ (\d+)(?: @ .*)?$", text, re.MULTILINE)
    return Layout(
        int(count[2] or count[1]),
        parse_size(size[1]),
        targets=tuple(map(int, targets)),
        pool=re.sub(r"\s+", " ", pool[1]) if pool else None,
    )


def _pattern_command(count: int, size: int | None, pool: str | None, object_size: int | None = None) -> str:
    """Returns the command line that sets these stripes on BeeGFS 8; None leaves the size or the pool to the file
    system.
    """
    of_size, of_pool = f" --chunk-size={size}" if size else "", f" --pool={shlex.quote(pool)}" if pool else ""
    return f"beegfs entry set --num-targets={count}{of_size}{of_pool} DIRECTORY"


def _version_8() -> bool:
    """Returns True if the tool of BeeGFS 8 is installed."""
    return shutil.which("beegfs") is not None


def _tool(*words: str) -> str:
    """Runs the tool and returns its output; raises with its message if it fails."""
    return run_tool(words, _CLIENT)


BEEGFS = Backend(
    name="beegfs",
    holds=_on_beegfs,
    set_stripes=_set_stripes,
    get_stripes=_get_stripes,
    stripe_command=_pattern_command,
    pools=True,
    health=health_with(_get_stripes),
)
