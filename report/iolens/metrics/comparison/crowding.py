"""Tells from the use of the cores if a run's ranks had to wait for other programs."""

from __future__ import annotations

_UNNOTICED = 0.1
"""Largest share of the cores that other programs may use without effect on a run."""


def crowded(others: float, ranks: int, cpus: int) -> bool:
    """Returns whether ranks had to wait for a core because other programs used `others` cores on average."""
    return others > _UNNOTICED * cpus and ranks + others > cpus
