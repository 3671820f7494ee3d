"""The activity of a forest's processes: over time, by process and by group. Bytes and seconds."""

from __future__ import annotations

from functools import cache

import numpy as np

from iolens.forest.forest import Forest
from iolens.forest.tree import process_names, tree_of
from iolens.lazy import pd

_ROWS, _BINS = 64, 200
_HOUR = 3600.0


def end_of(forest: Forest) -> float:
    """Returns the time at which the last process ended."""
    seconds = np.array([each.seconds for each in forest.processes])
    return float((tree_of(forest).start + seconds).max())


def idle(forest: Forest) -> float:
    """Returns the time in which no process ran, between the first begin and the last end, in seconds."""
    start = tree_of(forest).start
    order = np.argsort(start, kind="stable")
    ends = np.maximum.accumulate((start + np.array([each.seconds for each in forest.processes]))[order])
    return float(np.maximum(start[order][1:] - ends[:-1], 0.0).sum())


def is_one_job(forest: Forest) -> bool:
    """Returns False if nothing ran for more than an hour and for more than half of the time, because the logs are then
    of several jobs.
    """
    return idle(forest) <= max(_HOUR, end_of(forest) / 2)


def _order_of(forest: Forest) -> np.ndarray:
    """Returns processes in the order of the tree: by group, then by begin."""
    tree = tree_of(forest)
    order: np.ndarray = np.lexsort((tree.start, tree.group))
    return order


