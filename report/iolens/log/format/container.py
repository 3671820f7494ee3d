"""Reads a log file's header and inflates its regions; the meaning of their contents is the subject of other modules.

Formats 3.0 to 3.41, either byte order, zlib, bzip2 or none. Offsets and lengths are bytes.
"""

from __future__ import annotations

import bz2
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from iolens.errors import IolensError
from iolens.foreign import decoded

_MAGIC = 6567223
_KNOWN_FORMATS = ((3, 0), (3, 10), (3, 20), (3, 21), (3, 41))
WIDE = (3, 41)
"""The first format with room for 64 modules, nanoseconds and PNETCDF_VAR."""

MODULE_NAMES = (
    *("NULL", "POSIX", "MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR", "BG/Q", "LUSTRE", "STDIO"),
    *("DXT_POSIX", "DXT_MPIIO", "MDHIM", "APXC", "APMPI", "HEATMAP", "DFS", "DAOS"),
)
_LATER_MODULES = ((4, (3, 20)), (6, (3, 41)))
"""Modules that later formats inserted, as (position, format): in logs of earlier formats the module at this position is
missing, and each later module has a position that is one less.
"""

INFLATED_LIMIT = 4 << 30
"""Maximum size of an inflated region in bytes; a larger one counts as damaged."""

INFLATED_LEAST, _INFLATED_RATIO = 64 << 20, 512
"""A small region may inflate to this number of bytes, a larger one to this multiple of its compressed size."""

_MOST_BYTES = 1 << 48
"""Maximum end of a region in bytes; a larger value means that the header is damaged, and not that the file was cut
short.
"""

WINDOW = 1 << 16
"""Number of bytes that the inflater gets at once."""

PIECE = 1 << 20
"""Number of bytes that are read at once from an uncompressed region."""


class LogError(IolensError):
    """A log that cannot be read: the file and the reason, a clause without its subject."""

    def __init__(self, path: Path, reason: str, exit_code: int = 1) -> None:
        super().__init__(f"{path}: {reason}", exit_code)
        self.reason = reason


@dataclass(frozen=True)
class Region:
    """The place of a module's compressed records, their record version, and the header's partial flag.

    `cut` is True if the file ends before the region does; `length` is then the length of the existing part, which may
    be 0.
    """

    name: str
    offset: int
    length: int
    version: int = 0
    partial: bool = False
    cut: bool = False


@dataclass(frozen=True)
class Container:
    """The file in memory, and its map."""

    path: Path
    data: bytes
    format: tuple[int, int]
    order: str
    compression: str
    job: Region
    names: Region
    modules: tuple[Region, ...]


def open_container(path: Path) -> Container:
    """Reads a file and its header; raises LogError if it is not a log or its map is impossible. For a truncated file,
    each region is the part of it that is present. A folder stands for the only log in it.
    """
    try:
        path = _only_log(path) if path.is_dir() else path
        data = path.read_bytes()
    except OSError as error:
        wrong_name = isinstance(error, FileNotFoundError)
        raise LogError(path, f"cannot be read ({error.strerror})", 2 if wrong_name else 1) from error
    if not data:
        raise LogError(path, "is empty")
    version = _format_of(path, data)
    order = next((o for o in "<>" if len(data) >= 16 and struct.unpack_from(f"{o}q", data, 8)[0] == _MAGIC), None)
    if order is None:
        raise LogError(path, "is not a Darshan log: the magic number in its header is wrong")
    wide = version >= WIDE
    size = 1328 if wide else 360
    if len(data) < size:
        raise LogError(path, f"is truncated in its header ({len(data)} of {size} bytes)")
    if data[16] > 2:
        raise LogError(path, f"has an unknown compression ({data[16]})")
    names, modules = _header_map(data, order, version)
    for region in (names, *modules):
        if region.length and not size <= region.offset <= region.offset + region.length <= _MOST_BYTES:
            raise LogError(path, f"is damaged: its {region.name} region lies outside the file")
    ends = [region.offset for region in (names, *modules) if region.offset > 0]
    job = Region("job", size, (names.offset or min(ends, default=len(data))) - size)
    if job.length <= 0:
        raise LogError(path, "is damaged: it has no job region")
    if size + job.length > len(data):
        raise LogError(path, f"is truncated in its job region ({len(data)} of {size + job.length} bytes or more)")
    names, modules = _what_is_there(names, len(data)), tuple(_what_is_there(each, len(data)) for each in modules)
    return Container(path, data, version, order, ("zlib", "bzip2", "none")[data[16]], job, names, modules)


def _only_log(folder: Path) -> Path:
    """Returns the only log in a folder, such as that of `iolens run --output`; raises LogError if it has none or
    several.
    """
    logs = sorted(folder.glob("*.darshan"))
    if len(logs) == 1:
        return logs[0]
    if not logs:
        raise LogError(folder, "is a folder without a log", 2)
    which = f"name one, such as {logs[0]}, or read all as one job with iolens show or iolens report"
    raise LogError(folder, f"is a folder with {len(logs)} logs; {which}", 2)


def _what_is_there(region: Region, end: int) -> Region:
    """Returns the part of a region that lies before the end of the file."""
    there = max(0, min(region.length, end - region.offset))
    return region if there == region.length else replace(region, length=there, cut=True)


