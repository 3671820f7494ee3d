"""Draws a matplotlib figure as SVG inside a page: text stays text, and colours follow the page's light or dark style.
All lengths are points. Every text gets the width that matplotlib measured, whatever font the reader has.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Transform

from iolens.figures.style import ALERT, FINE, GRID, INK, QUIET
from iolens.pages.pdf.points import HATCH_TILE, MAGNIFIED, PointsRenderer, draw_with, fill_alpha, is_bold, size_of

_TONES = {INK: "ink", "#000000": "ink", QUIET: "quiet", GRID: "grid", FINE: "fine", ALERT: "alert", "#ffffff": "paper"}
"""Colours that are replaced on a dark page, and the names of their variables in style.css."""

_ENDS = {"butt": "butt", "round": "round", "projecting": "square"}
_LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}


def svg(figure: Any, key: str, title: str, description: str = "") -> str:
    """Returns the figure as an `svg` element. `key` begins the names inside it, which must be unique in a page."""
    renderer = SvgRenderer(*size_of(figure), key)
    draw_with(renderer, figure)
    width, height = (_points_text(length) for length in size_of(figure))
    said = f"<title>{escape(title)}</title>" + (f"<desc>{escape(description)}</desc>" if description else "")
    return (
        f'<svg viewBox="0 0 {width} {height}" style="--w:{width}" role="img" aria-label="{escape(title)}">{said}'
        + "".join(renderer.parts)
        + "</svg>"
    )


class SvgRenderer(PointsRenderer):
    """Turns matplotlib's drawing calls into SVG elements; `parts` has the elements in their order."""

    def __init__(self, width: float, height: float, key: str) -> None:
        super().__init__(width, height)
        self.key, self.parts = key, list[str]()
        self.named: dict[str, str] = {}

    def draw_path(self, gc: Any, path: Path, transform: Transform, rgbFace: Any = None) -> None:
        found = path.cleaned(transform, remove_nans=True, curves=True)
        outline, clip = self.outline(found), self.clip(gc, found)
        style = self.pen(gc)
        if rgbFace is not None:
            style = f"fill:{_colour(rgbFace)}{_opacity('fill', fill_alpha(gc, rgbFace))}{style}"
        if outline and style:
            none = "" if rgbFace is not None else "fill:none"
            self.parts.append(f'<path d="{outline}" style="{none}{style}"{clip}/>')
        if outline and gc.get_hatch():
            self.parts.append(f'<path d="{outline}" style="fill:url(#{self.hatch(gc)})"{clip}/>')

    def draw_image(self, gc: Any, x: float, y: float, im: Any, transform: Any = None) -> None:
        from PIL import Image

        held = BytesIO()
        Image.fromarray(np.ascontiguousarray(im[::-1])).save(held, "PNG", optimize=True)
        box = Affine2D().scale(im.shape[1] / MAGNIFIED, im.shape[0] / MAGNIFIED) if transform is None else transform
        (left, lower), (right, upper) = box.transform([(0, 0), (1, 1)]) + np.array([x, y])
        place = f'x="{_points_text(left)}" y="{_points_text(self.height - upper)}" width="{_points_text(right - left)}"'
        data = b64encode(held.getvalue()).decode("ascii")
        place += f' height="{_points_text(upper - lower)}"'
        # A map has the same colours on a light and on a dark page.
        self.parts.append(f'<rect {place} style="fill:#ffffff"/>')
        self.parts.append(f'<image {place} preserveAspectRatio="none" href="data:image/png;base64,{data}"/>')

    def draw_words(self, gc: Any, corner: tuple[float, float], text: str, prop: Any, angle: float) -> None:
        (x, y), size = corner, prop.get_size_in_points()
        wide = self.get_text_width_height_descent(text, prop, ismath=False)[0]
        turned = f' transform="rotate({_points_text(-angle)} {self.point(corner)})"' if angle else ""
        style = f"fill:{_colour(gc.get_rgb(), text=True)}{_opacity('fill', gc.get_rgb()[3])}"
        bold = ' font-weight="bold"' if is_bold(prop) else ""
        self.parts.append(
            f'<text x="{_points_text(x)}" y="{_points_text(self.height - y)}" font-size="{_points_text(size)}"'
            f"{bold}{turned}"
            f' textLength="{_points_text(wide)}" lengthAdjust="spacingAndGlyphs" style="{style}">{escape(text)}</text>'
        )

    def point(self, corner: Any) -> str:
        """Returns a point as SVG has it, with its height counted from the top."""
        return f"{_points_text(corner[0])} {_points_text(self.height - corner[1])}"

    def outline(self, path: Path) -> str:
        """Returns a path whose vertices are points, as the `d` of a path element."""
        words = []
        for points, code in path.iter_segments(simplify=False):
            if code == Path.CLOSEPOLY:
                words.append("Z")
            elif code in _LETTERS:
                corners = (self.point(points[i : i + 2]) for i in range(0, len(points), 2))
                words.append(_LETTERS[code] + " ".join(corners))
        return "".join(words)

    def pen(self, gc: Any) -> str:
        """Returns line colour, width, ends and dashes as a style; empty if no line is drawn."""
        rgba, wide = gc.get_rgb(), gc.get_linewidth()
        if wide <= 0 or rgba[3] <= 0:
            return ""
        offset, dashes = gc.get_dashes()
        style = f";stroke:{_colour(rgba)};stroke-width:{_points_text(wide)}{_opacity('stroke', rgba[3])}"
        style += f";stroke-linecap:{_ENDS[gc.get_capstyle()]};stroke-linejoin:{gc.get_joinstyle()}"
        if dashes is not None:
            style += f";stroke-dasharray:{' '.join(map(_points_text, dashes))};stroke-dashoffset:{_points_text(offset)}"
        return style

    def clip(self, gc: Any, drawn: Path) -> str:
        """Returns the attribute that clips the drawing; empty if the drawing lies entirely inside its frame."""
        box = gc.get_clip_rectangle()
        path, transform = gc.get_clip_path()
        if path is not None:
            return f' clip-path="url(#{self.clip_name(self.outline(path.cleaned(transform, curves=True)))})"'
        if box is None or _lies_in_box(drawn.vertices, box.extents):
            return ""
        left, lower, right, upper = box.extents
        corners = ((left, lower), (right, lower), (right, upper), (left, upper))
        return f' clip-path="url(#{self.clip_name("M" + "L".join(map(self.point, corners)) + "Z")})"'

    def clip_name(self, outline: str) -> str:
        """Returns the name of a clip path with this outline, which is defined at its first use."""
        return self.define(outline, lambda name: f'<clipPath id="{name}"><path d="{outline}"/></clipPath>')

    def hatch(self, gc: Any) -> str:
        """Returns the name of the pattern of a hatch."""
        tile = gc.get_hatch_path().transformed(Affine2D().scale(HATCH_TILE).translate(0, self.height - HATCH_TILE))
        line = f"stroke:{_colour(gc.get_hatch_color())};stroke-width:{_points_text(gc.get_hatch_linewidth())}"
        lines = f'<path d="{self.outline(tile)}" style="{line};fill:none"/>'
        side = _points_text(HATCH_TILE)
        head = f'width="{side}" height="{side}" patternUnits="userSpaceOnUse"'
        return self.define(lines, lambda name: f'<pattern id="{name}" {head}>{lines}</pattern>')

    def define(self, what: str, element: Any) -> str:
        """Returns the name of an element that is defined once and used many times."""
        if what not in self.named:
            self.named[what] = f"{self.key}.{len(self.named)}"
            self.parts.append(f"<defs>{element(self.named[what])}</defs>")
        return self.named[what]


def _lies_in_box(points: Any, box: Sequence[float]) -> bool:
    """Returns whether points lie in a box of left, lower, right and upper edge, or less than half a point outside."""
    edges, drawn = np.asarray(box), np.asarray(points)
    return bool((drawn >= edges[:2] - 0.5).all() and (drawn <= edges[2:] + 0.5).all())


def _points_text(value: float) -> str:
    """Returns a length in points as short text, rounded to hundredths of a point."""
    rounded = round(float(value), 2)
    return f"{rounded:g}" if math.isfinite(rounded) and abs(rounded) < 1000 else f"{rounded:.2f}"


def _colour(rgb: Sequence[float], text: bool = False) -> str:
    """Returns a colour as CSS; colours that are dark on light paper change with the page's style. White text stays
    white, because it stands on something dark.
    """
    code = "#" + "".join(f"{round(255 * float(part)):02x}" for part in rgb[:3])
    tone = _TONES.get(code, "")
    return code if not tone or (text and tone == "paper") else f"var(--{tone})"


def _opacity(what: str, alpha: float) -> str:
    """Returns the opacity attribute of a line or face that is not fully opaque."""
    return "" if alpha >= 1 else f";{what}-opacity:{_points_text(alpha)}"
