"""The start of a job's processes, from the private region `start_up` and the first opens of the records."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.libraries import of_libraries
from iolens.metrics.once import once_per_job

BEFORE = "time before recording began, s"
FIRST = "time from the start of recording to the program's first open of a file of its own, s"
LIBRARIES, ENTRIES, MISSING = "libraries loaded", "entries of LD_LIBRARY_PATH", "searched entries that are not folders"


@once_per_job
def start_up(job: Job) -> Records:
    """Returns one row per known fact: `what`, and its `least` and `most` value over the processes that have it. Files
    of libraries and modules are not a program's own. Entries of LD_LIBRARY_PATH have rows if any process had some.
    Without the region there are no rows.
    """
    table = job.tables.get("start_up", Records({}))
    if not len(table):
        return Records({})
    facts = {
        BEFORE: table["seconds"][~np.isnan(table["seconds"])],
        FIRST: _first_open(job),
        LIBRARIES: table["libraries"],
    }
    if table["entries"].any():
        facts |= {ENTRIES: table["entries"], MISSING: table["missing"][table["missing"] >= 0]}
    rows = [(what, float(values.min()), float(values.max())) for what, values in facts.items() if len(values)]
    return Records.of(["what", "least", "most"], rows)


def searched_in_vain(job: Job) -> tuple[int, int, int]:
    """Returns three numbers: the entries of LD_LIBRARY_PATH on the first rank, those among them that its loader
    searched although they are not folders, and the processes with as many entries. All are 0 if the log does not tell.
    """
    table = job.tables.get("start_up", Records({}))
    asked = np.flatnonzero(table["missing"] >= 0) if len(table) else np.zeros(0, int)
    if not len(asked):
        return 0, 0, 0
    entries = table["entries"]
    first = asked[0]
    return int(entries[first]), int(table["missing"][first]), int((entries == entries[first]).sum())


def _first_open(job: Job) -> np.ndarray:
    """Returns the time of the first open of a file that is not a library's, in seconds, as an array with one element;
    empty if there is none. The standard streams are open from the start.
    """
    times = [np.zeros(0)]
    for module in ("POSIX", "STDIO"):
        records = job.records.get(module)
        if records is not None:
            streams = np.array([job.names.get(key, "").startswith("<STD") for key in records["id"].tolist()], bool)
            own = records[f"{module}_F_OPEN_START_TIMESTAMP"][~of_libraries(job, records) & ~streams]
            times.append(own[own > 0])
    opened = np.concatenate(times)
    return opened[[opened.argmin()]] if len(opened) else opened
