"""The lines that took most samples, the compiler's treatment of them, and their source beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from iolens.lazy import pd
from iolens.metrics.processor.sampled.feedback import Loop, line_number, loops_of
from iolens.pages.base import words
from iolens.pages.base.blocks import Table

_LEGEND = (
    "V vectorised, u unrolled (u8: eight copies of its body), i a call inlined, b loops blocked or interchanged, "
    "m not vectorised"
)
_AROUND = 3
"""Number of lines shown before and after a hot line that is in no loop."""

_LONGEST_NEST = 200
"""Maximum number of lines of a loop nest that is shown as a whole; of a longer nest the part around the hot line is
shown.
"""


def feedback_table(found: pd.DataFrame) -> Table:
    """Returns the table of metrics.processor.sampled.feedback.hot_feedback."""
    rows = [
        [
            words.points(row.share),
            row.letters or words.GUARD,
            f"{row.source}:{line_number(row.line)}",
            row.function,
            _loop_reason(row.loop, row.reason),
        ]
        for row in found.itertuples(index=False)
    ]
    head = ["Samp%", "compiler", "line", "function", "why not vectorised"]
    return Table(
        "Lines with most samples, and what the compiler did", head, rows, f"Letters: {_LEGEND}; --: GCC says nothing."
    )


def _loop_reason(loop: int, why: str) -> str:
    """Returns the reason, with the line of the loop to which it belongs."""
    return f"loop at line {loop}: {why}" if why and loop else why


def source_listing(
    found: pd.DataFrame,
    sources: Mapping[str, Sequence[str]],
    tags_of: Callable[[str, Sequence[Loop]], Mapping[int, str]],
) -> str:
    """Returns the loop nests around the hot lines of each available source file, with shares, letters and brackets in
    the margin; around a line in no loop, a few lines. `tags_of`: see metrics.processor.sampled.feedback.loop_tags.
    """
    parts = []
    for source, rows in found.groupby("source", sort=False):
        text = sources.get(str(source))
        if text is None:
            parts.append(f"{source}: source file not found; its lines are in the table above")
            continue
        hot = {line_number(row.line): (words.points(row.share), row.letters) for row in rows.itertuples(index=False)}
        loops = loops_of(str(source), text)
        tags = tags_of(str(source), loops)
        parts.append("\n".join([f"{source}", *_margin(hot, text, loops, tags)]))
    return "\n\n".join(parts)


def _shown_lines(hot: Iterable[int], loops: Sequence[Loop], last: int) -> set[int]:
    """Returns the lines of the outermost loop around each hot line that has no more than _LONGEST_NEST lines; around a
    line without such a loop, the lines up to _AROUND away.
    """
    shown: set[int] = set()
    for line in hot:
        around = [loop for loop in loops if loop.begin <= line <= loop.end and loop.end - loop.begin < _LONGEST_NEST]
        begin, end = (around[0].begin, around[0].end) if around else (line - _AROUND, line + _AROUND)
        shown |= set(range(max(begin, 1), min(end, last) + 1))
    return shown


def _margin(
    hot: Mapping[int, tuple[str, str]], text: Sequence[str], loops: Sequence[Loop], tags: Mapping[int, str]
) -> list[str]:
    """Returns lines of source, `...` where some are left out. A loop has a column: its tag in all its lines, with `<`
    in the first and `>` in the last one.
    """
    shown = sorted(_shown_lines(hot, loops, len(text)))
    marks = {n: _brackets(n, loops, tags) for n in shown}
    width = max((len(mark) for mark in marks.values()), default=0)
    lines, before = [], 0
    for n in shown:
        if before and n != before + 1:
            lines.append("   ...")
        share, letters = hot.get(n, ("", ""))
        lines.append(f"{share:>7} {letters:<4} {marks[n]:<{width}} {n:>6} | {text[n - 1]}".rstrip())
        before = n
    return lines


def _brackets(line: int, loops: Sequence[Loop], tags: Mapping[int, str]) -> str:
    """Returns the columns of the loops around a line, the outermost first."""
    inside = [loop for loop in loops if loop.begin <= line <= loop.end]
    ends = {loop.begin: "<>" if loop.begin == loop.end else "<" for loop in inside if loop.begin == line}
    ends |= {loop.begin: ">" for loop in inside if loop.end == line and loop.begin != line}
    return " ".join(f"{tags[loop.begin]}{ends.get(loop.begin, ' ')}" for loop in inside)
