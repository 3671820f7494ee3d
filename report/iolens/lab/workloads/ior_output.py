"""The text that IOR prints, in any version from 3.0 to 4.x and any build, as rows and as a result.

The columns differ: up to 3.1 there is neither IOPS nor latency, from 3.3 on there are both. Sizes of the table are
KiB, bandwidths MiB/s, times seconds; what a version does not print is None.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MIB, _KIB = 2**20, 2**10
_NAMES = {
    "bw(MiB/s)": "bandwidth",
    "IOPS": "per_second",
    "Latency": "latency",
    "Latency(s)": "latency",
    "block(KiB)": "block",
    "xfer(KiB)": "transfer",
    "open(s)": "open",
    "wr/rd(s)": "move",
    "close(s)": "close",
    "total(s)": "total",
    "iter": "repetition",
}
_FACT = re.compile(r"^\s*([A-Za-z][\w /]*?)\s*[:=]\s+(.*?)\s*$")
_RANKS = ("tasks", "clients")
"""The line with the number of ranks; up to version 3.1 it reads `clients = 4 (4 per node)`."""


@dataclass(frozen=True)
class IorRow:
    """One line of the table of results: `access` is write or read; bandwidth in MiB/s, block and transfer in KiB."""

    access: str
    repetition: int
    bandwidth: float
    total: float | None
    per_second: float | None = None
    latency: float | None = None
    block: float | None = None
    transfer: float | None = None
    open: float | None = None
    move: float | None = None
    close: float | None = None


@dataclass(frozen=True)
class IorOutput:
    """Version, the option block as IOR printed it, and the rows of all tests."""

    version: str
    facts: dict[str, str]
    rows: tuple[IorRow, ...]

    @property
    def ranks(self) -> int | None:
        """Returns the number of tasks that took part."""
        for key in _RANKS:
            if match := re.match(r"\d+", self.facts.get(key, "")):
                return int(match[0])
        return None


_SIZE = re.compile(r"(\d+) (bytes|KiB|MiB|GiB|TiB)$")
_UNITS = {"bytes": 1, "KiB": _KIB, "MiB": _MIB, "GiB": 2**30, "TiB": 2**40}
_ROUNDED = 0.05
"""Largest part by which bytes from rounded speeds and times may miss the file's size, which is then the true number."""


def bytes_moved(row: IorRow, facts: Mapping[str, str]) -> float:
    """Returns the bytes of a row: the aggregate file size if IOR printed it without rounding and the row moved about
    as much; else bandwidth times total time, as exact as the printed digits.
    """
    rounded = row.bandwidth * _MIB * (row.total or 0.0)
    size = _SIZE.match(facts.get("aggregate filesize", "").strip())
    exact = int(size[1]) * _UNITS[size[2]] if size else 0
    return exact if exact and abs(rounded / exact - 1) <= _ROUNDED else rounded


def parse_ior(text: str) -> IorOutput | None:
    """Parses IOR's output; returns None if the text is not IOR's."""
    head = re.search(r"^IOR-([^\s:]+)", text, re.MULTILINE)
    if head is None:
        return None
    facts: dict[str, str] = {}
    rows: list[IorRow] = []
    columns: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["access", "bw(MiB/s)"]:
            columns = [_NAMES.get(word, "") for word in words[1:]]
        elif columns and words and words[0] in ("write", "read") and len(words) == len(columns) + 1:
            rows.append(_printed_row(words, columns))
        elif words[:1] == ["Operation"] or line.startswith("Summary"):
            columns = []
        elif not columns and (match := _FACT.match(line)):
            facts.setdefault(match[1], match[2])
    return IorOutput(head[1], facts, tuple(rows))


def _printed_row(words: list[str], columns: list[str]) -> IorRow:
    """Returns one line of the table."""
    values: dict[str, Any] = {
        name: None if word == "-" else float(word) for name, word in zip(columns, words[1:], strict=True) if name
    }
    return IorRow(access=words[0], **{**values, "repetition": int(values["repetition"] or 0)})


def result_of_ior(text: str) -> dict[str, Any]:
    """Returns IOR's output as a result (workloads/RESULT.md); empty if the text is not IOR's or has no row.

    Bytes are those of `bytes_moved`.
    """
    output = parse_ior(text)
    if output is None or not output.rows:
        return {}
    phases = [
        {
            "operation": row.access,
            "bytes": round(bytes_moved(row, output.facts)),
            "calls_per_rank": None,
            "seconds": {"min": None, "mean": None, "max": row.total, "harmonic_mean": None},
        }
        for row in output.rows
        if row.total
    ]
    return {
        "schema": 1,
        "workload": "ior",
        "version": output.version,
        "parameters": output.facts,
        "ranks": output.ranks,
        "mpi": {},
        "files": [],
        "phases": phases,
        "verification": {"status": "not performed", "detail": "IOR's output does not contain it"},
    }
