"""The rule about a job in which opening, closing, querying and removing files takes a large share of the I/O time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules.names import start_up_storm
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.use import by_file
from iolens.metrics.job.share import extra_seconds, io_seconds
from iolens.metrics.job.spent import NONE, of_ranks, slowest_seconds

_CALLS = {"OPENS": "open", "STATS": "stat", "SEEKS": "seek", "RENAME_SOURCES": "rename"}
_EXTRA = {"unlinks": "unlink", "mkdirs": "mkdir", "rmdirs": "rmdir", "links": "link", "truncates": "truncate"}
"""Counters of POSIX and STDIO, and columns of `posix_extra`, with the names of their calls."""

_MOST_OF_RUN = 0.5
"""Part of the run that calls must take if they are not many: a few hundred files that are written once are no fault."""

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
    """Compares metadata time with all I/O time. Files of libraries and modules, which every program loads when it
    starts, are left out if `start-up-storm` counts their time, or if calls are not many.
    """
    tables = {name: table for name in ("POSIX", "STDIO") if (table := by_file(job, name)) is not None}
    few = _asked(_counted(job, tables)) < limits["few_calls"]
    if few or start_up_storm.check(job, limits) is not None:
        tables = {name: table.where(~start_up_storm.loaded_files(job, table)) for name, table in tables.items()}
    if few:  # A close waits for the data that was written before.
        most = limits["large_transfer"]
        tables = {name: table.where(table["BYTES_WRITTEN"] < most * table["OPENS"]) for name, table in tables.items()}
    calls = _counted(job, tables)
    spent = sum((slowest_seconds(job, name, table["id"], ("META",)) for name, table in tables.items()), start=NONE)
    own, common = extra_seconds(job)
    spent += of_ranks(job, own + common)
    half = spent.about >= _MOST_OF_RUN * job.run_time
    if _asked(calls) < limits["few_calls"] and not (half and _asked(calls) >= limits["some_calls"]):
        return None
    total, files = io_seconds(job) or 0.0, sum(len(table) for table in tables.values())
    if spent.about < limits["meta_share"] * total:
        return None
    done = ", ".join(say.count(number, call) for call, number in calls.items() if number)
    evidence = (
        f"Open, close, stat and the like took {say.seconds(spent)} of the {say.seconds(total)} of I/O of the slowest "
        f"rank: {done} on {say.count(files, 'file')}."
    )
    return Seen(
        evidence, spent.within(total), "It assumes that all metadata calls take no time on the slowest rank.", REMEDY
    )


def _counted(job: Job, tables: Mapping[str, Records]) -> dict[str, float]:
    """Returns the number of metadata calls of each kind over all ranks."""
    found = {
        call: sum(float(np.sum(table.get(counter, 0.0))) for table in tables.values())
        for counter, call in _CALLS.items()
    }
    extra = job.tables.get("posix_extra", Records({}))
    return found | {call: float(extra[column].sum()) for column, call in _EXTRA.items() if column in extra}


def _asked(calls: Mapping[str, float]) -> float:
    """Returns the number of calls that ask a server."""
    return sum(number for call, number in calls.items() if call != "seek")


RULE = Rule(
    id="metadata-storm",
    title="Metadata calls take much of the I/O time",
    says="many calls of open, close, stat, unlink, rename and the like, or some that take half of the run, take "
    "`meta_share` of the I/O time or more; without files of libraries and modules if `start-up-storm` is reported",
    limits=("meta_share", "few_calls", "some_calls"),
    why="These calls move no data, and one metadata server answers them for all ranks and all users.",
    read_more="https://wiki.lustre.org/Data_on_MDT; man lfs-setstripe(1)",
    check=check,
    gauges=("balance", "size"),
    bounds="metadata",
)
