"""The rules about the sizes, the layer and the order of transfers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.remedies import COLLECTIVE
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules import dataset_rules
from iolens.advise.rules.alignment_rules import of_kind
from iolens.advise.shared_evidence import enough_calls
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.families import of_libraries
from iolens.metrics.files.use import among, by_file, most_first, small_calls, unknown_to_mpiio, without_mpiio
from iolens.metrics.files.writers import writer_counts
from iolens.metrics.job.interfaces.operations import STREAMS
from iolens.metrics.job.interfaces.private_counts import gpu_storage
from iolens.metrics.job.spent import NONE, slowest_seconds
from iolens.metrics.processor.usage import least_outside_kernel


def small(job: Job, limits: Limits, kind: str, chosen: Callable[[Records], np.ndarray], remedy: str) -> Seen | None:
    """Returns the cost of small POSIX reads or writes (`kind` READ or WRITE) in the `chosen` files that MPI-IO does not
    know.
    """
    table = by_file(job, "POSIX")
    if table is None:
        return None
    calls = table[f"{kind}S"]
    if not calls.any():
        return None
    few = small_calls(table, kind, limits["small_transfer"])
    mask = (calls > 0) & (few >= limits["small_share"] * calls)
    if few[mask].sum() < min(limits["some_calls"], max(1.0, limits["few_calls"])):
        return None
    mask &= unknown_to_mpiio(job, "POSIX")
    mask[mask] = chosen(table.where(mask))
    rows = np.flatnonzero(mask)
    by_count = table.where(rows[np.argsort(-few[rows], kind="stable")])
    spent = slowest_seconds(job, "POSIX", by_count["id"], (kind,))
    if not enough_calls(job, limits, float(few[mask].sum()), spent):
        return None
    moved = float(by_count["BYTES_READ" if kind == "READ" else "BYTES_WRITTEN"].sum())
    word, total = kind.lower(), float(calls[mask].sum())
    evidence = (
        f"{say.percent(few[mask].sum() / total)} of {say.count(total, word)} {'from' if kind == 'READ' else 'to'} "
        f"{say.files(job, by_count['id'])} carry at most {say.size(limits['small_transfer'])} "
        f"({say.size(moved / total)} on average) and took {say.seconds(spent)} on the slowest rank."
    )
    return Seen(evidence, spent, f"It assumes that these {word}s take no time on the slowest rank.", remedy)


SMALL_WRITES_REMEDY = """\
Collect data in memory, and write blocks of 1 MiB and more:

  C        setvbuf(file, NULL, _IOFBF, 4 << 20);      /* after fopen */
  Fortran  open(..., access='stream', form='unformatted'); write arrays;
           gfortran: export GFORTRAN_UNFORMATTED_BUFFER_SIZE=4194304
  Python   open(path, 'wb', buffering=4 << 20); array.tofile(file)"""


def small_writes(job: Job, limits: Limits) -> Seen | None:
    """Looks for files that were written in small pieces, each file by a single rank."""
    return small(job, limits, "WRITE", lambda table: table["ranks"] == 1, SMALL_WRITES_REMEDY)


SMALL_WRITES = Rule(
    id="small-writes",
    title="Small writes",
    says="there are many POSIX writes to files of one rank each, or some that are costly, and most are small",
    limits=("small_transfer", "small_share", "few_calls", "some_calls", "worth_gain"),
    why="Each call costs a round trip to kernel or server, whatever its size.",
    read_more="man setvbuf(3); https://docs.nersc.gov/performance/io/",
    check=small_writes,
    exhibit="access_sizes",
    gauges=("size",),
    bounds="small transfers",
)


SMALL_READS_REMEDY = """\
Read blocks of 1 MiB and more, and take the pieces from memory:

  C        setvbuf(file, NULL, _IOFBF, 4 << 20);      /* after fopen */
           posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  Fortran  open(..., access='stream', form='unformatted'); read whole arrays
  Python   data = numpy.fromfile(path, dtype); h5py: dataset[start:stop]"""


def small_reads(job: Job, limits: Limits) -> Seen | None:
    """Looks for files read in small pieces."""
    return small(job, limits, "READ", lambda table: ~of_libraries(job, table), SMALL_READS_REMEDY)


SMALL_READS = Rule(
    id="small-reads",
    title="Small reads",
    says="there are many POSIX reads of files without MPI-IO, other than libraries and modules, or some that are "
    "costly, and most are small",
    limits=("small_transfer", "small_share", "few_calls", "some_calls", "worth_gain"),
    why="Each call costs a round trip to kernel or server, whatever its size.",
    read_more="man posix_fadvise(2); https://docs.nersc.gov/performance/io/",
    check=small_reads,
    exhibit="access_sizes",
    gauges=("size",),
    bounds="small transfers",
)


def shared_small_writes(job: Job, limits: Limits) -> Seen | None:
    """Looks for files that several ranks wrote, in small pieces, without MPI-IO."""
    return small(
        job,
        limits,
        "WRITE",
        lambda table: (table["ranks"] > 1) & (writer_counts(job, table, 2) > 1),
        COLLECTIVE,
    )


SHARED_SMALL_WRITES = Rule(
    id="shared-small-writes",
    title="Small writes to a shared file",
    says="there are many POSIX writes to files of several writers, or some that are costly, and most are small",
    limits=("small_transfer", "small_share", "few_calls", "some_calls", "worth_gain"),
    why="In addition to the cost of the calls, the ranks take locks of the same blocks from each other.",
    read_more="https://wiki.lustre.org/Lustre_Tuning; MPI 4.1, section 14.4.2",
    check=shared_small_writes,
    exhibit="common_sizes",
    gauges=("size",),
    bounds="small transfers",
)


_MOSTLY = 0.5
"""Part of the time in calls from which processor time outside the kernel explains it."""

STDIO_DATA_REMEDY = """\
Write binary data in blocks instead of numbers as text one by one:

  C        setvbuf(file, NULL, _IOFBF, 4 << 20);
           fwrite(array, sizeof *array, n, file);      /* not fprintf each */
  Fortran  open(..., access='stream', form='unformatted'); write (unit) array
  Python   numpy.save(path, array)                     # not numpy.savetxt
           numpy.fromfile / array.tofile, or h5py"""


def stdio_data(job: Job, limits: Limits) -> Seen | None:
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
    return Seen(evidence, spent, bound, STDIO_DATA_REMEDY, bounds=bounds)


STDIO_DATA = Rule(
    id="stdio-data",
    title="Data through stdio in small pieces",
    says="files other than standard streams have many small stdio calls each",
    limits=("small_transfer", "few_calls"),
    why="Formatting and 4 KiB buffers make stdio slow for data, and stdio cannot use MPI-IO.",
    read_more="man setvbuf(3); https://docs.nersc.gov/performance/io/",
    check=stdio_data,
    exhibit="performance",
    bounds="small transfers",
)


_STDIN = "<STDIN>"

STANDARD_INPUT_REMEDY = """\
Find out what the program in front of the pipe waits for:

  iolens run -- PRODUCER > FILE        # its own I/O and computing
  iolens run -- PROGRAM < FILE         # this program without waiting

