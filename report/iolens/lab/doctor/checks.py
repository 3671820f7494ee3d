"""The checks, section by section."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from iolens.lab.doctor import parts, surroundings, system, trials
from iolens.lab.doctor.finding import CheckResult
from iolens.lab.doctor.program_libraries import program_libraries

CHECKS: Mapping[str, tuple[Callable[[], Iterator[CheckResult]], ...]] = {
    "Trials": (trials.recording, trials.parallel_recording),
    "Parts": (parts.versions, parts.check_libraries, parts.check_programs),
    "System": (system.system, system.limits, system.check_folders, system.permissions),
    "Others": (
        *(surroundings.launchers, surroundings.preloaded),
        *(program_libraries, system.tools, parts.packages),
    ),
}


def examined() -> dict[str, list[CheckResult]]:
    """Returns all findings by section."""
    return {section: [row for check in checks for row in check()] for section, checks in CHECKS.items()}
