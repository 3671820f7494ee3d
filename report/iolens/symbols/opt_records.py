"""GCC's treatment of each line: the files that -fsave-optimization-record leaves beside the object files.

Their form is GCC's own (gcc/optinfo-emit-json.cc): a list of three, the last of which is a tree of records.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from iolens.errors import IolensError
from iolens.foreign import printable_text
from iolens.symbols.function_names import given_name

_PATTERN = "*.opt-record.json.gz"

_PASSES = {
    "vect": "V",
    "slp": "V",
    "cunroll": "u",
    "cunrolli": "u",
    "loop2_unroll": "u",
    "inline": "i",
    "einline": "i",
    "linterchange": "b",
    "unrolljam": "b",
    "graphite": "b",
}
"""Letters for GCC's passes: V loop vectorised, u loop unrolled, i call inlined, b loops blocked, interchanged or
jammed.
"""

MISSED = "m"
"""The letter for a loop that could not be vectorised."""

EMPTY_WORDS = ("couldn't vectorize", "bad loop form")
_OF_A_LOOP = (*EMPTY_WORDS, "number of iterations", "control flow in loop", "multiple nested loops")
"""The beginning of GCC's messages about a loop, in contrast to a statement in it."""

VAGUE = ("no vectype for stmt", "bad data references", "bad operation or unsupported loop bound")
"""The beginnings of reasons that say little: vectors too narrow for the loop's numbers, which GCC tries last, and a
reason that it has given before.
"""

_UNROLLED = re.compile(r"loop unrolled (\d+) times|loop with (\d+) iterations completely unrolled")
"""GCC's messages about a loop whose body it repeated: a number of times, or once for each iteration."""

_TEMPLATE = re.compile(r"<[^<>]*>")


@dataclass(frozen=True)
class Remark:
    """A remark of GCC about a line of source, as a letter; `reason` says why a loop was missed. `function`: the
    function in whose source the line stands, in the form of `plain_name`, wherever it was inlined. `begins_loop` is
    True if the remark is about the loop that begins here. `factor`: the number of copies of its body in an unrolled
    loop; 0: the compiler does not say.
    """

    source: str
    line: int
    function: str
    letter: str
    reason: str = ""
    begins_loop: bool = False
    factor: int = 0


def read_remarks(folder: Path) -> list[Remark]:
    """Returns the remarks of all record files below a folder; raises IolensError if there is none, or one
    cannot be read.
    """
    files = sorted(folder.rglob(_PATTERN))
    if not files:
        raise IolensError(
            f"{folder}: the folder has no {_PATTERN} in it or below it; compile with gcc -g -fsave-optimization-record"
        )
    return [remark for file in files for remark in _remarks_of(file)]


def _remarks_of(file: Path) -> list[Remark]:
    """Returns the remarks of one record file; raises IolensError if it cannot be read."""
    try:
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            _, passes, records = json.load(stream)
        names = dict(_passes_of(passes))
        return [remark for record in _flat_records(records) if (remark := _remark_of(record, names)) is not None]
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise IolensError(
            f"{file}: is not an optimization record of GCC ({error}); build with -fsave-optimization-record"
        ) from error


def _passes_of(passes: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yields identifier and name of every pass."""
    for one in passes:
        yield one["id"], one["name"]
        yield from _passes_of(one.get("children", []))


def _flat_records(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields the records of a tree, one by one."""
    for record in records:
        yield record
        yield from _flat_records(record.get("children", []))


def _remark_of(record: dict[str, Any], names: dict[str, str]) -> Remark | None:
    """Returns the remark of a record; None if the record stands for no letter."""
    place, name = record.get("location"), names.get(record.get("pass", ""), "")
    if not place or name not in _PASSES:
        return None
    source, line, function = str(place["file"]), int(place["line"]), function_of(record)
    parts = (part if isinstance(part, str) else str(part.get("expr", "")) for part in record.get("message", []))
    text = printable_text(" ".join("".join(parts).split()))
    if record["kind"] == "success":
        letter = _PASSES[name]
        if letter == "u" and "unrolled" not in text:
            return None
        begins = letter in "ub" or text.startswith("loop vectorized")
        return Remark(source, line, function, letter, "", begins, _factor_of(text))
    if record["kind"] == "failure" and name == "vect":
        reason = text.removeprefix("not vectorized: ").rstrip(": ")
        return Remark(source, line, function, MISSED, reason, reason.startswith(_OF_A_LOOP))
    return None


def _factor_of(text: str) -> int:
    """Returns the number of copies of a loop's body that a message mentions; 0 if it is about something else."""
    told = _UNROLLED.match(text)
    if not told:
        return 0
    return int(told[1]) + 1 if told[1] else int(told[2])


def function_of(record: dict[str, Any]) -> str:
    """Returns the function that contains a record's place: the innermost function that was inlined there, else the
    compiled function, whose linker's name tells a Fortran module.
    """
    inlined = record.get("inlining_chain", [])
    compiled = str(record.get("function", ""))
    if len(inlined) > 1 or (inlined and compiled.startswith("_Z")):
        return plain_name(str(inlined[0]["fndecl"]))
    return plain_name(given_name(compiled, {}))


def plain_name(function: str) -> str:
    """Returns a function without its type, parameters and template's arguments, which GCC and the demangler write
    differently, and without what the compiler appends to a part or copy of it.
    """
    name = function.replace("(anonymous namespace)", "{anonymous}").partition("(")[0]
    while (shorter := _TEMPLATE.sub("", name)) != name:
        name = shorter
    return name.rpartition(" ")[2].partition(".")[0]


def name_of(source: str) -> str:
    """Returns a source file without its folder."""
    return PurePosixPath(source).name
