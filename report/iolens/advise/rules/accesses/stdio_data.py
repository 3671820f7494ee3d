"""The rule about data written or read through stdio in small pieces."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import among, by_file, most_first
from iolens.metrics.job.interfaces.operations import STREAMS
from iolens.metrics.job.spent import slowest_seconds
from iolens.metrics.processor.usage import least_outside_kernel

_MOSTLY = 0.5
"""Part of the time in calls from which processor time outside the kernel explains it."""

REMEDY = """\
Write binary data in blocks instead of numbers as text one by one:

  C        setvbuf(file, NULL, _IOFBF, 4 << 20);
           fwrite(array, sizeof *array, n, file);      /* not fprintf each */
  Fortran  open(..., access='stream', form='unformatted'); write (unit) array
  Python   numpy.save(path, array)                     # not numpy.savetxt
           numpy.fromfile / array.tofile, or h5py"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files, not standard streams, with many small stdio calls."""
    table = by_file(job, "STDIO")
    if table is None:
        return None
    streams = [key for key, name in job.names.items() if name in STREAMS]
    calls = table["READS"] + table["WRITES"]
    moved = table["BYTES_READ"] + table["BYTES_WRITTEN"]
    chosen = ~among(table["id"], streams) & (calls >= limits["few_calls"]) & (moved <= limits["small_transfer"] * calls)
    if not chosen.any():
        return None
    rows = most_first(moved, chosen)
    ids = table["id"][rows]
    spent = slowest_seconds(job, "STDIO", ids, ("READ", "WRITE"))
    number, size = float(calls[rows].sum()), float(moved[rows].sum())
    evidence = (
        f"{say.count(number, 'stdio call')} on {say.files(job, ids)} moved {say.size(size)}, {say.size(size / number)} "
        f"each, in {say.seconds(spent)} on the slowest rank."
    )
    worked, bounds = least_outside_kernel(job, spent.least), None
    if worked >= _MOSTLY * spent.most:
        bounds = "text or small pieces in the C library"
        evidence += (
            f" For at least {say.seconds(worked)} of it the processor was outside the kernel: it made text or copied "
            "pieces, and did not wait for storage."
        )
    bound = "It assumes that all of these calls take no time on the slowest rank."
    return Seen(evidence, spent, bound, REMEDY, bounds=bounds)


RULE = Rule(
    id="stdio-data",
    title="Data through stdio in small pieces",
    says="files other than standard streams have many small stdio calls each",
    limits=("small_transfer", "few_calls"),
    why="Formatting and 4 KiB buffers make stdio slow for data, and stdio cannot use MPI-IO.",
    read_more="man setvbuf(3); https://docs.nersc.gov/performance/io/",
    check=check,
    bounds="small transfers",
)
