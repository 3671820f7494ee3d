"""The settings that a sweep varies, how people write them, and the measure by which they are compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iolens.lazy import pd

_MIB = 2**20

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
"""Units of bytes, each 1024 times the one before it."""


@dataclass(frozen=True)
class Setting:
    """A parameter of a sweep: its key in `point`, in `requested`/`effective`, and how people write it.

    `usual` is the default level; it is the baseline if the sweep has it.
    """

    name: str
    key: str
    label: str
    unit: str
    usual: int | None


SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("stripe_count", "stripe_count", "stripe count", "stripe", 1),
        Setting("stripe_size", "stripe_size", "stripe size", "bytes", _MIB),
        Setting("object_size", "object_size", "object size", "bytes", 4 * _MIB),
        Setting("aggregators", "cb_nodes", "aggregators", "aggregator", 1),
        Setting("cb_buffer_size", "cb_buffer_size", "collective buffer", "bytes", 16 * _MIB),
        Setting("ranks", "ranks", "ranks", "rank", None),
        Setting("nodes", "nodes", "nodes", "node", None),
        Setting("variant", "variant", "variant", "name", None),
    )
}
"""The settings that a sweep varies; `usual` are the defaults of Lustre and ROMIO on one node."""


COSTLY = ("stripe_count", "aggregators", "cb_buffer_size")
"""Settings whose larger levels cost more, the most expensive setting first: among tied points, the one with smaller
levels is recommended.
"""


class NamedLevel(str):
    """A level of a setting that an experiment defines by names. It knows its place in the experiment's list of levels,
    by which levels are sorted.
    """

    place: int

    def __new__(cls, name: str, place: int) -> NamedLevel:
        """Returns the level `name`, at `place` in the order in which the experiment lists its levels."""
        level = super().__new__(cls, name)
        level.place = place
        return level


class JointLevel(NamedLevel):
    """One level for several settings that change side by side: '4 ranks, 2 nodes', in `short` '4 / 2'; `parts` has the
    level of each setting.
    """

    short: str
    parts: Mapping[str, Any]

    def __new__(cls, name: str, place: int, short: str = "", parts: Mapping[str, Any] | None = None) -> JointLevel:
        """Returns the level with the text `name`; `place` is its place among the combinations that occur."""
        level = str.__new__(cls, name)
        level.place, level.short, level.parts = place, short or name, parts or {}
        return level


def joint_level(parts: Mapping[str, Any], place: int) -> JointLevel:
    """Returns one level for settings that change together; `place` is its place among the combinations that occur."""
    short = " / ".join(level_text(name, part) for name, part in parts.items())
    return JointLevel(describe(parts), place, short, dict(parts))


def joint_name(names: Iterable[str]) -> str:
    """Returns the name of settings that change side by side: 'ranks / nodes'."""
    return " / ".join(name_text(name) for name in names)


def sorted_levels(levels: Iterable[Any]) -> list[Any]:
    """Returns each level once: numbers by size, then named levels in the experiment's order, then words in alphabetical
    order.
    """
    return sorted(set(levels), key=level_order)


def level_order(level: Any) -> tuple[int, Any, str]:
    """Returns the sort key of a level; a missing level comes first."""
    if level is None:
        return (0, 0, "")
    if isinstance(level, NamedLevel):
        return (2, level.place, str(level))
    return (3, 0, level) if isinstance(level, str) else (1, level, "")


def size_text(size: float) -> str:
    """Returns bytes as people write a buffer or stripe: 1048576 -> '1 MiB', 1536 -> '1.5 KiB', 47008 -> '47008 B'."""
    for unit, name in ((2**30, "GiB"), (_MIB, "MiB"), (2**10, "KiB")):
        if size >= unit and (size * 4) % unit == 0:
            return f"{size / unit:g} {name}"
    return f"{size:.0f} B"


def volume_text(size: float) -> str:
    """Returns bytes to three digits, in the largest unit that gives at least one: 829515 -> '810 KiB'; a mean of less
    than one byte as '< 1 B'.
    """
    if 0 < size < 1:
        return "< 1 B"
    scaled, unit = _in_unit(size)
    return f"{scaled:.{0 if abs(scaled) >= 100 else 3}{'f' if abs(scaled) >= 100 else 'g'}} {unit}"


def _in_unit(size: float) -> tuple[float, str]:
    """Returns bytes in the largest unit that gives at least one to three digits, and the name of the unit."""
    scaled, unit = float(size), 0
    while abs(scaled) >= 1023.5 and unit < len(UNITS) - 1:
        scaled, unit = scaled / 1024, unit + 1
    return scaled, UNITS[unit]


def speed_text(bytes_per_second: float) -> str:
    """Returns a measured speed with three digits, even if the last digits are zeros: `1.70 GiB/s`, `23.0 MiB/s`."""
    scaled, unit = _in_unit(bytes_per_second)
    if 0 < bytes_per_second < 1:
        return "< 1 B/s"
    return f"{scaled:.{0 if scaled >= 99.95 or not scaled else 1 if scaled >= 9.995 else 2}f} {unit}/s"


_MOST_HOURS = 100
"""Longest time that is printed in hours; longer times are printed in days."""


def seconds_text(value: float) -> str:
    """Formats seconds as `0.42 s`, `12 s`, `3 min 20 s`, `10 h 25 min` or `12 d 3 h`; infinities and NaN, as damaged
    logs have them, as `n/a`.
    """
    if not math.isfinite(value):
        return "n/a"
    if value < 9.95:
        return "0 s" if not value else "< 0.0001 s" if value < 0.0001 else f"{two_digits(value)} s"
    whole = round(value)
    if value < 99.5:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(value / 60), 60)
    if hours < _MOST_HOURS:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(round(value / 3600), 24)
    return f"{days:,} d {hours} h" if hours else f"{days:,} d"


_ROUNDING = 1e-9
"""A percentage closer to 100 than this is 100 up to rounding errors, and is printed as 100.0 %."""


def percent_text(value: float) -> str:
    """Returns per cent with one digit: `34.8 %`; a share that is neither 0 nor 100 % but would round to one of them is
    given as `< 0.1 %` or `> 99.9 %`.
    """
    if 0 < value < 0.05:
        return "< 0.1 %"
    return "> 99.9 %" if 99.95 <= value < 100 - _ROUNDING else f"{value:.1f} %"


_BRIEF = 0.001
"""Times below this number of seconds are written as "< 0.001 s"."""


def brief_seconds_text(value: float) -> str:
    """Formats a time as `seconds_text` does, but a time below 1 ms as `< 0.001 s`."""
    return f"< {_BRIEF} s" if 0 < value < _BRIEF else seconds_text(value)


def two_digits(value: float) -> str:
    """Formats a number with two significant digits, or with all digits before the decimal point, without exponent:
    `0.044`, `1.6`, `120`.
    """
    if abs(value) >= 9.95 or not value:
        return f"{value:,.0f}"
    exponent = int(f"{value:.1e}".partition("e")[2])
    return f"{value:.{1 - exponent}f}"


def three_digits(value: float) -> str:
    """Formats a number with at least three significant digits and without exponent: 571, 57.1, 5.70, 0.0123."""
    if not 0 < value < math.inf:
        return f"{value:g}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value) + 1e-4))}f}"


def part_text(value: float) -> str:
    """Returns a relative difference in words: '1 part in 17 million', '0.25 %', or '0' for equal numbers."""
    if not value or value >= 0.001:
        return "0" if not value else "infinite" if value > 1e9 else f"{100 * value:,.{0 if value >= 0.1 else 2}f} %"
    parts, name = 1.0 / value, ""
    for word in (" thousand", " million", " billion", " trillion"):
        if parts < 9999.5:
            break
        parts, name = parts / 1000, word
    return f"1 part in {parts:,.0f}{name}"


def level_text(name: str, level: Any) -> str:
    """Returns a level without its parameter's name, for an axis: '4', '16 MiB', '4 / 2'."""
    if isinstance(level, JointLevel):
        return level.short
    setting = SETTINGS.get(name)
    return size_text(level) if setting is not None and setting.unit == "bytes" else str(level)


