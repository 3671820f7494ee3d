"""Fits text into its place: paths and words that are too long lose their middle, sentences are broken."""

from __future__ import annotations

from iolens.pages.pdf.fonts import text_width
from iolens.pages.text.cells import middle
from iolens.pages.text.names import fitting_name, is_long_name


def shorten(text: str, font: str, size: float, width: float) -> str:
    """Returns the text on one line of `width` points; if it is longer, an ellipsis replaces its middle. A C++ name
    loses its parameters and template arguments first.
    """
    if text_width(text, font, size) <= width:
        return text
    if is_long_name(text):
        text = fitting_name(text, lambda name: text_width(name, font, size) <= width)
        if text_width(text, font, size) <= width:
            return text
    low, high = 1, len(text) - 1
    while low < high:
        keep = (low + high + 1) // 2
        low, high = (keep, high) if text_width(middle(text, keep), font, size) <= width else (low, keep - 1)
    return middle(text, low)


def broken(text: str, font: str, size: float, width: float) -> list[str]:
    """Returns the text in lines of at most `width` points, broken at spaces; a word that is longer is shortened.

    All lines have the indent of the text. A C++ name stays on one line.
    """
    if text_width(text, font, size) <= width:
        return [text]
    if is_long_name(text):
        return [shorten(text, font, size, width)]
    indent = text[: len(text) - len(text.lstrip())]
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else f"{indent}{word}"
        if lines and text_width(longer, font, size) <= width:
            lines[-1] = longer
        else:
            lines.append(shorten(f"{indent}{word}", font, size, width))
    return lines
