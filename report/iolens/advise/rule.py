"""A rule: what it looks for, and what it makes of a job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iolens.advise.limits import Limits
    from iolens.log import Job


@dataclass(frozen=True)
class Seen:
    """What a rule saw in a job.

    `seconds`: the most that the remedy can take from the run time, and `derivation` why; None where nothing bounds it.
    """

    evidence: str
    seconds: float | None
    derivation: str
    remedy: str
    hints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """A row of the table of rules.

    `says` is the condition in words, `limits` the thresholds in it. `bounds` is the verdict on a run for which this is
    what matters most. A `note` is about the log or its numbers: it has no gain, and is said of small jobs, too. A rule
    `beside_io` is about computing or messages: it is asked however short the I/O was, and never is the verdict on a run
    that spent most of its time in I/O.
    """

    id: str
    title: str
    says: str
    limits: tuple[str, ...]
    why: str
    read_more: str
    check: Callable[[Job, Limits], Seen | None]
    bounds: str = ""
    note: bool = False
    beside_io: bool = False
