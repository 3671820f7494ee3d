"""Makes remedies consistent: no two of them set the same hint, or lay out the same file, in different ways."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable
from dataclasses import replace

from iolens.advise import say
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.advise.shared.remedies import fitting, hints_text, stripes_text

_HINTS_PLACE, _LAYOUT_PLACE = "{hints}", "{layout}"

_WIDTH = 76


def agreed(found: Iterable[tuple[Rule, Seen]], kinds: Collection[str] = (), targets: int = 0) -> list[Seen]:
    """Returns the findings with remedies that do not contradict each other; the first rule decides. A hint or a file
    layout that an earlier rule set to another value is taken out of the later remedy, which then names the finding
    whose value holds. `kinds`: the types of file systems that the job used; lines of remedies for other types are taken
    out. `targets`: the number of storage targets that the log shows; a remedy with more stripes says so.
    """
    values: dict[str, tuple[str, str]] = {}
    layouts: list[tuple[ProposedStripes, str]] = []
    made = []
    for rule, seen in found:
        hints, rivals = [], []
        for line in seen.hints:
            key, _, value = line.partition(" ")
            known, title = values.setdefault(key, (value, rule.title))
            if known == value:
                hints.append(line)
            else:
                rivals.append((key, known, title))
        remedy = fitting(seen.remedy, kinds).replace(_HINTS_PLACE, _hints_said(hints, rivals))
        layout, said = _layout_said(seen.layout, layouts, targets)
        if layout is not None:
            layouts.append((layout, rule.title))
        made.append(replace(seen, remedy=remedy.replace(_LAYOUT_PLACE, said), hints=tuple(hints), layout=layout))
    return made


def _wrapped_sentence(text: str) -> str:
    """Returns a sentence in lines that fit a terminal."""
    return "\n".join(textwrap.wrap(text, _WIDTH, break_on_hyphens=False))


def _hints_said(hints: list[str], rivals: list[tuple[str, str, str]]) -> str:
    """Returns hints as text to paste, and a sentence for each hint whose value an earlier rule has already decided."""
    kept = [_wrapped_sentence(f"{key} stays {value}, as “{title}” asks for.") for key, value, title in rivals]
    return "\n\n".join([*([hints_text(hints)] if hints else []), *kept])


def _layout_said(
    layout: ProposedStripes | None, known: list[tuple[ProposedStripes, str]], targets: int
) -> tuple[ProposedStripes | None, str]:
    """Returns the layout and its text. If an earlier finding proposes another layout for some of these files, returns
    None and a sentence that names this finding.
    """
    if layout is None:
        return None, ""
    for other, title in known:
        if set(other.files) & set(layout.files) and (other.count, other.size) != (layout.count, layout.size):
            return None, _wrapped_sentence(f"Use the layout of the file that “{title}” gives.")
    doubt = (
        f"This log names only {say.count(targets, 'target')}: do not use more stripes than the file system has targets."
    )
    return layout, stripes_text(layout.count, layout.size) + (
        f"\n{_wrapped_sentence(doubt)}" if layout.count > targets else ""
    )
