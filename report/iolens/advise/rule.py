"""A rule: the condition that it looks for in a job, and the finding that it makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from iolens.advise.limits import Limits
from iolens.log import Job
from iolens.metrics.job.spent import Spent


@dataclass(frozen=True)
class ProposedStripes:
    """The stripes that a rule proposes for some files: their number, their size in bytes (None: any), and the record
    ids.
    """

    count: int
    size: int | None
    files: tuple[int, ...]


@dataclass(frozen=True)
class Seen:
    """The evidence of a rule in a job, and its remedy.

    `seconds` is the time that the remedy is assumed to take from the run, and `derivation` says why; None if the log
    does not have it. A number is an estimate, and nothing bounds what the remedy can save but the run. The places
    `{hints}` and `{layout}` in `remedy` are filled with the text for `hints` and `layout` once `agreed` has compared
    them with those of the other rules. `bounds` replaces that of the rule where the evidence says more.
    """

    evidence: str
    seconds: Spent | float | None
    derivation: str
    remedy: str
    hints: tuple[str, ...] = ()
    layout: ProposedStripes | None = None
    bounds: str | None = None


@dataclass(frozen=True)
class Rule:
    """A row of the table of rules.

    `says` is the condition in words, `limits` the thresholds in it. `bounds` is the kind of the verdict if this finding
    matters most. A `note` is about the log or its numbers: it has no gain, and is made for small jobs, too. A rule
    `beside_io` is about computing or messages: it is applied even if I/O was short, and never decides the verdict on a
    run that spent most of its time in I/O. `gauges`: those of `metrics.job.gauges` that the rule explains when they lie
    outside their bounds. A rule about possible errors applies `always`, to short jobs too; if it can gain too little,
    its finding is a note. `exhibit`: the names of the exhibits with the numbers behind the finding, separated by
    spaces. `before`: rules whose findings are consequences of this one; this rule precedes them if its bound is at
    least half of their gain. `asleep`: its time is one in which a process is blocked outside of I/O.
    """

    id: str
    title: str
    says: str
    limits: tuple[str, ...]
    why: str
    read_more: str
    check: Callable[[Job, Limits], Seen | None]
    exhibit: str = ""
    bounds: str = ""
    note: bool = False
    beside_io: bool = False
    gauges: tuple[str, ...] = ()
    always: bool = False
    before: tuple[str, ...] = ()
    asleep: bool = False
