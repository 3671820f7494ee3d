"""The verdicts of a gate as a table, as one line for a pull request, and as JUnit's XML."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from iolens.metrics.subjects.gate import BROKEN, OPEN, LimitVerdict
from iolens.pages import words
from iolens.pages.blocks import Table
from iolens.pages.subjects.words import value_text


def verdict_table(verdicts: Sequence[LimitVerdict]) -> Table:
    """Returns a table with a row for each limit of `iolens check`: its values before and now, the change, and the
    verdict.
    """
    rows = [
        [
            one.limit.text,
            value_text(one.base, one.unit),
            value_text(one.new, one.unit),
            _change_words(one),
            _outcome(one),
        ]
        for one in verdicts
    ]
    return Table("Limits", ["limit", "before", "now", "change", "verdict"], rows)


def summary(verdicts: Sequence[LimitVerdict]) -> str:
    """Returns one line on all verdicts: the broken limits, and the number of limits on which the runs cannot decide."""
    broken = [one for one in verdicts if one.outcome == BROKEN]
    still_open = sum(one.outcome == OPEN for one in verdicts)
    exceeded = f"{len(broken)} of {words.plural(len(verdicts), 'limit')} exceeded"
    told = [exceeded if broken else "no limit exceeded"]
    told += [f"{one.limit.name} {_change_words(one)} (limit {one.limit.text})" for one in broken]
    if still_open:
        told.append(f"{words.plural(still_open, 'limit')} could not be decided; repeat the runs more often")
    return "; ".join(told)


def junit(verdicts: Sequence[LimitVerdict]) -> str:
    """Returns the verdicts in the XML of JUnit: a broken limit is a failure, an open limit is skipped."""
    numbers = {"tests": len(verdicts), "errors": 0}
    for name, kind in (("failures", BROKEN), ("skipped", OPEN)):
        numbers[name] = sum(one.outcome == kind for one in verdicts)
    suite = ElementTree.Element("testsuite", {"name": "iolens check"} | {key: str(n) for key, n in numbers.items()})
    for one in verdicts:
        case = ElementTree.SubElement(suite, "testcase", classname="iolens", name=one.limit.text)
        said = f"{value_text(one.base, one.unit)} before, {value_text(one.new, one.unit)} now: {_change_words(one)}"
        if one.outcome == BROKEN:
            ElementTree.SubElement(case, "failure", message=said)
        elif one.outcome == OPEN:
            ElementTree.SubElement(case, "skipped", message=f"{said} ({one.reason})")
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _change_words(one: LimitVerdict) -> str:
    """Returns the change of a number, with its interval."""
    if one.ratio is None:
        return words.NONE
    ends = [one.ratio.value, one.ratio.low, one.ratio.high]
    value, low, high = (None if end is None else _percent(end) for end in ends)
    return f"{value} %" if low is None or low == high else f"{value} % [{low}, {high}]"


def _percent(ratio: float) -> str:
    """Returns a ratio as a change in per cent, with its sign."""
    return "∞" if ratio == float("inf") else f"{100 * (ratio - 1):+.1f}"


def _outcome(one: LimitVerdict) -> str:
    """Returns the verdict in words, with its reason."""
    return f"{one.outcome}: {one.reason}" if one.reason else one.outcome
