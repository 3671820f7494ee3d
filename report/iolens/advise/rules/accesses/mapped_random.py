"""The rule about mapped files that a rank accesses at scattered places."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.processor.sampled.parts import ASLEEP, OFF_CORE, UNKNOWN
from iolens.metrics.processor.time import rank_time
from iolens.metrics.why.answers import bound_of
from iolens.metrics.why.what_if import FAULTS_FREE

_REMEDY = """\
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


def check(job: Job, limits: Limits) -> Seen | None:
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
    return Seen(evidence, spent, derivation, _REMEDY)


RULE = Rule(
    id="mapped-random",
    title="Mapped files are accessed at random",
    says="page faults (`few_calls`) of a rank on a mapped file fetched less than `large_transfer` each, or storage "
    "delivered `much_bytes` and `mapped_waste` times the bytes that the rank reached",
    limits=("few_calls", "large_transfer", "much_bytes", "mapped_waste"),
    why="A page fault waits for storage, and the kernel also reads the pages around it. Accesses in order profit "
    "from read-ahead; each other access waits, also for bytes that nobody uses. On a parallel file system each "
    "costs a request.",
    read_more="man 2 madvise",
    check=check,
    beside_io=True,
    asleep=True,
)
