"""Kinds of values of an experiment.yaml: each converts a YAML value, or raises ValueError.

Each kind also has a JSON Schema for editors (https://json-schema.org, draft 2020-12).
"""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from iolens.lab.given_hints import hdf5_of_files
from iolens.lab.io_components import IO_COMPONENTS
from iolens.lab.sizes import parse_size

_MOST_LEVELS = 10000
"""Maximum number of levels of a range; a longer range is a mistake."""

T = TypeVar("T", covariant=True)
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class ValueKind(Generic[T]):
    """A kind of value: the function that converts it, and a function that returns its schema. The schema is made late,
    because it may list names from tables that are still being filled.
    """

    convert: Callable[[Any], T]
    schema: Callable[[], Schema]

    def __call__(self, value: Any) -> T:
        """Returns the converted value; raises ValueError if the value is not of this kind."""
        return self.convert(value)


def kind(**schema: Any) -> Callable[[Callable[[Any], T]], ValueKind[T]]:
    """Returns a decorator that makes a kind of value from the function that converts it; `schema` is its JSON
    Schema.
    """
    return lambda convert: ValueKind(convert, lambda: schema)


TEXT: Schema = {"type": ["string", "number", "boolean"], "minLength": 1}
_SIZE = r"^\s*\d+\s*[kKmMgGtT]?([iI]?[bB])?\s*$"
_TIME = r"^(\d+-)?(\d+:)?\d+:\d+$"
_PERCENT = r"^\s*[0-9.]+\s*%?\s*$"
_PART = {"exclusiveMinimum": 0, "exclusiveMaximum": 1}
_COMPILER = r"^(/[A-Za-z0-9_+./-]+|[A-Za-z0-9_+.][A-Za-z0-9_+.-]*)$"
_FLAGS = r"^-[A-Za-z0-9_=+,./:@%^ -]*$"


@dataclass(frozen=True)
class Change:
    """The changes that one level of a user-defined factor makes: added arguments, environment variables, MPI-IO hints,
    HDF5 settings by file, the MPI-IO component, and the compiler and flags with which a bundled workload is built.
    """

    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    hdf5: str | None = None
    io_component: str | None = None
    compiler: str | None = None
    flags: str | None = None


@kind(type="integer", minimum=1)
def positive(value: Any) -> int:
    """Accepts a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{value!r} is not a whole number of at least 1")
    return value


@kind(type="integer", minimum=0)
def count(value: Any) -> int:
    """Accepts a whole number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a whole number of at least 0")
    return value


@kind(anyOf=[{"type": "integer", "minimum": 1}, {"type": "string", "pattern": _SIZE}])
def size(value: Any) -> int:
    """Accepts a size in bytes of at least 1."""
    return positive(parse_size(value))


@kind(**TEXT)
def text(value: Any) -> str:
    """Accepts a word or a number, and returns it as text."""
    if isinstance(value, dict | list) or value is None or value == "":
        raise ValueError(f"{value!r} is not a word")
    return str(value)


@kind(type=TEXT["type"], pattern="^[^./][^/]*$")
def name(value: Any) -> str:
    """Accepts a name that is valid as a folder's name."""
    if "/" in text(value) or str(value).startswith("."):
        raise ValueError(f"{value!r} cannot be the name of a folder")
    return str(value)


@kind(type="array", items=TEXT)
def words(value: Any) -> tuple[str, ...]:
    """Accepts a list of words."""
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not a list, such as [--class, A]")
    return tuple(text(item) for item in value)


@kind(anyOf=[{"type": "string", "minLength": 1}, {"type": "array", "items": TEXT, "minItems": 1}])
def command_words(value: Any) -> tuple[str, ...]:
    """Accepts a command as a list of words, or as one text that is taken apart as a shell would."""
    try:
        found = tuple(shlex.split(value)) if isinstance(value, str) else words(value)
    except ValueError as error:
        raise ValueError(f"{value!r} is not a command: {error}") from error
    if not found:
        raise ValueError("an empty command; write it as for a shell, such as mpirun -np 4 ./app")
    return found


