"""Source lines of addresses, inlined calls included, from DWARF through binutils' addr2line."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iolens.foreign import printable_text

_ADDRESS = re.compile(r"0x[0-9a-f]{16}")


@dataclass(frozen=True)
class SourceLine:
    """A function and where in its source it was: "" and 0 if that is not known."""

    function: str
    source: str = ""
    line: int = 0


def lines_of(file: Path, addresses: Sequence[int]) -> dict[int, tuple[SourceLine, ...]]:
    """Returns for each address the function that contains it, preceded by the functions that were inlined there
    (innermost first).

    Makes one batch per file. Returns nothing without addr2line, and for addresses without lines in the file.
    """
    tool = shutil.which("addr2line")
    if not tool or not addresses:
        return {}
    command = [tool, "--exe", str(file), "--functions", "--inlines", "--demangle", "--addresses"]
    asked = "".join(f"{address:#x}\n" for address in addresses)
    done = subprocess.run(command, input=asked, capture_output=True, text=True, errors="replace", check=False)
    return {address: chain for address, chain in _answers(done.stdout) if chain[-1].source}


def _answers(printed: str) -> Iterator[tuple[int, tuple[SourceLine, ...]]]:
    """Parses the output of addr2line: an address, then a function and FILE:LINE for each function of its chain."""
    address, words = 0, list[str]()
    for text in [*printed.splitlines(), "0x" + "0" * 16]:
        if not _ADDRESS.fullmatch(text):
            words.append(text)
            continue
        if words:
            yield address, tuple(_line(*pair) for pair in zip(words[::2], words[1::2], strict=False))
        address, words = int(text, 16), []


def _line(function: str, place: str) -> SourceLine:
    """Returns one function from addr2line, which writes ? for unknown names and puts discriminators after the line
    number.
    """
    source, _, number = printable_text(place).rpartition(":")
    digits = number.split(" ")[0]
    known = "" if source.startswith("??") else source
    name = "" if function == "??" else printable_text(function)
    return SourceLine(name, known, int(digits) if digits.isdigit() and known else 0)


def demangled(names: Sequence[str]) -> dict[str, str]:
    """Returns C++ names as in the source, by mangled name; empty without binutils' c++filt."""
    mangled = sorted({name for name in names if name.startswith("_Z")})
    tool = shutil.which("c++filt")
    if not mangled or not tool:
        return {}
    done = subprocess.run([tool], input="\n".join(mangled), capture_output=True, text=True, check=False)
    return dict(zip(mangled, done.stdout.splitlines(), strict=False))
