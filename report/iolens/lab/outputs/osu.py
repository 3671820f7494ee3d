"""OSU micro-benchmarks: point-to-point, collective and one-sided, by message size; one text may hold several tests."""

from __future__ import annotations

import re

from iolens.metrics.comparison.settings import size_text
from iolens.metrics.subjects.subject import Output, Value

_HEAD = re.compile(r"^# OSU (.*?)\s+v([\d.]+)\s*$")
_COLUMN = re.compile(r"\s{2,}")
_UNITS = {"us": ("µs", -1), "MB/s": ("MB/s", 1), "Messages/s": ("messages/s", 1), "%": ("%", 1)}
"""The unit at the end of a column's head, and whether smaller or larger is better."""

_SKIPPED = ("Size", "Iterations")


def read_osu(text: str) -> Output | None:
    """Returns all columns of all tests, by size; None if the text is not OSU's or has no row."""
    values: list[Value] = []
    facts: dict[str, str] = {}
    test, version, columns = "", "", ["Size"]
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head:
            test, version, columns = head[1].removesuffix(" Test"), head[2], []
        elif test and line.startswith("# Datatype:"):
            facts["datatype"] = line.partition(":")[2].strip(" .")
        elif test and line.startswith("#"):
            columns = [cell.strip() for cell in _COLUMN.split(line.lstrip("# ").strip())]
        elif test and columns:
            values += _of_row(test, columns, line.split())
    return Output(f"OSU {version}", facts, tuple(values)) if values else None


def _of_row(test: str, columns: list[str], cells: list[str]) -> list[Value]:
    """Returns the values of a row; empty if the line is no row of the table."""
    if len(cells) != len(columns) or not all(re.fullmatch(r"[\d.]+", cell) for cell in cells):
        return []
    at = size_text(float(cells[0])) if columns[0] == "Size" else "no size"
    measured = [(column, float(cell)) for column, cell in zip(columns, cells, strict=True) if column not in _SKIPPED]
    found = []
    for column, value in measured:
        name, unit, better = _measure(column)
        label = f"{at}, {name.lower()}" if len(measured) > 1 and name else at
        found.append(Value(test, label, unit, value, better))
    return found


def _measure(column: str) -> tuple[str, str, int]:
    """Returns the name of a column, its unit, and whether smaller or larger is better: 'Avg Latency(us)' is 'Avg
    Latency' in µs.
    """
    name, _, unit = column.rstrip(")").partition("(")
    unit, better = _UNITS.get(unit or name, (unit or name, 0))
    return name.strip(), unit, better
