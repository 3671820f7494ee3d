"""The rules about bytes that are moved in vain, or again, or flushed one by one."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules import dataset_rules
from iolens.advise.rules.mpiio_rules import sieved_files
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.use import among, by_file, most_first, under_mpiio
from iolens.metrics.job.interfaces.private_counts import http_requests
from iolens.metrics.job.spent import NONE, Spent, of_ranks, slowest_seconds
from iolens.metrics.processor.sampled.groups import ASLEEP, OFF_CORE, UNKNOWN
from iolens.metrics.processor.time import rank_time
from iolens.metrics.why.answers import bound_of
from iolens.metrics.why.what_if import FAULTS_FREE

_FETCHED_IN_VAIN_REMEDY = """\
Keep fetched data, and request parts of the size that is used:

  once     copy the object to node-local storage, and open the copy
  HDF5     H5Pset_page_buffer_size and paged files (h5repack -S PAGE -G 8388608)
  chunks   in the shape of an access, so that no chunk is fetched twice
  Python   fsspec.filesystem("blockcache", ...) or "filecache" around the store"""


def fetched_in_vain(job: Job, limits: Limits) -> Seen | None:
    """Returns the address, or the family of addresses, with most needless bytes, and the part of its requests' time
    that belongs to them.
    """
    found = http_requests(job)
    if not len(found):
        return None
    received = found["received"].astype(float)
    again = np.nan_to_num(found["again"])
    unused = np.nan_to_num(received - found["used"])
    needless = np.clip(np.maximum(again, unused), 0, received)
    place = int(needless.argmax())
    if needless[place] < max(limits["needless_bytes"], limits["needless_share"] * received[place]):
        return None
    row = dict(zip(found.names, next(found.where(slice(place, place + 1)).rows(*found.names)), strict=True))
    said = f", {say.size(again[place])} of these bytes more than once" if again[place] > 0 else ""
    if np.isfinite(row["used"]):
        said += (
            f"; HDF5 gave the program {say.size(row['used'])} of {'these files' if row['files'] > 1 else 'this file'}"
        )
    evidence = (
        f"{say.count(row['requests'], 'request')} through libcurl fetched {say.size(received[place])} from "
        f"{say.members(row['url'], row['files'], 'object')}{said}. The slowest rank spent "
        f"{say.seconds(row['seconds'])} in them."
    )
    spent = float(row["seconds"]) * needless[place] / received[place]
    return Seen(
        evidence, spent, "The bound is the share of the requests' time that these bytes took.", _FETCHED_IN_VAIN_REMEDY
    )


FETCHED_IN_VAIN = Rule(
    id="fetched-in-vain",
    title="Bytes are fetched over the network in vain",
    says="`needless_share` or more of what libcurl fetched from an address, and `needless_bytes`, had been fetched "
    "before by the same rank, or HDF5 did not give it to the program",
    limits=("needless_share", "needless_bytes"),
    why="A library that reads ahead, or keeps no cache, fetches parts of an object several times, or parts that nobody "
    "asks for; each request costs a round trip.",
    read_more="https://docs.hdfgroup.org (H5Pset_fapl_ros3, H5Pset_page_buffer_size)",
    check=fetched_in_vain,
    exhibit="http_requests",
    beside_io=True,
)


_MAPPED_RANDOM_REMEDY = """\
If most of the file is needed, read it in order, once:

  C        pread(fd, memory, bytes, 0) instead of mmap, or
           madvise(map, bytes, MADV_POPULATE_READ)    (Linux 5.14)
  Python   numpy.load(path) without mmap_mode; numpy.array(memmap)
           safetensors.torch.load(open(path, "rb").read())
  shell    cp FILE /dev/shm/    and map the copy, on each node

