"""Bytes unevenly over targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.advise import say
from iolens.advise.remedies import stripes_text
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules import narrow_stripes
from iolens.metrics.ost import moved_by_target
from iolens.metrics.share import slowest_seconds

if TYPE_CHECKING:
    from iolens.advise.limits import Limits
    from iolens.log import Job


def check(job: Job, limits: Limits) -> Seen | None:
    """The target with most bytes against the mean of those used.

    Silent where files of too few stripes are told to have more: the targets get even by that.
    """
    targets, moved = moved_by_target(job)
    if len(targets) < 2 or float(moved.sum()) < limits["much_bytes"]:
        return None
    most, mean = float(moved.max()), float(moved.mean())
    if most < limits["uneven"] * mean or narrow_stripes.check(job, limits) is not None:
        return None
    spent = slowest_seconds(job, "POSIX", job.records["LUSTRE"]["id"], ("READ", "WRITE")) if both(job) else 0.0
    evidence = (
        f"Target {targets[moved.argmax()]} moved {say.size(most)}, {most / mean:.1f} times "
        f"the mean of {say.count(len(targets), 'target')}; transfers took {say.seconds(spent)} of the slowest rank."
    )
    bound = "All targets as busy as their mean: the rest of the busiest one's part of the transfers' time."
    return Seen(evidence, spent * (1 - mean / most), bound, stripes_text(-1))


def both(job: Job) -> bool:
    """Whether times of files with layouts are known."""
    return "LUSTRE" in job.frames and "POSIX" in job.frames


RULE = Rule(
    id="uneven-targets",
    title="Bytes unevenly over targets",
    says="one target moved twice the mean (`uneven`) of those used, and `narrow-stripes` is not said",
    limits=("uneven", "much_bytes"),
    why="The run waits for the busiest target while others are idle.",
    read_more="https://wiki.lustre.org/Configuring_Lustre_File_Striping",
    check=check,
    bounds="one target",
)