@kind(type="boolean")
def yes_or_no(value: Any) -> bool:
    """Accepts true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


@kind(anyOf=[{"type": "integer", "minimum": 1}, {"type": "string", "pattern": _TIME}])
def duration(value: Any) -> int:
    """Accepts a number of seconds, or a time in Slurm's form (minutes:seconds, hours:minutes:seconds, or
    days-hours:minutes:seconds), which YAML may already have converted to seconds.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    found = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", str(value))
    if not found:
        raise ValueError(f"{value!r} is not a time, such as '00:30:00'")
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return positive(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


@kind(anyOf=[{"type": "number", **_PART}, {"type": "string", "pattern": _PERCENT}])
def portion(value: Any) -> float:
    """Accepts a part of a whole, above 0 and below 1: 5% or 0.05."""
    found = re.fullmatch(r"([0-9.]+)\s*%", str(value).strip())
    try:
        number = float(found[1]) / 100 if found else float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{value!r} is not a percentage, such as 5%") from error
    if not 0 < number < 1:
        raise ValueError(f"{value!r} is not between 0 and 100 %")
    return number


@kind(type=[*TEXT["type"], "null"], minLength=1)
def folder(value: Any) -> Path | None:
    """Accepts a path, or nothing."""
    return None if value is None else Path(text(value)).expanduser()


def one_of(*choices: str) -> ValueKind[str]:
    """Makes a kind that accepts one of a few values."""
    return name_in(dict.fromkeys(choices))


def name_in(table: Mapping[str, Any], *others: str) -> ValueKind[str]:
    """Makes a kind that accepts a key of `table` or one of the `others`. The table may still get rows before a value is
    read.
    """

    def check(value: Any) -> str:
        if value not in (choices := (*table, *others)):
            raise ValueError(f"{value!r} is not one of {', '.join(choices)}")
        return str(value)

    return ValueKind(check, lambda: {"enum": [*table, *others]})


@kind(type="string", minLength=1)
def pattern(value: Any) -> str:
    """Accepts a regular expression with one group, which matches a number."""
    try:
        groups_in_it = re.compile(text(value)).groups
    except re.error as error:
        raise ValueError(f"{value!r} is not a regular expression: {error}") from error
    if groups_in_it != 1:
        raise ValueError(f"{value!r} has {groups_in_it} groups; put ( ) around the number, and nothing else")
    return str(value)


@kind(type="array", items={"type": "array", "items": TEXT, "minItems": 2})
def groups(value: Any) -> tuple[tuple[str, ...], ...]:
    """Accepts a list of lists of words."""
    if not isinstance(value, list) or not all(isinstance(item, list) and len(item) > 1 for item in value):
        raise ValueError(f"{value!r} is not a list of groups, such as [[stripe_count, aggregators]]")
    return tuple(words(item) for item in value)


def _range_numbers(value: dict[str, Any], each: ValueKind[int]) -> list[int]:
    """Returns the numbers of a range: from and to, both included, in steps of `step` or growing by a factor."""
    unknown = set(value) - {"from", "to", "step", "times"}
    if unknown or not {"from", "to"} <= set(value) or {"step", "times"} <= set(value):
        raise ValueError(
            f"{value!r} is not a range, such as {{from: 1, to: 16, times: 2}} or {{from: 2, to: 8, step: 2}}"
        )
    at, end = each(value["from"]), each(value["to"])
    step, times = each(value.get("step", 1)), positive(value.get("times", 1))
    if "times" in value and times == 1:
        raise ValueError("a range with the factor 1 does not grow; give a larger factor")
    if at > end:
        raise ValueError(f"a range from {value['from']} to {value['to']} has no level")
    if "times" not in value and (end - at) // step >= _MOST_LEVELS:
        raise ValueError(f"a range of more than {_MOST_LEVELS} levels")
    found = []
    while at <= end:
        found.append(at)
        at = at * times if "times" in value else at + step
    return found


def levels(each: ValueKind[int]) -> ValueKind[tuple[int, ...]]:
    """Makes a kind for the levels of one factor, a list without repetition; for numbers also a range."""

    def check(value: Any) -> tuple[int, ...]:
        if isinstance(value, dict):
            value = _range_numbers(value, each)
        items = value if isinstance(value, list) else [value]
        found = tuple(each(item) for item in items)
        if not found or len(set(found)) != len(found):
            raise ValueError(f"{value!r} must be a list of different values")
        return found

    return ValueKind(
        check, lambda: {"anyOf": [each.schema(), _several_schema(each.schema()), _spread_schema(each.schema())]}
    )


def _several_schema(item: Schema) -> Schema:
    """Returns the schema of a list of different values."""
    return {"type": "array", "items": item, "minItems": 1, "uniqueItems": True}


def _spread_schema(item: Schema) -> Schema:
    """Returns the schema of a range."""
    return {
        "type": "object",
        "properties": {"from": item, "to": item, "step": item, "times": {"type": "integer", "minimum": 2}},
        "required": ["from", "to"],
        "not": {"required": ["step", "times"]},
        "additionalProperties": False,
    }


@kind(type="object", additionalProperties=TEXT)
def hint_table(value: Any) -> dict[str, str]:
    """Accepts a table of MPI-IO hints."""
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is not a table of hints, such as {{romio_cb_write: enable}}")
    return {text(key): text(item) for key, item in value.items()}


@kind(type="object")
def variables(value: Any) -> dict[str, str]:
    """Accepts a table of environment variables."""
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is not a table of variables, such as {{OMPI_MCA_coll: ^han}}")
    return {text(key): str(item) for key, item in value.items()}


@kind(type="string", minLength=1)
def _hdf5_settings(value: Any) -> str:
    """Accepts HDF5 settings by file, in the form of `iolens run --hdf5`."""
    try:
        return hdf5_of_files(text(value))
    except ArgumentTypeError as error:
        raise ValueError(str(error)) from error


@kind(type="string", pattern=_COMPILER)
def _compiler_name(value: Any) -> str:
    """Accepts a C compiler: a command's name, or a path."""
    if not isinstance(value, str) or not re.fullmatch(_COMPILER, value):
        raise ValueError(
            f"{value!r} is not the name of a compiler, such as gcc, or a full path; put flags into the key flags"
        )
    return value


@kind(type="string", pattern=_FLAGS)
def _flags(value: Any) -> str:
    """Accepts compiler flags; characters that a shell or make would interpret are rejected."""
    if not isinstance(value, str) or not re.fullmatch(_FLAGS, value):
        raise ValueError(
            f"{value!r} is not a text with flags, such as '-O3 -march=native'; quotes, $ and the like cannot be used"
        )
    return " ".join(value.split())


CHANGES: Mapping[str, ValueKind[Any]] = {
    "arguments": words,
    "environment": variables,
    "hints": hint_table,
    "hdf5": _hdf5_settings,
    "io_component": one_of(*IO_COMPONENTS),
    "compiler": _compiler_name,
    "flags": _flags,
}
"""The changes that a level of a user-defined factor may make."""


LISTED = ("compiler", "flags")
"""The changes that can also be factors of a matrix by themselves, each with a list of values."""


def own_levels_schema() -> Schema:
    """Returns the JSON schema of the levels of a user-defined factor, which `own_levels` reads."""
    changes = {name: change.schema() for name, change in CHANGES.items()}
    level = {"type": ["object", "null"], "properties": changes, "additionalProperties": False}
    return {"type": "object", "additionalProperties": level, "minProperties": 1}


def own_levels(value: Any) -> dict[str, Change]:
    """Accepts the levels of a user-defined factor: a table of names, each with its changes."""
    if not isinstance(value, dict) or not value:
        raise ValueError(
            "a factor of your own must be a table of levels, such as {posix: {arguments: [-a, POSIX]}, mpiio: {}}"
        )
    found: dict[str, Change] = {}
    for level, changes in value.items():
        if not isinstance(changes, dict | type(None)):
            raise ValueError(f"{level}: {changes!r} is not a table with {', '.join(CHANGES)}")
        unknown = set(changes or {}) - set(CHANGES)
        if unknown:
            raise ValueError(f"{level}: unknown key {unknown.pop()}; a level has {', '.join(CHANGES)}")
        try:
            found[text(level)] = Change(**{key: CHANGES[key](item) for key, item in (changes or {}).items()})
        except ValueError as error:
            raise ValueError(f"{level}: {error}") from error
    if len({slug(level) for level in found}) < len(found):
        raise ValueError("the names of the levels must differ in more than blanks and punctuation")
    return found


def listed_levels(key: str, value: Any) -> dict[str, Change]:
    """Accepts the levels of a factor in LISTED: a list of changes, or a table as for any user-defined factor."""
    if isinstance(value, dict):
        return own_levels(value)
    items = value if isinstance(value, list) else [value]
    named = {text(item): {key: item} for item in items}
    if not items or len(named) < len(items):
        raise ValueError(f"{value!r} must be a list of different values")
    return own_levels(named)


def listed_schema(key: str) -> Schema:
    """Returns the schema of `listed_levels`."""
    item = CHANGES[key].schema()
    return {"anyOf": [item, _several_schema(item), own_levels_schema()]}


def slug(level: str) -> str:
    """Returns a level's name as part of a folder's name."""
    return re.sub(r"(?:[^\w.+-]|_)+", "-", level).strip("-")