If the producer is slow, start more of them, or let this program read its
input itself. If it is quick, the pipe is small: pv, mbuffer or
fcntl(fd, F_SETPIPE_SZ, 1 << 20) give it a larger buffer."""


def standard_input(job: Job, limits: Limits) -> Seen | None:
    """Returns the time of reads of standard input; these reads wait for the program that writes into it."""
    spent, calls, moved = NONE, 0.0, 0.0
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        ids = [key for key, path in job.names.items() if path == _STDIN]
        if table is None or not ids:
            continue
        mine = table.where(among(table["id"], ids))
        calls, moved = calls + float(mine["READS"].sum()), moved + float(mine["BYTES_READ"].sum())
        spent += slowest_seconds(job, name, mine["id"], ("READ",))
    if not calls or spent.about < limits["worth_gain"] * job.run_time:
        return None
    evidence = (
        f"{say.count(calls, 'read')} of standard input took {say.seconds(spent)} on the slowest rank for "
        f"{say.size(moved)} ({say.rate(moved, spent)}): a pipe or terminal gives bytes when another program or a "
        "person has written them."
    )
    return Seen(evidence, spent, "It assumes that reads of standard input take no time.", STANDARD_INPUT_REMEDY)


STANDARD_INPUT = Rule(
    id="standard-input",
    title="The program waits for its standard input",
    says="reads of standard input take `worth_gain` of the run or more",
    limits=("worth_gain",),
    why="These reads wait for another program, not for storage.",
    read_more="man 7 pipe",
    check=standard_input,
    exhibit="performance",
    gauges=("size",),
    bounds="standard input",
    before=("small-reads", "stdio-data"),
)


_GPU_FALLBACK_REMEDY = """\
Find out why the direct path was not taken:

  NVIDIA   gdscheck.py -p, which lists the file systems that are supported;
           "allow_compat_mode": false in cufile.json makes such transfers fail
  AMD      HIPFILE_ALLOW_COMPAT_MODE=false does the same

