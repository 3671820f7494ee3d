"""mdtest: rates of metadata operations; for several iterations it prints only their mean."""

from __future__ import annotations

import re

from iolens.metrics.subjects.subject import Output, Value

_HEAD = re.compile(r"^\s*mdtest-([^\s:]+) was launched with (\d+) total task\(s\) on (\d+) node", re.MULTILINE)
_ROW = re.compile(r"^ {2,}([A-Z][a-z]+ [a-z]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s*$", re.MULTILINE)
_COMMAND = re.compile(r"^Command line used: (.*)$", re.MULTILINE)


def read_mdtest(text: str) -> Output | None:
    """Returns mean operations per second by kind of operation; None if the text is not mdtest's."""
    head = _HEAD.search(text)
    rows = _ROW.findall(text)
    if head is None or not rows:
        return None
    facts = {"processes": head[2], "nodes": head[3]}
    command = _COMMAND.search(text)
    if command:
        facts["command"] = command[1]
    values = tuple(Value("Metadata", row[0].lower(), "operations/s", float(row[3]), 1) for row in rows)
    return Output(f"mdtest {head[1]}", facts, values)
