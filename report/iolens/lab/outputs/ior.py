"""IOR: read its text, JSON and CSV output, with each repetition as its own measurement."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

from iolens.lab.outputs.words import BANDWIDTH, TIMES, VOLUME, decimal
from iolens.lab.workloads.ior_output import IorRow, bytes_moved, parse_ior
from iolens.metrics.subjects.subject import Output, Value

_HEAD = "access,bw(MiB/s),IOPS"
"""First words of IOR's output in CSV."""

_FACTS = {
    "api": "api",
    "access": "access",
    "type": "type",
    "ordering in a file": "ordering",
    "ordering inter file": "ordering of ranks",
    "nodes": "nodes",
    "tasks": "processes",
    "clients": "processes",
    "repetitions": "repetitions",
    "xfersize": "transfer size",
    "blocksize": "block size",
    "segments": "segments",
    "aggregate filesize": "file size",
    "Command line": "command",
    "Command line used": "command",
    "Machine": "machine",
    "Began": "began",
}


def read_ior(text: str) -> Output | None:
    """Returns the values in IOR's text output; None if the text is not IOR's or has no row of results."""
    found = parse_ior(text)
    if found is None or not found.rows:
        return None
    return Output(f"IOR {found.version}", _facts_among(found.facts), tuple(_row_values(found.rows, found.facts)))


def read_ior_json(text: str) -> Output | None:
    """Returns the values in IOR's JSON (summaryFormat=JSON), which warnings may precede; None if the text is not JSON
    from IOR.
    """
    begin = text.find("{")
    try:
        found = json.JSONDecoder().raw_decode(text[begin:])[0] if begin >= 0 else None
        if not isinstance(found, dict) or "tests" not in found:
            return None
        tests = [test for test in found["tests"] if isinstance(test.get("Results"), list)]
        rows = [_json_row(row) for test in tests for row in test["Results"]]
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    if not rows:
        return None
    facts = {**{key: str(found[key]) for key in _FACTS if key in found}, **_as_text(tests[0].get("Options") or {})}
    return Output(f"IOR {found.get('Version', '')}".strip(), _facts_among(facts), tuple(_row_values(rows, facts)))


def read_ior_csv(text: str) -> Output | None:
    """Returns the values in IOR's CSV (summaryFormat=CSV); None if the text is not CSV from IOR."""
    begin = text.find(_HEAD)
    if begin < 0:
        return None
    rows = []
    for row in csv.DictReader(io.StringIO(text[begin:])):
        speed, total = decimal(row.get("bw(MiB/s)")), decimal(row.get("total(s)"))
        if row.get("access") in ("write", "read") and speed is not None:
            rows.append(IorRow(str(row["access"]), int(decimal(row.get("iter")) or 0), speed, total))
            tasks = row.get("numTasks") or ""
    return Output("IOR", {"processes": tasks}, tuple(_row_values(rows, {}))) if rows else None


def _json_row(row: Mapping[str, Any]) -> IorRow:
    """Returns a row of the JSON as values."""
    return IorRow(str(row["access"]), 0, float(row["bwMiB"]), float(row["totalTime"]))


def _row_values(rows: Iterable[IorRow], facts: Mapping[str, str]) -> Iterable[Value]:
    """Yields bandwidth, time and bytes (`bytes_moved`) of each row."""
    for row in rows:
        yield Value(BANDWIDTH, row.access, "MiB/s", row.bandwidth, 1)
        if row.total:
            yield Value(TIMES, f"{row.access} time", "s", row.total, -1)
            past = "written" if row.access == "write" else "read"
            yield Value(VOLUME, past, "B", bytes_moved(row, facts))


def _as_text(options: Mapping[str, Any]) -> dict[str, str]:
    """Returns the options of a test as text."""
    return {key: str(value) for key, value in options.items()}


def _facts_among(said: Mapping[str, str]) -> dict[str, str]:
    """Returns the facts in IOR's summary that comparisons show, under the names in _FACTS instead of IOR's names."""
    return {name: said[key] for key, name in _FACTS.items() if key in said}
