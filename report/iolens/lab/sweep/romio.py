"""What ROMIO itself says about its hints, from ROMIO_PRINT_HINTS=1 on standard output."""

from __future__ import annotations

import re

LINE = re.compile(r"^key = (\S+)\s+value = (.*?)\s*$")


def printed_hints(output: str) -> list[dict[str, str]]:
    """One table of hints per open file, in the order of the opens.

    A key that comes a second time begins the next open's print.
    """
    opens: list[dict[str, str]] = []
    fresh = True
    for line in output.splitlines():
        match = LINE.match(line)
        if not match:
            fresh = True
            continue
        if fresh or match[1] in opens[-1]:
            opens.append({})
            fresh = False
        opens[-1][match[1]] = match[2]
    return opens


def effective_hints(output: str) -> dict[str, str]:
    """The hints of the job's data file: the open with the most aggregators.

    Rank 0 also opens files alone, where `cb_nodes` is always 1; those prints say nothing about the job.
    """
    opens = printed_hints(output)
    return max(opens, key=lambda hints: int(hints.get("cb_nodes", "0") or 0), default={})
