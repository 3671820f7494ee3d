"""Settings that change side by side, as `together` of an experiment makes them: one setting, whose levels are pairs.

As independent settings they would span a matrix in which only the diagonal was run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iolens.lazy import pd
from iolens.metrics.comparison.settings import JointLevel, joint_level, joint_name, level_order

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
