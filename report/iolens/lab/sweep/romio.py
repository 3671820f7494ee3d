"""The hints that ROMIO itself prints on standard output with ROMIO_PRINT_HINTS=1."""

from __future__ import annotations

import re

_LINE = re.compile(r"^key = (\S+)\s+value = (.*?)\s*$")


def _printed_hints(output: str) -> list[dict[str, str]]:
    """Returns one table of hints per open file, in the order of the opens.

    A key that appears a second time begins the print of the next open.
    """
    opens: list[dict[str, str]] = []
    fresh = True
    for line in output.splitlines():
        match = _LINE.match(line)
        if not match:
            fresh = True
            continue
        if fresh or match[1] in opens[-1]:
            opens.append({})
            fresh = False
        opens[-1][match[1]] = match[2]
    return opens


def effective_hints(output: str) -> dict[str, str]:
    """Returns the hints of the job's data file: the open with the most aggregators.

    Rank 0 also opens files alone, and then `cb_nodes` is always 1; those prints do not describe the job.
    """
    opens = _printed_hints(output)
    return max(opens, key=lambda hints: int(hints.get("cb_nodes", "0") or 0), default={})
