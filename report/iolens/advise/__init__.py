"""Rules that turn metrics into findings with evidence and a remedy."""

from iolens.advise.finding import Finding, Verdict
from iolens.advise.judge import findings, verdict

__all__ = ["Finding", "Verdict", "findings", "verdict"]
