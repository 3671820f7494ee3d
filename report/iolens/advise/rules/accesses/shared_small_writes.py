"""The rule about small writes by several ranks to one file, as when text is written."""

from __future__ import annotations

from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.remedies import COLLECTIVE
from iolens.advise.shared.sizes import small
from iolens.log import Job
from iolens.metrics.files.writers import writer_counts


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files that several ranks wrote, in small pieces, without MPI-IO."""
    return small(
        job,
        limits,
        "WRITE",
        lambda table: (table["ranks"] > 1) & (writer_counts(job, table, 2) > 1),
        COLLECTIVE,
    )


RULE = Rule(
    id="shared-small-writes",
    title="Small writes to a shared file",
    says="there are many POSIX writes to files of several writers, or some that are costly, and most are small",
    limits=("small_transfer", "small_share", "few_calls", "some_calls", "worth_gain"),
    why="In addition to the cost of the calls, the ranks take locks of the same blocks from each other.",
    read_more="https://wiki.lustre.org/Lustre_Tuning; MPI 4.1, section 14.4.2",
    check=check,
    gauges=("size",),
    bounds="small transfers",
)
