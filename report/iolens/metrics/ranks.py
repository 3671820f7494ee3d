"""Time and bytes of single ranks, as far as records of single ranks tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.files import LOWEST
from iolens.metrics.layers import io_time
from iolens.metrics.mpiio import file_ranks
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


@once_per_job
def rank_times(job: Job) -> pd.DataFrame | None:
    """One row a rank that moved bytes, by `rank`: seconds (read, write and metadata) and bytes through POSIX and STDIO.

    From records of single ranks and, for files that several share, the private table `file_ranks`. None where ranks
    of shared files are not known apart and these files took more time than all others.
    """
    import pandas as pd

    seconds, moved = np.zeros(max(job.nprocs, 1)), np.zeros(max(job.nprocs, 1))
    unknown, table = 0.0, file_ranks(job)
    for name in LOWEST:
        frame = job.frames.get(name)
        if frame is None:
            continue
        spent = io_time(frame, name).to_numpy()
        transferred = sum(np.maximum(frame[f"{name}_BYTES_{kind}"].to_numpy(), 0) for kind in ("READ", "WRITTEN"))
        shared, ranks = frame["rank"].to_numpy() < 0, frame["rank"].to_numpy()
        seconds += np.bincount(ranks[~shared], weights=spent[~shared], minlength=len(seconds))
        moved += np.bincount(ranks[~shared], weights=transferred[~shared], minlength=len(moved))
        apart = np.zeros(len(frame), bool) if table is None or name != "POSIX" else frame["id"].isin(table["file"])
        unknown += float(spent[shared & ~np.asarray(apart)].sum())
    if table is not None and "POSIX" in job.frames:
        merged = job.frames["POSIX"].loc[job.frames["POSIX"]["rank"] < 0, "id"]
        rows = table[(table["rank"] >= 0) & table["file"].isin(merged)]
        spent = rows[["read_time", "write_time", "meta_time"]].sum(axis=1)
        seconds += np.bincount(rows["rank"], weights=spent, minlength=len(seconds))
        moved += np.bincount(rows["rank"], weights=rows["bytes_read"] + rows["bytes_written"], minlength=len(moved))
    if unknown > seconds.sum() or not moved.any():
        return None
    found = pd.DataFrame({"seconds": seconds, "bytes": moved})
    found.index.name = "rank"
    return found[found["bytes"] > 0]


@once_per_job
def target_speed(job: Job) -> pd.DataFrame | None:
    """Speed of each storage target, from files that lie on one target and one rank used alone, and are alike.

    Columns: ost, files, bytes, seconds (of reads and writes), speed (bytes per second, the median over its files).
    Alike: with bytes within a fifth of the median. Targets with a single such file are left out: their speed may be its
    rank's. None where fewer than two targets are left.
    """
    import pandas as pd

    layout, posix = job.frames.get("LUSTRE"), job.frames.get("POSIX")
    if layout is None or posix is None or layout.empty:
        return None
    target = {key: osts[0] for key, osts in zip(layout["id"], layout["osts"], strict=True) if len(set(osts)) == 1}
    own = posix[(posix["rank"] >= 0) & posix["id"].isin(list(target))]
    if own.empty:
        return None
    moved = own["POSIX_BYTES_READ"].clip(lower=0) + own["POSIX_BYTES_WRITTEN"].clip(lower=0)
    spent = own["POSIX_F_READ_TIME"].clip(lower=0) + own["POSIX_F_WRITE_TIME"].clip(lower=0)
    rows = pd.DataFrame({"ost": own["id"].map(target), "rank": own["rank"], "bytes": moved, "seconds": spent})
    rows = rows[(rows["bytes"] > 0) & (rows["seconds"] > 0)]
    typical = rows["bytes"].median()
    rows = rows[(rows["bytes"] >= typical / 1.2) & (rows["bytes"] <= 1.2 * typical)]
    rows = rows.assign(speed=rows["bytes"] / rows["seconds"])
    found = rows.groupby("ost", as_index=False).agg(
        files=("bytes", "size"), bytes=("bytes", "sum"), seconds=("seconds", "max"), speed=("speed", "median")
    )
    found = found[found["files"] > 1]
    return found if len(found) > 1 else None


@once_per_job
def slow_targets(job: Job, factor: float) -> pd.DataFrame | None:
    """The rows of `target_speed` whose speed is the median's over `factor` or less; None without any.

    None, too, where more than a quarter of the targets are so slow: then it is not for the targets.
    """
    found = target_speed(job)
    if found is None or len(found) < 4:
        return None
    slow = found[found["speed"] * factor <= found["speed"].median()]
    return slow if 0 < len(slow) <= len(found) / 4 else None


@once_per_job
def slow_hosts(job: Job, factor: float) -> pd.DataFrame | None:
    """Hosts all of whose ranks took `factor` times the median of the other hosts' ranks, with bytes like theirs.

    Columns: host, ranks, seconds (median of its ranks), others (median of all other ranks). None without any, where
    the log knows no hosts or ranks apart, and where more than a quarter of the hosts are so.
    """
    import pandas as pd

    from iolens.metrics.about import hosts

    places, times = hosts(job), rank_times(job)
    if places is None or times is None or len(places) < 2:
        return None
    rows = []
    for place in places.itertuples():
        mine = times[times.index.isin(place.ranks)]
        rest = times[~times.index.isin(place.ranks)]
        if mine.empty or rest.empty or mine["bytes"].mean() > 1.2 * rest["bytes"].mean():
            continue
        if mine["seconds"].min() >= factor * rest["seconds"].median():
            rows.append((place.host, len(mine), float(mine["seconds"].median()), float(rest["seconds"].median())))
    enough = 0 < len(rows) <= max(1, len(places) // 4)
    return pd.DataFrame(rows, columns=["host", "ranks", "seconds", "others"]) if enough else None


@once_per_job
def write_turns(job: Job) -> tuple[int, float, float] | None:
    """Whether ranks wrote one after the other: ranks, seconds from the first to the last of them, longest of one rank.

    Each rank writes from its first write's begin to its last one's end, and is busy writing for at least half of that;
    these times hardly overlap (their sum is at most 1.2 times what they cover). None where that is not so or the log
    does not tell.
    """
    begin, end, busy = write_times(job)
    if len(begin) < 2 or (busy < 0.5 * (end - begin)).any():
        return None
    order = np.argsort(begin)
    begin, end = begin[order], end[order]
    reached = np.maximum.accumulate(end)
    covered = float((end - begin).sum() - np.maximum(0, np.minimum(reached[:-1], end[1:]) - begin[1:]).sum())
    total, longest = float((end - begin).sum()), float((end - begin).max())
    return (len(begin), covered, longest) if total <= 1.2 * covered and covered > longest else None


def write_times(job: Job) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First begin, last end and time in writes of each rank that wrote through POSIX and is known apart."""
    import pandas as pd

    parts, table = [], file_ranks(job)
    frame = job.frames.get("POSIX")
    if frame is not None:
        own = frame[(frame["rank"] >= 0) & (frame["POSIX_BYTES_WRITTEN"] > 0)]
        stamps = [own["rank"], *(own[f"POSIX_F_WRITE_{what}"] for what in ("START_TIMESTAMP", "END_TIMESTAMP", "TIME"))]
        parts.append(pd.concat(stamps, axis=1).set_axis(["rank", "begin", "end", "busy"], axis=1))
        if table is not None:
            shared = frame.loc[frame["rank"] < 0, "id"]
            rows = table[(table["rank"] >= 0) & (table["bytes_written"] > 0) & table["file"].isin(shared)]
            part = rows[["rank", "first_write", "last_write", "write_time"]]
            parts.append(part.set_axis(["rank", "begin", "end", "busy"], axis=1))
    if not any(map(len, parts)):
        return np.zeros(0), np.zeros(0), np.zeros(0)
    found = pd.concat(parts).groupby("rank").agg(begin=("begin", "min"), end=("end", "max"), busy=("busy", "sum"))
    return found["begin"].to_numpy(), found["end"].to_numpy(), found["busy"].to_numpy()
