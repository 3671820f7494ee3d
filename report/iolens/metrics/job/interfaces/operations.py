"""The number of calls of each operation, their sizes, and the order of their offsets."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.format.counters import BUCKETS
from iolens.log.records import Records
from iolens.metrics.files.use import among
from iolens.metrics.grouping import Groups, labelled, ordered, stacked
from iolens.metrics.job.interfaces.layers import LAYERS, total
from iolens.metrics.once import once_per_job

STREAMS = ("<STDIN>", "<STDOUT>", "<STDERR>")
"""Names of the standard streams' records."""
_KEPT = ("ACCESS", "COUNT")
"""Ends of the names of the two counters that a record has for each of its most frequent access sizes: size and count.
"""


@once_per_job
def operation_counts(job: Job) -> Records:
    """Returns calls by `module` and `operation`, summed over all records; None (NaN) where they were not recorded."""
    rows = [
        (name, operation, total(job.records[name], *(f"{layer.prefix}_{counter}" for counter in counters)))
        for name, layer in LAYERS.items()
        if name in job.records
        for operation, counters in layer.operations.items()
    ]
    return Records.of(["module", "operation", "count"], rows)


@once_per_job
def operations_called(job: Job) -> Records:
    """Returns `operation_counts` without the operations that were never called.

    `on_streams`: the number of calls on standard input, output and error, by the names of STDIO's records.
    """
    found = operation_counts(job)
    found = found.where(found["count"] != 0)
    streams = [
        _stream_calls(job, operation) if module == "STDIO" else 0
        for module, operation in found.rows("module", "operation")
    ]
    return found.beside({"on_streams": np.array(streams, "i8")})


@once_per_job
def syncs(job: Job) -> int:
    """Returns calls that send written data to the storage: fsync, fdatasync and MPI_File_sync, over all files."""
    counters = {"POSIX": ("POSIX_FSYNCS", "POSIX_FDSYNCS"), "MPI-IO": ("MPIIO_SYNCS",)}
    return sum(total(job.records[name], *names) or 0 for name, names in counters.items() if name in job.records)


def _stream_calls(job: Job, operation: str) -> int:
    """Returns the number of calls of a STDIO operation on standard streams."""
    records, layer = job.records["STDIO"], LAYERS["STDIO"]
    streams = records.where(among(records["id"], stream_ids(job)))
    return total(streams, *(f"{layer.prefix}_{counter}" for counter in layer.operations[operation])) or 0


@once_per_job
def stream_ids(job: Job) -> list[int]:
    """Returns the ids of the records of standard input, output and error."""
    return [key for key, name in job.names.items() if name in STREAMS]


@once_per_job
def file_bytes(job: Job, name: str) -> int:
    """Returns the bytes that a layer moved to and from files, without standard streams."""
    records, prefix = job.records[name], LAYERS[name].prefix
    inside = records.where(~among(records["id"], stream_ids(job)))
    return sum(total(inside, f"{prefix}_BYTES_{kind}") or 0 for kind in ("READ", "WRITTEN"))


def sized_layers(job: Job) -> list[str]:
    """Returns the job's layers that keep access sizes."""
    return [name for name, layer in LAYERS.items() if layer.sized and name in job.records]


@once_per_job
def access_sizes(job: Job, name: str) -> Records:
    """Returns the reads and writes in each range of sizes (`bucket`), summed over all records of one layer. A bucket
    includes its upper limit. MPI-IO, HDF5 and PnetCDF count a process's access as one, however many pieces its
    datatype has.
    """
    records, prefix = job.records[name], LAYERS[name].prefix
    infix = "AGG_" if f"{prefix}_SIZE_READ_AGG_0_100" in records else ""
    rows = [
        (
            bucket,
            total(records, f"{prefix}_SIZE_READ_{infix}{bucket}") or 0,
            total(records, f"{prefix}_SIZE_WRITE_{infix}{bucket}") or 0,
        )
        for bucket in BUCKETS
    ]
    return Records.of(["bucket", "reads", "writes"], rows)


@once_per_job
def all_access_sizes(job: Job) -> Records | None:
    """Returns `access_sizes` of every layer (`module`), without the ranges in which nothing was accessed."""
    parts = [labelled(access_sizes(job, name), "module", name) for name in sized_layers(job)]
    return stacked([part.where(part["reads"] + part["writes"] > 0) for part in parts]) if parts else None


@once_per_job
def common_sizes(job: Job, name: str, limit: int = 4) -> Records:
    """Returns the most frequent access sizes of a layer: `size` in bytes, `count`, most frequent first.

    A record keeps its four most frequent sizes (reads and writes together); their counts are summed over records, so
    that a size that is among the four in no record may be missing, even if it is frequent over all records.
    """
    records, prefix = job.records[name], LAYERS[name].prefix
    size, count = (np.concatenate([records[f"{prefix}_ACCESS{n}_{what}"] for n in range(1, 5)]) for what in _KEPT)
    size, count = size[count > 0], count[count > 0]
    same = Groups(size)
    sums = Records({"size": size[same.first], "count": same.sum(count)})
    return ordered(sums, "-count", "-size").where(slice(limit))


@once_per_job
def all_common_sizes(job: Job, limit: int = 4) -> Records | None:
    """Returns `common_sizes` of every layer (`module`)."""
    parts = [labelled(common_sizes(job, name, limit), "module", name) for name in sized_layers(job)]
    return stacked(parts) if any(len(part) for part in parts) else None


@once_per_job
def access_pattern(job: Job) -> Records | None:
    """Returns POSIX reads and writes by order: `kind` (read, write), total, sequential, consecutive, and their shares
    of total.

    Sequential: at a higher offset than the previous access of the same process to the file; consecutive: exactly where
    the previous access ended (so consecutive accesses are sequential, too). Shares (sequential_share,
    consecutive_share) are NaN without accesses. Returns None without POSIX.
    """
    records = job.records.get("POSIX")
    if records is None:
        return None
    rows = [
        (kind, *(total(records, f"POSIX_{start}{kind.upper()}S") or 0 for start in ("", "SEQ_", "CONSEC_")))
        for kind in ("read", "write")
    ]
    found = Records.of(["kind", "total", "sequential", "consecutive"], rows)
    some = np.where(found["total"] > 0, found["total"], np.nan)
    return found.beside({f"{name}_share": found[name] / some for name in ("sequential", "consecutive")})


@once_per_job
def alignment(job: Job) -> Records | None:
    """Returns POSIX accesses that are not aligned in the file or in memory, and switches between reading and writing.

    Columns: what, count, accesses (reads and writes), share (count / accesses). Returns None without POSIX or accesses.
    """
    records = job.records.get("POSIX")
    if records is None:
        return None
    accesses = (total(records, "POSIX_READS") or 0) + (total(records, "POSIX_WRITES") or 0)
    rows = [
        (label, total(records, counter), accesses)
        for label, counter in (
            ("not aligned in the file", "POSIX_FILE_NOT_ALIGNED"),
            ("not aligned in memory", "POSIX_MEM_NOT_ALIGNED"),
            ("switches between reading and writing", "POSIX_RW_SWITCHES"),
        )
    ]
    found = Records.of(["what", "count", "accesses"], rows)
    return found.beside({"share": found["count"].astype(float) / accesses}) if accesses else None
