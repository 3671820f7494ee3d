"""BT-IO of Northwestern University (wkliao/BTIO): one operation per run, by MPI-IO or PnetCDF."""

from __future__ import annotations

import re

from iolens.lab.outputs.words import BANDWIDTH, MIB, TIMES, VOLUME, decimal, facts_in
from iolens.metrics.subjects.subject import Output, Value

_HEAD = re.compile(r"^-- BT-IO Benchmark \((\w+)\s+operation only\) --", re.MULTILINE)
_METHOD = re.compile(r"^Using (.*?) (?:I/O )?method", re.MULTILINE)
_FACTS = {
    "Number of MPI processes": "processes",
    "Global array size X": "grid x",
    "Global array size Y": "grid y",
    "Global array size Z": "grid z",
    "Number of I/O iterations": "iterations",
    "file striping count": "stripe count",
    "file striping size": "stripe size",
}


def read_btio(text: str) -> Output | None:
    """Returns the times and the bandwidth; None if the text is not BTIO's output."""
    head = _HEAD.search(text)
    if head is None:
        return None
    operation, said = head[1], facts_in(text[head.end() :])
    values = []
    moved, spent = decimal(said.get("Total I/O amount")), decimal(said.get("Total I/O time in sec"))
    rate = decimal(said.get("I/O bandwidth"))
    if spent is not None:
        values.append(Value(TIMES, "I/O time", "s", spent, -1))
    for name, text_of_it in said.items():
        if name.startswith("Max ") and (longest := decimal(text_of_it)) is not None:
            values.append(Value(TIMES, " ".join(name[4:].removesuffix("time in sec").split()), "s", longest, -1))
    if moved is not None:
        values.append(Value(VOLUME, "written" if operation == "write" else "read", "B", moved * MIB))
    if rate is not None:
        values.append(Value(BANDWIDTH, operation, "MiB/s", rate, 1))
    facts = {name: said[key] for key, name in _FACTS.items() if key in said}
    method = _METHOD.search(text)
    if method:
        facts["I/O"] = method[1]
    return Output("BTIO", facts, tuple(values))
