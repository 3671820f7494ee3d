"""Compares the numbers of a text with a log: each number is listed with the table that has it, or as one that no table
has.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from iolens.advise import diagnosis
from iolens.log import Job
from iolens.metrics.once import once_per_job
from iolens.pages.exhibits.job import JOB_EXHIBITS
from iolens.pages.job.advice_lists import judgement
from iolens.pages.job.words import fact_columns, verdicts

_UNITS = {
    **{f"{prefix}i{byte}": 1024.0**power for power, prefix in enumerate("KMGTP", 1) for byte in ("B", "B/s")},
    **{f"{prefix}{byte}": 1000.0**power for power, prefix in enumerate("kMGTP", 1) for byte in ("B", "B/s")},
    "B": 1.0,
    "B/s": 1.0,
    "bytes": 1.0,
    "s": 1.0,
    "seconds": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "ns": 1e-9,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "x": 1.0,
    "min": 60.0,
    "minutes": 60.0,
    "h": 3600.0,
    "hours": 3600.0,
    "%": 1.0,
    "percent": 1.0,
}
"""Units with the factor to bytes, seconds, a count or a share in per cent."""

_SHARES = ("%", "percent")

_NUMBER = re.compile(
    r"(?<![\w.,/:#])(?<![A-Za-z_]-)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?:[eE]([-+]?\d+))?(?![\w.]*[/_:]\w)(?:\s?("
    + "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
    + r"))?(?![\w])"
)


@dataclass(frozen=True)
class Number:
    """A number in a text as it is written there, and its place in the log: `source` names a table with row and column,
    or the sentence; it is empty if the log has no such number.
    """

    text: str
    source: str


@dataclass(frozen=True)
class _Known:
    """All numbers of a log in ascending order, with their places."""

    values: np.ndarray
    places: list[str]


def numbers_in_text(job: Job, text: str) -> list[Number]:
    """Returns every number of a text in order, with its source in the log.

    A number agrees with one of the log if the log's number, in the unit of the text, rounds to its digits. A share in
    per cent may stand in a table as a share of 1. Signs are not compared, because a text writes -12 as "12 % less".
    """
    known = _known(job)
    return [Number(found[0].strip(), _source(known, found)) for found in _NUMBER.finditer(text)]


def _value(found: re.Match[str]) -> float:
    """Returns the number that a text has, without its sign and unit."""
    return float(f"{found[1].replace(',', '')}{found[2] or ''}e{found[3] or 0}")


def _source(known: _Known, found: re.Match[str]) -> str:
    """Returns the place in the log of a number in a text; empty if there is none."""
    value, unit = _value(found), found[4] or ""
    step = 10.0 ** (int(found[3] or 0) - max(len(found[2] or "") - 1, 0))
    factors = [_UNITS.get(unit, 1.0), *([0.01] if unit in _SHARES else [])]
    for factor in factors:
        low, high = ((value + sign * step / 2) * factor for sign in (-1, 1))
        place = int(np.searchsorted(known.values, low - 1e-12 * abs(low)))
        if place < len(known.values) and known.values[place] <= high + 1e-12 * abs(high):
            return known.places[place]
    return ""


@once_per_job
def _known(job: Job) -> _Known:
    """Returns the numbers of all tables, and of the log's facts and own sentences."""
    pairs = [*_numbers_of_tables(job), *_numbers_of_sentences(job)]
    values = np.array([value for value, _ in pairs], float)
    order = np.argsort(values, kind="stable")
    return _Known(values[order], [pairs[place][1] for place in order.tolist()])


def _numbers_of_tables(job: Job) -> Iterator[tuple[float, str]]:
    """Yields each finite number of a table with its place, and the number of rows of each table."""
    for exhibit in JOB_EXHIBITS:
        frame = exhibit.every(job)
        if frame is None:
            continue
        yield float(len(frame)), f"rows of the table {exhibit.name}"
        for column in frame.columns:
            for row, value in enumerate(frame[column].tolist()):
                if isinstance(value, (int, float)) and math.isfinite(value):
                    yield abs(float(value)), f"table {exhibit.name}, row {row}, column {column}"


def _numbers_of_sentences(job: Job) -> Iterator[tuple[float, str]]:
    """Yields the numbers of the facts, the verdict and the findings, as they are printed."""
    said = [(name, value) for part in fact_columns(job) for name, value in part]
    said += [("the first sentences", " ".join(verdicts(job)))]
    said += [("the judgement", json.dumps(judgement(job, diagnosis(job)), ensure_ascii=False))]
    for name, text in said:
        for found in _NUMBER.finditer(text):
            yield _value(found) * _UNITS.get(found[4] or "", 1.0), name
