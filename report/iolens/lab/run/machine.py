"""Facts about the machine at the start of a run, without which runs cannot be compared."""

from __future__ import annotations

import math
import os
import re
import resource
import time
from pathlib import Path
from typing import Any, NamedTuple

_MODEL = re.compile(r"^(?:model name|cpu model|Processor)\s*:\s*(.+)$", re.MULTILINE)
"""Key of the processor's name in /proc/cpuinfo; some architectures have no such line."""

_KINDS_OF_TICKS = 8
"""Columns of a core's line in /proc/stat that are used: user, nice, system, idle, waiting, two kinds of interrupts, and
stolen.
"""


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


class CoreClock(NamedTuple):
    """Seconds at one moment: of a steady clock, of all programs on the cores that this process may use, and of this
    process with its children that have ended.
    """

    moment: float
    busy: float
    own: float


def core_clock() -> CoreClock:
    """Returns the clocks of the cores at this moment; `busy` is NaN where the kernel does not tell."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own = sum(each.ru_utime + each.ru_stime for each in used)
    return CoreClock(time.monotonic(), busy_seconds(_file_text("/proc/stat")), own)


def cores_since(before: CoreClock) -> dict[str, float | None]:
    """Returns the average number of cores that all programs used since then, and that the run used; None if unknown."""
    now = core_clock()
    seconds = max(now.moment - before.moment, 1e-9)
    busy, own = (now.busy - before.busy) / seconds, (now.own - before.own) / seconds
    return {"busy_cores": None if math.isnan(busy) else round(busy, 3), "own_cores": round(own, 3)}


def busy_seconds(stat: str) -> float:
    """Returns the seconds in which the cores that this process may use ran any program, from the text of /proc/stat:
    user, nice, system, interrupts and the time that a hypervisor gave to others. NaN without such lines.
    """
    mine, spent = os.sched_getaffinity(0), []
    for number, counted in re.findall(r"^cpu(\d+) +([\d ]+)$", stat, re.M):
        ticks = [int(word) for word in counted.split()]
        if int(number) in mine and len(ticks) >= _KINDS_OF_TICKS:
            user, nice, system, _, _, hard, soft, stolen = ticks[:_KINDS_OF_TICKS]
            spent.append(user + nice + system + hard + soft + stolen)
    return sum(spent) / os.sysconf("SC_CLK_TCK") if spent else math.nan


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
