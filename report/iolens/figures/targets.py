"""How many files have a stripe on each object storage target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.figures.style import FULL_WIDTH, canvas, styled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

COLOUR = "#56b4e9"


@styled
def target_bars(targets: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """`targets` as metrics.striping.targets gives it; targets without a file leave a gap."""
    figure, axes = canvas(width, 1.5, left=0.5, top=0.08)
    axes.bar([int(ost) for ost in targets["ost"]], targets["files"], 0.8, color=COLOUR)
    axes.set_xlabel("object storage target (index)")
    axes.set_ylabel("files")
    axes.locator_params(axis="y", nbins=4, integer=True)
    axes.locator_params(axis="x", integer=True)
    return figure
