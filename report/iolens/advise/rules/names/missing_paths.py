"""The rule about many opens and stats of paths that do not exist, typical of programs that search long lists of
folders.
"""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.job.interfaces.failed import MISSING, failed_calls
from iolens.metrics.job.start_up import searched_in_vain

_CALLS_PER_ENTRY = 2
"""Minimum number of calls that glibc's loader makes for a folder that does not exist: it tries to open a file in the
folder, and then asks for the folder itself.
"""

REMEDY = """\
Search fewer folders, and search them once for all ranks:

  Python   export PYTHONPATH with the folders that are needed, and no more;
           a virtual environment or container image on each node
  linking  -Wl,-rpath with the few folders of the libraries
           (fewer entries in LD_LIBRARY_PATH)
  loading  unset LD_LIBRARY_PATH, or keep its folders that exist
  MPI      one rank looks for the file and broadcasts its path (MPI_Bcast)
  sites    the software as one archive, unpacked to /dev/shm of each node; or
           Spindle, which loads libraries once for all ranks"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the failed opens and stats of missing paths, including those of the loaders, and the time that the
    recorded calls among them took on the slowest rank.
    """
    found = failed_calls(job)
    entries, missing, processes = searched_in_vain(job)
    loaders = _CALLS_PER_ENTRY * missing * processes
    rows = [
        row
        for row in (found.rows("operation", "error", "calls", "most", "slowest") if len(found) else [])
        if row[0] in ("open", "stat") and row[1] in MISSING
    ]
    calls, most, spent = (sum(row[place] for row in rows) for place in (2, 3, 4))
    costly = calls >= limits["many_opens"] and spent >= limits["worth_gain"] * job.run_time
    if calls + loaders < limits["few_calls"] and not costly:
        return None
    evidence = [
        f"{say.count(calls)} opens and stats were of paths that do not exist, up to {say.count(most, 'call')} "
        f"on one rank; they took at most {say.seconds(spent)} on the slowest rank."
    ] * (calls > 0)
    if loaders:
        evidence.append(
            f"{missing:,} of the {entries:,} entries of LD_LIBRARY_PATH are not folders, and the loader searched "
            f"them in {say.count(processes, 'process')}: at least {loaders:,} calls that no record contains."
        )
    return Seen(" ".join(evidence), spent, "It assumes that these calls take no time on the slowest rank.", REMEDY)


RULE = Rule(
    id="missing-paths",
    title="Many paths are searched that do not exist",
    says="at least `few_calls` opens and stats over all ranks were of paths that do not exist, with those that loaders "
    "must have made for entries of LD_LIBRARY_PATH; or `many_opens` recorded ones took `worth_gain` of the run",
    limits=("few_calls", "many_opens", "worth_gain"),
    why="Each of these calls asks a metadata server, and clients keep the answer that a path does not exist for a "
    "shorter time than other answers.",
    read_more="man 8 ld.so; https://computing.llnl.gov/projects/spindle",
    check=check,
    beside_io=True,
    always=True,
)
