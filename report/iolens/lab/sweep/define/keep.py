"""The parts of a run that are kept: its data, logs and output, each depending on how the run ended."""

from __future__ import annotations

from dataclasses import dataclass

NEVER, _FAILED, ALWAYS = "never", "failed", "always"

WHEN = (NEVER, _FAILED, ALWAYS)
"""Runs for which a part is kept: none, those that failed or must not be compared, or all."""


@dataclass(frozen=True)
class Keep:
    """The runs (WHEN) for which each part is kept: data files, logs with their traces, standard output and error."""

    data: str = NEVER
    log: str = ALWAYS
    output: str = ALWAYS


def stays(when: str, status: str) -> bool:
    """Returns True if a part that is kept for the runs `when` is kept for a run with this status."""
    return when == ALWAYS or (when == _FAILED and status != "ok")
