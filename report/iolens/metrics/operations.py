"""How often each operation was called, in which sizes, and in which order of offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.log.counters import BUCKETS
from iolens.metrics.layers import LAYERS, total
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

STREAMS = ("<STDIN>", "<STDOUT>", "<STDERR>")
"""Names of the standard streams' records."""


@once_per_job
def operation_counts(job: Job) -> pd.DataFrame:
    """Calls by `module` and `operation`, summed over all records; None (NaN) where they were not recorded."""
    import pandas as pd

    rows = [
        (name, operation, total(job.frames[name], *(f"{layer.prefix}_{counter}" for counter in counters)))
        for name, layer in LAYERS.items()
        if name in job.frames
        for operation, counters in layer.operations.items()
    ]
    return pd.DataFrame(rows, columns=["module", "operation", "count"])


@once_per_job
def operations_called(job: Job) -> pd.DataFrame:
    """`operation_counts` without the operations that were never called.

    `on_streams`: how many of the calls were on standard input, output and error, by the names of STDIO's records.
    """
    found = operation_counts(job)
    found = found[~(found["count"] == 0)]
    return found.assign(
        on_streams=[stream_calls(job, each.operation) if each.module == "STDIO" else 0 for each in found.itertuples()]
    )


@once_per_job
def syncs(job: Job) -> int:
    """Calls that send written data to the storage: fsync, fdatasync and MPI_File_sync, over all files."""
    counters = {"POSIX": ("POSIX_FSYNCS", "POSIX_FDSYNCS"), "MPI-IO": ("MPIIO_SYNCS",)}
    return sum(total(job.frames[name], *names) or 0 for name, names in counters.items() if name in job.frames)


def stream_calls(job: Job, operation: str) -> int:
    """Calls of a STDIO operation on standard streams."""
    frame, layer = job.frames["STDIO"], LAYERS["STDIO"]
    streams = frame[frame["id"].isin(stream_ids(job))]
    return total(streams, *(f"{layer.prefix}_{counter}" for counter in layer.operations[operation])) or 0


@once_per_job
def stream_ids(job: Job) -> list[int]:
    """The records of standard input, output and error."""
    return [key for key, name in job.names.items() if name in STREAMS]


@once_per_job
def file_bytes(job: Job, name: str) -> int:
    """Bytes that a layer moved to and from files, without standard streams."""
    frame, prefix = job.frames[name], LAYERS[name].prefix
    inside = frame[~frame["id"].isin(stream_ids(job))]
    return sum(total(inside, f"{prefix}_BYTES_{kind}") or 0 for kind in ("READ", "WRITTEN"))


def sized_layers(job: Job) -> list[str]:
    """The job's layers that keep access sizes."""
    return [name for name, layer in LAYERS.items() if layer.sized and name in job.frames]


@once_per_job
def access_sizes(job: Job, name: str) -> pd.DataFrame:
    """Reads and writes per range of sizes (`bucket`), summed over all records of one layer.

    A bucket's upper limit belongs to it. MPI-IO, HDF5 and PnetCDF count a process's whole access, however many
    pieces its datatype has.
    """
    import pandas as pd

    frame, prefix = job.frames[name], LAYERS[name].prefix
    infix = "AGG_" if f"{prefix}_SIZE_READ_AGG_0_100" in frame else ""
    rows = [
        (
            bucket,
            total(frame, f"{prefix}_SIZE_READ_{infix}{bucket}") or 0,
            total(frame, f"{prefix}_SIZE_WRITE_{infix}{bucket}") or 0,
        )
        for bucket in BUCKETS
    ]
    return pd.DataFrame(rows, columns=["bucket", "reads", "writes"])


@once_per_job
def all_access_sizes(job: Job) -> pd.DataFrame | None:
    """`access_sizes` of every layer (`module`), without the ranges in which nothing was accessed."""
    import pandas as pd

    parts = [access_sizes(job, name).assign(module=name) for name in sized_layers(job)]
    return pd.concat([part[part["reads"] + part["writes"] > 0] for part in parts]) if parts else None


@once_per_job
def common_sizes(job: Job, name: str, limit: int = 4) -> pd.DataFrame:
    """The most frequent access sizes of a layer: `size` in bytes, `count`, most frequent first.

    A record keeps its four most frequent sizes (reads and writes together); their counts are summed over records,
    so that a size that is frequent nowhere but common to all may be missing.
    """
    import pandas as pd

    frame, prefix = job.frames[name], LAYERS[name].prefix
    parts = [
        frame[[f"{prefix}_ACCESS{n}_ACCESS", f"{prefix}_ACCESS{n}_COUNT"]].set_axis(["size", "count"], axis=1)
        for n in range(1, 5)
    ]
    sizes = pd.concat(parts)
    sums = sizes[sizes["count"] > 0].groupby("size", as_index=False)["count"].sum()
    return sums.sort_values(["count", "size"], ascending=False, ignore_index=True).head(limit)


@once_per_job
def all_common_sizes(job: Job, limit: int = 4) -> pd.DataFrame | None:
    """`common_sizes` of every layer (`module`)."""
    import pandas as pd

    parts = [common_sizes(job, name, limit).assign(module=name) for name in sized_layers(job)]
    return pd.concat(parts, ignore_index=True) if any(len(part) for part in parts) else None


@once_per_job
def access_pattern(job: Job) -> pd.DataFrame | None:
    """POSIX reads and writes by order: `kind` (read, write), total, sequential, consecutive, and their shares of total.

    Sequential: at a higher offset than the last access of the same process to the file; consecutive: exactly where
    that one ended (so consecutive accesses are sequential, too). Shares (sequential_share, consecutive_share) are NaN
    without accesses. None without POSIX.
    """
    import pandas as pd

    frame = job.frames.get("POSIX")
    if frame is None:
        return None
    rows = [
        (kind, *(total(frame, f"POSIX_{start}{kind.upper()}S") or 0 for start in ("", "SEQ_", "CONSEC_")))
        for kind in ("read", "write")
    ]
    found = pd.DataFrame(rows, columns=["kind", "total", "sequential", "consecutive"])
    some = found["total"].where(found["total"] > 0)
    return found.assign(
        sequential_share=found["sequential"] / some,
        consecutive_share=found["consecutive"] / some,
    )


@once_per_job
def alignment(job: Job) -> pd.DataFrame | None:
    """POSIX accesses not aligned in the file and in memory, and switches between reading and writing.

    Columns: what, count, accesses (reads and writes), share (count / accesses). None without POSIX or accesses.
    """
    import pandas as pd

    frame = job.frames.get("POSIX")
    if frame is None:
        return None
    accesses = (total(frame, "POSIX_READS") or 0) + (total(frame, "POSIX_WRITES") or 0)
    rows = [
        (label, total(frame, counter), accesses)
        for label, counter in (
            ("not aligned in the file", "POSIX_FILE_NOT_ALIGNED"),
            ("not aligned in memory", "POSIX_MEM_NOT_ALIGNED"),
            ("switches between reading and writing", "POSIX_RW_SWITCHES"),
        )
    ]
    found = pd.DataFrame(rows, columns=["what", "count", "accesses"])
    return found.assign(share=found["count"] / found["accesses"]) if accesses else None
