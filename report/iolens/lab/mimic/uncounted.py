"""Calls that appear in the counters but not in the traces: seeks, stats, mappings, renames, unlinks, streams."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np

from iolens.lab.mimic.calls import STREAM_CALLS, TRANSFERS, CallKind, Calls, calls_of, joined
from iolens.log import Job
from iolens.log.records import Records

_STATS_OF_OPEN = {"ompio": 1, "romio321": 0, "romio341": 0}
"""Number of stats that an MPI-IO component makes in MPI_File_open, as logs of programs without stats show."""


class Counted:
    """The counters of a log by file and rank. A record of all ranks is divided evenly among the ranks that used the
    file, and the first of these ranks get the remainder.
    """

    def __init__(self, job: Job, ids: dict[int, int], mpi: Calls) -> None:
        self._job, self._ids, self._mpi = job, ids, mpi

    @cached_property
    def _users(self) -> dict[int, list[int]]:
        """Returns the ranks that opened each file, by its number."""
        table = self._job.tables["traced_events"]
        pairs = sorted({*zip(table["file"].tolist(), table["rank"].tolist(), strict=True)})
        found: dict[int, list[int]] = {}
        for key, rank in pairs:
            if key in self._ids:
                found.setdefault(self._ids[key], []).append(rank)
        return found

    def of(self, counter: str) -> dict[tuple[int, int], int]:
        """Returns a counter by file and rank, where it is not 0."""
        table = self._job.records.get(_module_of(counter))
        found: dict[tuple[int, int], int] = {}
        if table is None:
            return found
        for key, rank, value in zip(table["id"].tolist(), table["rank"].tolist(), table[counter].tolist(), strict=True):
            if value <= 0 or key not in self._ids:
                continue
            file = self._ids[key]
            ranks = [int(rank)] if rank >= 0 else self._users.get(file) or [*range(self._job.nprocs)]
            each, left = divmod(int(value), len(ranks))
            for place, one in enumerate(ranks):
                if each + (place < left):
                    found[file, one] = each + (place < left)
        return found

    def extra(self, column: str, name: str = "posix_extra") -> dict[tuple[int, int], int]:
        """Returns a column of the table `name` by file and rank, where it is not 0."""
        table = self._job.tables.get(name, Records({}))
        if not len(table):
            return {}
        rows = zip(table["file"].tolist(), table["rank"].tolist(), table[column].tolist(), strict=True)
        return {(self._ids[key], rank): value for key, rank, value in rows if value and key in self._ids}

    @cached_property
    def _given_modes(self) -> dict[tuple[int, int], int]:
        """Returns the permissions that opens gave, by file and rank; rank -1 stands for all ranks together."""
        table = self._job.records.get("POSIX")
        if table is None:
            return {}
        rows = zip(table["id"].tolist(), table["rank"].tolist(), table["POSIX_MODE"].tolist(), strict=True)
        return {(self._ids[key], rank): max(0, mode) for key, rank, mode in rows if key in self._ids}

    @cached_property
    def modes(self) -> dict[int, int]:
        """Returns the permissions with which each file was created; 0 if no open gave any."""
        found: dict[int, int] = {}
        for (file, _), mode in self._given_modes.items():
            found[file] = max(found.get(file, 0), mode)
        return found

    def with_modes(self, calls: Calls) -> Calls:
        """Returns the calls; an open gets detail 1 if its rank gave no permissions for the file."""
        bare = [pair for pair, mode in self._given_modes.items() if not mode]
        keys = calls.file.astype(np.int64) * self._job.nprocs + calls.rank
        mine = np.isin(keys, [file * self._job.nprocs + rank for file, rank in bare if rank >= 0])
        return calls.changed(detail=np.where((calls.kind == CallKind.OPEN) & mine, 1, calls.detail))

    def beside_mpi(self, counter: str) -> dict[tuple[int, int], int]:
        """Returns a counter by file and rank without the calls that the MPI library makes, because it makes them in the
        mini-app too.

        Seeks in files of MPI-IO belong to the library. The library makes a stat in each open or none; for an unknown
        library, stats count as the library's if there are equally many for each open.
        """
        found = self.of(counter)
        opens = self._mpi[self._mpi.kind == CallKind.MPI_OPEN]
        for file in {file for file, _ in found} & {*opens.file.tolist()}:
            mine = {pair: value for pair, value in found.items() if pair[0] == file}
            count, total = int((opens.file == file).sum()), sum(mine.values())
            each = total // count if counter != "POSIX_STATS" else _STATS_OF_OPEN.get(self._component, total // count)
            left = 0 if counter == "POSIX_SEEKS" else max(0, total - each * count)
            for pair in sorted(mine):
                found[pair] = min(left, mine[pair])
                left -= found[pair]
        return {pair: value for pair, value in found.items() if value}

    @property
    def _component(self) -> str:
        return str(self._job.info.get("io_component_used") or "")

    def truncates(self) -> dict[tuple[int, int], int]:
        """Returns the truncates by file and rank without those of MPI_File_set_size."""
        within = dict.fromkeys(self.extra("set_sizes", "mpiio_extra"), 1)
        return {pair: count for pair, count in self.extra("truncates").items() if pair not in within}

    def misaligned(self, own: Calls) -> dict[tuple[int, int], int]:
        """Returns, by file and rank, the number of transfers that used memory that was not aligned."""
        moves = own[np.isin(own.kind, TRANSFERS)]
        mine = {*zip(moves.file.tolist(), moves.rank.tolist(), strict=True)}
        return {pair: value for pair, value in self.of("POSIX_MEM_NOT_ALIGNED").items() if pair in mine}

    @property
    def sources(self) -> dict[int, int]:
        """Returns for each renamed file the number of the file that it was before."""
        table = self._job.records.get("POSIX")
        if table is None:
            return {}
        pairs = zip(table["id"].tolist(), table["POSIX_RENAMED_FROM"].tolist(), strict=True)
        wide = ((key, source & 0xFFFFFFFFFFFFFFFF) for key, source in pairs if source)
        return {self._ids[key]: self._ids[source] for key, source in wide if key in self._ids and source in self._ids}


def _module_of(counter: str) -> str:
    return {"POSIX": "POSIX", "STDIO": "STDIO", "MPIIO": "MPI-IO"}[counter.partition("_")[0]]


def calls_without_times(others: Calls, counted: Counted) -> tuple[Calls, list[str]]:
    """Returns the calls of which the log has only counts, at assumed times, and sentences about these assumptions.
    `others` are the calls whose times the log has.
    """
    spans = _spans(others)
    parts, notes = [], []
    early = {
        "seeks": (CallKind.SEEK, counted.beside_mpi("POSIX_SEEKS")),
        "stats": (CallKind.STAT, counted.beside_mpi("POSIX_STATS")),
        "mappings": (CallKind.MAP, counted.beside_mpi("POSIX_MMAPS")),
        "mkdirs": (CallKind.MAKE_FOLDER, counted.extra("mkdirs")),
    }
    late = {
        "truncates": (CallKind.TRUNCATE, counted.truncates()),
        "unlinks": (CallKind.UNLINK, counted.extra("unlinks")),
        "rmdirs": (CallKind.REMOVE_FOLDER, counted.extra("rmdirs")),
    }
    for word, (kind, counts) in {**early, **late}.items():
        if not counts:
            continue
        parts.append(_placed(kind, counts, spans, word in late))
        where = "after the rank's last call on the file" if word in late else "right after its first open"
        notes.append(f"The log has no times of the {sum(counts.values())} {word}; the mini-app makes them {where}.")
    recorded = others[~np.isin(others.kind, STREAM_CALLS)]
    called = {*zip(recorded.file.tolist(), recorded.rank.tolist(), strict=True)}
    renames = _renames(counted, spans, called)
    if len(renames):
        parts.append(renames)
        notes.append("The log has no times of renames; the mini-app renames a file after the last call on it.")
    return joined([calls_of(0), *parts]), notes


def _spans(calls: Calls) -> dict[tuple[int, int], tuple[float, float]]:
    """Returns by file and rank the end of the first call and the end of the last."""
    order = np.lexsort((calls.end, calls.rank, calls.file))
    keys = np.stack([calls.file[order], calls.rank[order]])
    if not len(order):
        return {}
    first = np.flatnonzero(np.r_[True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)])
    last = np.r_[first[1:] - 1, len(order) - 1]
    ends = calls.end[order]
    return {
        (int(keys[0, one]), int(keys[1, one])): (float(ends[one]), float(ends[other]))
        for one, other in zip(first, last, strict=True)
    }


def _placed(
    kind: CallKind, counts: dict[tuple[int, int], int], spans: dict[tuple[int, int], tuple[float, float]], late: bool
) -> Calls:
    """Returns `counts` calls of a kind by file and rank, placed at the rank's first or last call on the file."""
    pairs = sorted(counts)
    times = [spans.get(pair, (0.0, _end_of_file(pair[0], spans)))[late] for pair in pairs]
    each = np.array([counts[pair] for pair in pairs], np.int64)
    at = np.repeat(np.array(times) + (2e-9 if late else 1e-9), each)
    return calls_of(
        int(each.sum()),
        rank=np.repeat(np.array([rank for _, rank in pairs]), each),
        kind=kind,
        file=np.repeat(np.array([file for file, _ in pairs]), each),
        start=at,
        end=at,
    )


