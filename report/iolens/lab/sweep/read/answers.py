"""Checks that a program built with another compiler or other flags still computes the same answer as the baseline. The
baseline of a run has the compiler and flags of the first levels; its other settings are the same. An answer is the list
of values that the program prints in its result (workloads/RESULT.md), with the program's own tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iolens.lab.values import LISTED
from iolens.metrics.comparison.settings import level_order, part_text

SAME = "as the baseline's"


Row = dict[str, Any]


def with_answers(rows: Sequence[Row], experiment: Mapping[str, Any]) -> None:
    """Adds three columns to every row: `answer.difference` (the greatest relative difference from the baseline, None if
    unknown), `answer.same` (True if it is within the tolerance, None if unknown) and `answer.said` (the same in words).
    All three are None if the sweep builds its program in one way only.
    """
    factors = _building(experiment)
    for row in rows:
        if factors:
            row |= against(row, _baseline_of(row, rows, factors))
        else:
            row |= dict.fromkeys(("answer.difference", "answer.same", "answer.said"))
    for row in rows:
        del row["answer"]


def _building(experiment: Mapping[str, Any]) -> list[str]:
    """Returns the factors whose levels change how the program is built."""
    matrix = experiment.get("matrix")
    return [
        name
        for name, levels in (matrix.items() if isinstance(matrix, Mapping) else ())
        if isinstance(levels, Mapping) and any(key in (change or {}) for change in levels.values() for key in LISTED)
    ]


def _baseline_of(row: Row, rows: Sequence[Row], factors: Sequence[str]) -> Row | None:
    """Returns the baseline of `row`: the first run with an answer that has the first level of every factor that changes
    the build, and otherwise the settings of `row`. Returns None if there is no such run.
    """
    wanted = dict(row["settings"])
    for name in factors:
        levels = [other["settings"].get(name) for other in rows]
        wanted[name] = min(levels, key=level_order)
    found = (one for one in rows if one["settings"] == wanted and one["answer"] and one["status"] != "failed")
    return next(found, None)


def against(row: Row, base: Row | None) -> Row:
    """Returns the three answer columns of a run, compared with its baseline."""
    if not row["answer"] and row["status"] == "failed":
        return {"answer.difference": None, "answer.same": None, "answer.said": "n/a: the run failed"}
    if not row["answer"]:
        said = f"n/a: the program prints no answer to compare; its own verification: {row['verification'] or 'n/a'}"
        return {"answer.difference": None, "answer.same": None, "answer.said": said}
    if base is None:
        said = "n/a: no run of the baseline printed an answer"
        return {"answer.difference": None, "answer.same": None, "answer.said": said}
    where, difference = _greatest(row["answer"]["values"], base["answer"]["values"])
    tolerance = float(base["answer"]["tolerance"])
    same = difference <= tolerance
    apart = (
        f"differs from the baseline: relative difference {part_text(difference)} in {where} "
        f"(tolerance {part_text(tolerance)})"
    )
    said = SAME if same else apart
    return {"answer.difference": difference, "answer.same": same, "answer.said": said}


def _greatest(values: Mapping[str, Any], base: Mapping[str, Any]) -> tuple[str, float]:
    """Returns the name of the value that differs most, and its relative difference from `base`; infinity for a value
    that only one answer has or that is not finite.
    """
    one, other = dict(_named_numbers(values)), dict(_named_numbers(base))
    found = [
        (name, _relative(one.get(name), other.get(name))) for name in (*other, *(n for n in one if n not in other))
    ]
    return max(found, key=lambda pair: pair[1], default=("", 0.0))


def _named_numbers(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields each number with its name; the numbers of a list are counted from 1."""
    for name, value in values.items():
        if isinstance(value, list):
            yield from ((f"{name} {place}", each) for place, each in enumerate(value, 1))
        else:
            yield name, value


def _relative(value: Any, base: Any) -> float:
    """Returns the relative difference of two numbers; None stands for a number that was not finite."""
    if value is None or base is None or not math.isfinite(value) or not math.isfinite(base):
        return math.inf
    return 0.0 if value == base else abs(value - base) / abs(base) if base else math.inf


def answer_in(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the answer in a program's result; None if it has none."""
    answer = (result.get("extra") or {}).get("answer")
    if not isinstance(answer, Mapping) or not isinstance(answer.get("tolerance"), int | float):
        return None
    return answer if isinstance(answer.get("values"), Mapping) and answer["values"] else None
