"""The checks, section by section."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from iolens.lab.doctor import parts, surroundings, system, trials
from iolens.lab.doctor.finding import Finding

CHECKS: Mapping[str, tuple[Callable[[], Iterator[Finding]], ...]] = {
    "Trials": (trials.recording, trials.parallel_recording),
    "Parts": (parts.versions, parts.libraries, parts.programs),
    "System": (system.system, system.limits, system.places, system.permissions),
    "Others": (surroundings.launchers, surroundings.preloaded, system.tools, parts.packages),
}


def examined() -> dict[str, list[Finding]]:
    """Returns all findings by section."""
    return {section: [row for check in checks for row in check()] for section, checks in CHECKS.items()}