The file system must support it, the kernel module (nvidia-fs) be loaded, and
offsets and sizes be multiples of 4 KiB."""


def gpu_fallback(job: Job, limits: Limits) -> Seen | None:
    """Returns the number of transfers that went through the processor's memory, and the time of the rank that spent
    most in all transfers.
    """
    found = gpu_storage(job)
    if not len(found) or not len(found := found.where(np.isfinite(found["gpu"]))):
        return None
    calls, fell = found["reads"] + found["writes"], found["posix_reads"] + found["posix_writes"]
    if fell.sum() < limits["gpu_fallback"] * calls.sum() or fell.sum() == 0:
        return None
    moved = found["bytes_read"].sum() + found["bytes_written"].sum()
    libraries = " and ".join(dict.fromkeys(found["library"].tolist()))
    evidence = (
        f"{libraries} carried out {say.count(fell.sum())} of {say.count(calls.sum(), 'transfer')} between storage and "
        f"GPUs through POSIX calls and the processor's memory; {say.size(moved)} were moved in all."
    )
    spent = float(np.bincount(found["rank"].astype(int), found["read_seconds"] + found["write_seconds"]).max())
    return Seen(evidence, spent, "It assumes that transfers to and from GPUs take no time.", _GPU_FALLBACK_REMEDY)


GPU_FALLBACK = Rule(
    id="gpu-fallback",
    title="Transfers to GPUs are not direct",
    says="`gpu_fallback` or more of the transfers that cuFile or hipFile counted went through POSIX calls",
    limits=("gpu_fallback",),
    why="Where the direct path is not available, both libraries fall back without a message and copy each byte through "
    "the processor's memory.",
    read_more="https://docs.nvidia.com/gpudirect-storage (troubleshooting guide)",
    check=gpu_fallback,
    exhibit="gpu_storage",
    beside_io=True,
)


MANY_SEEKS_REMEDY = """\
Give the offset in the read call itself, without a seek:

  C        pread(fd, buffer, bytes, offset)      /* no lseek before it */
  Fortran  read (unit, pos=offset) values        ! access='stream'
  Python   os.pread(fd, bytes, offset); numpy.memmap(path, ...)

If the code seeks to the end for the file's size, call fstat once instead."""


_MANY_SEEKS_MOSTLY = 10
"""Minimum number of seeks for each open and stat; with fewer, seeks do not explain the time of metadata calls."""


