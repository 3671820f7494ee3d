"""The rules about files: their number, locks on them, and files that one rank moves for all or all ranks read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.remedies import BROADCAST
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.advise.shared_evidence import wider_layout
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.families import of_libraries
from iolens.metrics.files.special_uses import file_locks, rank_lock_seconds
from iolens.metrics.files.use import among, by_file, most_first, under_mpiio
from iolens.metrics.files.writers import moved_by_rank
from iolens.metrics.grouping import ordered
from iolens.metrics.job.spent import NONE, slowest_seconds
from iolens.metrics.why.answers import bound_of
from iolens.metrics.why.what_if import LOCKS_FREE

FILE_PER_PROCESS_REMEDY = """\
Write one file for each group of ranks, for example for each node:

  C        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                               MPI_INFO_NULL, &node);
           MPI_File_open(node, path_of_node, mode, info, &file);
           MPI_File_write_at_all(file, offset, buffer, count, type, &status);
  Python   node = comm.Split_type(MPI.COMM_TYPE_SHARED)
  ADIOS2   engine parameter NumAggregators
  HDF5     subfiling: H5Pset_fapl_subfiling

Until then use a folder for each thousand files.
@stripes:Give each file one stripe:
@stripes:
@lustre:  lfs setstripe -c 1 FOLDER
@stripes:  iolens stripe set -c 1 FOLDER"""


def file_per_process(job: Job, limits: Limits) -> Seen | None:
    """Looks for jobs with at least as many files as ranks, each of them written by a single rank."""
    table = by_file(job, "POSIX")
    if table is None or job.nprocs < limits["many_ranks"]:
        return None
    chosen = (table["ranks"] == 1) & (table["BYTES_WRITTEN"] > 0)
    if int(chosen.sum()) < job.nprocs:
        return None
    ids = table["id"][chosen]
    spent = slowest_seconds(job, "POSIX", ids, ("META",))
    evidence = (
        f"{say.count(job.nprocs, 'rank')} wrote {say.count(len(ids), 'file')} of their own, "
        f"{say.size(float(table['BYTES_WRITTEN'][chosen].mean()))} each on average; open, close and stat took "
        f"{say.seconds(spent)} on the slowest rank."
    )
    bound = "It assumes that metadata calls on these files take no time on the slowest rank."
    return Seen(evidence, spent, bound, FILE_PER_PROCESS_REMEDY)


FILE_PER_PROCESS = Rule(
    id="file-per-process",
    title="One file per process, with very many processes",
    says="there are many ranks, and at least as many files that only one rank writes",
    limits=("many_ranks",),
    why="One metadata server creates all these files, and every later step has to open them all.",
    read_more="https://docs.nersc.gov/performance/io/; H5Pset_fapl_subfiling",
    check=file_per_process,
    exhibit="file_counts",
    bounds="metadata",
)


LOCK_FILES_REMEDY = """\
Let MPI order the ranks, or use locks of the file system:

  C        MPI_Exscan, or a token passed by MPI_Send and MPI_Recv
  C        flock(fd, LOCK_EX), fcntl(fd, F_OFD_SETLKW, &lock)
  HDF5     export HDF5_USE_FILE_LOCKING=FALSE   # one writer, or none"""


