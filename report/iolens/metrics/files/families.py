"""Families of names: files whose names differ in numbers alone, as programs name them, under one name.

`plt00010/Level_2/Cell_D_00017` and similar names become `plt#####/Level_#/Cell_D_#####`. A `#` stands for one digit, a
`*` for a number of varying length, for a hexadecimal number, or for the one folder in which the names differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

FEWEST = 8
"""Minimum number of members of a family. Fewer names are read faster than a pattern is understood."""

_VARYING = re.compile(
    r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"  # Matches a UUID.
    # A hexadecimal number: digits and letters, eight or more. The pattern matches only at the start of such a number,
    # because otherwise a long word of these letters would take quadratic time.
    r"|(?<![0-9a-f])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,}"
    r"|[0-9]+)"
)

_Shape = tuple[str, tuple[str, ...]]
"""A name with its numbers removed, and these numbers as texts."""

_Key = tuple[str, str]
"""The shapes, without numbers, of the folder and the last component of a family's names."""


@dataclass(frozen=True)
class Families:
    """The families of some names: `place` is the family of each name, `labels` and `sizes` are those of each family.

    A name that resembles no other is a family by itself, and its label is the name. The same holds for a name without a
    folder, such as `<STDIN>`, for the number of a record whose name is not known, and for a long number in place of a
    name, as anonymized logs have them.
    """

    place: np.ndarray
    labels: Sequence[str]
    sizes: np.ndarray


def families(names: Sequence[str]) -> Families:
    """Returns the families of different names, in the order of their first members. Its time is proportional to the
    number of names.
    """
    shapes = _shapes(names)
    groups: dict[_Key, list[int]] = {}
    for number, (folder, base) in enumerate(shapes):
        if folder[0] and not _is_anonymous(base):
            groups.setdefault((folder[0], base[0]), []).append(number)
    labels = {
        key: _label([shapes[number] for number in members]) if len(members) > 1 else names[members[0]]
        for key, members in groups.items()
    }
    wider = _same_but_one_folder(labels)
    together: dict[str | _Key, list[int]] = {}
    for key, members in groups.items():
        together.setdefault(wider.get(key, key), []).extend(members)
    return _numbered(names, together, labels)


def family_name(label: str) -> str:
    """Returns the end of a family's label, from the first component on in which its members differ."""
    parts = label.split("/")
    varied = [number for number, part in enumerate(parts) if "#" in part or "*" in part]
    return "/".join(parts[varied[0] :]) if varied else parts[-1]


def _shapes(names: Sequence[str]) -> list[tuple[_Shape, _Shape]]:
    """Returns the shapes of each name's folder and of its last component. Zero bytes are replaced, because shapes have
    them in place of numbers.
    """
    folders: dict[str, _Shape] = {}
    found = []
    for name in names:
        folder, slash, base = name.replace("\0", "\ufffd").rpartition("/")
        folder += slash
        if folder not in folders:
            folders[folder] = _shape(folder)
        found.append((folders[folder], _shape(base)))
    return found


def _shape(text: str) -> _Shape:
    """Returns the shape of a folder or of the last component of a name."""
    parts = _VARYING.split(text)
    return "\0".join(parts[::2]), tuple(parts[1::2])


def _is_anonymous(base: _Shape) -> bool:
    """Returns whether the last component of a name is nothing but a number of nine digits or more."""
    text, numbers = base
    return text == "\0" and len(numbers[0]) > 8 and numbers[0].isdigit()


def _label(shapes: Iterable[tuple[_Shape, _Shape]]) -> str:
    """Returns one label for names of the same shape; numbers that are equal in all of them stay."""
    folders, bases = zip(*shapes, strict=True)
    return _common({*folders}) + _common({*bases})


def _common(shapes: set[_Shape]) -> str:
    """Returns the text of these shapes with a mark in place of each number that varies."""
    texts = next(iter(shapes))[0].split("\0")
    columns = zip(*(numbers for _, numbers in shapes), strict=True)
    marks = [_mark({*column}) for column in columns]
    return "".join(text + mark for text, mark in zip(texts, [*marks, ""], strict=True))


def _mark(numbers: set[str]) -> str:
    """Returns the text that stands for these numbers in a label: the number itself if all are equal."""
    if len(numbers) == 1:
        return next(iter(numbers))
    lengths = {len(number) for number in numbers}
    return "#" * lengths.pop() if len(lengths) == 1 and all(map(str.isdigit, numbers)) else "*"


def _same_but_one_folder(labels: Mapping[_Key, str]) -> dict[_Key, str]:
    """Returns one label for each `FEWEST` or more shapes whose names differ in one folder alone; other shapes are not
    in the result.
    """
    often = {base for base, number in Counter(base for _, base in labels).items() if number >= FEWEST}
    wider = {key: _without_a_folder(label) for key, label in labels.items() if key[1] in often}
    alike = Counter(label for several in wider.values() for label in several)
    found = {}
    for key, several in wider.items():
        best = max(several, key=lambda label: alike[label])
        if alike[best] >= FEWEST:
            found[key] = best
    return found


def _without_a_folder(label: str) -> list[str]:
    """Returns the label with a `*` in place of each of its folders in turn."""
    parts = label.split("/")
    return ["/".join([*parts[:at], "*", *parts[at + 1 :]]) for at in range(len(parts) - 1) if parts[at]] or [label]


def _numbered(
    names: Sequence[str], together: Mapping[str | _Key, Sequence[int]], labels: Mapping[_Key, str]
) -> Families:
    """Returns the families of these groups of names; names in a group that is too small become families of their own.

    A family is identified by its group and not by its label, which may be the name of a file (`step#`), or of another
    family.
    """
    family_of: list[tuple[object, str]] = [(None, name) for name in names]
    for key, members in together.items():
        if len(members) >= FEWEST:
            for number in members:
                family_of[number] = (key, key if isinstance(key, str) else labels[key])
    numbers: dict[tuple[object, str], int] = {}
    place = np.fromiter((numbers.setdefault(one, len(numbers)) for one in family_of), np.intp, len(names))
    return Families(place, [label for _, label in numbers], np.bincount(place, minlength=len(numbers)))
