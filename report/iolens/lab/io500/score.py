"""The value of each phase of IO500, the score that IO500 would give, and the lines in which IO500 prints them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iolens.errors import IolensError
from iolens.lab.io500.phases import BANDWIDTH, RATE, Phase

WHY_INVALID = "not a valid IO500 submission: phases may be shorter than 300 seconds, so caches may serve them"
_GIB, _KILO = 2**30, 1000.0


@dataclass(frozen=True)
class PhaseResult:
    """A phase's value in its unit, and the seconds that its slowest rank took."""

    phase: Phase
    value: float
    seconds: float


@dataclass(frozen=True)
class Score:
    """The score: the bandwidth in GiB/s, the rate in kIOPS, and the square root of their product."""

    bandwidth: float
    rate: float
    total: float


def outcome_of(phase: Phase, result: Mapping[str, Any]) -> PhaseResult:
    """Returns value and time of a phase from its result (workloads/RESULT.md)."""
    if phase.program == "ior":
        found = [part for part in result["phases"] if part["operation"] == phase.operation]
        moved, seconds = sum(part["bytes"] for part in found), sum(part["seconds"]["max"] for part in found)
        return PhaseResult(phase, moved / seconds / _GIB, seconds)
    rate = next(row for row in result["extra"]["rates"] if row["operation"] == phase.operation)
    return PhaseResult(phase, rate["items_per_second"] / _KILO, rate["seconds"])


def geometric_mean(values: Sequence[float]) -> float:
    """Returns the n-th root of the product of n positive values."""
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


def score_of(outcomes: Sequence[PhaseResult]) -> Score:
    """Returns the geometric means of the bandwidths and of the rates, and the geometric mean of the two."""
    values = {unit: [one.value for one in outcomes if one.phase.unit == unit] for unit in (BANDWIDTH, RATE)}
    for one in outcomes:
        if one.value <= 0:
            raise IolensError(f"{one.phase.name} gave {one.value} {one.phase.unit}, so no score can be computed")
    bandwidth, rate = geometric_mean(values[BANDWIDTH]), geometric_mean(values[RATE])
    return Score(bandwidth, rate, math.sqrt(bandwidth * rate))


def outcome_line(outcome: PhaseResult) -> str:
    """Returns the line of a phase in IO500's form."""
    phase = outcome.phase
    unit = "GiB/s " if phase.unit == BANDWIDTH else phase.unit
    return f"[RESULT] {phase.name:>20} {outcome.value:15.6f} {unit} : time {outcome.seconds:.3f} seconds"


def score_line(score: Score) -> str:
    """Returns IO500's last line. As in IO500's own output, `INVALID` marks a score that must not be submitted."""
    means = f"Bandwidth {score.bandwidth:.6f} GiB/s : IOPS {score.rate:.6f} kiops"
    return f"[SCORE INVALID] {means} : TOTAL {score.total:.6f}"
