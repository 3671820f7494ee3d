"""The rule about bytes that are distributed unevenly over targets."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.advise.rules.targets import narrow_stripes
from iolens.advise.shared.capacity import filled_stripes
from iolens.log import Job
from iolens.metrics.files.stripes.ost import moved_by_target, target_rows
from iolens.metrics.files.stripes.striping import reached_stripes, striped_files
from iolens.metrics.files.use import most_first
from iolens.metrics.job.spent import NONE, slowest_seconds

_TINY = 0.001
"""A target that has less than this share of the busiest target's bytes holds only tiny files."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the target with most bytes, compared with the mean of the targets in use. Returns None if a rule already
    advises more stripes for a file, because that evens out the targets.
    """
    targets, moved = moved_by_target(job)
    if len(targets) < 2 or float(moved.sum()) < limits["much_bytes"]:
        return None
    used = moved >= _TINY * moved.max()
    targets, moved = targets[used], moved[used]
    most, mean = float(moved.max()), float(moved.mean())
    if most < limits["uneven"] * mean or narrow_stripes.check(job, limits) is not None:
        return None
    busiest = int(targets[moved.argmax()])
    spent = slowest_seconds(job, "POSIX", job.records["LUSTRE"]["id"], ("READ", "WRITE")) if _both(job) else NONE
    left = max(mean / most, _relative_rate(job, busiest))
    if left >= 1:
        return None
    evidence = (
        f"Target {busiest} moved {say.size(most)}, {most / mean:.1f} times "
        f"the mean of {say.count(len(moved), 'target')}; transfers took {say.seconds(spent)} on the slowest rank."
    )
    bound = (
        "It assumes that the busiest target moves only the mean of all targets, at the same rate."
        if left == mean / most
        else "It assumes that the files on the busiest target get the rate that the files on other targets had."
    )
    return Seen(evidence, spent * (1 - left), bound, "{layout}", layout=_even_layout(job, len(targets), limits))


def _relative_rate(job: Job, busiest: int) -> float:
    """Returns the rate of a rank on the busiest target, as a part of the rate on the other targets; 0 if the log does
    not have the times of each target.
    """
    table = target_rows(job)
    if table is None or np.isnan(table["seconds"]).any():
        return 0.0
    here = table["ost"] == busiest
    rates = [
        float(table["bytes"][part].sum()) / max(float(table["seconds"][part].sum()), 1e-9) for part in (here, ~here)
    ]
    return rates[0] / rates[1] if rates[1] > 0 else 0.0


def _even_layout(job: Job, targets: int, limits: Limits) -> ProposedStripes | None:
    """Returns a layout that spreads the file with the most bytes moved over the targets in use, as many of them as it
    can fill; None without a file.
    """
    table = striped_files(job)
    if table is None or not len(table):
        return None
    first = most_first(table["moved"])[0]
    size, unit = float(table["size"][first]), max(1 << 20, int(table["stripe_size"][first]))
    fed = max(1, int(filled_stripes(table["size"], limits)[first]))
    count = min(targets, fed, reached_stripes(targets, unit, size))
    return ProposedStripes(count, unit, tuple(table["id"][table["size"] > (count - 1) * unit].tolist()))


def _both(job: Job) -> bool:
    """Returns whether the log has both the layouts of files (LUSTRE) and the times of calls on files (POSIX)."""
    return "LUSTRE" in job.frames and "POSIX" in job.frames


RULE = Rule(
    id="uneven-targets",
    title="Bytes unevenly over targets",
    says="one target moved at least `uneven` times the mean of the targets in use (targets with only tiny files do "
    "not count), files on it were slower than on the others if the log has their times, and `narrow-stripes` is not "
    "reported",
    limits=("uneven", "much_bytes"),
    why="The run waits for the busiest target while others are idle.",
    read_more="https://wiki.lustre.org/Configuring_Lustre_File_Striping",
    check=check,
    gauges=("stripes",),
    bounds="one target",
)
