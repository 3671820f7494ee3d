"""The rule about bytes that are distributed unevenly over targets."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.advise.rules.targets import narrow_stripes
from iolens.advise.shared.capacity import filled_stripes
from iolens.log import Job
from iolens.metrics.files.stripes.ost import moved_by_target
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
    spent = slowest_seconds(job, "POSIX", job.records["LUSTRE"]["id"], ("READ", "WRITE")) if _both(job) else NONE
    evidence = (
        f"Target {targets[moved.argmax()]} moved {say.size(most)}, {most / mean:.1f} times "
        f"the mean of {say.count(len(moved), 'target')}; transfers took {say.seconds(spent)} on the slowest rank."
    )
    bound = "It assumes that the busiest target moves only the mean of all targets, at the same rate."
    return Seen(evidence, spent * (1 - mean / most), bound, "{layout}", layout=_even_layout(job, len(targets), limits))


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
    "not count), and `narrow-stripes` is not reported",
    limits=("uneven", "much_bytes"),
    why="The run waits for the busiest target while others are idle.",
    read_more="https://wiki.lustre.org/Configuring_Lustre_File_Striping",
    check=check,
    gauges=("stripes",),
    bounds="one target",
)
