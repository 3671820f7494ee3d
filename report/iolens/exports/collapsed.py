"""Collapsed stacks, one line per chain: the format that flamegraph.pl, inferno and speedscope read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from iolens.exports.stacks import Stack, who


def collapsed(stacks: Sequence[Stack]) -> str:
    """Returns lines such as `rank 0;thread 0;main;work 123`: functions from the outermost to the innermost, and periods
    of the timer.
    """
    lines: Counter[str] = Counter()
    for stack in stacks:
        words = (*who(stack.rank, stack.thread), *(frame.function for frame in stack.frames))
        lines[";".join(word.replace(";", ":").replace("\n", " ") for word in words)] += stack.periods
    return "".join(f"{line} {count}\n" for line, count in lines.items())
