"""The checks of `iolens doctor`, section by section."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from iolens.lab.doctor import parts, surroundings, system, trials
from iolens.lab.doctor.features import features
from iolens.lab.doctor.finding import CheckResult

_CHECKS: Mapping[str, tuple[Callable[[], Iterator[CheckResult]], ...]] = {
    "Parts": (parts.versions, parts.check_libraries, parts.check_programs),
    "System": (system.system, system.check_limits, system.check_folders, system.permissions),
    "Others": (surroundings.launchers, surroundings.preloaded, system.tools, parts.packages),
}


def examined() -> dict[str, list[CheckResult]]:
    """Returns the results of all checks by section. Features are tried on the log that the first trial recorded."""
    trial = trials.recording()
    found = {"Trials": [trial.result, *trials.parallel_recording()], "Features": [*features(trial)]}
    return found | {section: [row for check in checks for row in check()] for section, checks in _CHECKS.items()}
