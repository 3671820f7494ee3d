"""The result JSON of the toolkit's workloads (workloads/RESULT.md)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from iolens.lab.outputs.words import BANDWIDTH, MIB, TIMES, VOLUME
from iolens.metrics.subjects.subject import Output, Value

_MARK = "RESULT-JSON: "
"""Line that some programs print before the JSON."""


def read_result(text: str) -> Output | None:
    """Returns bytes, time of the slowest rank and bandwidth of each operation; None if the text is not such a
    result.
    """
    line = next((line for line in text.splitlines() if line.startswith(_MARK)), None)
    try:
        found = json.loads(line.removeprefix(_MARK) if line else text)
        if not isinstance(found, dict) or "workload" not in found:
            return None
        return Output(
            f"{found['workload']} {found.get('version') or ''}".strip(),
            _result_facts(found),
            tuple(_operation_values(found)),
        )
    except (ValueError, TypeError, KeyError):
        return None


def _operation_values(found: Mapping[str, Any]) -> list[Value]:
    """Returns sums over the phases of an operation; the bandwidth is bytes over the time of the slowest rank."""
    measured: list[Value] = []
    if found.get("total_seconds"):
        measured.append(Value(TIMES, "run time", "s", float(found["total_seconds"]), -1))
    phases = found.get("phases") or []
    for operation in dict.fromkeys(phase["operation"] for phase in phases):
        its = [phase for phase in phases if phase["operation"] == operation]
        moved, spent = sum(phase["bytes"] for phase in its), math.fsum(phase["seconds"]["max"] for phase in its)
        measured.append(Value(TIMES, f"{operation} time", "s", spent, -1))
        if moved > 0:
            past = {"write": "written", "read": "read"}.get(operation, operation)
            measured.append(Value(VOLUME, past, "B", moved))
            if spent > 0:
                measured.append(Value(BANDWIDTH, operation, "MiB/s", moved / spent / MIB, 1))
    for row in (found.get("extra") or {}).get("latency") or []:
        if row.get("t_avg") is not None:
            at = f"{row['bytes']} B" if row.get("bytes") is not None else "without size"
            measured.append(Value(f"Latency of {row['operation']}", at, "s", float(row["t_avg"]), -1))
    return measured


def _result_facts(found: Mapping[str, Any]) -> dict[str, str]:
    """Returns the parameters other than paths, the numbers of ranks and nodes, the compiler flags, and the status of
    the verification.
    """
    parameters = {name.replace("_", " "): str(value) for name, value in (found.get("parameters") or {}).items()}
    said = {name: value for name, value in parameters.items() if not value.startswith("/")}
    for key, name in (("ranks", "processes"), ("nodes", "nodes")):
        if found.get(key) is not None:
            said[name] = str(found[key])
    flags = (found.get("build") or {}).get("flags")
    state = (found.get("verification") or {}).get("status")
    return said | ({"compiler flags": str(flags)} if flags else {}) | ({"verification": str(state)} if state else {})
