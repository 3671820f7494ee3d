"""Parts that comparisons share: the summary in a terminal, the page of rules for measurements, and the page about a
search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from iolens.lab.tune.trail import Trail
from iolens.lazy import pd
from iolens.metrics.audit.evidence import BROKEN, KEPT, UNKNOWN, Evidence
from iolens.metrics.audit.rules import RULES, SOURCES, audit
from iolens.pages.base.blocks import Block, Page, Table, Text
from iolens.pages.base.exhibit import Column, Exhibit, frames
from iolens.pages.exhibits.sweep_answers import MACHINE, STEPS
from iolens.pages.wording.sweep_remedy import Remedy

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


@dataclass(frozen=True)
class ComparisonSummary:
    """The answer of a comparison: `verdict` has a line for each sentence; `doubts` are read before the numbers,
    `cautions` after them; `frames` are the numbers behind it, by name, for export.
    """

    path: Path
    verdict: str
    cautions: tuple[str, ...]
    remedy: Remedy | None
    points: Table | None
    frames: Mapping[str, pd.DataFrame]
    doubts: tuple[str, ...] = ()


def search_page(trail: Trail) -> Page:
    """Returns the search in a sentence, a figure and two tables."""
    blocks = [Text(_search_words(trail)), *STEPS.figures(trail), *STEPS.tables(trail), *MACHINE.tables(trail)]
    return Page("The search", blocks, joined=False)


def _search_words(trail: Trail) -> str:
    """Returns the number of settings that were run, and the reason why the search stopped, in words."""
    text = f"{len(trail.steps)} of {trail.settings} settings were run by the search"
    text += f", after {len(trail.known)} that were known before" if trail.known else ""
    why = f"; it ended because {trail.stopped}" if trail.stopped else "; it has not ended yet"
    return f"{text}{why}. A setting that was not run may still be better than the best."


def with_trail(tables: Mapping[str, pd.DataFrame], trail: Trail | None) -> Mapping[str, pd.DataFrame]:
    """Returns the tables for export; if there was a search, its tables are included, also in the index."""
    if trail is None:
        return tables
    own = frames((STEPS, MACHINE), trail)
    return {**tables, **own, "index": pd.concat([tables["index"], own["index"]], ignore_index=True)}
