"""Makes text that others wrote printable: names of files, functions, hosts and programs, and whole outputs.

A name may hold control characters that make a terminal, a spreadsheet or a browser do harm. All such text passes
through this module, and therefore consists of printable characters in every output.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from iolens.errors import UsageError


def printable_text(text: str, keep: str = "") -> str:
    r"""Returns a text whose unprintable characters (controls, U+202E and other directions, lone surrogates) are written
    as escapes, such as \x1b and \u202e; characters in `keep` stay.
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in keep else _escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    """Returns the escape that Python and C write for a character."""
    return letter.encode("unicode_escape").decode("ascii")


_LONGEST_COMPONENT = 95
"""Most bytes of a component: a file name has several of them and numbers, and at most 255 bytes."""
_OBEYED = re.compile(r"[/\ud800-\udfff\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that a terminal does not show but obeys, as in profiler/src/system/utf8.h, those that end a part of a
path, and those that stand for bytes that are not UTF-8.
"""


def path_component(text: str) -> str:
    """Returns a name that others chose (of a user, a program or a host) as one part of a path; the profiler makes the
    names of logs by the same rule (`path_component` in profiler/src/system/path.h).
    """
    whole = _OBEYED.sub("_", text)
    safe = "_" + whole[1:] if whole.startswith(".") else whole
    return safe.encode()[:_LONGEST_COMPONENT].decode("utf-8", "ignore") or "_"


def print_line(text: str) -> None:
    """Prints one line of text that may contain names that others chose, in printable characters."""
    print(printable_text(text))


def decoded(raw: bytes) -> str:
    """Returns bytes as printable text; bytes that are not UTF-8 become U+FFFD."""
    return printable_text(raw.decode("utf-8", "replace"))


def text_of_file(path: Path) -> str:
    """Returns the text of a file that the user named; raises UsageError if it cannot be read or is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not UTF-8 text (byte {error.start + 1})") from error


def checked(found: Any) -> Any:
    """Returns parsed JSON whose texts, keys included, are printable."""
    if isinstance(found, str):
        return printable_text(found)
    if isinstance(found, list):
        return [checked(one) for one in found]
    if isinstance(found, dict):
        return {printable_text(key): checked(value) for key, value in found.items()}
    return found
