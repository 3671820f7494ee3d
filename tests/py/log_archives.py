"""Keeps the logs of a set in one archive, in which they take a fifth of their size."""

from __future__ import annotations

import io
import tarfile
import zlib
from pathlib import Path
from typing import IO, cast
from unittest import mock

from iolens.log import rewrite
from iolens.log.format.container import open_container


def pack(logs: Path, packed: Path) -> None:
    """Writes the logs of a folder to an archive, in the order of their names."""
    unfinished = packed.with_suffix(".part")
    with tarfile.open(unfinished, "w:xz", preset=9) as archive:
        for path in sorted(logs.glob("*.darshan")):
            data = _uncompressed(path)
            entry = tarfile.TarInfo(path.name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    unfinished.replace(packed)


def unpack(logs: Path, packed: Path) -> None:
    """Makes a folder of the logs in an archive; the folder is empty if there is no archive yet."""
    logs.mkdir(parents=True, exist_ok=True)
    if packed.exists():
        with tarfile.open(packed, "r:xz") as archive:
            for entry in archive:
                (logs / entry.name).write_bytes(cast(IO[bytes], archive.extractfile(entry)).read())


def _uncompressed(path: Path) -> bytes:
    """Returns a log whose regions are zlib streams without compression, so that the archive can compress them all."""
    log = open_container(path)
    with (
        mock.patch.object(rewrite, "_COMPRESS", {"zlib": _stored}),
        mock.patch.object(rewrite.zlib, "compress", _stored),
    ):
        return rewrite.put_together(log, rewrite.split_log(log))


def _stored(data: bytes) -> bytes:
    """Returns data as a zlib stream that is not compressed."""
    packer = zlib.compressobj(0)
    return packer.compress(data) + packer.flush()
