"""Access sizes of several subjects in one panel each for the reads and the writes of a layer."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iolens.figures.job.operations import count_label
from iolens.figures.job.sizes import LABELS
from iolens.figures.style import FULL_WIDTH, INK, styled
from iolens.figures.subjects.colours import colours, legend_label
from iolens.lazy import pd

_ACROSS = 2
"""Number of panels in a row."""


@styled
def size_histograms(sizes: pd.DataFrame, labels: Mapping[str, str]) -> Figure:
    """Draws the table of metrics.subjects.shapes.sizes; `labels` has the subjects by their letters."""
    panels = [(key, part) for key, part in sizes.groupby(["layer", "kind"], sort=False)]
    lines = -(-len(panels) // _ACROSS)
    figure = Figure(figsize=(FULL_WIDTH, 0.5 + 1.55 * lines), layout="constrained")
    grid = figure.subplots(lines, _ACROSS, squeeze=False)
    palette = colours(list(labels))
    for axes, (key, part) in zip(grid.flat, panels, strict=False):
        _draw(axes, part, palette)
        axes.set_title(f"{key[0]} {key[1]}", loc="left")
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("accesses")
    handles = grid.flat[0].containers
    figure.legend(
        handles=[handle[0] for handle in handles],
        labels=[legend_label(letter, labels[letter]) for letter in labels],
        loc="outside upper left",
        ncols=2,
    )
    return figure


def _draw(axes: Axes, part: pd.DataFrame, palette: Mapping[str, object]) -> None:
    """Draws a bar for each subject in each range of sizes."""
    places = sorted(set(part["place"]))
    wide = 0.82 / len(palette)
    for place, (letter, colour) in enumerate(palette.items()):
        counts = part[part["letter"] == letter].set_index("place")["count"].reindex(places).fillna(0)
        at = [x + (place - (len(palette) - 1) / 2) * wide for x in range(len(places))]
        axes.bar(at, counts, wide, color=colour, edgecolor="white", linewidth=0.3)
    axes.set_xticks(range(len(places)), [LABELS[place] for place in places], rotation=30, ha="right", color=INK)
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_formatter(lambda value, _: count_label(value))
    axes.locator_params(axis="y", nbins=4, integer=True)
    axes.set_xlim(-0.6, len(places) - 0.4)
