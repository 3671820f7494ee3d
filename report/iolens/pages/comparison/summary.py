"""The summary of a comparison in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from iolens.lazy import pd
from iolens.pages.blocks import Table
from iolens.pages.comparison.remedy import Remedy


@dataclass(frozen=True)
class ComparisonSummary:
    """The answer of a comparison: `verdict` has a line for each sentence; `doubts` are read before the numbers,
    `cautions` after them; `frames` are the numbers behind it, by name, for export.
    """

    path: Path
    verdict: str
    cautions: tuple[str, ...]
    remedy: Remedy | None
    points: Table | None
    frames: Mapping[str, pd.DataFrame]
    doubts: tuple[str, ...] = ()
