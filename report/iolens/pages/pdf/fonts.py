"""The fonts of every page and figure: DejaVu Sans as matplotlib ships it, embedded as subsets."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import matplotlib
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

PLAIN, BOLD, MONO = "DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono"


@cache
def font(name: str) -> str:
    """Registers a font at its first use (parsing one takes tens of milliseconds); returns its name."""
    pdfmetrics.registerFont(TTFont(name, str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{name}.ttf")))
    return name


def text_width(text: str, name: str, size: float) -> float:
    """Returns the width of one line of text in points."""
    return float(pdfmetrics.stringWidth(text, font(name), size))
