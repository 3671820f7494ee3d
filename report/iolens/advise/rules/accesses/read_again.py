"""Finds files whose bytes are read again and again."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import among, by_file, most_first, under_mpiio
from iolens.metrics.job.spent import NONE, slowest_seconds

REMEDY = """\
Read once, and keep the data in memory or on the node:

  Python   data = numpy.load(path)          # before the loop, not within
           functools.lru_cache on the function that reads
  shell    cp INPUT /dev/shm/ (or the node's disk) and read it there
  PyTorch  persistent_workers=True; cache the decoded samples
  HDF5     a chunk cache as large as a row of chunks: H5Pset_chunk_cache"""


def check(job: Job, limits: Limits) -> Seen | None:
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
    return Seen(evidence, gain, "It assumes that each byte is read once, and that repeated bytes take no time.", REMEDY)


RULE = Rule(
    id="read-again",
    title="The same bytes are read again and again",
    says="the ranks that used a file read, on average, `again` times its size (up to the highest offset read) or "
    "more, and together `large_transfer` or more for the second time",
    limits=("again", "large_transfer"),
    why="Data in memory need not be read from storage; the page cache helps only while memory is free.",
    read_more="https://docs.nersc.gov/performance/io/",
    check=check,
)
