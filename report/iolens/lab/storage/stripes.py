"""Stripes of files and directories, set and read through one interface: Lustre (`lfs`) or the emulated storage."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.sizes import parse_size, short_size
from iolens.lab.storage.ost_mount import ANY_TARGET, born, config_value, find_mount, layout_file, write_aside


@dataclass(frozen=True)
class Layout:
    """A RAID-0 layout: stripes, bytes per stripe, the first target (-1: chosen at creation), and a file's targets."""

    stripe_count: int
    stripe_size: int
    start: int = ANY_TARGET
    targets: tuple[int, ...] = ()


def file_system(path: Path) -> tuple[str, str]:
    """Type and mount point of the file system that holds `path`, from /proc/self/mounts."""
    resolved = str(path.resolve())
    best = ("unknown", "/")
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, mount, kind, *_ = line.split()
        mount = mount.encode().decode("unicode_escape")
        if (resolved == mount or resolved.startswith(mount.rstrip("/") + "/")) and len(mount) >= len(best[1]):
            best = (kind, mount)
    return best


def set_stripes(path: Path, count: int, size: int, start: int = ANY_TARGET) -> None:
    """Set the default layout of a directory: files made in it from now on take it. Sizes in bytes."""
    if not path.is_dir():
        raise UsageError(f"{path} is not a directory; stripes are set on a directory before files are made in it")
    if size < 65536 and file_system(path)[0] == "lustre":
        raise UsageError(f"a Lustre stripe is a multiple of 64 KiB, not {size} bytes")
    mount = find_mount(path)
    if mount:
        targets = int(config_value(mount, "targets"))
        if not 1 <= count <= targets or not ANY_TARGET <= start < targets:
            raise UsageError(
                f"{path} has {targets} targets: at most that many stripes, first target 0 to {targets - 1}"
            )
        if size < 4096 or size % 4096:
            raise UsageError(f"a stripe is a multiple of 4096 bytes, not {size}")
        write_aside(layout_file(mount, path), f"{count} {size} {start} {born(path)}\n")
    elif file_system(path)[0] == "lustre":
        lfs("setstripe", "-c", str(count), "-S", str(size), "-i", str(start), str(path))
    else:
        raise no_stripes(path)


def get_stripes(path: Path) -> Layout:
    """The layout of a file, or the default layout of a directory."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or directory")
    mount = find_mount(path)
    if mount:
        return emulated_layout(mount, path)
    if file_system(path)[0] == "lustre":
        return parse_getstripe(lfs("getstripe", *(["-d"] if path.is_dir() else []), str(path)))
    raise no_stripes(path)


def no_stripes(path: Path) -> UsageError:
    """The error for a file system without stripes."""
    kind, mount = file_system(path)
    return UsageError(
        f"no stripes on this file system ({kind} at {mount}): use a directory on Lustre, "
        "or emulate one: iolens stripe mount DIR"
    )


def emulated_layout(mount: Path, path: Path) -> Layout:
    """A file's own layout, else that of its nearest ancestor, else the configuration's default."""
    targets = int(config_value(mount, "targets"))
    for place in (path.resolve(), *path.resolve().parents):
        kept = layout_file(mount, place)
        words = kept.read_text(encoding="utf-8").split() if kept.exists() else []
        if len(words) == 4 and int(words[3]) == born(place):
            count, size, start = (int(word) for word in words[:3])
            fixed = tuple((start + i) % targets for i in range(count)) if place.is_file() else ()
            return Layout(count, size, start, fixed)
        if place == mount:
            break
    return Layout(int(config_value(mount, "stripe_count")), parse_size(config_value(mount, "stripe_size")))


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


def describe(layout: Layout) -> str:
    """One line for a person."""
    start = f", first target {layout.start}" if layout.start != ANY_TARGET else ""
    objects = f", targets {' '.join(map(str, layout.targets))}" if layout.targets else ""
    return f"stripe count {layout.stripe_count}, stripe size {short_size(layout.stripe_size)}{start}{objects}"
