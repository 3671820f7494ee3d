"""The rules about ranks that take turns, move more than others, or are slower than others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules import target_rules
from iolens.log import Job
from iolens.metrics.files.families import of_libraries
from iolens.metrics.files.use import among, by_file
from iolens.metrics.files.writers import moved_by_rank
from iolens.metrics.job.interfaces.layers import LAYERS
from iolens.metrics.job.ranks import clearly_slow_targets, rank_times, slow_hosts, write_turns
from iolens.metrics.job.share import KINDS, highest_records, seconds_in
from iolens.metrics.job.spent import NONE, Spent, slowest_seconds

TURNS_REMEDY = """\
Let ranks write at the same time: compute the offsets first, and remove the
loop over ranks with MPI_Barrier, or the MPI_Recv before and MPI_Send after
writing.

  C        MPI_Offset offset = 0;                   /* stays so on rank 0 */
           MPI_Exscan(&mine, &offset, 1, MPI_OFFSET, MPI_SUM, comm);
           MPI_File_write_at_all(file, offset, buffer, count, type, &status);
  Fortran  offset = 0
           call MPI_Exscan(mine, offset, 1, MPI_OFFSET, MPI_SUM, comm)
           call MPI_File_write_at_all(file, offset, buffer, n, type, status)
  Python   offset = comm.exscan(array.nbytes) or 0
           file.Write_at_all(offset, array)"""


def turns(job: Job, limits: Limits) -> Seen | None:
    """Looks for jobs in which at least half of the ranks write, one after the other or group after group."""
    turns = write_turns(job)
    if turns is None or turns.ranks < max(limits["few_ranks"], job.nprocs / 2):
        return None
    who = say.count(turns.ranks, "rank")
    how = f"in {turns.groups} groups, one group" if turns.groups < turns.ranks else "one"
    evidence = (
        f"{who} wrote {how} after the other, {say.seconds(turns.longest)} at most each and "
        f"{say.seconds(turns.covered)} together: the run waits for all of them."
    )
    bound = "It assumes that all write at the same time, for as long as the longest of them."
    return Seen(evidence, turns.covered - turns.longest, bound, TURNS_REMEDY)


TURNS = Rule(
    id="turns",
    title="Ranks write one after the other",
    says="at least half of the ranks write, each for most of its time of writing, and these times hardly overlap, "
    "or groups of ranks begin together, each group when the previous one ends",
    limits=("few_ranks",),
    why="The I/O time of the run is then the sum of the times of all ranks.",
    read_more="MPI 4.1, sections 6.11.2 (exscan) and 14.4.2",
    check=turns,
    exhibit="rank_spans",
    gauges=("balance",),
    bounds="few writers",
    before=("sync-each-write", "small-writes", "stripe-size", "shared-stripes"),
)


SLOW_RANK_OF_FILE_REMEDY = """\
Find out how this rank differs from the others:

  iolens table shared_files LOG    # its bytes and time beside the others'
  iolens table load_balance LOG    # is it slow in other files, too?

If it writes headers or text for all, let it do so in one large call. If it
moves as much as the others, look at its node and at its targets."""


@dataclass(frozen=True)
class _Slow:
    """The shared records of a layer whose slowest rank is far from the others: the seconds of the slowest rank and the
    mean of the others, the bytes of the slowest rank and of all, and its number.
    """

    id: np.ndarray
    rank: np.ndarray
    slowest: np.ndarray
    mean: np.ndarray
    own: np.ndarray
    moved: np.ndarray


def slow_rank_of_file(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence that one rank took far longer in shared files than the mean of the others."""
    if job.nprocs < max(2.0, limits["few_ranks"]):
        return None
    found = [slow for name, chosen in highest_records(job) if len((slow := _slow(job, limits, name, chosen)).id)]
    if not found:
        return None
    most = max(found, key=lambda one: float((one.slowest - one.mean).max()))
    at = int((most.slowest - most.mean).argmax())
    bytes_said = (
        f", and moved {say.size(float(most.own[at]))} of {say.size(float(most.moved[at]))}" if most.moved[at] else ""
    )
    evidence = (
        f"Rank {int(most.rank[at])} took {say.seconds(float(most.slowest[at]))} in "
        f"{say.files(job, [int(most.id[at])])}, {float(most.slowest[at] / most.mean[at]):.1f} times the mean of the "
        f"{say.count(job.nprocs - 1, 'other rank')}{bytes_said}."
    )
    total = sum(float((one.slowest - one.mean)[one.rank == most.rank[at]].sum()) for one in found)
    bound = "It assumes that this rank is as fast as the mean of the others in each file in which it is the slowest."
    return Seen(evidence, total, bound, SLOW_RANK_OF_FILE_REMEDY)


