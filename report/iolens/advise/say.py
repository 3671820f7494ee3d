"""Formats numbers and names for the sentences of the advice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from iolens.log import Job
from iolens.metrics.comparison.settings import brief_seconds_text as brief_seconds
from iolens.metrics.comparison.settings import seconds_text, speed_text, three_digits, two_digits
from iolens.metrics.comparison.settings import volume_text as size
from iolens.metrics.files.families import FEWEST, families, family_name
from iolens.metrics.files.overview import paths
from iolens.metrics.job.spent import Spent

__all__ = [
    "and_others",
    "at_most",
    "brief_seconds",
    "count",
    "files",
    "members",
    "percent",
    "rate",
    "run_time",
    "seconds",
    "size",
    "three_digits",
    "two_digits",
]


def count(value: float, noun: str = "") -> str:
    """Formats a count with its noun, such as `1 rank` or `12,000 writes`."""
    number = f"{round(value):,}"
    if not noun:
        return number
    return f"{number} {noun}" if round(value) == 1 else f"{number} {noun}{'es' if noun.endswith('s') else 's'}"


def percent(part: float) -> str:
    """Formats a share between 0 and 1 as per cent, such as `2.0 %` or `34 %`; a share below 1 that would round to 100 %
    becomes `> 99 %`.
    """
    value = 100 * part
    if 99.5 <= value < 100:
        return "> 99 %"
    return f"{value:.1f} %" if value < 9.95 else f"{value:.0f} %"


def at_most(part: float) -> str:
    """Returns a share of one as an upper bound, rounded up: 0.0432 is `4.4 %`."""
    value = 100 * part
    if value <= 9.9:
        return f"{math.ceil(value * 10 - 1e-9) / 10:.1f} %"
    return f"{math.ceil(value - 1e-9)} %"


def run_time(job: Job) -> str:
    """Returns the run time of a job: `3 min 20 s`, or `at most 2 s` if its clock counts whole seconds."""
    return f"at most {job.run_time:.0f} s" if job.coarse else seconds(job.run_time)


def seconds(spent: Spent | float) -> str:
    """Formats a time such as `4.2 s`; `2.0 to 4.2 s` if the log leaves it open."""
    if not isinstance(spent, Spent):
        return seconds_text(spent)
    least, most = seconds_text(spent.least), seconds_text(spent.most)
    if not spent.is_interval or least == most:
        return most
    value, _, unit = least.rpartition(" ")
    return f"{value if most.endswith(f' {unit}') and ' ' not in value else least} to {most}"


def rate(moved: float, spent: Spent | float) -> str:
    """Formats bytes over seconds as a rate, such as `312 MiB/s`."""
    time = spent.about if isinstance(spent, Spent) else spent
    return speed_text(moved / time) if time > 0 else "an unknown rate"


def files(job: Job, ids: Sequence[int] | Iterable[int]) -> str:
    """Returns files by name: `out.dat`, `out.dat and 3 other files`, `plt#####/Cell_## (48,000 files)`. The first files
    represent the others.
    """
    keys = list(ids)
    if not keys:
        return "no file"
    kin = families(paths(job, keys if len(keys) >= FEWEST else keys[:1]))
    own = int(kin.sizes[0])
    name = PurePosixPath(kin.labels[0]).name if own == 1 else members(family_name(kin.labels[0]), own)
    return name if len(keys) == own else f"{name} and {count(len(keys) - own, 'other file')}"


def members(label: str, number: float, noun: str = "file") -> str:
    """Returns a label of a family of files with the number of its members; for one member, only the label."""
    return label if number <= 1 else f"{label} ({count(number, noun)})"


def and_others(number: int) -> str:
    """Returns a text about other files that are like the described one; empty if there is none."""
    return f", and {count(number, 'other file')} like it" if number > 0 else ""
