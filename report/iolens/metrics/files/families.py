"""Families of names: files whose names differ in numbers alone, as programs name them, under one name.

`plt00010/Level_2/Cell_D_00017` and similar names become `plt#####/Level_#/Cell_D_#####`. A `#` stands for one digit, a
`*` for a number of varying length, for a hexadecimal number, or for the one folder in which the names differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iolens.log import Job
from iolens.log.records import Records

_LIBRARY = re.compile(
    r"/(lib|lib64|site-packages|dist-packages|[Pp]ython[^/]*)/|\.(py|pyc|so|pth|jl|R)\b|/pyvenv\.cfg$"
)
"""Matches the paths of libraries and modules, by their folders or endings."""


def of_libraries(job: Job, table: Records) -> np.ndarray:
    """Returns a mask of the files in `table` that belong to libraries and modules, by their paths."""
    return np.array([bool(_LIBRARY.search(job.names.get(key, ""))) for key in table["id"].tolist()], bool)


FEWEST = 8
"""Minimum number of members of a family. Fewer names are read faster than a pattern is understood."""

_VARYING = re.compile(
    r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"  # Matches a UUID.
    # A hexadecimal number: digits and letters, eight or more. The pattern matches only at the start of such a number,
    # because otherwise a long word of these letters would take quadratic time.
    r"|(?<![0-9a-f])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,}"
    r"|[0-9]+)"
)

_NUMBER, _LONG_HEXADECIMAL = re.compile("([0-9]+)"), re.compile("[0-9a-f]{8}")
"""Matches eight hexadecimal digits in a row. A text without a match can hold only decimal numbers, and searching for
these alone is much faster.
"""

_BETWEEN, _REMOVED = "\1", "\0"
"""Control characters that occur in no number: one separates texts that are searched together, the other replaces a
number.
"""

_Key = tuple[int, int]
"""Numbers of two shapes: the shape of a name's folder, and that of its last component."""


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
    """Returns the families of different names, in the order of their first members. The time that this takes is
    proportional to the number of names.
    """
    readable = names
    if any(sign in "".join(names) for sign in (_BETWEEN, _REMOVED)):
        readable = [name.replace(_BETWEEN, "\ufffd").replace(_REMOVED, "\ufffd") for name in names]
    ends = [name.rfind("/") + 1 for name in readable]
    last = [name[end:] for name, end in zip(readable, ends, strict=True)]
    folders, bases = _Shapes([name[:end] for name, end in zip(readable, ends, strict=True)]), _Shapes(last)
    groups = {}
    for (folder, base), members in _groups(folders.shape, bases.shape):
        if bases.texts[base] == _REMOVED:
            members = [number for number in members if not _is_anonymous(last[number])]
        if members and folders.texts[folder]:
            groups[folder, base] = members
    labels = {
        (folder, base): folders.label(folder, members) + bases.label(base, members)
        if len(members) > 1
        else names[members[0]]
        for (folder, base), members in groups.items()
    }
    wider = _same_but_one_folder(labels)
    together: dict[str | _Key, list[int]] = {}
    for key, members in groups.items():
        together.setdefault(wider.get(key, key), []).extend(members)
    return _families_of_groups(names, together, labels)


def family_name(label: str) -> str:
    """Returns the part of a family's label that begins at the first component in which its members differ; without
    differences, the last component.
    """
    parts = label.split("/")
    varied = [number for number, part in enumerate(parts) if "#" in part or "*" in part]
    return "/".join(parts[varied[0] :]) if varied else parts[-1]


class _Shapes:
    """The shapes of texts: `texts` are the different shapes, with a zero byte in place of each number, and `shape` is
    the number of each text's shape. Numbers are looked for in all texts at once, which is faster.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        place, different = _numbered_texts(texts)
        joined = _BETWEEN.join(different)
        pieces = (_VARYING if _LONG_HEXADECIMAL.search(joined) else _NUMBER).split(joined)
        shape, self.texts = _numbered_texts(_REMOVED.join(pieces[::2]).split(_BETWEEN))
        counts = np.array([text.count(_REMOVED) for text in self.texts], int)[shape]
        self.shape = shape[place]
        self._numbers = pieces[1::2]
        self._begins: list[int] = (counts.cumsum() - counts)[place].tolist()

    def numbers(self, members: Collection[int], at: int) -> set[str]:
        """Returns the different numbers at this place in these texts."""
        return {self._numbers[begin + at] for begin in map(self._begins.__getitem__, members)}

    def label(self, shape: int, members: Collection[int]) -> str:
        """Returns one label for these texts of one shape; numbers that are equal in all of them stay."""
        texts = self.texts[shape].split(_REMOVED)
        marks = [_mark(self.numbers(members, at)) for at in range(len(texts) - 1)]
        return "".join(text + mark for text, mark in zip(texts, [*marks, ""], strict=True))


def _numbered_texts(texts: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """Returns for each text its number among the different texts; and the different texts."""
    different = list(dict.fromkeys(texts))
    numbers = dict(zip(different, range(len(different)), strict=True))
    return np.fromiter(map(numbers.__getitem__, texts), np.intp, len(texts)), different


def _groups(folders: np.ndarray, bases: np.ndarray) -> Iterator[tuple[_Key, list[int]]]:
    """Yields each combination of a folder's shape and a last component's shape, with the names that have this
    combination, in ascending order.
    """
    order = np.lexsort((bases, folders))
    pairs = np.column_stack((folders, bases))[order]
    begins = np.flatnonzero(np.diff(pairs, axis=0, prepend=-1).any(axis=1)).tolist()
    members = order.tolist()
    for begin, end, (folder, base) in zip(begins, [*begins[1:], None], pairs[begins].tolist(), strict=False):
        yield (folder, base), members[begin:end]


def _is_anonymous(number: str) -> bool:
    """Returns whether a text is a number of nine digits or more."""
    return len(number) > 8 and number.isdigit()


def _mark(numbers: set[str]) -> str:
    """Returns the text that stands for these numbers in a label: the number itself if all are equal."""
    if len(numbers) == 1:
        return next(iter(numbers))
    lengths = {*map(len, numbers)}
    return "#" * lengths.pop() if len(lengths) == 1 and all(map(str.isdigit, numbers)) else "*"


def _same_but_one_folder(labels: Mapping[_Key, str]) -> dict[_Key, str]:
    """Returns a label with a `*` for shapes whose names differ only in one folder, if `FEWEST` or more of them share
    this label; other shapes are not in the result.
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
    """Returns the label once for each of its folders, with a `*` in place of this folder."""
    parts = label.split("/")
    return ["/".join([*parts[:at], "*", *parts[at + 1 :]]) for at in range(len(parts) - 1) if parts[at]] or [label]


def _families_of_groups(
    names: Sequence[str], together: Mapping[str | _Key, Sequence[int]], labels: Mapping[_Key, str]
) -> Families:
    """Returns the families of these groups of names; names in a group that is too small become families of their own.

    A family is identified by its group and not by its label, which may be the name of a file (`step#`), or of another
    family.
    """
    first = np.arange(len(names))
    named = {}
    for key, members in together.items():
        if len(members) >= FEWEST:
            first[members] = at = min(members)
            named[at] = key if isinstance(key, str) else labels[key]
    known, place = np.unique(first, return_inverse=True)
    return Families(
        place, [named.get(at, names[at]) for at in known.tolist()], np.bincount(place, minlength=len(known))
    )
