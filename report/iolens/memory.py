"""The memory that this process may still take."""

from __future__ import annotations

import re
from pathlib import Path

_CONTROL_GROUPS = Path("/sys/fs/cgroup")


def free_memory() -> int | None:
    """Returns the bytes that are free on this machine and in this process's control groups (a batch job's or a
    container's limit), whichever are fewer; None if the system does not say.
    """
    free = [_number_in_line(r"^MemAvailable:\s+(\d+) kB$", _text_of(Path("/proc/meminfo")), 1024)]
    group = re.search(r"^0::/(.*)$", _text_of(Path("/proc/self/cgroup")), re.MULTILINE)
    if group:
        own = _CONTROL_GROUPS / group[1]
        free += [_free_in(each) for each in (own, *own.parents) if each.is_relative_to(_CONTROL_GROUPS)]
    return min((each for each in free if each is not None), default=None)


def _free_in(group: Path) -> int | None:
    """Returns the bytes that a control group may still take; None without a limit. Pages of files that the kernel can
    drop are free.
    """
    most = _number_in_line(r"^(\d+)$", _text_of(group / "memory.max"))
    used = _number_in_line(r"^(\d+)$", _text_of(group / "memory.current"))
    if most is None or used is None:
        return None
    return max(most - used + (_number_in_line(r"^inactive_file (\d+)$", _text_of(group / "memory.stat")) or 0), 0)


def _number_in_line(pattern: str, text: str, unit: int = 1) -> int | None:
    """Returns the number in a line of a text; None without such a line."""
    found = re.search(pattern, text, re.MULTILINE)
    return unit * int(found[1]) if found else None


def _text_of(path: Path) -> str:
    """Returns a file's text; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
