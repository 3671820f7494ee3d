"""The rules of the advice and their thresholds, as the tables of report/ADVICE.md."""

from __future__ import annotations

from difflib import get_close_matches

from iolens.advise.limits import TABLE
from iolens.advise.table import RULES
from iolens.errors import UsageError


def rules_text(name: str = "") -> str:
    """Returns the table of the rules and that of their thresholds, in Markdown: all, or the rule of this name and its
    thresholds. Raises UsageError if no rule has the name.
    """
    chosen = [rule for rule in RULES if name in ("", rule.id)]
    if not chosen:
        close = ", ".join(get_close_matches(name, [rule.id for rule in RULES], 3))
        hint = f"close to it: {close}" if close else "--rules alone prints all"
        raise UsageError(f"no rule is called {name}; {hint}")
    keys_of_one = {key for rule in chosen for key in rule.limits}
    rules = ["| rule | the finding is reported if | thresholds |", "|---|---|---|"]
    for rule in chosen:
        keys = ", ".join(f"`{key}`" for key in rule.limits)
        rules.append(f"| `{rule.id}`{' (note)' if rule.note else ''} | {rule.says} | {keys} |")
    limits = ["| threshold | default | unit | meaning |", "|---|---|---|---|"]
    limits += [
        f"| `{one.key}` | {one.default:.12g} | {one.unit} | {one.meaning} |"
        for one in TABLE
        if not name or one.key in keys_of_one
    ]
    return "\n".join([*rules, "", *limits])
