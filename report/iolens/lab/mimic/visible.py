"""Converts offsets in a file into offsets in its view."""

from __future__ import annotations

import numpy as np

from iolens.lab import tiles
from iolens.lab.mimic.calls import View


def visible_before(view: View, offsets: np.ndarray) -> np.ndarray:
    """Returns how many bytes the view makes visible before each offset of the file (bytes, int64)."""
    return tiles.visible_before(*_pieces_of_type(view), view.displacement, view.extent, offsets)


def _pieces_of_type(view: View) -> tuple[np.ndarray, np.ndarray]:
    """Returns begins and lengths of the pieces of one file type, in the order of the file."""
    parts = []
    for offset, length, *levels in view.rows:
        pairs = [(levels[0], levels[1]), (levels[2], levels[3]), (levels[4], levels[5])]
        steps = [np.arange(max(1, count)) * stride for count, stride in pairs]
        begins = offset + (steps[2][:, None, None] + steps[1][:, None] + steps[0]).ravel()
        parts.append(np.stack([begins, np.full(len(begins), length)]))
    table = np.concatenate(parts, axis=1)
    table = table[:, table[1] > 0]
    order = np.argsort(table[0], kind="stable")
    return table[0][order], table[1][order]
