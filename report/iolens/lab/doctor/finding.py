"""The result of one check of `iolens doctor`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckResult:
    """The result of one check. `works` is None for a check that only informs; `remedy` says what to do, or what still
    works if the checked part is missing.
    """

    name: str
    found: str
    works: bool | None = None
    remedy: str = ""
