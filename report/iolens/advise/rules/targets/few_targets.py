"""The rule about few storage targets for many writers."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.stripes.ost import moved_by_target
from iolens.metrics.files.stripes.striping import named_targets
from iolens.metrics.files.use import by_file, joined_files
from iolens.metrics.grouping import without_repeats
from iolens.metrics.job.gauges import movers
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Let the file system choose the targets; do not set the first target:

@lustre:  lfs getstripe -d FOLDER              # is there an offset, or a pool?
@lustre:  lfs df FOLDER                        # are the other targets full?
@lustre:  lfs setstripe -c 1 -i -1 FOLDER      # new files anywhere
@other:  iolens stripe set -c 1 FOLDER        # new files anywhere"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence that many ranks use few of the targets that the log names."""
    targets, moved = moved_by_target(job)
    layouts, posix = job.records.get("LUSTRE"), by_file(job, "POSIX")
    if layouts is None or posix is None or not len(targets) or float(moved.sum()) < limits["much_bytes"]:
        return None
    own = joined_files(posix, without_repeats(layouts, "id"))
    own = own.where(own["ranks"] == 1)
    ranks = movers(job)
    named = named_targets(job)
    crowded = ranks >= limits["crowded_target"] * len(targets)
    if not len(own) or not crowded or named < 2 * len(targets):
        return None
    spent = slowest_seconds(job, "POSIX", own["id"], ("READ", "WRITE"))
    evidence = (
        f"{say.count(ranks, 'rank')} moved {say.size(float(moved.sum()))} to and from "
        f"{say.count(len(targets), 'target')}; the numbers of the targets show that there are {named:,} or more. "
        f"Transfers took {say.seconds(spent)} on the slowest rank."
    )
    bound = f"It assumes that the same transfers go to {named:,} targets instead of {len(targets):,}."
    return Seen(evidence, spent * (1 - len(targets) / named), bound, REMEDY)


RULE = Rule(
    id="few-targets",
    title="Few targets for the files of many ranks",
    says="ranks use their own files, at least `crowded_target` ranks per used target, although the log names twice as "
    "many targets",
    limits=("crowded_target", "much_bytes"),
    why="Ranks wait for each other at the used targets while other targets are idle.",
    read_more="man lfs-setstripe(1); https://wiki.lustre.org/Configuring_Lustre_File_Striping",
    check=check,
    bounds="too few targets",
    gauges=("stripes",),
)