def _end_of_file(file: int, spans: dict[tuple[int, int], tuple[float, float]]) -> float:
    """Returns the moment at which the last call of any rank on a file ended; 0 if there is no call."""
    return max((end for (other, _), (_, end) in spans.items() if other == file), default=0.0)


def _renames(
    counted: Counted, spans: dict[tuple[int, int], tuple[float, float]], called: Collection[tuple[int, int]]
) -> Calls:
    """Returns the calls that rename files; `detail` is the number of the file under its new name. `called`: the pairs
    of file and rank that have a POSIX record because of other calls; a rename of any other file must come after the
    rename that makes its record (chain_renames).
    """
    origin = counted.sources
    sources = counted.of("POSIX_RENAME_SOURCES")
    left = counted.of("POSIX_RENAME_TARGETS")
    rows = []
    for (file, rank), count in sorted(sources.items()):
        for _ in range(count):
            own = [pair for pair in left if pair[1] == rank and left[pair]]
            best = sorted(own, key=lambda pair: (origin.get(pair[0]) != file, pair))
            if not best:
                break
            left[best[0]] -= 1
            rows.append((rank, file, best[0][0], spans.get((file, rank), (0.0, _end_of_file(file, spans)))[1] + 3e-9))
    table = np.array(chain_renames(rows, called), np.float64).reshape(-1, 4)
    return calls_of(
        len(rows),
        rank=table[:, 0],
        kind=CallKind.RENAME,
        file=table[:, 1],
        detail=table[:, 2],
        start=table[:, 3],
        end=table[:, 3],
    )


def chain_renames(
    rows: Sequence[tuple[int, int, int, float]], called: Collection[tuple[int, int]]
) -> list[tuple[int, int, int, float]]:
    """Returns the renames (rank, file, file under its new name, moment), some of them at later moments. A profiler
    counts a rename only if the file has a POSIX record by then.

    `called` has the pairs of file and rank whose calls make a POSIX record. Any other file gets its record when another
    file is renamed to it, so its own rename must come later: each pass moves renames behind the renames that made their
    files.
    """
    found = list(rows)
    for _ in rows:
        made: dict[tuple[int, int], float] = {}
        for rank, file, target, moment in found:
            if file != target:
                made[target, rank] = max(moment, made.get((target, rank), moment))
        moves = {pair: moment + 1e-9 for pair, moment in made.items() if pair not in called}
        moved = [
            (rank, file, target, max(moment, moves.get((file, rank), moment))) for rank, file, target, moment in found
        ]
        if moved == found:
            break
        found = moved
    return found
