"""Positions in a file view: a file type whose pieces repeat every extent, each repetition being a tile."""

from __future__ import annotations

import numpy as np

_MOST_TILES = 64
"""Maximum number of tiles that are tried for one offset; a type that spans more extents than these is not monotonic."""


def visible_before(
    begins: np.ndarray, lengths: np.ndarray, displacement: int, extent: int, offsets: np.ndarray
) -> np.ndarray:
    """Returns how many bytes of a view lie before each offset of the file (int64). `begins` and `lengths` are the
    pieces of the file type, in the order of the file.

    A file type may have pieces beyond its extent, as those of PnetCDF do, so that tiles interleave: an offset then
    belongs to the first tile that has it. An offset that no tile has counts in the tile in which it lies.
    """
    through = np.concatenate([[0], np.cumsum(lengths)])
    first, span = int(begins[0]), int((begins + lengths).max() - begins[0])
    step = extent if extent > 0 else max(1, span)
    from_first = offsets - displacement - first
    tile = from_first // step
    earliest = np.maximum(np.minimum(tile, 0), -((span - 1 - from_first) // step))
    for tried in range(min(_MOST_TILES, -(-span // step)) - 1, -1, -1):
        candidate = earliest + tried
        at, inside = _piece_at(begins, first + from_first - candidate * step)
        tile = np.where((candidate <= from_first // step) & (inside < lengths[at]) & (inside >= 0), candidate, tile)
    at, inside = _piece_at(begins, first + from_first - tile * step)
    found: np.ndarray = tile * through[-1] + through[at] + np.clip(inside, 0, lengths[at])
    return found


def _piece_at(begins: np.ndarray, within: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the last piece that begins at or before each place in the type, and the bytes from its begin."""
    at = np.maximum(np.searchsorted(begins, within, side="right") - 1, 0)
    return at, within - begins[at]
