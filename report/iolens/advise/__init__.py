"""Rules that turn metrics into one judgement: a verdict, and findings with evidence and a remedy."""

from __future__ import annotations

from iolens.advise.diagnosis import Diagnosis, diagnosed, diagnosis
from iolens.advise.finding import Finding, Verdict
from iolens.advise.limits import DEFAULTS, Limits
from iolens.log import Job

__all__ = ["Diagnosis", "Finding", "Verdict", "diagnosed", "diagnosis", "findings", "verdict"]


def findings(job: Job, limits: Limits = DEFAULTS) -> list[Finding]:
    """Returns the findings of the rules, most gain first; findings without an upper bound of the gain come next, notes
    last. Empty for a job whose I/O is healthy or too short to matter.
    """
    return list((diagnosis(job) if limits is DEFAULTS else diagnosed(job, limits)).findings)


def verdict(job: Job, limits: Limits = DEFAULTS) -> Verdict:
    """Returns what limits a run: where its time went, if the log tells that, and the finding whose remedy can gain
    most.
    """
    return (diagnosis(job) if limits is DEFAULTS else diagnosed(job, limits)).verdict
