"""The numbers of several subjects side by side, and the difference of each from the first subject's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, geometric_mean
from typing import Any

from iolens.lazy import pd
from iolens.metrics.once import once_per_job
from iolens.metrics.statistics.intervals import CONFIDENCE, Ratio, family
from iolens.metrics.statistics.paired import run_blocks
from iolens.metrics.subjects.subject import Subject, Subjects
from iolens.metrics.subjects.values import COMPLETE, PROFILES, values_of
from iolens.missing import is_nan

Key = tuple[str, str, str, int]
"""A value's group, name, unit, and whether more or less is better."""

SAME, _MORE, _LESS, UNSURE = "same", "more", "less", "inconclusive"
_ONE_RUN, ABSENT, _NO_RATIO = "one run", "absent", "no ratio"
"""Reasons why a subject's number has no ratio to the first one's. `one run`: they differ, and no repetitions show how
much of it is chance; `no ratio`: there are zeros among the repetitions.
"""


@once_per_job
def aligned(subjects: Subjects) -> pd.DataFrame:
    """Returns one row per number: group, name, unit, better, then columns for each subject, named by its letter.

    `value A`: the typical value (of repeated positive values `statistics.Family.typical`, else their mean), `low A` and
    `high A` its interval, `count A` the measurements. Of each subject but the first, against the first: `change B`
    (difference of the values), `ratio B` with `ratio_low B` and `ratio_high B` (`statistics.Family.against`, or the
    ratio of the quotients within blocks if all are runs of one sweep; the intervals of one row hold together over the
    subjects, by Bonferroni), and `standing B`.
    """
    measured, blocks = [numbers(subject) for subject in subjects.all], blocks_of(subjects)
    keys = _merged_keys([list(each) for each in measured])
    rows = [
        dict(zip(("group", "name", "unit", "better"), key, strict=True))
        | _aligned_row([_measurements(each, key) for each in measured], subjects.letters, blocks)
        for key in keys
    ]
    return pd.DataFrame(_largest_first(rows, subjects.letters))


@once_per_job
def blocks_of(subjects: Subjects) -> list[list[int]] | None:
    """Returns the block of each run of each subject if all are runs of one sweep (`run_blocks`); else None.

    Only a sweep makes pairs of runs. Its runs have the number of their repetition, and lie in one folder of settings.
    """
    trials = [trial for subject in subjects.all for trial in subject.trials]
    if len({trial.path.resolve().parent.parent for trial in trials}) > 1:
        return None
    if any("repetition" not in (trial.record.get("point") or {}) for trial in trials):
        return None
    return run_blocks(
        [
            pd.DataFrame(
                [(trial.record.get("started"), trial.record["point"]["repetition"]) for trial in subject.trials],
                columns=["started", "repetition"],
            )
            for subject in subjects.all
        ]
    )


def _measurements(found: Mapping[Key, Sequence[float]], key: Key) -> Sequence[float]:
    """Returns the measurements of a number: 0 for a function that a profile does not name."""
    runs = max((len(each) for other, each in found.items() if other[0] == key[0]), default=0)
    known = found.get(key, ())
    return [*known, *[0.0] * (runs - len(known))] if key[0] in COMPLETE else known