def many_seeks(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of files with more seeks than transfers, and the time of their metadata calls."""
    said, spent = [], NONE
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is None:
            continue
        transfers, seeks = table["READS"] + table["WRITES"], table["SEEKS"]
        asked = table["OPENS"] + table.get("STATS", 0.0)
        chosen = (transfers > 0) & (seeks >= limits["seek_share"] * transfers) & (seeks >= _MANY_SEEKS_MOSTLY * asked)
        chosen &= _can_take(table)
        if seeks[chosen].sum() < max(1.0, limits["few_calls"]):
            continue
        ids = table["id"][most_first(seeks, chosen)]
        spent += slowest_seconds(job, name, ids, ("META",))
        said.append(
            f"{say.count(float(seeks[chosen].sum()), 'seek')} for "
            f"{say.count(float(transfers[chosen].sum()), 'read and write')} of {say.files(job, ids)}"
        )
    if not said:
        return None
    evidence = f"{'; '.join(said)}; metadata calls on them took {say.seconds(spent)} on the slowest rank."
    return Seen(
        evidence,
        spent,
        "It assumes that all metadata calls on these files take no time on the slowest rank.",
        MANY_SEEKS_REMEDY,
    )


def _can_take(table: Records) -> np.ndarray:
    """Returns a mask of the files whose seeks can have taken most of the time of metadata calls. Seeks come between
    transfers: in a file of one rank, they cannot take longer than the time from the first transfer to the last that is
    not spent in transfers.
    """
    between, is_open = np.zeros(len(table)), table["ranks"] > 1
    for way in ("READ", "WRITE"):
        lasted = table[f"F_{way}_END_TIMESTAMP"] - table[f"F_{way}_START_TIMESTAMP"]
        is_open |= (table[f"F_{way}_TIME"] > 0) & (lasted <= 0)
        between += np.maximum(lasted - table[f"F_{way}_TIME"], 0.0)
    return np.asarray(is_open | (between >= 0.5 * table["F_META_TIME"]))


MANY_SEEKS = Rule(
    id="many-seeks",
    title="Many seeks for each read or write",
    says="files have many seeks (`seek_share` or more for each read or write) and hardly any other metadata calls",
    limits=("seek_share", "few_calls"),
    why="A seek is a call that moves no data; in stdio it also discards the buffer.",
    read_more="man 2 pread; man 3 fseeko",
    check=many_seeks,
    exhibit="operations",
    bounds="metadata",
    before=("metadata-storm",),
)


ONE_PLACE_REMEDY = """\
Read or write less often:
  - a status, a counter, a step number: write it once every few seconds;
  - waiting for a file: use inotifywait, or sleep between two checks;
  - a value that does not change: read it once and keep it in memory;
  - a lock file: use flock(2), or let one rank grant turns by MPI."""


def one_place(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of files that are tiny, and read or written over and over."""
    said, spent = [], NONE
    streams = [key for key, name in job.names.items() if name in STREAMS]
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is None:
            continue
        for kind, counter in (("READ", "BYTES_READ"), ("WRITE", "BYTES_WRITTEN")):
            calls, moved = table[f"{kind}S"] / table["ranks"], table[counter] / table["ranks"]
            size = table[f"MAX_BYTE_{'READ' if kind == 'READ' else 'WRITTEN'}"] + 1
            chosen = (calls >= limits["few_calls"]) & (moved >= limits["repeats"] * size)
            chosen &= (size <= limits["small_transfer"]) & ~among(table["id"], streams)
            if not chosen.any():
                continue
            ids = table["id"][most_first(calls, chosen)]
            spent += slowest_seconds(job, name, ids, (kind,))
            number, place = float(table[f"{kind}S"][chosen].sum()), float(size[chosen].sum())
            said.append(
                f"{say.count(number, kind.lower())} went to the same {say.size(place)} of {say.files(job, ids)}"
            )
    if not said:
        return None
    evidence = f"{'; '.join(said)}; they took {say.seconds(spent)} on the slowest rank."
    return Seen(evidence, spent, "It assumes that these calls take no time on the slowest rank.", ONE_PLACE_REMEDY)


ONE_PLACE = Rule(
    id="one-place",
    title="One small place is accessed again and again",
    says="the ranks that use a file of at most `small_transfer` bytes read or write, on average, `repeats` times "
    "its size in many calls",
    limits=("small_transfer", "repeats", "few_calls"),
    why="Each call costs its latency, and moves data that was already there.",
    read_more="man inotify(7); man 2 lseek",
    check=one_place,
    exhibit="costly_files",
    bounds="small transfers",
    gauges=("size",),
    before=("small-reads", "small-writes", "rewriting", "read-again", "shared-small-writes"),
)


RANDOM_ACCESS_REMEDY = """\
Sort the accesses by offset, or read a whole range and select in memory:

  C        qsort(wanted, n, sizeof *wanted, by_offset);
           posix_fadvise(fd, begin, length, POSIX_FADV_WILLNEED);
  Fortran  read a slab into an array, and index the array
  Python   order = numpy.argsort(offsets)
           h5py: dataset[lowest:highest + 1][offsets - lowest]
  HDF5     chunk the dataset in the shape in which it is read:
           h5repack -l NAME:CHUNK=64x64x64 in.h5 out.h5"""


def random_access(job: Job, limits: Limits) -> Seen | None:
    """Looks for POSIX files with many small accesses, many of which go back to an offset below that of the previous
    access.
    """
    table = without_mpiio(job, "POSIX")
    if table is None:
        return None
    if dataset_rules.hdf5_fill_values(job, limits) or dataset_rules.hdf5_chunks(
        job, limits
    ):  # HDF5 accesses files out of order by itself when it writes fill values or chunks.
        table = table.where(of_kind(job, table, hdf5=False))
    said, spent = [], NONE
    for kind, counter in (("READ", "BYTES_READ"), ("WRITE", "BYTES_WRITTEN")):
        calls, size = table[f"{kind}S"], table[f"MAX_BYTE_{counter.removeprefix('BYTES_')}"] + 1
        back = calls - table[f"SEQ_{kind}S"] - table["ranks"]  # The first access of a rank has no previous one.
        chosen = (back > limits["random_share"] * calls) & (table[counter] < limits["large_transfer"] * calls)
        chosen &= size > limits["small_transfer"]  # A file that is not larger than this counts as a single place.
        if float(calls[chosen].sum()) < max(1.0, limits["few_calls"]):
            continue
        ids = table["id"][chosen]
        spent += slowest_seconds(job, "POSIX", ids, (kind,))
        total, moved = float(calls[chosen].sum()), float(table[counter][chosen].sum())
        said.append(
            f"{say.percent(float(back[chosen].sum()) / total)} of {say.count(total, kind.lower())} of "
            f"{say.files(job, ids)} go back in the file (mean size {say.size(moved / total)})"
        )
    if not said:
        return None
    evidence = f"{'; '.join(said)}; they took {say.seconds(spent)} on the slowest rank."
    return Seen(
        evidence, spent, "It assumes that these accesses take no time on the slowest rank.", RANDOM_ACCESS_REMEDY
    )


RANDOM_ACCESS = Rule(
    id="random-access",
    title="Accesses out of order",
    says="many transfers on files without MPI-IO begin at a lower offset than the transfer before, and are not large; "
    "not in HDF5 files for which `hdf5-fill-values` or `hdf5-chunks` is reported",
    limits=("random_share", "large_transfer", "few_calls"),
    why="Read-ahead and write-behind work forward only, and a disk has to move its head.",
    read_more="man posix_fadvise(2); https://docs.hdfgroup.org (chunking)",
    check=random_access,
    exhibit="pattern",
    gauges=("size",),
    bounds="accesses out of order",
    before=("small-reads", "small-writes"),
)
