"""The last page of every comparison: the rules for measurements that it keeps or breaks, with the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from iolens.lazy import pd
from iolens.metrics.audit.evidence import BROKEN, KEPT, UNKNOWN, Evidence
from iolens.metrics.audit.rules import RULES, SOURCES, audit
from iolens.pages.blocks import Block, Page, Text
from iolens.pages.exhibit import Column, Exhibit, frames

_TITLE = "What these numbers are worth"


def _rule_rows(source: str, evidence: Evidence) -> pd.DataFrame:
    """Returns the rules of one source."""
    found = audit(evidence)
    return found[found["source"] == source]


def _rule_name(number: str, rule: str) -> str:
    """Returns a rule with its number, if its source numbers its rules."""
    return f"{number}  {rule}" if number else rule


_AUDIT: Exhibit[Evidence] = Exhibit(
    name="audit",
    title="Rules for measurements",
    metric=audit,
    columns=[Column("rule", ("number", "rule"), _rule_name), Column("", "state"), Column("evidence", "evidence")],
)


def audit_page(evidence: Evidence) -> Page:
    """Returns the page with the rules by their source; each rule is kept, not kept or cannot be known."""
    states = list(audit(evidence)["state"])
    said = ", ".join(f"{states.count(state)} {state}" for state in (KEPT, BROKEN, UNKNOWN))
    lead = f"{len(RULES)} rules for measurements: {said}. Each rule was checked against the records of the runs."
    blocks: list[Block] = [Text(lead)]
    for source, reference in SOURCES.items():
        table = replace(_AUDIT, metric=partial(_rule_rows, source), title=source, note=f"{reference}.").tables(evidence)
        blocks += table
    return Page(_TITLE, blocks)


def with_audit(tables: Mapping[str, pd.DataFrame], evidence: Evidence) -> dict[str, pd.DataFrame]:
    """Returns the tables for export with the table of the audit added, also to their index."""
    own = frames([_AUDIT], evidence)
    return {**tables, "audit": own["audit"], "index": pd.concat([tables["index"], own["index"]], ignore_index=True)}
