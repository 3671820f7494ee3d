"""The rule about a job in which opening, closing and querying files takes a large share of the I/O time."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules.names import start_up_storm
from iolens.log import Job
from iolens.metrics.files.use import by_file
from iolens.metrics.job.share import io_seconds
from iolens.metrics.job.spent import NONE, slowest_seconds

_CALLS = {"OPENS": "open", "STATS": "stat", "SEEKS": "seek"}

REMEDY = """\
Use fewer files, and open them less often:
  - open a file once and keep it open; let one rank read it, and broadcast
    the data (MPI_Bcast);
  - pack small files into one (HDF5, netCDF, ADIOS2; SquashFS for input);
  - Python environments: a container image, or a copy in /tmp or /dev/shm of
    each node.
@lustre:
@lustre:Keep the data of small files on the metadata server of Lustre:
@lustre:
@lustre:  lfs setstripe -E 64K -L mdt -E -1 -c 1 FOLDER"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Compares metadata time with all I/O time; without files of libraries and modules if `start-up-storm` counts
    their time.
    """
    tables = {name: table for name in ("POSIX", "STDIO") if (table := by_file(job, name)) is not None}
    if start_up_storm.check(job, limits) is not None:
        tables = {name: table.where(~start_up_storm.loaded_files(job, table)) for name, table in tables.items()}
    calls = {counter: sum(float(np.sum(table.get(counter, 0.0))) for table in tables.values()) for counter in _CALLS}
    if calls["OPENS"] + calls["STATS"] < limits["few_calls"]:
        return None
    spent = sum((slowest_seconds(job, name, table["id"], ("META",)) for name, table in tables.items()), start=NONE)
    total, files = io_seconds(job) or 0.0, sum(len(table) for table in tables.values())
    if spent.about < limits["meta_share"] * total:
        return None
    done = ", ".join(say.count(number, _CALLS[counter]) for counter, number in calls.items() if number)
    evidence = (
        f"Open, close, stat and seek took {say.seconds(spent)} of the {say.seconds(total)} of I/O of the slowest rank: "
        f"{done} on {say.count(files, 'file')}."
    )
    return Seen(
        evidence, spent.within(total), "It assumes that all metadata calls take no time on the slowest rank.", REMEDY
    )


RULE = Rule(
    id="metadata-storm",
    title="Metadata calls take much of the I/O time",
    says="many calls of open, close, stat and seek take `meta_share` of the I/O time or more; without files of "
    "libraries and modules if `start-up-storm` is reported",
    limits=("meta_share", "few_calls"),
    why="These calls move no data, and one metadata server answers them for all ranks and all users.",
    read_more="https://wiki.lustre.org/Data_on_MDT; man lfs-setstripe(1)",
    check=check,
    gauges=("balance", "size"),
    bounds="metadata",
)