def lock_files(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of lock files in use."""
    table = by_file(job, "POSIX")
    if table is None:
        return None
    names = [job.names.get(key, "").rpartition("/")[2] for key in table["id"].tolist()]
    locks = np.array([name.endswith((".lock", ".lck", "~lock")) or name.startswith(".nfs") for name in names], bool)
    chosen = locks & (table["OPENS"] > 0) & ((table["ranks"] > 1) | (table["OPENS"] >= limits["few_syncs"]))
    if not chosen.any():
        return None
    ids = table["id"][most_first(table["OPENS"], chosen)]
    opens, ranks = float(table["OPENS"][chosen].sum()), float(table["ranks"][chosen].max())
    evidence = f"Up to {say.count(ranks, 'rank')} opened {say.files(job, ids)}, {say.count(opens, 'time')} in all."
    return Seen(evidence, None, "", LOCK_FILES_REMEDY)


LOCK_FILES = Rule(
    id="lock-files",
    title="Lock files are used",
    says="files with names of lock files are used by several ranks or opened often (`few_syncs`)",
    limits=("few_syncs",),
    why="A rank that waits for a lock file sleeps or polls; the log does not count this time as I/O. On network file "
    "systems lock files may fail.",
    read_more="man 2 open (O_EXCL on NFS); man 2 flock",
    check=lock_files,
    exhibit="costly_files",
    note=True,
)


_HINTS = ("romio_ds_write disable", "romio_cb_write enable")

_MPIIO = """\
ROMIO locks the file around each change of data sieving and of atomic mode:

  C        MPI_File_write_at_all instead of MPI_File_write_at
           MPI_File_set_atomicity(fh, 0)

{hints}"""

_HDF5 = """\
HDF5 locks each file that it opens; if at most one process writes:

  export HDF5_USE_FILE_LOCKING=FALSE"""

_OTHER = """\
Take a lock around many small changes instead of each, let one rank write for
all (MPI_Gather), or give each rank a file of its own."""


def _remedy(job: Job) -> str:
    """Returns the remedy, which depends on the library that opened the files."""
    known = [text for module, text in (("MPI-IO", _MPIIO), ("H5F", _HDF5)) if module in job.records]
    return "\n\n".join(known or [_OTHER])


def lock_waits(job: Job, limits: Limits) -> Seen | None:
    """Returns the file that cost most time in locks, and that time."""
    files, spent = file_locks(job), float(rank_lock_seconds(job).max())
    unended = int(files["unended"].sum()) if len(files) else 0
    if not len(files) or (spent <= 0 and not unended):
        return None
    path, number, ranks, locks, refused, waits, longest = next(
        files.rows("path", "files", "ranks", "locks", "refused", "waits", "longest")
    )
    tried = f", {say.count(refused, 'attempt')} to lock it failed at once" if refused else ""
    evidence = (
        f"The slowest rank spent {say.seconds(spent)} in calls that lock files. {say.members(path, number)} cost "
        f"most: {say.count(ranks, 'rank')} took {say.count(locks, 'lock')}{tried}; {say.count(waits, 'call')} took "
        f"more than 1 ms, the longest {say.seconds(longest)}."
    )
    if unended:
        path, number, unended = next(ordered(files, "-unended").rows("path", "files", "unended"))
        evidence += (
            f" When the program was killed, {say.count(unended, 'call')} waited for a lock of "
            f"{say.members(path, number)}; how long is not known."
        )
    hints = _HINTS if "MPI-IO" in job.records else ()
    bound = "It assumes that locks take no time on the slowest rank."
    replayed = bound_of(job, LOCKS_FREE) or 0.0
    if replayed > spent:
        bound = "It assumes that locks take no time on any rank, by a replay of the job's calls."
    return Seen(evidence, None if unended else max(spent, replayed), "" if unended else bound, _remedy(job), hints)


LOCK_WAITS = Rule(
    id="lock-waits",
    title="Ranks wait for file locks",
    says="the slowest rank spent time in fcntl, flock or lockf, or was killed while it waited there",
    limits=(),
    why="A lock that another process holds makes the caller wait; a parallel file system asks a server for each lock, "
    "also when it is free.",
    read_more="man 2 fcntl_locking; man 2 flock",
    check=lock_waits,
    exhibit="file_locks",
    beside_io=True,
    asleep=True,
)


@dataclass(frozen=True)
class Direction:
    """The words of one direction, reading or writing: `moved` is the argument of `moved_by_rank`, `said` the verb in
    sentences, and the others are parts of counters' names.
    """

    moved: str
    said: str
    bytes: str
    collective: str
    time: str


READING = Direction("read", "read", "BYTES_READ", "COLL_READS", "READ")
WRITING = Direction("written", "wrote", "BYTES_WRITTEN", "COLL_WRITES", "WRITE")


def one_rank(
    job: Job, limits: Limits, way: Direction, remedy: str, layout: ProposedStripes | None = None
) -> Seen | None:
    """Returns the evidence that one rank moved nearly all bytes; None if no rank did, or if collective calls chose the
    rank to move the bytes of others.
    """
    moved = moved_by_rank(job, way.moved)
    if moved is None or job.nprocs < limits["few_ranks"] or moved.sum() < max(1.0, limits["much_bytes"]):
        return None
    rank, share, collective = int(moved.argmax()), float(moved.max() / moved.sum()), by_file(job, "MPI-IO")
    if share < limits["one_rank_share"] or (collective is not None and collective[way.collective].any()):
        return None
    spent = NONE
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is not None:
            spent += slowest_seconds(job, name, table["id"][table[way.bytes] > 0], (way.time,))
    evidence = (
        f"Rank {rank} {way.said} {say.percent(share)} of {say.size(float(moved.sum()))} for "
        f"{say.count(job.nprocs, 'rank')}, in {say.seconds(spent)} ({say.rate(float(moved.max()), spent)})."
    )
    bound = f"It assumes that {job.nprocs} ranks share the {way.time.lower()} time of one rank equally."
    return Seen(evidence, spent * (1 - 1 / job.nprocs), bound, remedy, layout=layout)


def all_read_one(job: Job, limits: Limits) -> Seen | None:
    """Looks for files that at least half of the ranks read as a whole."""
    if job.nprocs < limits["few_ranks"]:
        return None
    files, spent, largest, readers, example = 0, NONE, 0.0, job.nprocs, ""
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is None:
            continue
        size = table["MAX_BYTE_READ"] + 1
        chosen = (
            (table["ranks"] >= max(limits["few_ranks"], job.nprocs / 2))
            & (size <= limits["input_size"])
            & (table["BYTES_WRITTEN"] == 0)
            & (table["BYTES_READ"] > 0)
            & (_asked_bytes(job, name, table) >= 0.9 * size * table["ranks"])
        )
        chosen[chosen] = ~of_libraries(job, table.where(chosen))
        if not chosen.any():
            continue
        rows = most_first(size, chosen)
        ids = table["id"][rows]
        files, spent = files + len(ids), spent + slowest_seconds(job, name, ids, ("READ", "META"))
        example = example or say.files(job, ids[:1])
        largest, readers = max(largest, float(size[rows[0]])), min(readers, int(table["ranks"][rows].min()))
    if not files:
        return None
    evidence = (
        f"{say.count(readers, 'rank')} of {job.nprocs:,} each read all of {say.count(files, 'file')} of at most "
        f"{say.size(largest)}, such as {example}; opening and reading took {say.seconds(spent)} on the slowest rank."
    )
    bound = f"It assumes that one of {readers} ranks reads them, which saves 1 − 1/{readers} of the time."
    return Seen(evidence, spent * (1 - 1 / readers), bound, BROADCAST)


def _asked_bytes(job: Job, name: str, table: Records) -> np.ndarray:
    """Returns the bytes that the program asked to read of each file. MPI-IO may read more, when it sieves data."""
    pair = under_mpiio(job) if name == "POSIX" else None
    asked = table["BYTES_READ"].copy()
    if pair is not None:
        both = among(table["id"], pair[0]["id"])
        asked[both] = np.minimum(asked[both], pair[0]["BYTES_READ"])
    return asked


ALL_READ_ONE = Rule(
    id="all-read-one",
    title="Many ranks read the same files",
    says="at least half of the ranks read all of files of at most `input_size`, other than libraries and modules, "
    "that no rank wrote",
    limits=("few_ranks", "input_size"),
    why="The servers answer the same request from every rank at the same moment.",
    read_more="MPI 4.1, section 6.4 (broadcast); Spindle: https://github.com/hpc/Spindle",
    check=all_read_one,
    exhibit="shared_files",
)


ONE_READER_REMEDY = """\
Let every rank read its own part of the file:

  C        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, info, &file);
           MPI_File_read_at_all(file, offset, buffer, count, type, &status);
  Fortran  call MPI_File_read_at_all(file, offset, buffer, count, type, &
                status)
  Python   file = MPI.File.Open(MPI.COMM_WORLD, path, MPI.MODE_RDONLY)
           file.Read_at_all(offset, array)"""


def one_reader(job: Job, limits: Limits) -> Seen | None:
    """Returns the rank that read nearly all bytes, unless collective calls chose it."""
    return one_rank(job, limits, READING, ONE_READER_REMEDY)


ONE_READER = Rule(
    id="one-reader",
    title="One rank reads for all",
    says="in a job of several ranks, one rank read nearly all bytes, without collective calls",
    limits=("few_ranks", "one_rank_share", "much_bytes"),
    why="The others wait for this rank, and a single client cannot use all targets.",
    read_more="MPI 4.1, chapter 14 (I/O)",
    check=one_reader,
    exhibit="rank_balance",
    gauges=("balance", "stripes"),
    bounds="few readers",
)


ONE_WRITER_REMEDY = """\
Let every rank write its own part of one file:

  C        MPI_File_open(MPI_COMM_WORLD, path,
                         MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file);
           MPI_File_write_at_all(file, offset, buffer, count, type, &status);
  Fortran  call MPI_File_write_at_all(file, offset, buffer, count, type, &
                status)
  Python   from mpi4py import MPI
           file = MPI.File.Open(MPI.COMM_WORLD, path,
                                MPI.MODE_CREATE | MPI.MODE_WRONLY)
           file.Write_at_all(offset, array)"""

_MORE_TARGETS = "\n\nSeveral targets then receive the bytes.\n{layout}"


def one_writer(job: Job, limits: Limits) -> Seen | None:
    """Returns the rank that wrote nearly all bytes, unless collective calls chose it."""
    layout = wider_layout(job, limits)
    return one_rank(
        job, limits, WRITING, f"{ONE_WRITER_REMEDY}{_MORE_TARGETS}" if layout else ONE_WRITER_REMEDY, layout
    )


ONE_WRITER = Rule(
    id="one-writer",
    title="One rank writes for all",
    says="in a job of several ranks, one rank wrote nearly all bytes, without collective calls",
    limits=("few_ranks", "one_rank_share", "much_bytes"),
    why="The others wait for this rank, and a single client cannot use the full rate of a parallel file system.",
    read_more="MPI 4.1, chapter 14 (I/O); https://docs.nersc.gov/performance/io/lustre/",
    check=one_writer,
    exhibit="rank_balance",
    gauges=("balance", "stripes"),
    bounds="few writers",
    before=("uneven-targets",),
)
