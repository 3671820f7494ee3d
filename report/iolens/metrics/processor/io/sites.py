"""I/O calls by call site: the functions that read and write, with their calls and bytes."""

from __future__ import annotations

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.overview import paths
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, PE, Ask
from iolens.metrics.processor.regions import region_paths
from iolens.metrics.processor.sampled.call_chains import table_frame, with_callers
from iolens.metrics.processor.sampled.drill import Levels, Measures, answer

LEVELS = Levels(("group", "function", "caller", "file", "region"), ("function", "caller", PE))


@once_per_job
def io_callers(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns time in I/O functions by call site, from the private table `io_sites`: rows of `drill`.

    `time` in seconds, `calls`, `bytes`; by function, its caller, and the caller of that. Levels also: group (the
    module), file and region. MPI-IO calls contain the POSIX calls inside them: filter one group to count once.
    """
    rows = table_frame(job, "io_sites")
    if rows is None:
        return None
    rows = rows.assign(
        group=rows["module"],
        file=paths(job, rows["file"]),
        region=region_paths(job, rows["region"]),
    )
    return answer(job, with_callers(job, rows), LEVELS, Measures("time", ("calls", "bytes")), ask)
