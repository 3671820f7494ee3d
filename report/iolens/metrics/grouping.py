"""Groups and sorts rows by their values, on arrays: the operations that most metrics need."""

from __future__ import annotations

from math import fsum, nan
from typing import TYPE_CHECKING

import numpy as np

from iolens.log.records import Records

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def _exact_sum(values: np.ndarray) -> float:
    """Returns a sum that is rounded only once; NaN if infinite values of a damaged log have no sum."""
    try:
        return fsum(values)
    except (ValueError, OverflowError):
        return nan


class Groups:
    """Rows grouped by equal values in some columns; groups are in the order of their first rows. `first` has the number
    of each group's first row, `place` the group of each row. The methods return arrays over groups.
    """

    def __init__(self, *keys: np.ndarray) -> None:
        code = _codes(keys[0])
        for key in keys[1:]:
            other = _codes(key)
            code = _codes(code * (int(other.max(initial=0)) + 1) + other)
        self.rows = len(code)
        self.first = np.full(int(code.max(initial=-1)) + 1, self.rows)
        np.minimum.at(self.first, code, np.arange(self.rows))
        self.first.sort()
        number = np.empty(len(self.first), np.intp)
        number[code[self.first]] = np.arange(len(self.first))
        self.place = number[code]
        self.order = np.argsort(self.place, kind="stable")
        self.begins = np.searchsorted(self.place[self.order], np.arange(len(self.first)))

    def __len__(self) -> int:
        return len(self.first)

    @property
    def sizes(self) -> np.ndarray:
        """Returns the number of rows of each group."""
        return np.diff(self.begins, append=self.rows)

    def parts(self, values: np.ndarray) -> list[np.ndarray]:
        """Returns the values of each group."""
        return np.split(values[self.order], self.begins[1:]) if len(self) else []

    def of(self, how: Callable[[np.ndarray], object], values: np.ndarray) -> np.ndarray:
        """Returns the result of a function for the values of each group."""
        return np.array([how(part) for part in self.parts(values)])

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Returns the sum of each group; floats are added without intermediate rounding."""
        if values.dtype.kind == "f":
            return (
                values[self.first] if len(self) == self.rows else np.array([_exact_sum(p) for p in self.parts(values)])
            )
        return self.reduced(np.add, values)

    def max(self, values: np.ndarray) -> np.ndarray:
        """Returns the largest value of each group."""
        return self.reduced(np.fmax, values)

    def min(self, values: np.ndarray) -> np.ndarray:
        """Returns the smallest value of each group."""
        return self.reduced(np.fmin, values)

    def reduced(self, how: np.ufunc, values: np.ndarray) -> np.ndarray:
        """Returns one value for each group: its values, combined by a NumPy function such as `np.fmin`."""
        if not len(self):
            return values[:0]
        found: np.ndarray = how.reduceat(values[self.order], self.begins)
        return found

    def distinct(self, values: np.ndarray) -> np.ndarray:
        """Returns the number of different values in each group."""
        pairs = Groups(self.place, values)
        return np.bincount(self.place[pairs.first], minlength=len(self))


def _codes(values: np.ndarray) -> np.ndarray:
    """Returns a number for each value, equal for equal values; the numbers are 0, 1, 2 … without gaps."""
    if values.dtype == object:
        known: dict[object, int] = {}
        return np.fromiter((known.setdefault(value, len(known)) for value in values.tolist()), np.intp, len(values))
    return np.asarray(np.unique(values, return_inverse=True)[1], np.intp)


def ordered(rows: Records, *names: str) -> Records:
    """Returns the rows sorted by these columns, the first column being the most significant; `-name` sorts from the
    largest value on. Rows with equal values keep their order.
    """
    keys: Sequence[np.ndarray] = [_ranked(rows[name.removeprefix("-")], name.startswith("-")) for name in names]
    return rows.where(np.lexsort([*keys][::-1]))


def _ranked(values: np.ndarray, falling: bool) -> np.ndarray:
    """Returns a sort key for each value, which ascends with the values or, if `falling`, against them; unknown values
    (NaN) come last.
    """
    known, inverse = np.unique(values, return_inverse=True)
    place: np.ndarray = inverse
    if not falling:
        return place
    missing = known.dtype.kind == "f" and len(known) > 0 and np.isnan(known[-1])
    from_largest: np.ndarray = np.where(place == len(known) - 1, len(known), -place) if missing else -place
    return from_largest


def most(rows: Records, name: str, limit: int) -> Records:
    """Returns the rows with the largest values of a column, the largest first."""
    return ordered(rows, f"-{name}").where(slice(limit))


def stacked(parts: Sequence[Records]) -> Records:
    """Returns tables with the same columns, one below the other."""
    if len(parts) == 1:
        return parts[0]
    return Records({name: np.concatenate([part[name] for part in parts]) for name in parts[0].names})


def without_repeats(rows: Records, *names: str) -> Records:
    """Returns the first row of each combination of values in these columns."""
    return rows.where(Groups(*(rows[name] for name in names)).first)


def labelled(rows: Records, name: str, text: str) -> Records:
    """Returns the rows with one more column, which has the same text in every row."""
    return rows.beside({name: np.full(len(rows), text, object)})


def empty(kinds: Mapping[str, str]) -> Records:
    """Returns a table without rows, with columns of these types."""
    return Records({name: np.zeros(0, kind) for name, kind in kinds.items()})
