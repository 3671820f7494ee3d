"""A number that is missing: NaN in a table's column."""

from __future__ import annotations


def is_nan(value: object) -> bool:
    """Returns True for NaN of any type, NaT included: the values that differ from themselves."""
    return value != value
