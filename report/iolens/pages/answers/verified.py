"""Compares the numbers of a text with a log: each number is listed with the table that has it, or as one that no table
has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from iolens.metrics.once import once_per_job
from iolens.pages.answers.sources import S, Source
from iolens.pages.answers.written import Written, written_numbers

_MIB = 2.0**20


@dataclass(frozen=True)
class Number:
    """A number in a text as it is written there, and its place in the log: `source` names a table with row and column,
    or the sentence; it is empty if the log has no such number.
    """

    text: str
    source: str


@dataclass(frozen=True)
class _Known:
    """All numbers of a log in ascending order, with their places, and all texts of its cells and sentences."""

    values: np.ndarray
    places: list[str]
    texts: str


def numbers_in_text(source: Source[S], text: str) -> list[Number]:
    """Returns every number of a text in order, with its source in the log.

    A number agrees with one of the log if the log's number, in the unit of the text, rounds to its digits. A share in
    per cent may stand in a table as a share of 1. Signs are not compared, because a text writes -12 as "12 % less".
    """
    found = written_numbers(text)
    known = _numbers_of_log(source) if found else None
    return [Number(one.text, _source_of_number(known, one)) for one in found] if known else []


def _source_of_number(known: _Known, number: Written) -> str:
    """Returns the place of a number in the log; empty if there is none."""
    for value, half in number.values:
        low, high = value - half, value + half
        at = int(np.searchsorted(known.values, low - 1e-12 * abs(low)))
        if at < len(known.values) and known.values[at] <= high + 1e-12 * abs(high):
            return known.places[at]
    if number.values:
        return ""
    words = rf"(?<!\w){re.escape(number.text.replace('T', ' '))}(?!\w)"
    return "a text of the log" if re.search(words, known.texts) else ""


@once_per_job
def _numbers_of_log(source: Source[S]) -> _Known:
    """Returns the numbers of all tables, and of the log's facts and own sentences."""
    texts: set[str] = set()
    pairs = [*_numbers_of_tables(source, texts), *_numbers_of_sentences(source, texts)]
    values = np.array([value for value, _ in pairs], float)
    order = np.argsort(values, kind="stable")
    return _Known(values[order], [pairs[place][1] for place in order.tolist()], "\n".join(sorted(texts)))


def _numbers_of_tables(source: Source[S], texts: set[str]) -> Iterator[tuple[float, str]]:
    """Yields each finite number of a table with its place, and the number of rows of each table; adds the texts of the
    cells to `texts`.
    """
    for exhibit in source.exhibits:
        frame = exhibit.every(source.subject)
        if frame is None:
            continue
        yield float(len(frame)), f"rows of the table {exhibit.name}"
        for column in frame.columns:
            unit = _MIB if "mib_per_second" in str(column) else 1.0
            for row, value in enumerate(frame[column].tolist()):
                place = f"table {exhibit.name}, row {row}, column {column}"
                if isinstance(value, (int, float)) and math.isfinite(value):
                    yield abs(float(value)), place
                    if unit != 1.0:
                        yield abs(float(value)) * unit, place
                elif not isinstance(value, (int, float)):
                    texts.add(str(value))


def _numbers_of_sentences(source: Source[S], texts: set[str]) -> Iterator[tuple[float, str]]:
    """Yields the numbers of the facts, the verdict and the findings, as they are printed."""
    for name, text in _overview_texts("", source.overview(source.subject)):
        texts.add(text)
        for found in written_numbers(text):
            if found.values:
                yield found.values[0][0], name


def _overview_texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yields each text and number of an overview with its place in it: `judgement, findings, 0, evidence`."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else None
    if inner is None:
        yield name, str(value)
    else:
        for key, one in inner:
            yield from _overview_texts(f"{name}, {key}" if name else str(key), one)
