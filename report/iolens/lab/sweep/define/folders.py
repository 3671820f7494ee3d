"""The folders of a sweep's runs, below the folder of its results."""

from __future__ import annotations

FIRST = "first"
"""Name and folder of the complete run that precedes the matrix."""

POINTS = "points"
"""Folder of the matrix's runs, below the folder of the sweep."""

CONFIRM = "confirm"
"""Folder of the runs that confirm a sweep's best setting."""

WARM_UP = "warm-up"
"""Folder of the warm-up runs before a sweep, which are not counted."""
