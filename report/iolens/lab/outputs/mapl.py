"""MAPL's checkpoint_simulator and restart_simulator: the originals and the bundled programs print the same."""

from __future__ import annotations

import re

from iolens.lab.outputs.words import BANDWIDTH, MIB, TIMES, VOLUME, decimal, facts_in
from iolens.metrics.subjects.subject import Output, Value

_HEAD = "Real throughput MB/s, Std Real throughput MB/s, file system MB/S, std file system MB/s"
_FACTS = {
    "Num writers": "writers",
    "Num readers": "readers",
    "Total cores": "processes",
    "Cube size": "cube size, levels",
    "Cube size/LM": "cube size, levels",
    "Number of trial": "trials",
}
_SWITCHES = re.compile(r"^(Split file, .*?):\s+([TF]+)\s*$", re.MULTILINE)


def read_mapl(text: str) -> Output | None:
    """Returns volume, application time and the means of both throughputs over the trials (its MB are 2^20 bytes); None
    if the text is not MAPL's. Single trials are not printed, so there is one measurement of each.
    """
    if _HEAD not in text:
        return None
    said = facts_in(text)
    reads = "Num readers" in said
    values = []
    volume, whole = decimal(said.get("Total data volume in megabytes")), decimal(said.get("Application  time"))
    if whole is not None:
        values.append(Value(TIMES, "run time", "s", whole, -1))
    if volume is not None:
        values.append(Value(VOLUME, "read" if reads else "written", "B", volume * MIB))
    means = [decimal(word) for word in text[text.index(_HEAD) + len(_HEAD) :].split()[:4]]
    for place, name in ((0, "read" if reads else "write"), (2, "file system")):
        rate = means[place] if place < len(means) else None
        if rate is not None:
            values.append(Value(BANDWIDTH, name, "MiB/s", rate, 1))
    facts = {name: said[key] for key, name in _FACTS.items() if key in said}
    switches = _SWITCHES.search(text)
    if switches:
        facts |= dict(zip(switches[1].split(", "), switches[2], strict=False))
    return Output("MAPL restart simulator" if reads else "MAPL checkpoint simulator", facts, tuple(values))