def _slow(job: Job, limits: Limits, name: str, chosen: np.ndarray) -> _Slow:
    """Returns the shared records of a layer in which one rank is far slower than the others. Files with collective
    calls, and records whose slowest rank moved nearly all bytes, are left out.
    """
    records, prefix = job.records[name], LAYERS[name].prefix
    spent = sum((seconds_in(job, name, kind, waits=False) for kind in KINDS), start=np.zeros(len(records)))
    rank = records.get(f"{prefix}_SLOWEST_RANK", np.full(len(records), -1))
    slowest = np.minimum(spent, records.get(f"{prefix}_F_SLOWEST_RANK_TIME", spent * 0))
    own = np.maximum(records.get(f"{prefix}_SLOWEST_RANK_BYTES", spent * 0), 0)
    moved = sum(np.maximum(records[f"{prefix}_BYTES_{kind}"], 0) for kind in ("READ", "WRITTEN"))
    mean = (spent - slowest) / (job.nprocs - 1)
    far = (mean > 0) & (slowest >= max(1.0, limits["far_rank"]) * mean)
    far &= chosen & (records["rank"] < 0) & (rank >= 0) & ((own < limits["one_rank_share"] * moved) | (moved == 0))
    upper = by_file(job, "MPI-IO") if name == "MPI-IO" else None
    if upper is not None:
        far &= ~among(records["id"], upper["id"][upper["COLL_READS"] + upper["COLL_WRITES"] > 0])
    far[far] = ~of_libraries(job, records.where(far))
    return _Slow(records["id"][far], rank[far], slowest[far], mean[far], own[far], np.asarray(moved)[far])


SLOW_RANK_OF_FILE = Rule(
    id="slow-rank-of-file",
    title="One rank is far slower in a shared file",
    says="the slowest rank of a file of at least `few_ranks` ranks takes `far_rank` times the mean of the others, is "
    "no aggregator, and does not move nearly all bytes",
    limits=("few_ranks", "far_rank", "one_rank_share"),
    why="All other ranks wait for this rank at the next barrier or collective call.",
    read_more="`iolens table shared_files`; Darshan's counters SLOWEST_RANK and F_SLOWEST_RANK_TIME",
    check=slow_rank_of_file,
    exhibit="shared_files",
    gauges=("balance",),
)


STRAGGLER_HOST_REMEDY = """\
Exclude the node, and tell your site:

  sbatch --exclude={hosts} ...
@lustre:  lctl get_param osc.*.import | grep -A3 state      # on the node
@nfs:  nfsiostat 5                                       # on the node
  ethtool DEVICE | grep Speed; ibstatus             # link at full speed?"""


def straggler_host(job: Job, limits: Limits) -> Seen | None:
    """Returns the hosts on which each rank's time is far above the median of the other hosts."""
    found = slow_hosts(job, limits["straggler"])
    if not found:
        return None
    worst = max(found, key=lambda one: one.seconds)
    evidence = (
        f"All {say.count(worst.ranks, 'rank')} on {worst.host} took {say.seconds(worst.seconds)} (median) for "
        f"their I/O, ranks elsewhere {say.seconds(worst.others)} for as many bytes."
    )
    bound = "It assumes that the host's ranks are as fast as the median of the others."
    remedy = STRAGGLER_HOST_REMEDY.replace("{hosts}", ",".join(one.host for one in found))
    return Seen(evidence, worst.seconds - worst.others, bound, remedy)


STRAGGLER_HOST = Rule(
    id="straggler-host",
    title="A node is slow for the same bytes",
    says="all ranks of a host take `straggler` times the median of the others for no more bytes",
    limits=("straggler",),
    why="The run waits for its slowest node, and so will the next run on this node.",
    read_more="`iolens table load_balance`; Lockwood et al., TOKIO, CUG 2018",
    check=straggler_host,
    exhibit="hosts",
    gauges=("balance",),
    before=("small-writes", "small-reads", "sync-each-write", "shared-small-writes", "random-access"),
)


STRAGGLER_RANK_REMEDY = """\
Find out how these ranks differ before you change the program:

  iolens table shared_files LOG    # their times beside the others'
  scontrol show job JOBID          # where they ran
  squeue -w NODE                   # what shares the node
@stripes:  iolens stripe get FILE           # which targets they wrote to
@nfs:  nfsiostat 5                      # on the node: is the server slow?

then exclude the node (sbatch -x NODE).
@stripes:If they wrote to another target than the others, avoid that target."""


def straggler_rank(job: Job, limits: Limits) -> Seen | None:
    """Looks for a few ranks far above the median time without more bytes, unless a target or host explains it."""
    times, upper = rank_times(job), by_file(job, "MPI-IO")
    if times is None or len(times) < limits["crowd"] or (upper is not None and upper["COLL_WRITES"].any()):
        return None
    if clearly_slow_targets(job, limits["straggler"]) is not None or slow_hosts(job, limits["straggler"]):
        return None
    median = float(np.median(times["seconds"]))
    alike = times["bytes"] <= 1.2 * np.median(times["bytes"])
    slow = times.where((times["seconds"] >= limits["straggler"] * median) & alike)
    if not 0 < 4 * len(slow) <= len(times):
        return None
    worst = slow["seconds"].argmax()
    rank, most = int(slow["rank"][worst]), float(slow["seconds"][worst])
    evidence = (
        f"Rank {rank} took {say.seconds(most)} for {say.size(float(slow['bytes'][worst]))}; half of the "
        f"{say.count(len(times), 'rank')} took {say.seconds(median)} or less for as much"
        f"{f', and {len(slow) - 1} more are as slow' if len(slow) > 1 else ''}."
    )
    bound = "It assumes that the slowest rank is as fast as the median rank."
    return Seen(evidence, most - median, bound, STRAGGLER_RANK_REMEDY)


