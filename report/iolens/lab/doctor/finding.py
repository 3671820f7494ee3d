"""One thing that was looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What was found under a name: `works` is None where nothing is to work or fail; `remedy` says what to do, or what
    does without it."""

    name: str
    found: str
    works: bool | None = None
    remedy: str = ""
