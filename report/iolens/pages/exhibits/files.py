"""Exhibits about files, how they were used and where they lie, and about bytes over the network or between storage and
GPUs.
"""

from __future__ import annotations

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files import costly_files, special_uses
from iolens.metrics.files import overview as files
from iolens.metrics.job.interfaces import private_counts
from iolens.metrics.job.interfaces.private_counts import gpu_storage
from iolens.pages.base import words
from iolens.pages.base.blocks import Ranks
from iolens.pages.base.columns import FAMILY_NOTE, FAMILY_SIZE
from iolens.pages.base.exhibit import EVERY, Column, Exhibit


def _stripes(count: float, size: float) -> str:
    """Returns a layout of one component: 4 × 1 MiB."""
    return f"{int(count)} × {words.exact_size(size)}" if count > 0 else ""


def _has_families(rows: Records | None) -> bool:
    """Returns True if a row sums several files."""
    return rows is not None and len(rows) > 0 and bool((rows["files"] > 1).any())


def _shared_note(job: Job) -> str:
    """Returns a note about times and bytes, and about families if a row is one."""
    said = (
        "s: read, write and metadata time of that rank in the file; σ: standard deviation over the ranks of the file."
    )
    family = " For a family of files, the row shows the file whose slowest rank took longest."
    return said + (family if _has_families(special_uses.variance(job)) else "")


def _ranks_of(job: Job, rows: Records) -> Ranks:
    """Returns the ranks that used the files of these rows."""
    return Ranks(costly_files.family_ranks(job, rows), job.nprocs)


FILE_COUNTS: Exhibit[Job] = Exhibit(
    name="file_counts",
    title="Files",
    metric=files.file_counts,
    needs="files",
    columns=[
        Column("use", "category"),
        Column("files", "files", words.count),
        Column("average size", "average_size", words.size),
        Column("largest", "largest_size", words.size),
    ],
    note="Files on which POSIX or STDIO made any call, a stat included. Size: the highest offset that was read or "
    "written; n/a if nothing was. A log does not record which files existed before.",
)

FILE_SYSTEMS: Exhibit[Job] = Exhibit(
    name="file_systems",
    title="Transfer per file system",
    metric=files.file_systems,
    columns=[
        Column("mount point", "mount"),
        Column("type", "type"),
        Column("files", "files", words.count),
        Column("written", "bytes_written", words.size),
        Column("of all", "written_share", words.share),
        Column("read", "bytes_read", words.size),
        Column("of all", "read_share", words.share),
        Column("mounted with", "options", optional=True),
    ],
)


def _costly_columns(job: Job) -> list[Column]:
    """Returns the columns of the costly files; a single process has one column of time, a parallel job two."""
    spent = [Column("s", "seconds", words.seconds)]
    if job.nprocs > 1:
        spent = [
            Column("slowest rank, s", "seconds", words.seconds),
            Column("all ranks, s", "seconds_sum", words.seconds),
        ]
    return [
        Column("file", "path"),
        FAMILY_SIZE,
        *([Column("ranks", "processes", words.count)] if job.nprocs > 1 else []),
        Column("read", "bytes_read", words.size),
        Column("written", "bytes_written", words.size),
        *spent,
        Column("stripes", ("stripe_count", "stripe_size"), _stripes, optional=True),
    ]


def _costly_note(job: Job) -> str:
    """Returns a note about the choice and the order of the costly files and about their times, and about families if a
    row is one.
    """
    found = costly_files.costly_files(job)
    most = "most time of their slowest rank" if job.nprocs > 1 else "most time"
    said = f"Those with {most} first."
    if len(found) < len(costly_files.file_families(job)):
        said = f"The {costly_files.MOST} with {most} and the {costly_files.MOST} with most bytes, those with most time "
        said += "first, without files that have less than a thousandth of both."
    if "MPI-IO" in job.records:
        said += " Times in POSIX and STDIO: MPI-IO's own time is not in them."
    return f"{said} {FAMILY_NOTE}" if _has_families(found) else said


COSTLY_FILES: Exhibit[Job] = Exhibit(
    name="costly_files",
    title="Files with the most time or the most bytes",
    metric=costly_files.costly_files,
    whole=costly_files.every_file,
    listed=costly_files.file_families,
    ranks=_ranks_of,
    columns=_costly_columns,
    note=_costly_note,
)

SHARED_FILES: Exhibit[Job] = Exhibit(
    name="shared_files",
    title="Files of several ranks: fastest and slowest rank",
    metric=special_uses.variance,
    whole=lambda job: special_uses.variance(job, EVERY, by_family=False),
    listed=lambda job: special_uses.variance(job, EVERY),
    columns=[
        Column("file", "path"),
        FAMILY_SIZE,
        Column("layer", "module"),
        Column("ranks", "processes", words.count),
        Column("fastest rank", "fastest_rank"),
        Column("s", "fastest_seconds", words.seconds),
        Column("bytes", "fastest_bytes", words.size),
        Column("slowest rank", "slowest_rank"),
        Column("s", "slowest_seconds", words.seconds),
        Column("bytes", "slowest_bytes", words.size),
        Column("σ s", "sigma_seconds", words.seconds),
        Column("σ bytes", "sigma_bytes", words.size),
    ],
    note=_shared_note,
)

OTHER_CALLS: Exhibit[Job] = Exhibit(
    name="other_calls",
    title="Other calls on files and folders",
    metric=private_counts.other_calls,
    columns=[Column("calls", "call"), Column("count", "count", words.count), Column("files", "files", words.count)],
    note="Summed over all ranks; Darshan has no counters for these. Bytes of sendfiles, copies and splices are among "
    "the POSIX reads and writes.",
)

