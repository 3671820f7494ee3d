"""The time from the first to the last access of each rank, in its own files and in shared files."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from iolens.figures.job.activity import FEW_RANKS, MANY_RANKS
from iolens.figures.job.operations import count_label
from iolens.figures.style import FULL_WIDTH, HALF_WIDTH, READ, WRITE, canvas, mark, nothing, styled
from iolens.lazy import pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_ROWS = 250
"""Largest number of lines; more ranks are drawn in groups, from their first access to their last one."""

_SHORTEST = 100
"""A file's span is drawn with at least the run time divided by this number, because the axis would hide a shorter
one.
"""

_COLOURS = {"read": READ, "write": WRITE}


@styled
def rank_spans_figure(
    spans: pd.DataFrame, kind: str, nprocs: int, run_time: float, width: float = HALF_WIDTH
) -> Figure:
    """Draws the spans of one `kind` from metrics.times.timespans.rank_spans; `run_time` is in seconds."""
    part = spans[spans["kind"] == kind]
    if part.empty:
        return nothing(width, 1.2, f"no rank {'read from' if kind == 'read' else 'wrote to'} a file of its own")
    each = -(-nprocs // _MOST_ROWS)
    if each > 1:
        part = part.groupby(part["rank"] // each, as_index=False).agg(
            rank=("rank", "min"), start=("start", "min"), end=("end", "max")
        )
    height = min(2.3, 0.85 + 0.09 * nprocs)
    figure, axes = canvas(width, height, left=0.5, top=0.08)
    thick = max(0.8, min(5.0, 72 * (height - 0.5) / min(nprocs, _MOST_ROWS) * 0.7))
    axes.hlines(part["rank"], part["start"], part["end"], color=_COLOURS[kind], linewidth=thick)
    axes.plot(part["start"], part["rank"], "|", color=_COLOURS[kind], markersize=max(1.0, min(5.0, thick)))
    margin = max(0.7, 0.04 * nprocs)
    axes.set_ylim(-margin, nprocs - 1 + margin)
    axes.set_xlim(0, max(run_time, float(part["end"].max())))
    if nprocs <= FEW_RANKS:
        mark(axes.yaxis, range(nprocs))
    axes.set_ylabel("rank" if each == 1 else f"rank (in groups of {each})")
    axes.set_xlabel("seconds since the start of the job")
    if nprocs > MANY_RANKS:
        axes.yaxis.set_major_formatter(lambda value, _: count_label(value))
    return figure


@styled
def shared_spans_figure(spans: pd.DataFrame, run_time: float, width: float = FULL_WIDTH) -> Figure:
    """Draws two bars per file from metrics.times.timespans.shared_spans, reads above writes."""
    from matplotlib.patches import Patch

    if spans.empty:
        return nothing(width, 0.8, "no file was shared by all ranks")
    files = list(dict.fromkeys(spans["path"]))
    names = [_shortened(PurePosixPath(path).name or path) for path in files]
    left = 0.2 + 0.066 * max(len(name) for name in names)
    figure, axes = canvas(width, 0.75 + 0.2 * len(files), left=left, top=0.25)
    for kind, shift in (("read", -0.18), ("write", 0.18)):
        part = spans[spans["kind"] == kind]
        places = [files.index(path) + shift for path in part["path"]]
        shortest = run_time / _SHORTEST
        lengths = [max(shortest, end - start) for start, end in zip(part["start"], part["end"], strict=True)]
        axes.barh(places, lengths, 0.34, left=part["start"], color=_COLOURS[kind])
    mark(axes.yaxis, range(len(files)), names)
    axes.set_ylim(len(files) - 0.5, -0.5)
    axes.set_xlim(0, max(run_time, float(spans["end"].max())))
    axes.set_xlabel("seconds since the start of the job")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)
    axes.tick_params(axis="y", length=0)
    handles = [Patch(color=colour, label=kind) for kind, colour in _COLOURS.items()]
    axes.legend(handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, columnspacing=1.0)
    return figure


def _shortened(name: str, most: int = 34) -> str:
    """Returns a file name; a long name loses its middle."""
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-most // 2 :]}"