def bytes_over_time(forest: Forest) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Returns bytes written and read, arrays (rows of neighbouring processes in the tree, bins), and the bins' width.

    A log's bin that overlaps several of these bins is spread evenly over them, as far as the process ran; sums stay
    the same. A log without bytes over time is left out. None if no log has bytes over time.
    """
    count, length = len(forest.processes), end_of(forest)
    each = -(-count // _ROWS)
    row = np.empty(count, int)
    row[_order_of(forest)] = np.arange(count) // each
    written, read = (np.zeros((-(-count // each), _BINS)) for _ in range(2))
    width = max(length, 1e-9) / _BINS
    start = tree_of(forest).start
    for number, heat in enumerate(forest.heat):
        if len(heat):
            last = start[number] + forest.processes[number].seconds
            begin, end = (
                np.minimum(start[number] + heat["width"] * (heat["bin"] + after), last) / width for after in (0, 1)
            )
            _spread_over_bins(written[row[number]], heat["written"], begin, end)
            _spread_over_bins(read[row[number]], heat["read"], begin, end)
    return (written, read, width) if written.any() or read.any() else None


def _spread_over_bins(line: np.ndarray, values: np.ndarray, begin: np.ndarray, end: np.ndarray) -> None:
    """Spreads each value evenly over the bins of `line` from its begin to its end, which are given in bins; values of 0
    add nothing.
    """
    for place in np.flatnonzero(values > 0).tolist():
        low, high = float(begin[place]), float(min(end[place], len(line)))
        low = min(low, len(line) - 1e-6)
        high = max(high, low + 1e-9)
        first, last = int(low), min(int(np.ceil(high)), len(line))
        bins = np.arange(first, max(last, first + 1))
        parts = np.minimum(bins + 1, high) - np.maximum(bins, low)
        line[bins] += values[place] * parts / parts.sum()


def running(forest: Forest, most: int = 6) -> pd.DataFrame:
    """Returns the number of running processes over time: a row per bin, a column per group with its label (those with
    most time; the rest together as `others`), the average number in the bin; the index is the bin's start in
    seconds.
    """
    tree = tree_of(forest)
    seconds = np.array([each.seconds for each in forest.processes])
    width = max(end_of(forest), 1e-9) / _BINS
    spent: dict[str, float] = {}
    labels = [tree.labels[group] for group in tree.group]
    for name, long in zip(labels, seconds.tolist(), strict=True):
        spent[name] = spent.get(name, 0.0) + long
    chosen = sorted(spent, key=lambda name: -spent[name])[: most if len(spent) <= most else most - 1]
    table = {name: np.zeros(_BINS) for name in [*chosen, *(["others"] if len(spent) > len(chosen) else [])]}
    edges = np.arange(_BINS + 1) * width
    for name, begin, long in zip(labels, tree.start.tolist(), seconds.tolist(), strict=True):
        inside = np.minimum(edges[1:], begin + long) - np.maximum(edges[:-1], begin)
        table[name if name in table else "others"] += np.maximum(inside, 0) / width
    return pd.DataFrame(table, index=pd.Index(edges[:-1], name="start"))


_SUMS = ("bytes_read", "bytes_written", "opens", "reads", "writes", "read_seconds", "write_seconds", "meta_seconds")


@cache
def processes(forest: Forest) -> pd.DataFrame:
    """Returns a row per log, in the order of their start: a process without MPI, or all ranks of an MPI job.

    Columns: number, parent (a number; -1: none that left a log), without_log (ancestors in between that left none),
    group, label, host, pid, rank (as a launcher gave it) and rank_from (the variable), ranks, start (seconds since the
    first process began, by the host's clock after alignment), seconds, user_time and system_time (NaN: not recorded),
    off_processor (seconds times ranks less processor time, at least 0), files, the sums over files, io_seconds (over
    ranks), partial (reasons), command, log. Bytes are those of the layers at which they reach a file: POSIX and stdio,
    DFS or DAOS.
    """
    tree, found = tree_of(forest), forest.processes
    frame = pd.DataFrame(
        {
            "number": range(len(found)),
            "parent": tree.parent,
            "without_log": tree.gap,
            "group": tree.group,
            "label": [tree.labels[group] for group in tree.group],
            "host": [each.host for each in found],
            "pid": [each.pid for each in found],
            "rank": [each.rank for each in found],
            "rank_from": [each.rank_from for each in found],
            "ranks": [each.ranks for each in found],
            "start": tree.start,
            "seconds": [each.seconds for each in found],
            "user_time": [each.user_time for each in found],
            "system_time": [each.system_time for each in found],
            "max_rss": [each.max_rss for each in found],
        }
    )
    wall = frame["seconds"] * frame["ranks"]
    frame["off_processor"] = (wall - frame["user_time"] - frame["system_time"]).clip(lower=0)
    sums = forest.uses.groupby("process")[list(_SUMS)].sum().reindex(range(len(found)), fill_value=0)
    frame["files"] = forest.uses.groupby("process").size().reindex(range(len(found)), fill_value=0).to_numpy()
    frame[list(_SUMS)] = sums.to_numpy()
    frame = frame.astype(dict.fromkeys(_SUMS[:5], "int64"))
    frame["io_seconds"] = frame[list(_SUMS[5:])].sum(axis=1)
    frame["partial"] = [" ".join(each.partial) for each in found]
    return frame.assign(command=[each.command for each in found], log=[each.log for each in found])


@cache
def process_groups(forest: Forest) -> pd.DataFrame:
    """Returns the tree of processes with equal ones folded, a row per group, in depth-first order.

    Processes are equal if they run the same program (or script) and their parents are equal. Columns: group, depth,
    name, processes (logs), ranks, first_rank and last_rank (as launchers gave them), hosts, start and end (of the first
    and the last process, seconds since the first of all began), longest (seconds), files (paths that any of them used),
    bytes_read, bytes_written, opens, io_seconds (sums over the processes' ranks), wall (seconds times ranks), cpu and
    off_processor (of the processes whose log knows them; NaN: none), partial (processes whose log is not whole).
    """
    tree, rows = tree_of(forest), processes(forest)
    rows = rows.assign(end=rows["start"] + rows["seconds"], wall=rows["seconds"] * rows["ranks"])
    rows["cpu"] = rows["user_time"] + rows["system_time"]
    rows["known_wall"] = rows["wall"].where(rows["cpu"].notna())
    rows["known_io"] = rows["io_seconds"].where(rows["cpu"].notna())
    by_group = rows.groupby("group")
    known = [int(rank) if rank.isdigit() else np.nan for rank in rows["rank"]]
    ranks = rows.assign(given=known).groupby("group")["given"]
    paths = forest.uses.assign(group=tree.group[forest.uses["process"]]).drop_duplicates(["group", "path"])
    found = pd.DataFrame(
        {
            "group": range(len(tree.labels)),
            "depth": tree.depth,
            "name": process_names(forest),
            "processes": by_group.size(),
            "ranks": by_group["ranks"].sum(),
            "first_rank": ranks.min(),
            "last_rank": ranks.max(),
            "hosts": by_group["host"].nunique(),
            "start": by_group["start"].min(),
            "end": by_group["end"].max(),
            "longest": by_group["seconds"].max(),
            "files": paths.groupby("group").size().reindex(range(len(tree.labels)), fill_value=0),
        }
    )
    for name in ("bytes_read", "bytes_written", "opens", "io_seconds", "wall"):
        found[name] = by_group[name].sum()
    for name in ("cpu", "off_processor", "known_wall", "known_io"):
        found[name] = by_group[name].sum(min_count=1)
    found["mpi_ranks"] = found["ranks"].where(found["ranks"] > found["processes"], 0)
    return found.assign(partial=by_group["partial"].agg(lambda each: int((each != "").sum())))


def process_waiting(forest: Forest) -> pd.DataFrame | None:
    """Returns the time off the processor by group, most time first; None if no log has processor times.

    The columns are group, name, processes, wall (seconds times ranks, for processes with known processor time), cpu,
    off_processor, in_io (an upper bound: the smaller of off_processor and the time in I/O calls), and elsewhere (a
    lower bound: the rest, in which processes waited for children, pipes, locks or the network, or slept). A process
    with several threads is off the processor for longer than the table says.
    """
    found = process_groups(forest).dropna(subset=["cpu"])
    if found.empty:
        return None
    off, spent = found["off_processor"], found["known_io"]
    rows = found[["group", "name", "processes", "cpu", "off_processor"]].assign(wall=found["known_wall"])
    rows["in_io"] = off.where(off < spent, spent)
    rows["elsewhere"] = off - rows["in_io"]
    return rows.sort_values("off_processor", ascending=False, kind="stable", ignore_index=True)


def heaviest(forest: Forest, limit: int = 10) -> pd.DataFrame | None:
    """Returns the `limit` processes with most time in I/O, most first; processes without I/O are left out."""
    found = processes(forest)
    found = found[found["io_seconds"] > 0]
    return None if found.empty else found.nlargest(limit, "io_seconds").reset_index(drop=True)


def process_hosts(forest: Forest) -> pd.DataFrame:
    """Returns a row per host: host (empty: the logs do not name it), processes, ranks, bytes_read, bytes_written,
    io_seconds, and clock_step: the largest correction of a start, in seconds, by which its processes were given one
    clock.
    """
    rows = processes(forest).assign(step=np.abs(tree_of(forest).skew))
    by_host = rows.groupby("host", sort=True)
    found = by_host[["ranks", "bytes_read", "bytes_written", "io_seconds"]].sum()
    found.insert(0, "processes", by_host.size())
    return found.assign(clock_step=by_host["step"].max()).reset_index()


def damaged_logs(forest: Forest) -> pd.DataFrame | None:
    """Returns the logs that could not be read, with the reasons; None if all could be read."""
    rows = [(each.log, each.reason) for each in forest.damaged]
    return pd.DataFrame(rows, columns=["log", "reason"]) if rows else None


def partial(forest: Forest) -> pd.DataFrame | None:
    """Returns the logs that are incomplete, such as those of killed processes, with the reasons; None if all are
    complete.
    """
    found = processes(forest)
    found = found[found["partial"] != ""]
    return None if found.empty else found[["number", "label", "pid", "partial", "log"]].reset_index(drop=True)
