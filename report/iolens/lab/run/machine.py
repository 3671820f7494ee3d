"""Facts about the machine at the start of a run, without which runs cannot be compared."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

_MODEL = re.compile(r"^(?:model name|cpu model|Processor)\s*:\s*(.+)$", re.MULTILINE)
"""Key of the processor's name in /proc/cpuinfo; some architectures have no such line."""


def machine() -> dict[str, Any]:
    """Returns the entries of `machine` in run.json (report/RUN.md) for the host of the launcher; unreadable entries are
    None.
    """
    memory, system = _meminfo(), os.uname()
    model = _MODEL.search(_file_text("/proc/cpuinfo"))
    return {
        "host": system.nodename,
        "cpu": model[1].strip() if model else system.machine or None,
        "cpus": len(os.sched_getaffinity(0)),
        "memory": memory.get("MemTotal"),
        "kernel": f"{system.sysname} {system.release}",
        "cached": memory.get("Cached"),
        "dirty": memory.get("Dirty"),
    }


def _meminfo() -> dict[str, int]:
    """Returns the lines of /proc/meminfo that are sizes, in bytes."""
    return {
        name: int(kib) * 1024 for name, kib in re.findall(r"^(\w+):\s+(\d+) kB$", _file_text("/proc/meminfo"), re.M)
    }


def _file_text(path: str) -> str:
    """Returns a file's text; empty if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
