"""The rules of a fair comparison: those of Hoefler and Belli, of IO500, and this project's own on the set-up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from iolens.lazy import pd
from iolens.metrics.audit import io500, reporting, setup
from iolens.metrics.audit.evidence import Evidence, Finding

SOURCES = {
    "Hoefler and Belli": "T. Hoefler, R. Belli: Scientific Benchmarking of Parallel Computing Systems, SC15, "
    "doi 10.1145/2807591.2807644",
    "IO500": "IO500's submission rules, https://io500.org/rules/submission",
    "Set-up": "The items of Hoefler and Belli's rule 9",
}
"""The sources of the rules."""


@dataclass(frozen=True)
class AuditRule:
    """A rule in a few words, its source, and its check."""

    source: str
    number: str
    says: str
    check: Callable[[Evidence], Finding]


def _rules_of(
    source: str, numbered: bool, checks: Mapping[str, Callable[[Evidence], Finding]]
) -> tuple[AuditRule, ...]:
    """Returns the rules of one source, in its order."""
    return tuple(
        AuditRule(source, str(place) if numbered else "", says, check)
        for place, (says, check) in enumerate(checks.items(), 1)
    )


RULES: tuple[AuditRule, ...] = (
    *_rules_of("Hoefler and Belli", numbered=True, checks=reporting.CHECKS),
    *_rules_of("IO500", numbered=False, checks=io500.CHECKS),
    *_rules_of("Set-up", numbered=False, checks=setup.CHECKS),
)


def audit(evidence: Evidence) -> pd.DataFrame:
    """Returns one row per rule: source, number, rule, state (kept, not kept, cannot be known), evidence."""
    rows = [(rule.source, rule.number, rule.says, *rule.check(evidence)) for rule in RULES]
    return pd.DataFrame(rows, columns=["source", "number", "rule", "state", "evidence"])
