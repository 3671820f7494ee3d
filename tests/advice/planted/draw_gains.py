"""Chooses at random the runs that measure gains: faults of the set `thresholds`, repeated in turn with their healthy
twins.
"""

from __future__ import annotations

import draw_thresholds
from groups import Row

REPETITIONS = 4
NOT_MEASURED = "imports"
"""The fault that is left out: its healthy twin imports no modules, so that most of the measured cost would be Python's
processor time and not I/O.
"""


def draw(seed: int) -> list[Row]:
    """Returns runs of each fault at its two greatest strengths and without the fault, REPETITIONS times each. The group
    NAME.R holds repetition R of the fault NAME.
    """
    rows = [row for row in draw_thresholds.draw(seed) if row["expected"] and row["fault"] != NOT_MEASURED]
    strengths = {row["group"]: sum(one["group"] == row["group"] for one in rows) for row in rows}
    kept = [row for row in rows if int(row["name"].rpartition("-")[2]) in (0, *_last_two(strengths[row["group"]]))]
    return [_repeated(row, number) for row in kept for number in range(REPETITIONS)]


def _last_two(strengths: int) -> tuple[int, int]:
    """Returns the positions of the two greatest strengths in the list of strengths."""
    return strengths - 2, strengths - 1


def _repeated(row: Row, number: int) -> Row:
    """Returns a run of one repetition, whose twin (the run without the fault) is that of the same repetition."""
    group = f"{row['group']}.{number}"
    return row | {"group": group, "name": f"{group}-{row['name'].rpartition('-')[2]}"}
