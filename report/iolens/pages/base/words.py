"""Formats numbers and names for sentences and tables: values with units, ratios, intervals and levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from iolens.metrics.comparison.settings import (
    UNITS,
    Measure,
    brief_seconds_text,
    part_text,
    percent_text,
    seconds_text,
    speed_text,
    three_digits,
    volume_text,
)
from iolens.missing import is_nan

if TYPE_CHECKING:
    from iolens.metrics.statistics.intervals import Ratio

NONE = "n/a"
GUARD = "--"

INDENT = "\u00a0\u00a0"
"""Indent of one level, made of spaces that no layout removes."""


def digits(value: float) -> str:
    """Formats three significant digits without exponent: 5.71, 57.1, 571, 5714; two digits below 0.1: 0.0030."""
    if is_nan(value):
        return NONE
    if abs(value) >= 100 or value == int(value):
        return f"{value:.0f}"
    if 0 < abs(value) < 0.0995:
        return f"{value:.{1 - math.floor(math.log10(abs(value)))}f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def size(value: float | None) -> str:
    """Formats bytes in the largest unit that gives at least one; units are powers of 1024."""
    return NONE if value is None or is_nan(value) else volume_text(value)


def exact_size(value: float) -> str:
    """Formats a size without rounding: 16 MiB if the unit divides it, else in bytes."""
    whole = int(value)
    for unit in range(len(UNITS) - 1, 0, -1):
        if whole and whole % (1 << 10 * unit) == 0:
            return f"{whole >> 10 * unit} {UNITS[unit]}"
    return f"{count(whole)} B"


def count(value: float | None) -> str:
    """Returns a whole number with commas between thousands."""
    return NONE if value is None or not math.isfinite(value) else f"{int(value):,}"


def seconds(value: float | None) -> str:
    """Formats seconds for a column whose head names the unit, with at least two digits from 1 ms on."""
    if value is None or is_nan(value):
        return NONE
    if value == 0:
        return "0"
    if value >= 0.0995:
        return f"{value:.2f}" if value < 10 else f"{value:,.0f}" if value >= 1000 else digits(value)
    return f"{value:.{3 if value >= 0.00995 else 4}f}" if value >= 0.00005 else "< 0.0001"


def offset(value: float | None) -> str:
    """Formats a time before or after another, in s, ms or µs: +1,000 s, -12 µs."""
    if value is None or is_nan(value):
        return NONE
    size = abs(value)
    unit, factor = ("s", 1.0) if size >= 1 else ("ms", 1e3) if size >= 1e-3 else ("µs", 1e6)
    return f"{value * factor:+,.0f} {unit}" if value else "0"


def duration(value: float | None) -> str:
    """Returns a time with its unit, as the advice prints it: 0.52 s, 99 s, 2 min 5 s, 10 h 25 min, 12 d 3 h."""
    return NONE if value is None or not math.isfinite(value) else seconds_text(value)


def brief_duration(value: float | None) -> str:
    """Returns a time with its unit; one below a millisecond as `< 0.001 s`."""
    return NONE if value is None or not math.isfinite(value) else brief_seconds_text(value)


def rate(bytes_per_second: float | None) -> str:
    """Returns bytes per second in the unit that gives at least one: 673 MiB/s, 24.0 GiB/s."""
    return NONE if bytes_per_second is None or is_nan(bytes_per_second) else speed_text(bytes_per_second)


def speed(mib_per_second: float | None) -> str:
    """Formats a speed in MiB/s as `rate` does, in the largest unit that gives at least one."""
    return rate(None if mib_per_second is None else mib_per_second * (1 << 20))


def ratio(value: float | None) -> str:
    """Returns a plain number with three digits."""
    return NONE if value is None or is_nan(value) else digits(value)


def percent(part: float | None, whole: float) -> str:
    """Returns a share in per cent; a share that is neither 0 nor 100 % but would round to one of them is given as less
    than 0.1 % or more than 99.9 %.
    """
    if part is None or is_nan(part) or not whole:
        return NONE
    return percent_text(100 * part / whole)


def share(value: float) -> str:
    """Formats a share (0 to 1) in per cent."""
    return percent(value, 1.0)


def points(value: float | None) -> str:
    """Returns per cent: `34.8 %`; `--` if the number has no meaning."""
    return GUARD if value is None or is_nan(value) else percent_text(value)


def guarded(value: float | None) -> str:
    """Formats a plain number with one digit after the decimal point if it is 100 or more or whole, else with three
    digits; `--` if the number has no meaning.
    """
    if value is None or is_nan(value):
        return GUARD
    return f"{value:,.1f}" if abs(value) >= 100 or value == int(value) else digits(value)


def moment(value: float) -> str:
    """Formats a time, given in seconds since 1970, in UTC."""
    try:
        return datetime.fromtimestamp(value, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return NONE


def plural(number: int, word: str) -> str:
    """Returns `1 process`, `4 processes`."""
    many = f"{word}es" if word.endswith("s") else f"{word}s"
    return f"{number:,} {word if number == 1 else many}"


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
