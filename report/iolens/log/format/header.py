"""The job region and the names region.

The job region is a record of int64s (user, start, end, processes, job number; seconds and nanoseconds from format 3.41
on), 1024 bytes of `key=value` lines, and the command line, followed for each mount by one line `type TAB mount point`.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from iolens.foreign import decoded, printable_text
from iolens.log.format.container import WIDE, Container, LogError, inflate
from iolens.log.job import Mount, mount_point

JOB_RECORD, METADATA = 4096, 1024
"""Sizes in bytes of the job region, and of its `key=value` lines."""
_ENDED = re.compile(rb"(?s)(.{8})([^\0]*)\0")
"""A record's id and its name."""
_MOST_PROCESSES = 1 << 27
"""Maximum number of processes, above that of any machine; it bounds the memory of tables per rank."""


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
    """Returns the job region; raises LogError if it is too short."""
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
    if not 1 <= nprocs <= _MOST_PROCESSES:
        raise LogError(log.path, f"is damaged: it names {nprocs} processes")
    metadata = data[8 * count : 8 * count + METADATA].split(b"\0")[0].decode("utf-8", "replace")
    lines = data[8 * count + METADATA :].split(b"\0")[0].decode("utf-8", "replace").split("\n")
    places = (line.partition("\t") for line in lines[1:])
    mounts = tuple(Mount(printable_text(kind), mount_point(point)) for kind, tab, point in places if tab)
    return JobFields(
        uid,
        start,
        end,
        run_time,
        nprocs,
        jobid,
        metadata_of(metadata),
        printable_text(lines[0].strip()),
        mounts,
    )


def metadata_of(text: str) -> dict[str, str]:
    """Returns the `key=value` lines of a job region."""
    pairs = (line.partition("=") for line in text.split("\n") if "=" in line)
    return {printable_text(key): printable_text(value) for key, _, value in pairs}


def read_names(log: Container) -> dict[int, str]:
    """Returns paths by record id; the first name that is not empty counts. For a truncated log, the paths that are
    present.
    """
    data = inflate(log, log.names) if log.names.length else b""
    pairs, whole = (_counted_names if log.format == (3, 0) else ended_names)(data, log.order)
    if not (whole or log.names.cut):
        raise LogError(log.path, "is damaged: its names region is truncated")
    ids = struct.unpack(f"{log.order}{len(pairs)}Q", b"".join([key for key, _ in pairs]))
    names = [decoded(name) for _, name in pairs]
    found = dict(zip(ids, names, strict=True))
    if len(found) < len(names):
        found = dict.fromkeys(ids, "")
        for key, name in zip(ids, names, strict=True):
            found[key] = found[key] or name
    return found


def ended_names(data: bytes, _: str) -> tuple[list[tuple[bytes, bytes]], bool]:
    """Returns pairs of 8-byte ids and texts that end with a zero byte, and whether the last one does."""
    pairs: list[tuple[bytes, bytes]] = _ENDED.findall(data, 0, data.rfind(b"\0") + 1)
    return pairs, len(data) - 9 * len(pairs) - sum([len(name) for _, name in pairs]) <= 8


def _counted_names(data: bytes, order: str) -> tuple[list[tuple[bytes, bytes]], bool]:
    """Returns pairs of 8-byte ids and texts after their 4-byte length (log format 3.0), and whether the last one is
    whole.
    """
    pairs: list[tuple[bytes, bytes]] = []
    at, length = 0, struct.Struct(f"{order}I")
    while at + 8 < len(data):
        end = at + 12 + length.unpack_from(data, at + 8)[0] if at + 12 <= len(data) else len(data) + 1
        if end > len(data):
            return pairs, False
        pairs.append((data[at : at + 8], data[at + 12 : end]))
        at = end
    return pairs, True
