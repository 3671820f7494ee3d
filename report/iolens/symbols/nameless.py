"""An object file without its symbol tables, for addr2line.

GNU addr2line (2.35 to 2.40 at least) names some inlined functions wrongly: it gives them the linker's name of the code
into which they were inlined, if the debug information holds no linkage name for them. This happens to C++ functions
without external linkage, and to procedures that a Fortran program contains. Without symbol tables, addr2line takes the
name from the debug information.
"""

from __future__ import annotations

import mmap
import shutil
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from iolens.symbols.elf import DYNSYM, SECTION, SYMTAB, section_headers

_TYPE_AT = 4
"""Offset of the type in a section header."""

_NO_SECTION = struct.pack("<I", 0)
"""SHT_NULL, the type of a section header without a section."""


@contextmanager
def without_symbols(file: Path) -> Iterator[Path]:
    """Yields a copy of an ELF file without its symbol tables, which is removed when the context ends; raises OSError if
    there is no room for it.
    """
    with tempfile.TemporaryDirectory(prefix="iolens-") as folder:
        copy = Path(folder) / file.name
        shutil.copyfile(file, copy)
        with copy.open("r+b") as handle, mmap.mmap(handle.fileno(), 0) as data:
            for place in _types_of_symbol_tables(data):
                data[place : place + len(_NO_SECTION)] = _NO_SECTION
        yield copy


def _types_of_symbol_tables(data: mmap.mmap) -> list[int]:
    """Returns the offsets in the file at which the section headers of all symbol tables have their type."""
    headers, offset = section_headers(data)
    tables = np.flatnonzero(np.isin(headers["type"], (SYMTAB, DYNSYM)))
    return [offset + int(at) * SECTION.itemsize + _TYPE_AT for at in tables]
