"""The logs of one run, among all the logs of a folder. A log carries the name of its run, and nothing else decides."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Set
from contextlib import suppress
from pathlib import Path

from iolens.lab.recovery.places import SNAPSHOT_MARK

_HEADER = 1328
"""Bytes before the job region of a log (profiler/LOG.md)."""
_COMPRESSION = 16
"""Place of the header's byte that is 0 for zlib and 2 for no compression."""
_NUMBERS, _METADATA = 56, 1024
"""Bytes of numbers at the beginning of the job region, and of the `key=value` lines after them."""
_HEAD = 8192
"""Bytes at the beginning of a log that hold the compressed form of both in any case."""


def run_of_log(path: Path) -> str | None:
    """Returns the name of the run that a log belongs to; None for a log of no run, of another profiler, or that cannot
    be read. Reads no more than that, because the folder may have thousands of logs of others.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if len(head) <= _HEADER or struct.unpack_from("=q", head, 8)[0] != 6567223:
            return None
        job, size = head[_HEADER:], _NUMBERS + _METADATA
        content = job[:size] if head[_COMPRESSION] == 2 else zlib.decompressobj().decompress(job, size)
    except (OSError, zlib.error):
        return None
    lines = content[_NUMBERS:].split(b"\0")[0].split(b"\n")
    return next((line[4:].decode("utf-8", "replace") for line in lines if line.startswith(b"run=")), None)


def logs_of_run(run: str, folder: Path, before: Set[Path]) -> tuple[Path, ...]:
    """Returns the logs of a folder that carry the name of the run, in the order in which they were written; a log that
    vanishes meanwhile is left out. Snapshots do not count. Logs in `before` are older than the run and need not be
    read.
    """
    found = []
    for path in folder.glob("*.darshan"):
        if path in before or SNAPSHOT_MARK in path.name or run_of_log(path) != run:
            continue
        with suppress(FileNotFoundError):
            found.append((path.stat().st_mtime, path))
    return tuple(path for _, path in sorted(found))
