"""Time and bytes of single ranks, as far as the log has records of single ranks."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.overview import lowest
from iolens.metrics.files.stripes.ost import clearly_slow
from iolens.metrics.files.use import among
from iolens.metrics.job.about import host_ranks
from iolens.metrics.job.interfaces.layers import io_time
from iolens.metrics.job.interfaces.mpiio import file_rank_records
from iolens.metrics.job.share import io_seconds
from iolens.metrics.once import once_per_job

_TOGETHER = 0.25
"""Maximum difference between the starts of ranks in a group that begins to write together, as a part of the longest
time of a rank.
"""


@once_per_job
def rank_times(job: Job) -> Records | None:
    """Returns one row per rank that moved bytes: rank, seconds (read, write and metadata), meta (of these, seconds of
    metadata) and bytes at the lowest layers.

    The sources are records of single ranks and, for files that several ranks share, the private table `file_ranks`.
    None if the log does not distinguish the ranks of shared files and these files took more time than all others.
    """
    seconds, moved = np.zeros(max(job.nprocs, 1)), np.zeros(max(job.nprocs, 1), "i8")
    unknown, table, meta = 0.0, file_rank_records(job), seconds.copy()
    for name in lowest(job):
        records = job.records[name]
        spent, asked = io_time(records, name), np.maximum(records[f"{name}_F_META_TIME"], 0.0)
        transferred = np.sum([np.maximum(records[f"{name}_BYTES_{kind}"], 0) for kind in ("READ", "WRITTEN")], axis=0)
        shared, ranks = records["rank"] < 0, records["rank"]
        seconds += np.bincount(ranks[~shared], weights=spent[~shared], minlength=len(seconds))
        meta += np.bincount(ranks[~shared], weights=asked[~shared], minlength=len(seconds))
        np.add.at(moved, ranks[~shared], transferred[~shared])
        apart = np.zeros(len(records), bool)
        if table is not None and name == "POSIX":
            apart = among(records["id"], table["file"])
        unknown += float(spent[shared & ~apart].sum())
    if table is not None and "POSIX" in job.records:
        rows = table.where((table["rank"] >= 0) & among(table["file"], _merged_files(job)))
        spent = rows["read_time"] + rows["write_time"] + rows["meta_time"]
        seconds += np.bincount(rows["rank"], weights=spent, minlength=len(seconds))
        meta += np.bincount(rows["rank"], weights=rows["meta_time"], minlength=len(seconds))
        np.add.at(moved, rows["rank"], rows["bytes_read"] + rows["bytes_written"])
    if unknown > seconds.sum() or not moved.any():
        return None
    found = {"rank": np.arange(len(moved)), "seconds": seconds, "meta": meta, "bytes": moved}
    return Records(found).where(moved > 0)


@once_per_job
def _merged_files(job: Job) -> np.ndarray:
    """Returns the files of POSIX that have one record for all ranks together."""
    return job.records["POSIX"]["id"][job.records["POSIX"]["rank"] < 0]


@once_per_job
def target_speed(job: Job) -> Records | None:
    """Returns the speed of each storage target, from similar files that lie on one target and were used by one rank.

    Columns: ost, speed (bytes per second of reads and writes, the median over its files), fastest (of its files),
    overall (all bytes divided by all seconds, as in `ost.target_bytes`). Files are similar if their bytes are within a
    fifth of the median. Targets with a single such file are left out, because the speed may be that of the file's rank.
    None if fewer than two targets are left.
    """
    layout, posix = job.records.get("LUSTRE"), job.records.get("POSIX")
    if layout is None or posix is None or not len(layout):
        return None
    target = {
        key: osts[0] for key, osts in zip(layout["id"].tolist(), layout["osts"], strict=True) if len(set(osts)) == 1
    }
    own = posix["rank"] >= 0
    moved = np.sum([np.maximum(posix[f"POSIX_BYTES_{kind}"][own], 0) for kind in ("READ", "WRITTEN")], axis=0)
    spent = np.sum([np.maximum(posix[f"POSIX_F_{kind}_TIME"][own], 0) for kind in ("READ", "WRITE")], axis=0)
    ost = np.array([target.get(key, -1) for key in posix["id"][own].tolist()], "i8")
    alike = (ost >= 0) & (moved > 0) & (spent > 0)
    if not alike.any():
        return None
    typical = float(np.median(moved[alike]))
    alike &= (moved >= typical / 1.2) & (moved <= 1.2 * typical)
    ost, moved, spent = ost[alike], moved[alike], spent[alike]
    speed = moved / spent
    known, files = np.unique(ost, return_counts=True)
    known = known[files > 1]
    if len(known) < 2:
        return None
    each = [speed[ost == target] for target in known]
    medians, largest = np.array([np.median(one) for one in each]), np.array([one.max() for one in each])
    overall = np.array([moved[ost == target].sum() / spent[ost == target].sum() for target in known])
    return Records({"ost": known, "speed": medians, "fastest": largest, "overall": overall})


@once_per_job
def clearly_slow_targets(job: Job, factor: float) -> Records | None:
    """Returns the rows of `target_speed` that are `ost.clearly_slow`; None if there is none.

    The result is also None if more than a quarter of the targets are that slow, because then the targets are not the
    cause.
    """
    found = target_speed(job)
    if found is None or len(found) < 4:
        return None
    # A target is to blame only if its fastest file is slow, too; otherwise the cause may be a rank that uses the
    # target.
    late = found["fastest"] * factor <= np.median(found["speed"])
    slow = found.where(clearly_slow(found["speed"], factor) & late)
    return slow if 0 < len(slow) <= len(found) / 4 else None


@dataclass(frozen=True)
class SlowHost:
    """A host, the number of its ranks that did I/O, the median of their seconds, and the median over all other
    ranks.
    """

    host: str
    ranks: int
    seconds: float
    others: float


@once_per_job
def slow_hosts(job: Job, factor: float) -> list[SlowHost]:
    """Returns the hosts all of whose ranks took `factor` times the median of the other hosts' ranks, with similar
    bytes. The list is empty if the log does not know hosts or single ranks, or if more than a quarter of the hosts are
    that slow.
    """
    places, times = host_ranks(job), rank_times(job)
    if places is None or times is None or len(places) < 2:
        return []
    found = []
    for host, ranks in places:
        here = np.isin(times["rank"], ranks)
        mine, rest = times.where(here), times.where(~here)
        if not len(mine) or not len(rest) or mine["bytes"].mean() > 1.2 * rest["bytes"].mean():
            continue
        others = float(np.median(rest["seconds"]))
        if mine["seconds"].min() >= factor * others:
            found.append(SlowHost(host, len(mine), float(np.median(mine["seconds"])), others))
    return found if len(found) <= max(1, len(places) // 4) else []


@dataclass(frozen=True)
class Turns:
    """Ranks that write in turns, one group after the other. `covered` is the seconds from the first begin to the last
    end without gaps, `longest` the longest time of one rank.
    """

    ranks: int
    groups: int
    covered: float
    longest: float


@once_per_job
def write_turns(job: Job) -> Turns | None:
    """Returns the turns in which ranks write; None if they write side by side or the log does not tell.

    Each rank writes from its first write's start to its last one's end, and is busy writing for at least half of that.
    Either these times hardly overlap (their sum is at most 1.2 times the time that they cover), and each rank is a
    group; or ranks begin together in groups, and each group begins when a rank of the previous group has ended.
    """
    begin, end, busy = _write_times(job)
    if len(begin) < 2 or (busy < 0.5 * (end - begin)).any():
        return None
    order = np.argsort(begin)
    begin, end = begin[order], end[order]
    reached = np.maximum.accumulate(end)
    covered = float((end - begin).sum() - np.maximum(0, np.minimum(reached[:-1], end[1:]) - begin[1:]).sum())
    total, longest = float((end - begin).sum()), float((end - begin).max())
    groups = len(begin) if total <= 1.2 * covered else _turn_count(begin, end, _TOGETHER * longest)
    return Turns(len(begin), groups, covered, longest) if groups > 1 and covered > longest else None


def _turn_count(begin: np.ndarray, end: np.ndarray, together: float) -> int:
    """Returns the number of groups of ranks that write one after the other; 0 if ranks do not write in such groups.

    `begin` and `end` are in the order of `begin`. The first group begins within `together` seconds; every other rank
    begins within `together` seconds of the end of a rank of the previous group, and no two ranks begin after the same
    rank.
    """
    ends: list[tuple[float, int]] = []
    groups = 1
    for began, ended in zip(begin.tolist(), end.tolist(), strict=True):
        group = 1
        if began - begin[0] > together:
            while ends and ends[0][0] < began - together:
                heappop(ends)
            if not ends or ends[0][0] > began + together:
                return 0
            group = heappop(ends)[1] + 1
        heappush(ends, (ended, group))
        groups = max(groups, group)
    return groups


@once_per_job
def io_span_seconds(job: Job) -> float | None:
    """Returns the seconds of the run that I/O can have taken: those of the slowest rank or, if ranks write one after
    the other, those of all turns. None for a log without times of I/O.
    """
    slowest, turns = io_seconds(job), write_turns(job)
    return slowest if slowest is None or turns is None else min(job.run_time, max(slowest, turns.covered))


@once_per_job
def io_span_share(job: Job) -> float | None:
    """Returns `io_span_seconds` as a `part_at_most` of the run time; None if either is unknown."""
    spent = io_span_seconds(job)
    return part_at_most(job, spent) if spent is not None and job.run_time > 0 else None


def part_at_most(job: Job, seconds: float) -> float:
    """Returns the largest part of the run that these seconds can be: where a log counts whole seconds, the run may have
    been a second shorter.
    """
    if job.whole_seconds and job.run_time > 1:
        return max(seconds / job.run_time, min(1.0, seconds / (job.run_time - 1)))
    return seconds / job.run_time


def _write_times(job: Job) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the first begin, the last end and the time in writes of each rank that wrote through POSIX and has its
    own records. Ranks that the job does not have, as in damaged logs, are left out.
    """
    posix, table = job.records.get("POSIX"), file_rank_records(job)
    begin, end = np.full(max(job.nprocs, 1), np.inf), np.full(max(job.nprocs, 1), -np.inf)
    busy = np.zeros(max(job.nprocs, 1))
    parts = []
    if posix is not None:
        own = posix.where((posix["rank"] >= 0) & (posix["POSIX_BYTES_WRITTEN"] > 0))
        parts.append((own, [f"POSIX_F_WRITE_{what}" for what in ("START_TIMESTAMP", "END_TIMESTAMP", "TIME")]))
        if table is not None:
            shared = (table["rank"] >= 0) & (table["bytes_written"] > 0) & among(table["file"], _merged_files(job))
            parts.append((table.where(shared), ["first_write", "last_write", "write_time"]))
    for part, names in parts:
        rows = part.where(part["rank"] < len(begin))
        np.minimum.at(begin, rows["rank"], rows[names[0]])
        np.maximum.at(end, rows["rank"], rows[names[1]])
        np.add.at(busy, rows["rank"], rows[names[2]])
    wrote = end > -np.inf
    return begin[wrote], end[wrote], busy[wrote]