def describe(settings: Mapping[str, Any]) -> str:
    """Returns a point in words: '4 stripes, 2 aggregators, 16 MiB collective buffer'."""
    return ", ".join(describe_one(name, level) for name, level in settings.items())


def describe_one(name: str, level: Any) -> str:
    """Returns one setting in words: '4 stripes', '16 MiB collective buffer', 'method full', '4 ranks, 2 nodes'."""
    if isinstance(level, JointLevel):
        return str(level)
    setting = SETTINGS.get(name)
    if setting is None:
        return f"{name.replace('_', ' ')} {level}"
    if setting.unit == "bytes":
        return f"{size_text(level)} {setting.label}"
    if setting.unit == "name":
        return str(level)
    return f"{level} {setting.unit}{'' if level == 1 else 's'}"


def name_text(name: str) -> str:
    """Returns a setting's name for people: 'stripe count', 'collective buffer'."""
    return SETTINGS[name].label if name in SETTINGS else name.replace("_", " ")


Levels = tuple[Any, ...]
"""One combination: a level of each setting of a group, in the order of the group's names."""


@dataclass(frozen=True)
class Joint:
    """Settings that change together: their names, their joint name, and the level for each existing combination."""

    names: tuple[str, ...]
    name: str
    levels: Mapping[Levels, JointLevel]

    def column(self, runs: pd.DataFrame) -> pd.Series[Any]:
        """Returns the joint level of each run; None for a combination that the sweep does not have."""
        keys = runs[list(self.names)].itertuples(index=False, name=None)
        return pd.Series([self.levels.get(key) for key in keys], index=runs.index, dtype=object)