FILE_LOCKS: Exhibit[Job] = Exhibit(
    name="file_locks",
    title="Time in file locks",
    metric=special_uses.file_locks,
    whole=lambda job: special_uses.file_locks(job, by_family=False),
    listed=special_uses.file_locks,
    columns=[
        Column("file", "path"),
        FAMILY_SIZE,
        Column("ranks", "ranks", words.count),
        Column("locks", "locks", words.count),
        Column("for writing", "exclusive", words.count),
        Column("refused", "refused", words.count),
        Column("calls above 1 ms", "waits", words.count),
        Column("waiting at the end", "unended", words.count, optional=True),
        Column("slowest rank, s", "seconds", words.seconds),
        Column("longest call, s", "longest", words.seconds),
    ],
    note="By fcntl, flock and lockf, in calls that take or release locks. Refused: the lock was held, and the call "
    "did not wait for it. Waiting at the end: the process was killed while it waited. No other table counts this "
    "time as I/O.",
)

MAPPED_FILES: Exhibit[Job] = Exhibit(
    name="mapped_files",
    title="Files mapped into memory",
    metric=special_uses.mapped_files,
    whole=lambda job: special_uses.mapped_files(job, by_family=False),
    listed=special_uses.mapped_files,
    columns=[
        Column("file", "path"),
        FAMILY_SIZE,
        Column("ranks", "ranks", words.count),
        Column("mappings", "mappings", words.count),
        Column("mapped", "bytes", words.size),
        Column("fetched", "fetched", words.size),
        Column("in page table", "reached", words.size),
        Column("waiting faults", "major_faults", words.count),
        Column("read", "storage_read", words.size),
        Column("changed", "storage_written", words.size),
        Column("msync, s", "sync_seconds", words.seconds),
        Column("not known", "lacks", optional=True),
    ],
    note="Fetched: bytes of the mapped ranges that entered the page cache meanwhile; in page table: an upper bound "
    "of the bytes touched; both for the rank with the most. Waiting faults, read and changed: what the kernel "
    "counted of the process while it had the file mapped, calls included; on network file systems it counts no "
    "bytes as read or changed.",
)

FAILED_CALLS: Exhibit[Job] = Exhibit(
    name="failed_calls",
    title="Failed calls on files",
    metric=private_counts.failed_calls,
    columns=lambda job: [
        Column("operation", "operation"),
        Column("error", "error"),
        Column("calls", "calls", words.count),
        *([Column("ranks", "ranks", words.count), Column("most of a rank", "most", words.count)] * (job.nprocs > 1)),
        Column("slowest rank, s" if job.nprocs > 1 else "s", "slowest", words.seconds),
    ],
    note="Opens and stats of any path, reads and writes of files. ENOENT: the path does not exist; a program that "
    "looks for a file in many folders has many of these.",
)

RINGS: Exhibit[Job] = Exhibit(
    name="io_uring",
    title="Requests through rings of io_uring",
    metric=private_counts.rings,
    columns=[
        Column("count", "name"),
        Column("over all ranks", "total", words.count),
        Column("ranks", "ranks", words.count),
    ],
    note="Reads, writes and other calls that a program submits to the kernel in a ring. Their files have them in all "
    "other tables, with the time until the profiler saw the completion, which is an upper bound. unseen, missed, "
    "silent and open count requests whose bytes the log does not contain; profiler/TABLES.md explains each count.",
)


CONNECTIONS: Exhibit[Job] = Exhibit(
    name="connections",
    title="TCP connections that the job made",
    metric=private_counts.connections,
    columns=[
        Column("to", "address"),
        Column("ranks", "ranks", words.count),
        Column("connections", "connections", words.count),
        Column("accepted", "established", words.count),
        Column("received", "received", words.size),
        Column("sent", "sent", words.size),
        Column("sent again", "resent", words.size),
        Column("slowest rank in connect, s", "connect_seconds", words.seconds),
        Column("shortest round trip, s", "shortest_rtt", words.seconds),
    ],
    note="As the kernel counted them for each connection until the program closed it or ended. Accepted: the other end "
    "answered; without that, bytes are n/a. No table counts this time as I/O.",
)

HTTP_REQUESTS: Exhibit[Job] = Exhibit(
    name="http_requests",
    title="Requests through libcurl",
    metric=private_counts.http_requests,
    whole=lambda job: private_counts.http_requests(job, by_family=False),
    listed=private_counts.http_requests,
    columns=[
        Column("address", "url"),
        FAMILY_SIZE,
        Column("ranks", "ranks", words.count),
        Column("requests", "requests", words.count),
        Column("for a part", "partial", words.count),
        Column("failed", "failed", words.count),
        Column("received", "received", words.size),
        Column("received again", "again", words.size),
        Column("given by HDF5", "used", words.size, optional=True),
        Column("sent", "sent", words.size),
        Column("slowest rank, s", "seconds", words.seconds),
        Column("until first byte, s", "first_byte_seconds", words.seconds),
    ],
    note="Bytes count bodies, not headers. For a part: requests answered with a range of the object (206). Failed: "
    "requests not answered, or answered with an error (400 and above). Received again: parts of an object that the "
    "same rank had fetched before. Given by HDF5: what the program read from datasets of this file. Users, passwords "
    "and queries of addresses are not kept.",
)


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
