"""Measurements in points that all renderers of matplotlib figures share: 72 dots per inch, text as text."""

from __future__ import annotations

import warnings
from typing import Any

from matplotlib.backend_bases import FigureCanvasBase, RendererBase
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D

MAGNIFIED = 4.0
"""Number of pixels per point of an image that matplotlib resamples; an image with interpolation `none` keeps its own
pixels.
"""

_BOLD_WEIGHT = 600
_HEAVY = ("bold", "semibold", "demibold", "heavy", "black", "extra bold")

HATCH_TILE = 72.0
"""Side of the square that a hatch pattern fills, in points."""


class PointsRenderer(RendererBase):
    """A drawing surface of `width` times `height` points with its origin at the lower left."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__()
        self.width, self.height = width, height

    def flipy(self) -> bool:
        return False

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.width, self.height

    def option_scale_image(self) -> bool:
        return True

    def get_image_magnification(self) -> float:
        return MAGNIFIED

    def option_image_nocomposite(self) -> bool:
        return True

    def draw_text(
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        """Draws text: formulas as outlines, because a page's fonts lack their signs, and all other text by
        `draw_words`.
        """
        if not ismath:
            self.draw_words(gc, (x, y), s, prop, angle)
            return
        gc.set_linewidth(0)
        place = Affine2D().rotate_deg(angle).translate(x, y)
        self.draw_path(gc, TextPath((0, 0), s, prop.get_size_in_points(), prop), place, gc.get_rgb())

    def draw_words(self, gc: Any, corner: tuple[float, float], text: str, prop: Any, angle: float) -> None:
        """Draws text with its lower left corner at `corner`, turned about it by `angle` degrees."""
        raise NotImplementedError


class PointsCanvas(FigureCanvasBase):
    """Tells matplotlib's layout to measure with the renderer that will draw."""

    def __init__(self, figure: Any, renderer: PointsRenderer) -> None:
        super().__init__(figure)
        self.renderer = renderer

    def get_renderer(self) -> PointsRenderer:
        """Returns the renderer; matplotlib's layout engines look this method up by name."""
        return self.renderer


def size_of(figure: Any) -> tuple[float, float]:
    """Returns width and height of a figure in points."""
    width, height = 72 * figure.get_size_inches()
    return float(width), float(height)


def draw_with(renderer: PointsRenderer, figure: Any) -> None:
    """Draws the figure. Warnings about characters that the font lacks are suppressed: the reader sees a box for each,
    and the warning does not say what to do.
    """
    figure.set_dpi(72)
    PointsCanvas(figure, renderer)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.draw(renderer)


def is_bold(prop: Any) -> bool:
    """Returns whether matplotlib's font properties ask for a bold font."""
    weight = prop.get_weight()
    return weight in _HEAVY or (isinstance(weight, int) and weight >= _BOLD_WEIGHT)


def fill_alpha(gc: Any, face: Any) -> float:
    """Returns the opacity of a face, from 0 to 1."""
    return float(gc.get_alpha() if gc.get_forced_alpha() else (face[3] if len(face) > 3 else 1.0))