def joints(runs: pd.DataFrame, settings: Sequence[str]) -> list[Joint]:
    """Returns the groups of settings with several levels in which each level of one setting occurs with only one level
    of each other setting.
    """
    varied = [name for name in settings if len(set(runs[name])) > 1]
    groups: list[list[str]] = []
    for name in varied:
        place = next((group for group in groups if _paired(runs, group[0], name)), None)
        if place is None:
            groups.append([name])
        else:
            place.append(name)
    return [_joint_of(runs, tuple(group)) for group in groups if len(group) > 1]


def _paired(runs: pd.DataFrame, one: str, other: str) -> bool:
    """Returns whether each level of one setting occurs with one level of the other, and vice versa."""
    pairs = set(zip(runs[one], runs[other], strict=True))
    return len(pairs) == len(set(runs[one])) == len(set(runs[other]))


def _joint_of(runs: pd.DataFrame, names: tuple[str, ...]) -> Joint:
    """Returns the joint setting of a group; its levels follow the order of the levels of the group's first setting."""
    keys = sorted(set(runs[list(names)].itertuples(index=False, name=None)), key=lambda key: level_order(key[0]))
    levels = {key: joint_level(dict(zip(names, key, strict=True)), place) for place, key in enumerate(keys)}
    return Joint(names, joint_name(names), levels)


def with_joints(runs: pd.DataFrame, found: Sequence[Joint]) -> pd.DataFrame:
    """Returns the runs with one more column for each joint setting."""
    return runs.assign(**{joint.name: joint.column(runs) for joint in found})


def names_with(settings: Sequence[str], found: Sequence[Joint]) -> tuple[str, ...]:
    """Returns the settings; the first of a group is replaced by the joint setting, and the others are removed."""
    by_name = {name: joint.name for joint in found for name in joint.names}
    return tuple(dict.fromkeys(by_name.get(name, name) for name in settings))


_UNNOTICED = 0.1
"""Largest share of the cores that other programs may use without effect on a run."""


def crowded(others: float, ranks: int, cpus: int) -> bool:
    """Returns whether ranks had to wait for a core because other programs used `others` cores on average."""
    return others > _UNNOTICED * cpus and ranks + others > cpus


@dataclass(frozen=True)
class Measure:
    """A measured value of each run: its `name` for people, its `unit`, the `column` of the frame of runs that has it,
    and the `operation` among the result's phases that it belongs to, if any.

    `less_is_better` is True for times; `of_storage` is True if the value depends on the storage. All comparisons use
    rates (for a time its reciprocal), so that a ratio above 1 is always better.
    """

    name: str
    unit: str = "MiB/s"
    column: str = "bandwidth"
    operation: str = ""
    less_is_better: bool = False
    of_storage: bool = True

    @property
    def axis(self) -> str:
        """Returns the measure's name and unit."""
        return f"{self.name}, {self.unit}"

    def rates(self, values: Sequence[float]) -> list[float]:
        """Converts values to rates, which grow with better results."""
        return [1.0 / value for value in values] if self.less_is_better else list(values)

    def span(self, value: float, low: float | None, high: float | None) -> tuple[float, float | None, float | None]:
        """Converts an interval of rates back to the unit of the measure."""
        if not self.less_is_better:
            return value, low, high
        return 1.0 / value, 1.0 / high if high else None, 1.0 / low if low else None

    def better(self, one: float, other: float) -> bool:
        """Returns whether one value is better than another."""
        return one < other if self.less_is_better else one > other


BANDWIDTH = Measure("bandwidth")
