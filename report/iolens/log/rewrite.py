"""Splits a log into the contents of its regions, and puts them together again: the inverse of `container` and
`private`.

Format, byte order, compression, record versions and flags stay as they are.
"""

from __future__ import annotations

import bz2
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from iolens.log.format.container import WIDE, Container, LogError, Region, inflate, slot_names
from iolens.log.format.private import FOOTER, MAGIC, entries_of, inflated

_COMPRESS: dict[str, Callable[[bytes], bytes]] = {"zlib": zlib.compress, "bzip2": bz2.compress, "none": bytes}


@dataclass(frozen=True)
class PrivateRegion:
    """A region of the kind `json` or `table`; each chunk is one rank's part, inflated."""

    name: str
    kind: str
    chunks: tuple[bytes, ...]


@dataclass(frozen=True)
class Contents:
    """The inflated contents of a log's regions; `private` is None in a log that another profiler wrote."""

    job: bytes
    names: bytes
    modules: dict[str, bytes]
    private: tuple[PrivateRegion, ...] | None


def split_log(log: Container) -> Contents:
    """Returns all regions of a log; raises LogError if one is damaged or cut off."""
    for region in (log.names, *log.modules):
        if region.cut:
            raise LogError(log.path, f"is truncated in its {region.name} region: only a complete log can be rewritten")
    entries = entries_of(log)
    found = [PrivateRegion(e.name, e.kind, inflated(log, e)) for e in entries or ()]
    return Contents(
        job=inflate(log, log.job),
        names=inflate(log, log.names) if log.names.length else b"",
        modules={region.name: inflate(log, region) for region in log.modules if region.length},
        private=None if entries is None else tuple(found),
    )


def put_together(log: Container, contents: Contents) -> bytes:
    """Returns a log of the same form with these contents."""
    compress = _COMPRESS[log.compression]
    data = bytearray(log.data[: log.job.offset]) + compress(contents.job)
    if log.names.offset:
        stored = compress(contents.names) if log.names.length else b""
        struct.pack_into(f"{log.order}QQ", data, _map_place(log, None), len(data), len(stored))
        data += stored
    for region in log.modules:
        payload = contents.modules.get(region.name, b"")
        append(log, data, _map_place(log, region), compress(payload) if payload else b"")
    if contents.private is not None:
        _append_private(data, contents.private)
    return bytes(data)


def append(log: Container, data: bytearray, place: int, stored: bytes) -> None:
    """Adds a region, and enters it into the header's map at `place`; an empty region is entered as absent."""
    struct.pack_into(f"{log.order}QQ", data, place, len(data) if stored else 0, len(stored))
    data += stored


def _map_place(log: Container, region: Region | None) -> int:
    """Returns the position in the header at which a module's offset and length are stored; None as the module means the
    region of names.
    """
    first = 32 if log.format >= WIDE else 24
    return first if region is None else first + 16 * (1 + slot_names(log.format).index(region.name))


def _append_private(data: bytearray, regions: tuple[PrivateRegion, ...]) -> None:
    """Adds the private regions, their directory and the footer."""
    entries = []
    for region in regions:
        stored = b"".join(zlib.compress(chunk) for chunk in region.chunks)
        entries.append({"name": region.name, "kind": region.kind, "offset": len(data), "bytes": len(stored)})
        data += stored
    directory = json.dumps({"schema": 1, "regions": entries}).encode()
    data += directory + FOOTER.pack(MAGIC, len(data), len(directory), 0)
