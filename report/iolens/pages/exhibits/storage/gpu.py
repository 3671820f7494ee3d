"""The exhibit about transfers between storage and GPUs."""

from __future__ import annotations

from iolens.log import Job
from iolens.metrics.job.interfaces.gpu_storage import gpu_storage
from iolens.pages import words
from iolens.pages.exhibit import Column, Exhibit

GPU_STORAGE: Exhibit[Job] = Exhibit(
    name="gpu_storage",
    title="Transfers between storage and GPUs",
    metric=gpu_storage,
    columns=[
        Column("rank", "rank"),
        Column("library", "library"),
        Column("GPU", "gpu", words.count),
        Column("read", "bytes_read", words.size),
        Column("reads", "reads", words.count),
        Column("reads by POSIX", "posix_reads", words.count),
        Column("reading, s", "read_seconds", words.seconds),
        Column("written", "bytes_written", words.size),
        Column("writes", "writes", words.count),
        Column("writes by POSIX", "posix_writes", words.count),
        Column("writing, s", "write_seconds", words.seconds),
        Column("not known", "lacks", optional=True),
    ],
    note="As cuFile and hipFile counted them. By POSIX: through the processor's memory, since the direct way was not "
    'available. cuFile counts only if its cufile.json has "cufile_stats": 3, hipFile (from 0.5 on) unless '
    "HIPFILE_STATS_LEVEL=0. This table was tested with stand-ins for both, never with a GPU.",
)