STRAGGLER_RANK = Rule(
    id="straggler-rank",
    title="Some ranks are slow for the same bytes",
    says="in a job of `crowd` ranks or more, at most a quarter of the ranks take `straggler` times as long as the "
    "median rank for no more bytes, and neither a host nor a target explains their time",
    limits=("crowd", "straggler"),
    why="The run waits for its slowest rank.",
    read_more="`iolens table load_balance`; Lockwood et al., TOKIO, CUG 2018",
    check=straggler_rank,
    exhibit="shared_files",
    gauges=("balance",),
    before=("small-writes", "small-reads", "sync-each-write", "shared-small-writes", "random-access"),
)


UNEVEN_RANKS_REMEDY = """\
Give each rank that does I/O the same number of bytes:

  C        part = total / ranks + (rank < total % ranks);
  Python   mine = numpy.array_split(data, comm.size)[comm.rank]

or use collective calls, whose aggregators take equal parts of the file:
 MPI_File_write_at_all, hint romio_cb_write enable."""


def uneven_ranks(job: Job, limits: Limits) -> Seen | None:
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
            best = Seen(evidence, spent * (1 - mean / most), bound, UNEVEN_RANKS_REMEDY, bounds=limited_by)
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


UNEVEN_RANKS = Rule(
    id="uneven-ranks",
    title="Bytes unevenly over ranks",
    says="a rank moves more than `uneven` times the mean of the ranks that move any, without collective calls",
    limits=("few_ranks", "uneven", "one_rank_share", "much_bytes"),
    why="The others wait for the rank with the most bytes.",
    read_more="DeRose, Homer, Johnson, Euro-Par 2007 (imbalance)",
    check=uneven_ranks,
    exhibit="rank_balance",
    gauges=("balance",),
    bounds="few writers",
    before=("uneven-targets",),
)


UNEVEN_TIMES_REMEDY = """\
Check if another run shows the same:

  iolens diff LOG OTHER_LOG            # are the same ranks slow again?
  iolens table load_balance LOG

If the same ranks are slow, look at their nodes, files and targets. If other
ranks are slow, the storage was busy with other jobs; fewer writers at a
time (aggregators, or files for groups of ranks) make the times more equal."""


def uneven_times(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence that time differs widely between ranks that moved the same number of bytes."""
    times, upper = rank_times(job), by_file(job, "MPI-IO")
    if times is None or len(times) < limits["crowd"]:
        return None
    if upper is not None and (upper["COLL_WRITES"].any() or upper["COLL_READS"].any()):
        return None
    moved = times["bytes"]
    seconds = min((times["seconds"], times["seconds"] - times["meta"]), key=_unevenness)
    median, mean, most = float(np.median(seconds)), float(seconds.mean()), float(seconds.max())
    if moved.max() > 1.2 * moved.min() or most < limits["uneven"] * mean or median <= 0:
        return None
    if any(check(job, limits) is not None for check in (straggler_rank, straggler_host, target_rules.straggler_target)):
        return None
    evidence = (
        f"{say.count(len(times), 'rank')} moved {say.size(float(np.median(moved)))} each, in "
        f"{say.seconds(float(seconds.min()))} to {say.seconds(most)} (mean {say.seconds(mean)})."
    )
    return Seen(
        evidence, most - mean, "It assumes that the slowest rank is as fast as the mean of all.", UNEVEN_TIMES_REMEDY
    )


def _unevenness(seconds: np.ndarray) -> float:
    """Returns the slowest rank's time over the mean. Opening files may make ranks uneven that move bytes evenly."""
    mean = float(seconds.mean())
    return float(seconds.max()) / mean if mean > 0 else 0.0


UNEVEN_TIMES = Rule(
    id="uneven-times",
    title="Equal bytes take very unequal times",
    says="`crowd` ranks or more moved the same number of bytes, the slowest took `uneven` times the mean, and "
    "neither a host, a target nor a few ranks explain its time",
    limits=("crowd", "uneven"),
    why="The run waits for the slowest rank: the storage or the network was shared with other jobs, or served ranks "
    "in turn.",
    read_more="Lockwood et al., TOKIO, CUG 2018; `iolens table load_balance`",
    check=uneven_times,
    exhibit="rank_spans",
    gauges=("balance",),
)
