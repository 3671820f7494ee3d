"""The rule about jobs that load many files of libraries and modules, as Python programs do when they start."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.libraries import of_libraries
from iolens.metrics.files.use import by_file
from iolens.metrics.job.spent import NONE, slowest_seconds
from iolens.metrics.job.start_up import FIRST, start_up

REMEDY = """\
Take the software from each node's memory, not from a shared file system:

  sites    once:     tar -C ENVIRONMENT -cf software.tar .
           each job: srun --ntasks-per-node=1 mkdir -p /dev/shm/software
                     srun --ntasks-per-node=1 \\
                       tar -C /dev/shm/software -xf software.tar
           conda-pack makes such an archive; a container image or SquashFS
           that is mounted on each node does the same.
  loading  spindle srun ...   reads each file once for all ranks
  Python   fewer and shorter entries of PYTHONPATH; fewer imports"""


def loaded_files(job: Job, table: Records) -> np.ndarray:
    """Returns a mask of the files in a table of `by_file` that are libraries or modules and were not written."""
    mask: np.ndarray = of_libraries(job, table) & (table["BYTES_WRITTEN"] == 0)
    return mask


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the opens and stats of files of libraries and modules, and the time that they and the reading of these
    files took on the slowest rank.
    """
    calls, spent, files, started = 0.0, NONE, 0, start_up(job)
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is None:
            continue
        loaded = table.where(loaded_files(job, table))
        calls += sum(float(np.sum(loaded.get(counter, 0.0))) for counter in ("OPENS", "STATS"))
        spent += slowest_seconds(job, name, loaded["id"], ("READ", "META"))
        files += len(loaded)
    if calls < limits["few_calls"] or spent.about < max(limits["slow_start"], limits["worth_gain"] * job.run_time):
        return None
    evidence = (
        f"{say.count(max(job.nprocs, 1), 'process')} opened or looked up {say.count(files, 'file')} of libraries and "
        f"modules {say.count(calls, 'time')}, which took up to {say.seconds(spent)} on the slowest rank."
    )
    begun = [most for what, most in started.rows("what", "most") if what == FIRST] if len(started) else []
    if begun:
        evidence += f" The first file of the program's own was opened {say.seconds(begun[0])} after recording began."
    return Seen(evidence, spent, "It assumes that loading takes no time on the slowest rank.", REMEDY)


RULE = Rule(
    id="start-up-storm",
    title="Many files of libraries and modules are loaded",
    says="`few_calls` opens and stats or more, over all ranks, were of files of libraries and modules, and with the "
    "reading of these files they took `slow_start` and `worth_gain` of the run on the slowest rank",
    limits=("few_calls", "slow_start", "worth_gain"),
    why="A shared file system answers each rank by itself, so this time grows with ranks times files.",
    read_more="https://computing.llnl.gov/projects/spindle; https://conda.github.io/conda-pack",
    check=check,
    before=("metadata-storm",),
)
