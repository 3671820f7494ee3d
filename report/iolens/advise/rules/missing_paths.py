"""Many opens and stats of paths that do not exist, as programs make them that search long lists of folders."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.job.failed import MISSING, failed_calls

REMEDY = """\
Search fewer folders, and search them once for all ranks:

  Python   export PYTHONPATH with the folders that are needed, and no more;
           a virtual environment or container image on each node
  linking  -Wl,-rpath with the few folders of the libraries
           (fewer entries in LD_LIBRARY_PATH)
  MPI      one rank looks for the file and broadcasts its path (MPI_Bcast)
  sites    the software as one archive, unpacked to /dev/shm of each node; or
           Spindle, which loads libraries once for all ranks"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the failed opens and stats of missing paths, and the time they took on the slowest rank."""
    found = failed_calls(job)
    if not len(found):
        return None
    rows = [
        row
        for row in found.rows("operation", "error", "calls", "most", "slowest")
        if row[0] in ("open", "stat") and row[1] in MISSING
    ]
    calls, most, spent = (sum(row[place] for row in rows) for place in (2, 3, 4))
    if calls < limits["few_calls"] and (calls < limits["many_opens"] or spent < limits["worth_gain"] * job.run_time):
        return None
    evidence = (
        f"{say.count(calls)} opens and stats of paths that do not exist, up to {say.count(most, 'call')} "
        f"on one rank; they took at most {say.seconds(spent)} on the slowest rank."
    )
    return Seen(evidence, spent, "It assumes that these calls take no time on the slowest rank.", REMEDY)


RULE = Rule(
    id="missing-paths",
    title="Many paths are searched that do not exist",
    says="`few_calls` opens and stats or more found no such path, over all ranks; or `many_opens` that took "
    "`worth_gain` of the run",
    limits=("few_calls", "many_opens", "worth_gain"),
    why="Each of these calls asks a metadata server, and an answer that there is no such path is not kept as long "
    "as one that there is.",
    read_more="man 8 ld.so; https://computing.llnl.gov/projects/spindle",
    check=check,
    beside_io=True,
    always=True,
)