def _largest_first(rows: list[dict[str, Any]], letters: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the rows group by group: rows of a profile by the size of their change, the largest first; rows of other
    groups in their old order.
    """

    def size(row: dict[str, Any]) -> float:
        """Returns the largest change of any subject; 0 if none is known."""
        changes = [abs(row[f"change {letter}"]) for letter in letters[1:]]
        return max((one for one in changes if not is_nan(one)), default=0.0)

    ordered: list[dict[str, Any]] = []
    for group in dict.fromkeys(row["group"] for row in rows):
        each = [row for row in rows if row["group"] == group]
        ordered += sorted(each, key=size, reverse=True) if group in PROFILES else each
    return ordered


def numbers(subject: Subject) -> Mapping[Key, Sequence[float]]:
    """Returns all measurements of a subject, by the measured quantity: one per run, or those within its only run.

    Measurements within one run are more alike than those of different runs, so that several runs have their means.
    """
    found: dict[Key, list[float]] = {}
    for trial in subject.trials:
        within: dict[Key, list[float]] = {}
        for value in values_of(trial):
            within.setdefault((value.group, value.name, value.unit, value.better), []).append(float(value.value))
        for key, values in within.items():
            found.setdefault(key, []).extend(values if len(subject.trials) == 1 else [_mean(values)])
    return found


def _mean(values: Sequence[float]) -> float:
    """Returns the geometric mean of positive values, the arithmetic mean of others; equal values are unchanged."""
    if len(set(values)) == 1:
        return values[0]
    return geometric_mean(values) if min(values) > 0 else fmean(values)


def _merged_keys(orders: Sequence[Sequence[Key]]) -> list[Key]:
    """Returns each key once, groups together; keys that only a later subject has stand at the end of their group."""
    keys = list(dict.fromkeys(key for order in orders for key in order))
    groups = list(dict.fromkeys(key[0] for key in keys))
    return sorted(keys, key=lambda key: groups.index(key[0]))


def _aligned_row(
    groups: Sequence[Sequence[float]], letters: Sequence[str], blocks: Sequence[Sequence[int]] | None
) -> dict[str, Any]:
    """Returns one row of `aligned`: a number's typical value in each subject, and its change and ratio against the
    first one.
    """
    row: dict[str, Any] = {}
    for letter, group in zip(letters, groups, strict=True):
        value, low, high = typical(group)
        row |= {f"value {letter}": value, f"low {letter}": low, f"high {letter}": high, f"count {letter}": len(group)}
    for place, (letter, group) in enumerate(list(zip(letters, groups, strict=True))[1:], 1):
        paired = None if blocks is None else _quotients(groups[0], group, blocks[0], blocks[place])
        found = _ratio_to_base(groups[0], group, len(groups) - 1, paired)
        row |= {
            f"change {letter}": difference(row[f"value {letters[0]}"], row[f"value {letter}"]),
            f"ratio {letter}": found.value,
            f"ratio_low {letter}": math.nan if found.low is None else found.low,
            f"ratio_high {letter}": math.nan if found.high is None else found.high,
            f"standing {letter}": _against_base(groups[0], group, found),
        }
    return row


def difference(base: float, value: float) -> float:
    """Returns the value less the base; 0 if they differ only by rounding."""
    return 0.0 if math.isclose(base, value, rel_tol=1e-12) else value - base


def typical(group: Sequence[float]) -> tuple[float, float, float]:
    """Returns the typical value with its interval, NaN if there is none. A value that is equal in all runs is returned
    unchanged.
    """
    if not group:
        return math.nan, math.nan, math.nan
    if len(set(group)) == 1:
        end = group[0] if len(group) > 1 else math.nan
        return group[0], end, end
    if min(group) <= 0:
        return fmean(group), math.nan, math.nan
    found = family([group]).typical(0)
    low, high = (math.nan if end is None else end for end in (found.low, found.high))
    return found.value, low, high


def _quotients(
    base: Sequence[float], group: Sequence[float], base_blocks: Sequence[int], blocks: Sequence[int]
) -> list[float] | None:
    """Returns the values of a group over those of the base in the same blocks; None if some runs have no value, or a
    value is 0, or fewer than two blocks have both. A block with several runs of a side has their mean.
    """
    if len(base) != len(base_blocks) or len(group) != len(blocks) or min(*base, *group) <= 0:
        return None
    before, after = _by_block(base, base_blocks), _by_block(group, blocks)
    found = [value / before[block] for block, value in after.items() if block in before]
    return found if len(found) > 1 else None


def _by_block(values: Sequence[float], blocks: Sequence[int]) -> dict[int, float]:
    """Returns the mean of the positive values in each block."""
    return {
        block: _mean([value for value, own in zip(values, blocks, strict=True) if own == block])
        for block in sorted(set(blocks))
    }


def _ratio_to_base(
    base: Sequence[float], group: Sequence[float], comparisons: int, paired: Sequence[float] | None
) -> Ratio:
    """Returns the ratio of a group to the base, from their `paired` quotients if there are any; NaN if either has a
    zero or no values.
    """
    if not base or not group or min(*base, *group) <= 0:
        return Ratio(math.nan, None, None)
    if len(set(base)) == len(set(group)) == 1:
        quotient = group[0] / base[0]
        return Ratio(quotient, *((quotient, quotient) if min(len(base), len(group)) > 1 else (None, None)))
    if paired is not None:
        return family([paired]).contrast([(1.0, 0)], (1.0 - CONFIDENCE) / comparisons)
    return family([base, group]).against(1, 0, CONFIDENCE, comparisons)


def _against_base(base: Sequence[float], group: Sequence[float], ratio: Ratio) -> str:
    """Returns the standing of a subject's number against the base's, such as CHANGED or ABSENT."""
    if not base or not group:
        return ABSENT
    constant = len(set(base)) == len(set(group)) == 1
    if constant and base[0] == group[0]:
        return SAME
    if len(base) < 2 or len(group) < 2:
        return _ONE_RUN
    if constant:
        return _MORE if group[0] > base[0] else _LESS
    if math.isnan(ratio.value):
        return _NO_RATIO
    return UNSURE if not ratio.is_clear else _MORE if ratio.value > 1 else _LESS
