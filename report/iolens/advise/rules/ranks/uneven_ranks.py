"""The rule about ranks that move much more than others."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file
from iolens.metrics.files.writers import moved_by_rank
from iolens.metrics.job.spent import NONE, Spent, slowest_seconds

REMEDY = """\
Give each rank that does I/O the same number of bytes:

  C        part = total / ranks + (rank < total % ranks);
  Python   mine = numpy.array_split(data, comm.size)[comm.rank]

or use collective calls, whose aggregators take equal parts of the file:
 MPI_File_write_at_all, hint romio_cb_write enable."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the rank with most bytes, compared with the mean of the ranks that move any; reads and writes are judged
    separately.
    """
    upper = by_file(job, "MPI-IO")
    best, gain = None, 0.0
    for what, kind in (("written", "WRITE"), ("read", "READ")):
        moved = moved_by_rank(job, what)
        if moved is None or job.nprocs < limits["few_ranks"] or moved.sum() < max(1.0, limits["much_bytes"]):
            continue
        if upper is not None and upper[f"COLL_{kind}S"].any():
            continue
        active = moved[moved > 0]
        if len(active) < 2:
            continue
        most, mean = float(active.max()), float(active.mean())
        if most <= limits["uneven"] * mean or most >= limits["one_rank_share"] * moved.sum():
            continue
        spent = seconds_of(job, what, kind)
        evidence = (
            f"Rank {int(moved.argmax())} {'wrote' if what == 'written' else what} {say.size(most)}, {most / mean:.1f} "
            f"times the mean of {say.count(len(active), 'rank')}; {kind.lower()}s took {say.seconds(spent)} on the "
            f"slowest rank."
        )
        if best is None or (spent * (1 - mean / most)).about > gain:
            gain = (spent * (1 - mean / most)).about
            bound = "It assumes that each of these ranks moves the mean of their bytes, as fast as the slowest rank."
            limited_by = "few writers" if kind == "WRITE" else "few readers"
            best = Seen(evidence, spent * (1 - mean / most), bound, REMEDY, bounds=limited_by)
    return best


def seconds_of(job: Job, what: str, kind: str) -> Spent:
    """Returns the time of the slowest rank in reads or writes through POSIX and STDIO."""
    spent = NONE
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is not None:
            counter = "BYTES_WRITTEN" if what == "written" else "BYTES_READ"
            spent += slowest_seconds(job, name, table["id"][table[counter] > 0], (kind,))
    return spent


RULE = Rule(
    id="uneven-ranks",
    title="Bytes unevenly over ranks",
    says="a rank moves more than `uneven` times the mean of the ranks that move any, without collective calls",
    limits=("few_ranks", "uneven", "one_rank_share", "much_bytes"),
    why="The others wait for the rank with the most bytes.",
    read_more="DeRose, Homer, Johnson, Euro-Par 2007 (imbalance)",
    check=check,
    gauges=("balance",),
    bounds="few writers",
    before=("uneven-targets",),
)
