"""The results of the advice: findings with a bound on their gain, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass

SEVERITIES = ("high", "medium", "low", "note")
"""Severities by the largest gain of a finding: `low` is not worth the work; a `note` is about the log or the
measurement.
"""

TOO_SHORT = "Too short to judge"
"""Beginning of the verdict on a run whose I/O took too little time, or whose clock is too coarse."""


@dataclass(frozen=True)
class Finding:
    """A fault that a rule found in a job.

    `gain` is the part of the run time (0 to 1) that the remedy may take away by the time of its calls, None if the log
    does not have this time; `derivation` says how it was found. `bound` is the part that it can take away at most, None
    if nothing but the run bounds it. `doubt` is a sentence on the time of the calls if the log leaves it open.
    `limited_by` is what bounds the run if this finding leads, empty for the title. `remedy` is text to paste, `hints`
    the `key value` lines of a hints file in it.
    """

    id: str
    severity: str
    title: str
    evidence: str
    why: str
    gain: float | None
    gain_words: str
    remedy: str
    read_more: str
    derivation: str = ""
    hints: tuple[str, ...] = ()
    bound: float | None = None
    doubt: str = ""
    limited_by: str = ""

    @property
    def worth_it(self) -> bool:
        """Returns True if the remedy may gain enough to be worth its work: severity high or medium."""
        return self.severity in ("high", "medium")


@dataclass(frozen=True)
class Verdict:
    """The limit of the run.

    `kind`: compute, mpi, metadata, few writers, small transfers, syncs, one target, too few targets, transfers (reading
    and writing, without a fault that was found), nothing and so on. `share` is the largest part of the run (0 to 1)
    that I/O can have taken, None if the log has no times. `doubt` is a sentence on a limit that another run, or the
    rest of the time, may replace.
    """

    kind: str
    sentence: str
    evidence: str
    share: float | None
    doubt: str = ""

    @property
    def is_too_short(self) -> bool:
        """Returns True if the run was too short for a judgement."""
        return self.sentence.startswith(TOO_SHORT)
