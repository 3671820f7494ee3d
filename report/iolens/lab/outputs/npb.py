"""NAS Parallel Benchmarks 3.x: all programs, with the statistics of BT-IO if they were printed."""

from __future__ import annotations

import re

from iolens.lab.outputs.words import BANDWIDTH, MB, MIB, TIMES, VOLUME, decimal, facts_in
from iolens.metrics.subjects.subject import Output, Value

_FACTS = {
    "Class": "class",
    "Size": "size",
    "Iterations": "iterations",
    "Total processes": "processes",
    "Total threads": "threads",
    "Operation type": "operation",
    "Verification": "verification",
    "Compile date": "compiled",
    "FFLAGS": "compiler flags",
    "CFLAGS": "compiler flags",
}
_DONE = re.compile(r"^\s*(\w+) Benchmark Completed", re.MULTILINE)


def read_npb(text: str) -> Output | None:
    """Returns the values that NPB printed at its end; None if the text is not NPB's, or if the run did not finish."""
    done = _DONE.search(text)
    if done is None or "NAS Parallel Benchmarks" not in text:
        return None
    said = facts_in(text[done.start() :])
    values = [
        Value(TIMES, "run time", "s", seconds, -1) for seconds in [decimal(said.get("Time in seconds"))] if seconds
    ]
    rate = decimal(said.get("Mop/s total"))
    if rate:
        values.append(Value("Computing", "operations", "Mop/s", rate, 1))
    values += _of_btio(facts_in(text[: done.start()]))
    facts = {name: said[key] for key, name in _FACTS.items() if key in said}
    kind = re.search(r"BTIO -- (.*?) write interval:\s*(\d+)", text)
    if kind:
        facts |= {"I/O": kind[1], "write interval": kind[2]}
    return Output(f"NPB {done[1]} {said.get('Version', '')}".strip(), facts, tuple(values))


def _of_btio(said: dict[str, str]) -> list[Value]:
    """Returns BT-IO's statistics; NPB's MB are 10^6 bytes, and its rate is based on the whole time in I/O calls."""
    spent, share, moved, rate = (
        decimal(said.get(name))
        for name in (
            "I/O timing in seconds",
            "I/O timing percentage",
            "Total data written (MB)",
            "I/O data rate  (MB/sec)",
        )
    )
    found = []
    if spent is not None:
        found.append(Value(TIMES, "I/O time", "s", spent, -1))
    if share is not None:
        found.append(Value(TIMES, "share of I/O", "share", share / 100, -1))
    if moved is not None:
        found.append(Value(VOLUME, "written", "B", moved * MB))
    if rate is not None:
        found.append(Value(BANDWIDTH, "write", "MiB/s", rate * MB / MIB, 1))
    return found
