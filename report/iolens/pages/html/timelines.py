"""Timelines as data from which explore.js makes interactive figures with uPlot, and the notice of uPlot's licence.
uPlot is not a part of this project: packaging/plotting.sh puts it here.

Without it, figures are static.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from pathlib import Path

import numpy as np

from iolens.metrics.times.timeline import Timeline
from iolens.pages.blocks import FigureBlock

FOLDER = Path(__file__).parent / "uplot"

_CELLS = {"kind": "u1", "file": "u1", "row": "u2", "bin": "u2", "moved": "f8", "calls": "u4", "busy": "f4"}
_SINGLE = {"kind": "u1", "file": "u1", "rank": "u4", "offset": "f8", "length": "f8", "start": "f8", "end": "f8"}
"""The columns of cells and of single calls, with the type of number that each is stored as. The byte order is this
machine's, which computers with a browser share.
"""

_STILL = (
    "The figures of this page are static, because the library that makes them interactive (uPlot) was missing when "
    "iolens was installed; packaging/plotting.sh fetches it."
)


def is_installed() -> bool:
    """Returns whether uPlot is installed."""
    return (FOLDER / "uPlot.iife.min.js").is_file()


def library() -> tuple[str, str]:
    """Returns uPlot's style and script."""
    style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("uPlot.min.css", "uPlot.iife.min.js"))
    return style, script


def notice(interactive: bool, has_timelines: bool) -> str:
    """Returns the footer of a page: uPlot's licence if it is in the page, or the reason why figures are static although
    they could be interactive.
    """
    if not has_timelines:
        return ""
    if not interactive:
        return f"<footer><p>{escape(_STILL)}</p></footer>"
    text = escape((FOLDER / "LICENSE").read_text(encoding="utf-8"))
    return (
        "<footer><p>Interactive figures are drawn by uPlot, © 2022 Leon Sorokin, MIT licence.</p>"
        f"<details><summary>The licence</summary><pre>{text}</pre></details></footer>"
    )


def data_of(block: FigureBlock) -> str:
    """Returns the attribute with the timelines of a figure; empty if there is none."""
    found = block.timelines() if block.timelines and is_installed() else []
    return f' data-timelines="{escape(json.dumps([_packed(one) for one in found]))}"' if found else ""


def _packed(cells: Timeline) -> dict[str, object]:
    """Returns a timeline as JSON: its facts, and its columns deflated one after the other."""
    columns = [(name, getattr(cells, name), kind) for name, kind in _CELLS.items()]
    if cells.single is not None:
        columns += [(f"single_{name}", getattr(cells.single, name), kind) for name, kind in _SINGLE.items()]
    facts = ("layer", "ranks", "each", "width", "bins", "end", "files", "file_count", "traced", "made")
    arrays = [np.ascontiguousarray(values, f"<{kind}") for _, values, kind in columns]
    return {name: getattr(cells, name) for name in facts} | {
        "columns": [(name, kind, len(values)) for name, values, kind in columns],
        "data": _deflated(arrays),
    }


def _deflated(arrays: Iterable[np.ndarray]) -> str:
    """Returns arrays as text. The first bytes of all numbers stand together, then the second bytes, and so on: similar
    bytes compress better.
    """
    planes = (array.view(np.uint8).reshape(len(array), -1).T.tobytes() for array in arrays)
    return b64encode(zlib.compress(b"".join(planes), 6)).decode("ascii")