If only parts are needed, fetch only these:

  C        madvise(map, bytes, MADV_RANDOM), or pread of each part
  Python   memmap._mmap.madvise(mmap.MADV_RANDOM), or
           numpy.fromfile(path, dtype, count, offset=offset)"""


def _is_random(table: Records, limits: Limits) -> np.ndarray:
    """Returns a mask of the rows (one per file and rank) with scattered accesses: each page fault fetched little, or
    storage delivered much that the rank did not touch.
    """
    many = table["major_faults"] >= limits["few_calls"]
    little = table["fetched"] < table["major_faults"] * limits["large_transfer"]
    unused = table["fetched"] >= limits["mapped_waste"] * np.maximum(table["reached"], 1)
    random = (many & little) | (unused & (table["fetched"] >= limits["much_bytes"]))
    return np.asarray(random & (table["told"] > 0))


def _blocked_seconds(job: Job) -> np.ndarray | None:
    """Returns an upper bound on the seconds that each rank waited for page faults: the time outside recorded calls in
    which it was asleep or without a core, or in which the log does not tell its state. None for a log without the
    processor times of its ranks.
    """
    parts = rank_time(job)
    if parts is None:
        return None
    return np.asarray(np.sum([parts[part] for part in (ASLEEP, OFF_CORE, UNKNOWN) if part in parts], axis=0))


def mapped_random(job: Job, limits: Limits) -> Seen | None:
    """Returns the file for which storage delivered most bytes to a rank that accessed it at scattered places."""
    table = job.tables.get("mapped_files", Records({}))
    found = table.where(_is_random(table, limits)) if len(table) else table
    if not len(found):
        return None
    worst = int(found["fetched"].argmax())
    file, rank, fetched, reached, faults = (
        int(found[name][worst]) for name in ("file", "rank", "fetched", "reached", "major_faults")
    )
    waited = _blocked_seconds(job)
    evidence = (
        f"Rank {rank} mapped {say.files(job, [file])} and touched scattered parts of it: "
        f"{say.count(faults, 'page fault')} waited for storage, which delivered {say.size(fetched)}. The rank "
        f"touched at most {say.size(reached)}."
    )
    spent = None if waited is None else float(waited[np.unique(found["rank"])].max())
    derivation = "It assumes that these ranks waited for page faults whenever they were blocked outside of calls."
    replayed = bound_of(job, FAULTS_FREE) or 0.0
    if spent is not None and replayed > spent:
        spent, derivation = replayed, "It assumes that no rank waits for page faults, by a replay of the job's calls."
    return Seen(evidence, spent, derivation, _MAPPED_RANDOM_REMEDY)


MAPPED_RANDOM = Rule(
    id="mapped-random",
    title="Mapped files are accessed at random",
    says="page faults (`few_calls`) of a rank on a mapped file fetched less than `large_transfer` each, or storage "
    "delivered `much_bytes` and `mapped_waste` times the bytes that the rank reached",
    limits=("few_calls", "large_transfer", "much_bytes", "mapped_waste"),
    why="A page fault waits for storage, and the kernel also reads the pages around it. Accesses in order profit "
    "from read-ahead; each other access waits, also for bytes that nobody uses. On a parallel file system each "
    "costs a request.",
    read_more="man 2 madvise",
    check=mapped_random,
    exhibit="mapped_files",
    beside_io=True,
    asleep=True,
)


READ_AGAIN_REMEDY = """\
Read once, and keep the data in memory or on the node:

  Python   data = numpy.load(path)          # before the loop, not within
           functools.lru_cache on the function that reads
  shell    cp INPUT /dev/shm/ (or the node's disk) and read it there
  PyTorch  persistent_workers=True; cache the decoded samples
  HDF5     a chunk cache as large as a row of chunks: H5Pset_chunk_cache"""


def read_again(job: Job, limits: Limits) -> Seen | None:
    """Looks for files of which each rank that used them read `again` times their size or more."""
    said, gain, spent = [], NONE, NONE
    pair = under_mpiio(job)
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is None:
            continue
        each = table["BYTES_READ"] / table["ranks"]
        size = table["MAX_BYTE_READ"] + 1
        repeated = (each - size) * table["ranks"]
        chosen = (each >= limits["again"] * size) & (repeated >= limits["large_transfer"])
        if name == "POSIX" and pair is not None:
            sieved = pair[0]["id"][pair[1]["BYTES_READ"] > 1.5 * pair[0]["BYTES_READ"]]
            chosen &= ~among(table["id"], sieved)
        if not chosen.any():
            continue
        rows = most_first(repeated, chosen)
        ids = table["id"][rows]
        seconds = slowest_seconds(job, name, ids, ("READ",))
        share = float(repeated[rows].sum() / table["BYTES_READ"][rows].sum())
        spent, gain = spent + seconds, gain + seconds * share
        whole, read = float(size[rows].sum()), float(each[rows].sum())
        said.append(
            f"each rank that used {say.files(job, ids)} read {say.size(read)} from {say.size(whole)}, each byte "
            f"{read / whole:.1f} times on average"
        )
    if not said:
        return None
    evidence = f"{said[0][0].upper()}{'; '.join(said)[1:]}. These reads took {say.seconds(spent)} on the slowest rank."
    return Seen(
        evidence,
        gain,
        "It assumes that each byte is read once, and that repeated bytes take no time.",
        READ_AGAIN_REMEDY,
    )


READ_AGAIN = Rule(
    id="read-again",
    title="The same bytes are read again and again",
    says="the ranks that used a file read, on average, `again` times its size (up to the highest offset read) or "
    "more, and together `large_transfer` or more for the second time",
    limits=("again", "large_transfer"),
    why="Data in memory need not be read from storage; the page cache helps only while memory is free.",
    read_more="https://docs.nersc.gov/performance/io/",
    check=read_again,
    exhibit="costly_files",
)


REWRITING_REMEDY = """\
Write each byte once, or less often:
  - a checkpoint that replaces the last one: every so many minutes, not every
    step (Young: interval = sqrt(2 x cost x mean time between failures));
  - counters or headers in front of the data: write them once, at the end;
  - accumulate in memory, and write the sum."""


def rewriting(job: Job, limits: Limits) -> Seen | None:
    """Looks for files into which `again` times their size was written."""
    table, pair = by_file(job, "POSIX"), under_mpiio(job)
    if table is None:
        return None
    written = table["BYTES_WRITTEN"].copy()
    if pair is not None:  # Another rule reports bytes that MPI-IO writes in addition to the program's own.
        both = among(table["id"], pair[0]["id"])
        written[both] = np.minimum(written[both], pair[0]["BYTES_WRITTEN"])
    size = table["MAX_BYTE_WRITTEN"] + 1
    chosen = (written >= limits["again"] * size) & (written - size >= limits["large_transfer"])
    if not chosen.any():
        return None
    rows = most_first(written - size, chosen)
    ids = table["id"][rows]
    spent = slowest_seconds(job, "POSIX", ids, ("WRITE",))
    share = float((written - size)[rows].sum() / written[rows].sum())
    given, kept = float(written[rows].sum()), float(size[rows].sum())
    evidence = (
        f"{say.size(given)} went into {say.size(kept)} of {say.files(job, ids)}, each byte {given / kept:.1f} times on "
        f"average; writes took {say.seconds(spent)} on the slowest rank."
    )
    return Seen(
        evidence,
        spent * share,
        "It assumes that each byte is written once, and that repeated bytes take no time.",
        REWRITING_REMEDY,
    )


REWRITING = Rule(
    id="rewriting",
    title="The same bytes are written again and again",
    says="the bytes written into a file are at least `again` times its size (up to the highest offset written), and "
    "`large_transfer` more than its size",
    limits=("again", "large_transfer"),
    why="Only the last version of each byte remains.",
    read_more="J. W. Young, CACM 17 (1974) 530, doi 10.1145/361147.361115",
    check=rewriting,
    exhibit="costly_files",
)


WRITE_AMPLIFICATION_REMEDY = """\
HDF5 and netCDF-4 write fill values first, and write a whole chunk each time
a part of it changes:

  C        H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
           nc_set_fill(file, NC_NOFILL, &old);
           H5Pset_chunk_cache(access, slots, bytes_of_a_row_of_chunks, 1.0);
  Python   dataset = file.create_dataset(name, shape, dtype, chunks=(...),
                                         fill_time='never')
  MPI-IO   hint romio_ds_write disable
@lustre:           hint romio_lustre_ds_in_coll disable

Write whole chunks, and each chunk only once."""


def write_amplification(job: Job, limits: Limits) -> Seen | None:
    """Compares the bytes that POSIX wrote with the bytes given to MPI-IO in files without data sieving. If no file has
    many more, compares them with the bytes given to HDF5, over all of its files.
    """
    pair = under_mpiio(job)
    if pair is not None:
        upper, lower = pair
        more = lower["BYTES_WRITTEN"] >= limits["amplification"] * upper["BYTES_WRITTEN"]
        chosen = more & ~sieved_files(upper, lower, limits) & (upper["BYTES_WRITTEN"] > 0)
        if chosen.any():
            rows = most_first(lower["BYTES_WRITTEN"], chosen)
            return _said(job, lower.where(rows), "MPI-IO", float(upper["BYTES_WRITTEN"][rows].sum()))
    return _of_hdf5(job, limits)


def _of_hdf5(job: Job, limits: Limits) -> Seen | None:
    """Compares the bytes that the program gave HDF5 for datasets with the bytes that POSIX wrote to HDF5's files."""
    if dataset_rules.hdf5_fill_values(job, limits) is not None:
        return None
    datasets, files, posix = by_file(job, "H5D"), job.records.get("H5F"), by_file(job, "POSIX")
    if datasets is None or files is None or posix is None:
        return None
    posix = posix.where(among(posix["id"], files["id"]) & (posix["BYTES_WRITTEN"] > 0))
    given, written = float(datasets["BYTES_WRITTEN"].sum()), float(posix["BYTES_WRITTEN"].sum())
    if given <= 0 or written < limits["amplification"] * given:
        return None
    return _said(job, posix, "HDF5", given)


def _said(job: Job, files: Records, layer: str, given: float) -> Seen:
    """Returns the evidence for files to which POSIX wrote more bytes than `layer` was given, with the time of the
    additional bytes.
    """
    written = float(files["BYTES_WRITTEN"].sum())
    spent = slowest_seconds(job, "POSIX", files["id"], ("WRITE",))
    evidence = (
        f"{layer} was given {say.size(given)} for {say.files(job, files['id'])}, and POSIX wrote {say.size(written)}, "
        f"{written / given:.1f} times as much, in {say.seconds(spent)} on the slowest rank."
    )
    return Seen(
        evidence,
        spent * (1 - given / written),
        "The bound is the time of the bytes that the program did not give.",
        WRITE_AMPLIFICATION_REMEDY,
    )


WRITE_AMPLIFICATION = Rule(
    id="write-amplification",
    title="More bytes are written than the program gave",
    says="POSIX wrote at least `amplification` times the bytes that the program gave to MPI-IO, in a file without data "
    "sieving; or to HDF5's datasets, unless `hdf5-fill-values` is reported",
    limits=("amplification", "sieving_share", "few_calls"),
    why="The storage receives fill values, or the same bytes again.",
    read_more="https://docs.hdfgroup.org (chunking, fill values); man nc_set_fill",
    check=write_amplification,
    exhibit="performance",
)


_SYNCS = {
    "POSIX": (("FSYNCS", "FDSYNCS"), ("WRITES",), "fsync"),
    "MPI-IO": (("SYNCS",), ("INDEP_WRITES", "COLL_WRITES", "NB_WRITES", "SPLIT_WRITES"), "MPI_File_sync"),
    "STDIO": (("FLUSHES",), ("WRITES",), "fflush"),
}
"""For each layer, the counters of its calls that flush data, the counters of its writes, and the name of the call."""

_SOME = 5
"""Minimum number of syncs per rank on a file; only from then on are its syncs judged by their time."""

_SUM = "It assumes that these writes and syncs take no time on the slowest rank; the log has only their sum."
_SYNCS_ALONE = "It assumes that these syncs take no time on the slowest rank."

SYNC_EACH_WRITE_REMEDY = """\
Force data out once per step instead of once per write:

  C        for (...) write(fd, ...);  fsync(fd);       /* one fsync a step */
           remove O_SYNC and O_DSYNC from open();  fflush(file) at the end
  Fortran  one FLUSH (unit) a step
  Python   os.fsync(file.fileno()) after the loop; no print(..., flush=True)"""


def sync_each_write(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence for the layer whose flushing calls, or writes and flushing calls, took most time."""
    best, longest = None, 0.0
    for name, (syncs, writes, call) in _SYNCS.items():
        table = by_file(job, name)
        if table is None:
            continue
        forced, written = (np.sum([table[name] for name in names], axis=0) for names in (syncs, writes))
        used = (forced > 0) & (written > 0)
        dense = used & (forced >= limits["sync_share"] * written) & (forced >= limits["few_syncs"] * table["ranks"])
        timed = used & (forced >= limits["timed_syncs"] * written) & (forced >= _SOME * table["ranks"])
        spent = slowest_seconds(job, name, table["id"][dense], ("WRITE",))
        waited = _sync_seconds(job, table["id"][timed]) if name == "POSIX" else NONE
        what, chosen, bound = "writes and syncs", dense, _SUM
        if waited.about > spent.about:
            what, chosen, bound, spent = "syncs", timed, _SYNCS_ALONE, waited
        if spent.about <= longest:
            continue
        longest = spent.about
        rows = most_first(forced, chosen)
        evidence = (
            f"{say.count(float(forced[rows].sum()))} calls of {call} for "
            f"{say.count(float(written[rows].sum()), 'write')} to {say.files(job, table['id'][rows])}; {what} took "
            f"{say.seconds(spent)} on the slowest rank."
        )
        best = Seen(evidence, spent, bound, SYNC_EACH_WRITE_REMEDY)
    return best


def _sync_seconds(job: Job, ids: np.ndarray) -> Spent:
    """Returns the seconds that the slowest rank spent in fsync and fdatasync of these files; none if the log has only
    their sum with the time of writes.
    """
    table = job.tables.get("posix_extra", Records({}))
    if "sync_seconds" not in table:
        return NONE
    rows = table.where(among(table["file"], ids) & (table["rank"] >= 0))
    return of_ranks(job, np.bincount(rows["rank"].astype(np.int64), rows["sync_seconds"], 1))


SYNC_EACH_WRITE = Rule(
    id="sync-each-write",
    title="Data is forced out after every few writes",
    says="fsync, MPI_File_sync or fflush is called nearly as often as write on a file, and often by each rank; or "
    "fsync is called for `timed_syncs` of the writes or more, and the log has its time",
    limits=("sync_share", "few_syncs", "timed_syncs"),
    why="Each sync waits for the storage, and prevents the system from gathering writes in the background.",
    read_more="man fsync(2)",
    check=sync_each_write,
    exhibit="operations",
    gauges=("size",),
    bounds="syncs",
    before=("small-writes", "shared-small-writes"),
)


SYNC_OPEN_REMEDY = """\
Open without O_SYNC and O_DSYNC, and force data out once per step:

  C        int fd = open(path, O_CREAT | O_WRONLY, 0644);
           for (...) write(fd, ...);  fsync(fd);       /* one fsync a step */
  Python   os.open(path, os.O_CREAT | os.O_WRONLY); os.fsync(fd) at the end
  dd       conv=fsync instead of oflag=sync or oflag=dsync
  mount    check that the file system is not mounted with the option sync"""


def sync_open(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of files that were opened with O_SYNC or O_DSYNC and written by some calls or more."""
    table, extra = by_file(job, "POSIX"), job.tables.get("posix_extra", Records({}))
    if table is None or "sync_opens" not in extra:
        return None
    opened = np.unique(extra["file"][extra["sync_opens"] > 0])
    chosen = among(table["id"], opened) & (table["WRITES"] >= limits["some_calls"])
    if not chosen.any():
        return None
    rows = most_first(table["WRITES"], chosen)
    ids, calls = table["id"][rows], float(table["WRITES"][rows].sum())
    spent = slowest_seconds(job, "POSIX", ids, ("WRITE",))
    evidence = (
        f"{say.count(calls, 'write')} of {say.size(float(table['BYTES_WRITTEN'][rows].sum()) / calls)} on average to "
        f"{say.files(job, ids)}, opened with O_SYNC or O_DSYNC: each waits for the storage; they took "
        f"{say.seconds(spent)} on the slowest rank."
    )
    return Seen(evidence, spent, "It assumes that these writes take no time on the slowest rank.", SYNC_OPEN_REMEDY)


SYNC_OPEN = Rule(
    id="sync-open",
    title="Each write waits for the storage",
    says="files that were opened with O_SYNC or O_DSYNC are written by `some_calls` or more (logs of iolens have these "
    "flags)",
    limits=("some_calls",),
    why="The call returns when the storage has the bytes, so that the system cannot gather writes in the background.",
    read_more="man 2 open (O_SYNC, O_DSYNC)",
    check=sync_open,
    exhibit="operations",
    gauges=("size",),
    bounds="syncs",
    before=("small-writes", "shared-small-writes", "sync-each-write", "random-access", "one-place", "rewriting"),
)
