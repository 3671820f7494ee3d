"""Fonts of every page, and matplotlib figures on a reportlab canvas: vectors stay vectors, text stays text in the
page's own fonts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import matplotlib
import numpy as np
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Transform
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

from iolens.pages.pdf.points import HATCH_TILE, MAGNIFIED, PointsRenderer, draw_with, fill_alpha, is_bold, size_of

PLAIN, BOLD, MONO = "DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono"


@cache
def font(name: str) -> str:
    """Registers a font at its first use (parsing one takes tens of milliseconds); returns its name."""
    pdfmetrics.registerFont(TTFont(name, f"{matplotlib.get_data_path()}/fonts/ttf/{name}.ttf"))
    return name


def text_width(text: str, name: str, size: float) -> float:
    """Returns the width of one line of text in points."""
    return float(pdfmetrics.stringWidth(text, font(name), size))


_CAPS = {"butt": 0, "round": 1, "projecting": 2}
_JOINS = {"miter": 0, "round": 1, "bevel": 2}


def draw_figure(canvas: Any, figure: Any) -> None:
    """Draws the figure with its lower left corner at the canvas' origin."""
    draw_with(CanvasRenderer(canvas, *size_of(figure)), figure)


class CanvasRenderer(PointsRenderer):
    """Translates matplotlib's drawing calls into reportlab's."""

    def __init__(self, canvas: Any, width: float, height: float) -> None:
        super().__init__(width, height)
        self.canvas = canvas

    def draw_path(self, gc: Any, path: Path, transform: Transform, rgbFace: Any = None) -> None:
        outline = _canvas_path(self.canvas, path.cleaned(transform, remove_nans=True, curves=True))
        stroke = gc.get_linewidth() > 0 and gc.get_rgb()[3] > 0
        with self.state(gc):
            if rgbFace is not None:
                self.canvas.setFillColorRGB(*rgbFace[:3], alpha=fill_alpha(gc, rgbFace))
            if stroke:
                self.pen(gc)
            if stroke or rgbFace is not None:
                self.canvas.drawPath(outline, stroke=int(stroke), fill=int(rgbFace is not None))
            if gc.get_hatch():
                self.hatch(gc, path.get_extents(transform), outline)

    def draw_image(self, gc: Any, x: float, y: float, im: Any, transform: Any = None) -> None:
        from PIL import Image

        picture = ImageReader(Image.fromarray(np.ascontiguousarray(im[::-1])))
        with self.state(gc):
            self.canvas.translate(x, y)
            if transform is None:
                self.canvas.scale(im.shape[1] / MAGNIFIED, im.shape[0] / MAGNIFIED)
            else:
                self.canvas.transform(*transform.frozen().to_values())
            self.canvas.drawImage(picture, 0, 0, 1, 1, mask="auto")

    def draw_words(self, gc: Any, corner: tuple[float, float], text: str, prop: Any, angle: float) -> None:
        with self.state(gc):
            red, green, blue, alpha = gc.get_rgb()
            self.canvas.setFillColorRGB(red, green, blue, alpha=alpha)
            self.canvas.setFont(font(BOLD if is_bold(prop) else PLAIN), prop.get_size_in_points())
            self.canvas.translate(*corner)
            self.canvas.rotate(angle)
            self.canvas.drawString(0, 0, text)

    @contextmanager
    def state(self, gc: Any) -> Iterator[None]:
        """Clips drawing to the clip of `gc` while the body runs, and restores the earlier state afterwards."""
        self.canvas.saveState()
        box = gc.get_clip_rectangle()
        if box is not None:
            outline = self.canvas.beginPath()
            outline.rect(*box.bounds)
            self.canvas.clipPath(outline, stroke=0, fill=0)
        path, transform = gc.get_clip_path()
        if path is not None:
            cleaned = path.cleaned(transform, curves=True)
            self.canvas.clipPath(_canvas_path(self.canvas, cleaned), stroke=0, fill=0)
        yield
        self.canvas.restoreState()

    def pen(self, gc: Any) -> None:
        """Sets line width, ends, dashes and colour."""
        red, green, blue, alpha = gc.get_rgb()
        self.canvas.setStrokeColorRGB(red, green, blue, alpha=alpha)
        self.canvas.setLineWidth(gc.get_linewidth())
        self.canvas.setLineCap(_CAPS[gc.get_capstyle()])
        self.canvas.setLineJoin(_JOINS[gc.get_joinstyle()])
        offset, dashes = gc.get_dashes()
        if dashes is not None:
            self.canvas.setDash([float(dash) for dash in dashes], float(offset))

    def hatch(self, gc: Any, extents: Any, outline: Any) -> None:
        """Draws the hatch pattern, tiled over the outline's extents and clipped to it."""
        self.canvas.clipPath(outline, stroke=0, fill=0)
        red, green, blue = gc.get_hatch_color()[:3]
        self.canvas.setStrokeColorRGB(red, green, blue)
        self.canvas.setFillColorRGB(red, green, blue)
        self.canvas.setLineWidth(gc.get_hatch_linewidth())
        tiles = [range(math.floor(a / HATCH_TILE), math.ceil(b / HATCH_TILE)) for a, b in extents.get_points().T]
        for i in tiles[0]:
            for j in tiles[1]:
                place = Affine2D().translate(i, j).scale(HATCH_TILE)
                tile = _canvas_path(self.canvas, gc.get_hatch_path().cleaned(place, curves=True))
                self.canvas.drawPath(tile, stroke=1, fill=0)


def _canvas_path(canvas: Any, path: Path) -> Any:
    """Returns a reportlab path from a path whose vertices are points on the page."""
    out = canvas.beginPath()
    here = (0.0, 0.0)
    for points, code in path.iter_segments(simplify=False):
        corners = [float(value) for value in points]
        if code == Path.MOVETO:
            out.moveTo(*corners)
        elif code == Path.LINETO:
            out.lineTo(*corners)
        elif code == Path.CURVE3:
            out.curveTo(*_cubic(here, corners))
        elif code == Path.CURVE4:
            out.curveTo(*corners)
        elif code == Path.CLOSEPOLY:
            out.close()
        if code in (Path.MOVETO, Path.LINETO, Path.CURVE3, Path.CURVE4):
            here = (corners[-2], corners[-1])
    return out


def _cubic(start: tuple[float, float], quadratic: list[float]) -> list[float]:
    """Returns the control points of the cubic Bézier curve that equals a quadratic one: two thirds of the way to the
    latter's control point.
    """
    control, end = quadratic[:2], quadratic[2:]
    first = [a + 2 / 3 * (c - a) for a, c in zip(start, control, strict=True)]
    second = [b + 2 / 3 * (c - b) for b, c in zip(end, control, strict=True)]
    return [*first, *second, *end]
