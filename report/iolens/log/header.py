"""The job region and the names region.

The job region is a record of int64s (user, start, end, processes, job number; seconds and nanoseconds from
format 3.41 on), 1024 bytes of `key=value` lines, and the command line followed by one line
`type TAB mount point` a mount.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from iolens.log.container import WIDE, Container, LogError, inflate
from iolens.log.job import Mount

METADATA = 1024
MOST_PROCESSES = 1 << 27
"""More than any machine has; memory for tables per rank stays bounded."""


@dataclass(frozen=True)
class JobFields:
    """The job region's content; times in seconds since 1970, `run_time` as Darshan defines it."""

    uid: int
    start: float
    end: float
    run_time: float
    nprocs: int
    jobid: int
    metadata: dict[str, str]
    command: str
    mounts: tuple[Mount, ...]


def read_job(log: Container) -> JobFields:
    """The job region; LogError when it is too short."""
    data = inflate(log, log.job)
    count = 7 if log.format >= WIDE else 5
    if len(data) < 8 * count + METADATA:
        raise LogError(log.path, f"is damaged: its job region has only {len(data)} bytes")
    numbers = struct.unpack_from(f"{log.order}{count}q", data)
    if count == 7:
        uid, start_s, start_ns, end_s, end_ns, nprocs, jobid = numbers
        start, end = start_s + start_ns * 1e-9, end_s + end_ns * 1e-9
        run_time = (end_s - start_s) + (end_ns - start_ns) * 1e-9
    else:
        uid, start, end, nprocs, jobid = numbers
        run_time = end - start + 1
    if not 1 <= nprocs <= MOST_PROCESSES:
        raise LogError(log.path, f"is damaged: it names {nprocs} processes")
    metadata = text(data[8 * count : 8 * count + METADATA].split(b"\0")[0])
    lines = text(data[8 * count + METADATA :].split(b"\0")[0]).split("\n")
    pairs = (line.partition("=") for line in metadata.splitlines() if "=" in line)
    mounts = tuple(Mount(kind, point) for kind, tab, point in (line.partition("\t") for line in lines[1:]) if tab)
    return JobFields(
        uid,
        start,
        end,
        run_time,
        nprocs,
        jobid,
        {key: value for key, _, value in pairs},
        lines[0].strip(),
        mounts,
    )


def read_names(log: Container) -> dict[int, str]:
    """Paths by record id; the first name that is not empty counts. Of a log that was cut short those that are there."""
    data = inflate(log, log.names) if log.names.length else b""
    names: dict[int, str] = {}
    number = struct.Struct(f"{log.order}Q")
    counted = struct.Struct(f"{log.order}I") if log.format == (3, 0) else None
    at = 0
    while at + 8 < len(data):
        (key,) = number.unpack_from(data, at)
        if counted is None:
            begin, end = at + 8, data.find(b"\0", at + 8)
        elif at + 12 <= len(data):
            begin = at + 12
            end = begin + counted.unpack_from(data, at + 8)[0]
        else:
            end = -1
        if not 0 <= end <= len(data) and log.names.cut:
            break
        if not 0 <= end <= len(data):
            raise LogError(log.path, "is damaged: its names region is cut off")
        if not names.get(key):
            names[key] = text(data[begin:end])
        at = end if counted else end + 1
    return names


def text(raw: bytes) -> str:
    """Bytes of a path or command as printable text."""
    return raw.decode("utf-8", "replace")
