"""The register of promises: reads `promises.yaml`, finds the texts that claim certainty, and writes the counts into the
pages.

    python tests/py/promises.py
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
REGISTER = yaml.safe_load((Path(__file__).parent / "promises.yaml").read_text())
PROMISES: list[dict[str, Any]] = REGISTER["promises"]
PAGES = ("report/ADVICE.md", "report/WHY.md", "report/STATISTICS.md")
FOREIGN = ROOT / "tests/foreign/final-results.json"

CERTAIN = re.compile(
    r"\b(at most|at least|confidence|confirm\w*|verified|certain(ly)?|guarantee\w*|saves? (this job )?nothing|healthy|"
    r"no rule|nothing to gain|tied|cannot be told|interval)\b",
    re.IGNORECASE,
)
_BEGIN, _END = "<!-- promises -->", "<!-- end of promises -->"


def conditions() -> list[str]:
    """Returns the patterns of texts that promise nothing."""
    return list(REGISTER["conditions"])


def _texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yields line and text of each string that is no docstring; values in it are written as {}."""
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    skipped |= {id(value) for node in joined for value in node.values}
    for text in joined:
        parts = [value.value if isinstance(value, ast.Constant) else "{}" for value in text.values]
        yield text.lineno, "".join(map(str, parts))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def certain_texts() -> list[tuple[str, str]]:
    """Returns place and text of each text in the sources of the report that has a word of certainty."""
    found = []
    for path in sorted((ROOT / "report/iolens").rglob("*.py")):
        for line, text in _texts(ast.parse(path.read_text())):
            if CERTAIN.search(text):
                found.append((f"{path.relative_to(ROOT)}:{line}", " ".join(text.split())))
    return found


def kind_of(text: str) -> str | None:
    """Returns the kind of promise that a text makes, "" if it promises nothing, and None if the register lacks it."""
    for promise in PROMISES:
        if any(re.search(pattern, text) for pattern in promise["says"]):
            return str(promise["kind"])
    return "" if any(re.search(pattern, text) for pattern in conditions()) else None


def _no_rule(results: dict[str, Any]) -> list[bool]:
    """Returns, for each foreign program and log of which no rule is said to explain the time, whether that is right."""
    sides = [one[side] for one in results["programs"] for side in ("fault", "twin") if side in one]
    return [one["judged"] == "right" for one in [*results["logs"], *sides] if "no rule" in one.get("says", "")]


def _foreign_count(result: str) -> tuple[int, int, str]:
    """Returns how often a promise held in the foreign cases, in how many, and the date."""
    results = json.loads(FOREIGN.read_text())
    summary = results["summary"]
    if result == "bounds":
        return summary["bounds"]["held"], summary["bounds"]["printed"], summary["date"]
    if result == "no_rule":
        right = _no_rule(results)
        return sum(right), len(right), summary["date"]
    names = ("twins", "healthy") if result == "silent" else (result,)
    judged = [(name, number) for each in names for name, number in summary[each].items() if name != "too short"]
    return (
        sum(number for name, number in judged if name == "right"),
        sum(number for _, number in judged),
        summary["date"],
    )


def _count(promise: dict[str, Any]) -> str:
    """Returns the last count of a promise in words."""
    if "result" in promise:
        held, whole, date = _foreign_count(promise["result"])
    elif "held" in promise:
        held, whole, date = promise["held"], promise["of"], promise["date"]
    else:
        return "see its source"
    return f"{held} of {whole} ({100 * held / max(whole, 1):.0f} %), {date}"


def table_of(page: str) -> str:
    """Returns the table of the promises that a page has to show, between its marks."""
    rows = [
        f"| {one['sentence']} | {one['promise']} | {one['source']} | {_count(one)} |"
        for one in PROMISES
        if one["page"] == page
    ]
    head = ["| sentence | what it promises | counted on | held |", "|---|---|---|---|"]
    return "\n".join([_BEGIN, *head, *rows, _END])


def page_text(page: str) -> str:
    """Returns the text of a page."""
    return (ROOT / page).read_text()


def main() -> None:
    """Writes the tables into the pages."""
    for page in PAGES:
        text = page_text(page)
        old = re.search(f"{re.escape(_BEGIN)}.*?{re.escape(_END)}", text, re.DOTALL)
        if old is None:
            raise SystemExit(f"{page}: the marks {_BEGIN} and {_END} are missing")
        (ROOT / page).write_text(text.replace(old[0], table_of(page)))


if __name__ == "__main__":
    main()
