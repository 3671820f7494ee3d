"""The result of one check of `iolens doctor`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckResult:
    """The result of a check: `works` is None if the check cannot fail; `remedy` says what to do, or what works without
    it.
    """

    name: str
    found: str
    works: bool | None = None
    remedy: str = ""
