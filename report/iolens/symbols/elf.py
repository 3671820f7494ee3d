"""Facts of ELF files: build id, symbols, begins of functions, copies without symbols, and the file of an object."""

from __future__ import annotations

import mmap
import shutil
import struct
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iolens.foreign import decoded

if TYPE_CHECKING:
    from numpy.typing import NDArray


_IDENT = b"\x7fELF\x02\x01"
SYMTAB, DYNSYM, _NOTE = 2, 11, 7
_FUNCTION_KINDS = (2, 10)
"""Types of symbols that are functions: STT_FUNC and STT_GNU_IFUNC."""

SECTION = np.dtype(
    {
        "names": ["name", "type", "address", "offset", "size"],
        "formats": ["<u4", "<u4", "<u8", "<u8", "<u8"],
        "offsets": [0, 4, 16, 24, 32],
        "itemsize": 64,
    }
)
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
_TABLE_FORM = 0x3B
"""Form of .eh_frame_hdr whose table holds pairs of 32-bit numbers relative to itself, sorted."""


@dataclass(frozen=True, eq=False)
class Elf:
    """An object file: its build id (hex; "" without one), functions by address, and function begins.

    `starts`, `sizes` and `names` go together, sorted by address; `begins` are addresses from the unwind tables, which
    a stripped file has too. `lines`: it has line numbers.
    """

    build_id: str
    starts: NDArray[Any]
    sizes: NDArray[Any]
    names: tuple[str, ...]
    begins: NDArray[Any]
    lines: bool

    def function_at(self, address: int) -> str:
        """Returns the name of the function that holds the address; "" when no symbol does."""
        at = int(np.searchsorted(self.starts, address, "right")) - 1
        # An alias without a size may stand after the function itself.
        while at >= 0 and address - int(self.starts[at]) >= max(int(self.sizes[at]), 1):
            if self.sizes[at] > 0:
                return ""
            at -= 1
        return self.names[at] if at >= 0 else ""

    def begin_of(self, address: int) -> int | None:
        """Returns where the function that contains the address begins, from the unwind tables."""
        at = int(np.searchsorted(self.begins, address, "right")) - 1
        return int(self.begins[at]) if at >= 0 else None


_NOTHING = np.empty(0, np.uint64)
EMPTY = Elf("", _NOTHING, _NOTHING, (), _NOTHING, lines=False)


@lru_cache(maxsize=256)
def read_elf(path: Path) -> Elf:
    """Returns the file's tables, read once; empty tables if the file is not an ELF file or is damaged."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _parsed_elf(data) if data[:6] == _IDENT else EMPTY
    except (OSError, ValueError, IndexError, struct.error):
        return EMPTY


def _parsed_elf(data: mmap.mmap) -> Elf:
    """Returns the tables of an ELF file."""
    sections = _named_sections(data)
    starts, sizes, names = _defined_functions(data, sections)
    return Elf(
        _build_id(data, sections), starts, sizes, names, _function_begins(data, sections), ".debug_line" in sections
    )


@lru_cache(maxsize=256)
def dynamic_symbols(path: Path) -> frozenset[str]:
    """Returns the names that a file imports or exports when it is loaded; empty if the file cannot be read."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            sections = _named_sections(data) if data[:6] == _IDENT else {}
            text = _content(data, sections[".dynstr"]) if ".dynstr" in sections else b""
    except (OSError, ValueError, IndexError, struct.error):
        return frozenset()
    return frozenset(text.decode("utf-8", "replace").split("\0"))


def _named_sections(data: mmap.mmap) -> dict[str, Any]:
    """Returns the section headers by name; if two have the same name, the later one."""
    headers, _ = section_headers(data)
    if not len(headers):
        return {}
    (strings,) = struct.unpack_from("<H", data, 0x3E)
    names = _content(data, headers[strings])
    return {_text_at(names, int(header["name"])): header for header in headers}


def section_headers(data: mmap.mmap) -> tuple[NDArray[Any], int]:
    """Returns the section headers (none if their size is not the expected one) and their offset in the file."""
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    entry, count = struct.unpack_from("<HH", data, 0x3A)
    used = count * entry if entry == SECTION.itemsize else 0
    return np.frombuffer(bytes(data[offset : offset + used]), SECTION), int(offset)


