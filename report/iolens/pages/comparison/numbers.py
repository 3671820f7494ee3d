"""Formats the numbers of a comparison for sentences and tables: values, ratios, intervals, lists."""

from __future__ import annotations

import math
from collections.abc import Sequence

from iolens.metrics.comparison.measure import Measure
from iolens.metrics.comparison.settings import part_text, three_digits
from iolens.metrics.statistics.intervals import Ratio
from iolens.missing import is_nan

_SMALLEST, _LARGEST = 1e-4, 1e6
"""Smallest and largest end of an interval that is printed as a number."""

MOST_NAMED = 4
"""Maximum number of settings or reasons that a sentence lists."""


def value_with_unit(measure: Measure, value: float) -> str:
    """Returns a value with its unit."""
    return f"{three_digits(value)} {measure.unit}"


def interval(low: float | None, high: float | None) -> str:
    """Returns ' [low, high]', or nothing if there is no interval."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    return f" [{_bound(low)}, {_bound(high)}]"


def _bound(value: float) -> str:
    """Formats an end of an interval. With two runs it can be so far off that its digits mean nothing."""
    return "< 0.0001" if 0 < value < _SMALLEST else "> 1000000" if value > _LARGEST else three_digits(value)


def ratio_text(found: Ratio) -> str:
    """Returns a ratio with its interval: '4.03× [3.92, 4.14]'."""
    return f"{found.value:.2f}×{interval(found.low, found.high)}"


def difference(value: float) -> str:
    """Returns a relative difference: '1 part in 17 million', '0' for equal numbers, n/a if it is unknown."""
    return "n/a" if is_nan(value) else part_text(value)


def name_list(names: Sequence[str]) -> str:
    """Returns some names, the first few in full: 'a; b; c; d; and 3 more'."""
    more = len(names) - MOST_NAMED
    return "; ".join([*names[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])
