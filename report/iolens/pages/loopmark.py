"""The lines that took most samples, with what the compiler did to them, and their source beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from iolens.metrics.processor.feedback import number
from iolens.pages import words
from iolens.pages.blocks import Table

if TYPE_CHECKING:
    import pandas as pd

LEGEND = "V vectorised, u unrolled, i a call inlined, b loops blocked or interchanged, m not vectorised"
AROUND = 3
"""Lines shown before and after a hot one."""


def feedback_table(found: pd.DataFrame) -> Table:
    """Returns the table of metrics.processor.feedback.hot_feedback."""
    rows = [
        [
            words.points(row.share),
            row.letters or words.GUARD,
            f"{row.source}:{number(row.line)}",
            row.function,
            reason(row.loop, row.reason),
        ]
        for row in found.itertuples(index=False)
    ]
    head = ["Samp%", "compiler", "line", "function", "why not vectorised"]
    return Table(
        "Lines with most samples, and what the compiler did", head, rows, f"Letters: {LEGEND}; --: GCC says nothing."
    )


def reason(loop: int, why: str) -> str:
    """Returns the reason, and of which loop it is."""
    return f"loop at line {loop}: {why}" if why and loop else why


def listing(found: pd.DataFrame, sources: Mapping[str, Sequence[str]]) -> str:
    """Returns the source around the hot lines of each file that is there, with shares and letters in the margin."""
    parts = []
    for source, rows in found.groupby("source", sort=False):
        text = sources.get(str(source))
        if text is None:
            parts.append(f"{source}: not found; its lines are in the table above")
            continue
        hot = {number(row.line): (words.points(row.share), row.letters) for row in rows.itertuples(index=False)}
        parts.append("\n".join([f"{source}", *margin(hot, text)]))
    return "\n\n".join(parts)


def margin(hot: Mapping[int, tuple[str, str]], text: Sequence[str]) -> list[str]:
    """Returns lines of source, `...` where some are left out."""
    shown = sorted({n for line in hot for n in range(line - AROUND, line + AROUND + 1) if 1 <= n <= len(text)})
    lines, before = [], 0
    for n in shown:
        if before and n != before + 1:
            lines.append("   ...")
        share, letters = hot.get(n, ("", ""))
        lines.append(f"{share:>6} {letters:<4} {n:>6} | {text[n - 1]}".rstrip())
        before = n
    return lines