def _content(data: mmap.mmap, section: Any) -> bytes:
    """Returns the bytes of a section."""
    return bytes(data[int(section["offset"]) : int(section["offset"]) + int(section["size"])])


def _text_at(strings: bytes, offset: int) -> str:
    """Returns a name in a table of strings."""
    return decoded(strings[offset : strings.index(b"\0", offset)])


def _build_id(data: mmap.mmap, sections: dict[str, Any]) -> str:
    """Returns the build id from the section .note.gnu.build-id, in hex."""
    if ".note.gnu.build-id" not in sections:
        return ""
    note = _content(data, sections[".note.gnu.build-id"])
    name, length, _ = struct.unpack_from("<III", note)
    begin = 12 + (name + 3) // 4 * 4
    return note[begin : begin + length].hex()


def _defined_functions(data: mmap.mmap, sections: dict[str, Any]) -> tuple[NDArray[Any], NDArray[Any], tuple[str, ...]]:
    """Returns addresses, sizes and names of defined functions. Of several functions at one address, the largest counts,
    and of equally large ones the one whose name has the fewest leading underscores, then the shortest name.
    """
    parts, texts = [], []
    for name, strings in ((".symtab", ".strtab"), (".dynsym", ".dynstr")):
        if name in sections and strings in sections and int(sections[name]["type"]) in (SYMTAB, DYNSYM):
            symbols = np.frombuffer(_content(data, sections[name]), _SYMBOL)
            defined = symbols[np.isin(symbols["info"] & 0xF, _FUNCTION_KINDS) & (symbols["section"] != 0)]
            parts.append(defined)
            text = _content(data, sections[strings])
            texts += [_text_at(text, int(offset)) for offset in defined["name"]]
    if not parts:
        return _NOTHING, _NOTHING, ()
    found = np.concatenate(parts)
    plain = np.array([(len(text) - len(text.lstrip("_"))) * 1000 + len(text) for text in texts])
    order = np.lexsort((plain, -found["size"].astype(np.int64), found["value"]))
    _, first = np.unique(found["value"][order], return_index=True)
    kept = order[first]
    return found["value"][kept], found["size"][kept], tuple(texts[at].split("@")[0] for at in kept)


def _function_begins(data: mmap.mmap, sections: dict[str, Any]) -> NDArray[Any]:
    """Returns the sorted addresses of functions in .eh_frame_hdr."""
    if ".eh_frame_hdr" not in sections:
        return _NOTHING
    header = sections[".eh_frame_hdr"]
    table = _content(data, header)
    _, _, count_form, form = struct.unpack_from("<BBBB", table)
    if form != _TABLE_FORM or count_form != 0x03:
        return _NOTHING
    (count,) = struct.unpack_from("<I", table, 8)
    pairs = np.frombuffer(table, "<i4", 2 * count, 12).reshape(-1, 2)
    return (pairs[:, 0].astype(np.int64) + int(header["address"])).astype(np.uint64)


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


_DEBUG_FOLDERS = (Path("/usr/lib/debug"),)
"""Folders in which systems keep stripped debug information, besides the folders that the user names."""


def object_file(path: str, build_id: str, search: Sequence[Path]) -> Path | None:
    """Returns the object's file, or of several files the one with line numbers and most symbols; None if no file is of
    the same build.

    Searched are debug files in `.build-id` of the folders to search and of the system, the object's path, and files of
    that name in the folders to search. If the object has no build id, any file in these places without a build id
    counts as the object.
    """
    folders = [Path(folder) for folder in search]
    named = Path(path).name
    places = [*_debug_files(build_id, [*folders, *_DEBUG_FOLDERS]), Path(path)]
    places += [folder / name for folder in folders for name in (named, f"{named}.debug")]
    candidates = [place for place in places if place.is_file() and _same_build(place, build_id)]
    return max(candidates, key=lambda place: (read_elf(place).lines, len(read_elf(place).names)), default=None)


def _debug_files(build_id: str, folders: Sequence[Path]) -> list[Path]:
    """Returns the place in which gdb and the distributions put a debug file: .build-id/ab/cdef….debug."""
    if not build_id:
        return []
    return [folder / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug" for folder in folders]


def _same_build(place: Path, build_id: str) -> bool:
    """Returns whether the file has this build id; if both have none, they count as the same."""
    return read_elf(place).build_id == build_id