def _format_of(path: Path, data: bytes) -> tuple[int, int]:
    """Returns the format from the first eight bytes."""
    text = data[:8].split(b"\0")[0]
    major, dot, minor = text.partition(b".")
    if not (dot and major.isdigit() and minor.isdigit()):
        raise LogError(path, "is not a Darshan log: it does not begin with a format version")
    found = (int(major), int(minor))
    if found not in _KNOWN_FORMATS:
        known = ", ".join(f"{a}.{b}" for a, b in _KNOWN_FORMATS)
        raise LogError(path, f"is in log format {decoded(text)}, which is unknown (known: {known})")
    return found


def _header_map(data: bytes, order: str, version: tuple[int, int]) -> tuple[Region, tuple[Region, ...]]:
    """Returns the names region and the modules that have data, under today's module names."""
    count, flags_at = (64, 24) if version >= WIDE else (16, 20)
    flags = struct.unpack_from(f"{order}{'Q' if version >= WIDE else 'I'}", data, flags_at)[0]
    name_at = 32 if version >= WIDE else 24
    maps = struct.unpack_from(f"{order}{2 * (count + 1)}Q", data, name_at)
    versions = struct.unpack_from(f"{order}{count}I", data, name_at + 16 * (count + 1))
    found = [
        Region(name, maps[2 * i + 2], maps[2 * i + 3], versions[i], bool(flags >> i & 1))
        for i, name in enumerate(slot_names(version))
        if maps[2 * i + 3] or flags >> i & 1
    ]
    return Region("names", maps[0], maps[1]), tuple(found)


@cache
def slot_names(version: tuple[int, int]) -> tuple[str, ...]:
    """Returns the module of each of the header's slots, under today's names."""
    count = 64 if version >= WIDE else 16
    missing = [place for place, since in _LATER_MODULES if version < since]
    return tuple(_module_name(place) for place in range(count + len(missing)) if place not in missing)[:count]


def _module_name(number: int) -> str:
    """Returns a module's name, or its number where it is not known."""
    return MODULE_NAMES[number] if number < len(MODULE_NAMES) else f"module {number}"


def inflate(log: Container, region: Region) -> bytes:
    """Returns a region's content: complete compressed streams are joined; a truncated stream contributes its readable
    part.
    """
    return b"".join(inflated_pieces(log, region))


def inflated_pieces(log: Container, region: Region) -> Iterator[bytes]:
    """Yields a region's content in pieces, so that a large region need not be in memory as a whole."""
    stored = memoryview(log.data)[region.offset : region.offset + region.length]
    if log.compression == "none":
        yield from (bytes(stored[at : at + PIECE]) for at in range(0, len(stored), PIECE))
        return
    room = limit = _inflated_limit(stored)
    try:
        while stored:
            stream = _stream_pieces(log.compression, stored, room + 1, region.cut)
            for piece, rest in stream:
                stored, room = rest, room - len(piece)
                _check_room(room, limit)
                yield piece
    except (ValueError, zlib.error, OSError, EOFError) as error:
        raise LogError(log.path, f"is damaged: its {region.name} region cannot be decompressed ({error})") from error


def _inflated_limit(stored: memoryview) -> int:
    """Returns the number of bytes to which a region of this compressed size may inflate."""
    return min(INFLATED_LIMIT, max(INFLATED_LEAST, _INFLATED_RATIO * len(stored)))


def _check_room(room: int, limit: int) -> None:
    """Raises ValueError if a region inflates to more bytes than it may."""
    if room < 0:
        raise ValueError(f"it is larger than {limit >> 20} MiB after decompression")


def streams(compression: str, stored: memoryview, together: bool = True) -> Iterator[bytes]:
    """Yields the inflated content of each compressed stream; raises ValueError if one stream exceeds the limit or, with
    `together`, if all streams together exceed it.
    """
    room = limit = _inflated_limit(stored)
    while stored:
        content, stored = inflate_stream(compression, stored, room + 1)
        left = room - len(content)
        _check_room(left, limit)
        room = left if together else limit
        yield content


def inflate_stream(compression: str, stored: memoryview, room: int) -> tuple[bytes, memoryview]:
    """Returns the first stream, inflated to at most `room` bytes, and the data that follows it."""
    if compression == "zlib" and len(stored) <= WINDOW:
        # Most streams of small logs end within one window, so that no pieces have to be joined.
        inflater = zlib.decompressobj()
        content = inflater.decompress(stored, room)
        if inflater.eof:
            return content, stored[len(stored) - len(inflater.unused_data) :]
    pieces, after = [], stored
    for piece, rest in _stream_pieces(compression, stored, room):
        pieces.append(piece)
        after = rest
    return b"".join(pieces), after


def _stream_pieces(
    compression: str, stored: memoryview, room: int, cut: bool = False
) -> Iterator[tuple[bytes, memoryview]]:
    """Yields the pieces of the first stream, at most `room` bytes in total, each with the data that follows it.

    Raises EOFError if the stream does not end and is not `cut`. The input is passed in windows, because the inflater
    copies everything after the end of the stream: with one stream per rank, the time of these copies would grow with
    the square of the number of ranks.
    """
    inflater = zlib.decompressobj() if compression == "zlib" else bz2.BZ2Decompressor()
    at = 0
    while not inflater.eof and at < len(stored) and room > 0:
        window = stored[at : at + WINDOW]
        at += len(window)
        piece = inflater.decompress(window, room)
        room -= len(piece)
        yield piece, stored[at - len(inflater.unused_data) :]
    if not inflater.eof and room > 0 and not cut:
        raise EOFError("it is cut off")
