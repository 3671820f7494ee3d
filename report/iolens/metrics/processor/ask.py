"""The part of a table that a user requests (levels, a threshold, conditions on ranks), and measures of imbalance."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from iolens.errors import UsageError
from iolens.log.records import Records

NOT_KNOWN = float("nan")


def imbalance(most: float, mean: float) -> float:
    """Returns how much longer the slowest rank took than the average one: max - avg (CrayPAT's Imb. Time, Imb.
    Samp).
    """
    return most - mean


def imbalance_percent(most: float, mean: float, count: int) -> float:
    """Returns CrayPAT's Imb.%: 100 * (max - avg) / max * N / (N - 1), of N values. 0: even; 100: one rank does
    everything.

    Source: DeRose, Homer and Johnson, "Detecting Application Load Imbalance on High End Massively Parallel Systems",
    Euro-Par 2007, as pat_report prints it. NaN for a single value, and if all values are 0.
    """
    if count < 2 or not most > 0:
        return NOT_KNOWN
    return 100.0 * (most - mean) / most * count / (count - 1)


def mean_over_most(most: float, mean: float) -> float:
    """Returns POP's load balance: avg / max, of the time of useful work. 1: even."""
    return mean / most if most > 0 else NOT_KNOWN


THRESHOLD = 0.95
"""Per cent of the total below which pat_report leaves a row out."""

LEFT_OUT = "rows_left_out"
"""The attribute of a table's frame with the number of rows that were left out because they are below the threshold."""

PE, EVERY_PE = "pe", "pe=all"
"""The level of single ranks: `pe` gives the ranks with the largest, the median and the smallest value, `pe=all` gives
all ranks.
"""

THREAD = "thread"
"""The level of single threads. If it is the last level, imbalance is computed among the threads of all ranks."""

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_CONDITION = re.compile(r"\s*([a-z_]+)\s*(<=|>=|!=|==?|<|>)\s*(.+?)\s*")


@dataclass(frozen=True)
class Condition:
    """Selects rows whose column `name` stands in this relation to `value`; text is compared with = and != and may hold
    * and ?.
    """

    name: str
    relation: str
    value: str

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Returns True for each value that meets the condition; raises UsageError if a number is required and none is
        given.
        """
        if values.dtype.kind in "iuf":
            return self.number(values)
        if self.relation not in ("=", "!="):
            raise UsageError(f"{self.name}{self.relation}{self.value}: {self.name} is text; compare it with = or !=")
        equal = np.array([fnmatchcase(str(text), self.value) for text in values.tolist()], bool)
        return equal if self.relation == "=" else ~equal

    def number(self, values: np.ndarray) -> np.ndarray:
        """Returns an array of bool: True for each number that meets this condition."""
        try:
            wanted = float(self.value)
        except ValueError:
            raise UsageError(f"{self.name}{self.relation}{self.value}: {self.name} is a number") from None
        found: np.ndarray = _COMPARE[self.relation](values, wanted)
        return found


@dataclass(frozen=True)
class Ask:
    """`by`: the levels, outermost first (none: the table's own). `threshold`: per cent of the total below which a row
    is left out. `where`: conditions that all rows must meet before anything is added up. `every_thread`: samples of
    threads that libraries started for their own work count too.
    """

    by: tuple[str, ...] = ()
    threshold: float = THRESHOLD
    where: tuple[Condition, ...] = ()
    every_thread: bool = False


DEFAULT = Ask()


def conditions(text: str) -> tuple[Condition, ...]:
    """Parses `pe<10,function=MPI_*` into conditions; raises UsageError if it is invalid."""
    return tuple(_condition(part) for part in text.split(",") if part.strip())


def _condition(text: str) -> Condition:
    """Parses one condition, such as `pe<10`; raises UsageError if it is invalid."""
    found = _CONDITION.fullmatch(text)
    if not found:
        raise UsageError(f"{text} is not a condition; write a name, one of < <= = != >= > and a value, such as 'pe<10'")
    name, relation, value = found.groups()
    return Condition(PE if name == "rank" else name, "=" if relation == "==" else relation, value)


def asked_levels(text: str) -> tuple[str, ...]:
    """Parses `function,caller,pe` into levels."""
    words = [word.strip() for word in text.split(",")]
    return tuple(PE if word == "rank" else word for word in words if word)


def check_levels(asked: Sequence[str], known: Sequence[str]) -> None:
    """Raises UsageError if the table does not have a level, or if a level is requested twice."""
    unknown = [name for name in asked if name not in (*known, PE, EVERY_PE)]
    if unknown:
        raise UsageError(
            f"there is no level {', '.join(unknown)}; this table has {', '.join((*known, PE))} (and {EVERY_PE})"
        )
    twice = [name for name in dict.fromkeys(asked) if asked.count(name) > 1]
    if twice:
        raise UsageError(f"the level {', '.join(twice)} is given twice; name each level once")
    if EVERY_PE in asked[:-1]:
        raise UsageError(f"{EVERY_PE} can only be the last level; move it to the end")


def matching_ranks(where: Sequence[Condition], ranks: int) -> int:
    """Returns how many of the ranks 0 … `ranks` - 1 meet the conditions on `pe`; averages divide by this number."""
    each = np.arange(ranks)
    for one in where:
        if one.name == PE:
            each = each[one.holds(each)]
    return len(each)


def kept(rows: Records, where: Sequence[Condition]) -> Records:
    """Returns the rows that meet all conditions. A row that sums several ranks (rank -1) meets no condition on `pe`."""
    for one in where:
        if one.name == PE:
            rows = rows.where(one.holds(rows["rank"]) & (rows["rank"] >= 0))
        elif one.name in rows:
            rows = rows.where(one.holds(rows[one.name]))
        else:
            known = [name for name in rows.names if name != "rank"]
            raise UsageError(f"there is no column {one.name} to filter by; this table has pe, {', '.join(known)}")
    return rows
