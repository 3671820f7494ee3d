"""The rules of the advice and their thresholds, as the tables of report/ADVICE.md."""

from __future__ import annotations

from iolens.advise.limits import TABLE
from iolens.advise.table import RULES


def rules_text() -> str:
    """Returns the table of the rules and that of their thresholds, in Markdown."""
    rules = ["| rule | the finding is reported if | thresholds |", "|---|---|---|"]
    for rule in RULES:
        keys = ", ".join(f"`{key}`" for key in rule.limits)
        rules.append(f"| `{rule.id}`{' (note)' if rule.note else ''} | {rule.says} | {keys} |")
    limits = ["| threshold | default | unit | meaning |", "|---|---|---|---|"]
    limits += [f"| `{one.key}` | {one.default:.12g} | {one.unit} | {one.meaning} |" for one in TABLE]
    return "\n".join([*rules, "", *limits])
