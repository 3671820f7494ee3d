"""Read a traced run: transfers, opens, syncs, closes and views that the program made itself, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from iolens.errors import IolensError
from iolens.lab.mimic.calls import (
    NO_FILE,
    TRANSFERS,
    CallKind,
    Calls,
    FileFacts,
    Trace,
    events_of,
    in_order,
    joined,
    transfers_of,
)
from iolens.lab.mimic.exchanges import read_exchanges
from iolens.lab.mimic.mpi_files import read_mpi_files
from iolens.lab.mimic.streams import read_streams
from iolens.lab.mimic.uncounted import Counted, calls_without_times
from iolens.log import Job
from iolens.log.records import Records

_EVENTS = {
    "open": CallKind.OPEN,
    "dup": CallKind.DUP,
    "fileno": CallKind.FILENO,
    "close": CallKind.CLOSE,
    "sync": CallKind.FSYNC,
    "data sync": CallKind.FDATASYNC,
}
_COUNTERS = {
    "reads": ("POSIX_READS", (CallKind.READ,)),
    "writes": ("POSIX_WRITES", (CallKind.WRITE,)),
    "opens": ("POSIX_OPENS", (CallKind.OPEN, CallKind.DUP, CallKind.FILENO)),
    "dups": ("POSIX_DUPS", (CallKind.DUP,)),
    "filenos": ("POSIX_FILENOS", (CallKind.FILENO,)),
    "data syncs": ("POSIX_FDSYNCS", (CallKind.FDATASYNC,)),
}
"""Counters that must agree with the trace, and the kinds of traced calls that each of them counts."""

_SLACK = 1e-9


def read_trace(job: Job) -> Trace:
    """Returns the calls of a traced run; raises IolensError with the reason if the log does not have them."""
    _refuse(job)
    ids, names = _files_of(job)
    mpi = read_mpi_files(job, ids)
    counted = Counted(job, ids, mpi.calls)
    exchanges = read_exchanges(job, mpi.communicators)
    known, misaligned, lost = _known_calls(job, ids, mpi.calls, counted)
    silent, silent_notes = calls_without_times(known, counted)
    calls = in_order(joined([known, silent, exchanges.calls]))
    notes = (*lost, *mpi.notes, *exchanges.notes, *silent_notes)
    unaligned = {file for file, _ in counted.of("POSIX_MEM_NOT_ALIGNED")}
    modes = [counted.modes.get(file, 0) for file in range(len(names))]
    sizes = _sizes_before(calls, modes, _read_ends(job, ids))
    return Trace(
        nprocs=job.nprocs,
        run_time=job.run_time,
        command=job.command,
        component=str(job.info.get("io_component_used") or ""),
        calls=calls,
        files=tuple(
            FileFacts(
                name,
                modes[file],
                sizes[file],
                mpi.hints.get(file, {}),
                file not in unaligned,
            )
            for file, name in enumerate(names)
        ),
        views=mpi.views,
        openings=mpi.openings,
        communicators=exchanges.communicators,
        misaligned=misaligned,
        begins=_begins(job),
        notes=notes,
    )


def _refuse(job: Job) -> None:
    """Raises if the log has no trace, or a trace that is known to be incomplete."""
    traces = [module for module in job.modules if module.name.startswith("DXT")]
    if any(module.partial or module.cut for module in traces):
        raise IolensError(
            f"{job.path}: the traces in this log are incomplete, and calls are not made up; record the run with a "
            f"larger IOLENS_DXT_MEMORY"
        )
    if not len(job.tables.get("traced_events", Records({}))):
        raise IolensError(
            f"{job.path}: this log does not say when files were opened and closed; record with iolens run --dxt"
            if traces
            else f"{job.path}: this log has no single calls on files; record the run with iolens run --dxt"
        )


def _known_calls(
    job: Job, ids: dict[int, int], mpi: Calls, counted: Counted
) -> tuple[Calls, dict[tuple[int, int], int], list[str]]:
    """Returns the calls whose times the log has, the number of transfers from memory that is not aligned by file and
    rank, and sentences on calls that the traces lack.
    """
    below = joined([transfers_of(job, ids, "DXT_POSIX", *TRANSFERS), events_of(job, ids, _EVENTS)])
    below = below[below.file != NO_FILE]  # Calls on the standard streams are left out.
    inside = _lies_inside(below, mpi) | _lies_inside(below, _later_spans(mpi), same_file=True)
    own = counted.with_modes(in_order(below[~inside]))
    return joined([own, mpi, read_streams(job, ids)]), counted.misaligned(own), _lost(job, below, counted)


def _files_of(job: Job) -> tuple[dict[int, int], list[str]]:
    """Returns the number of each file by record id, and the files' names. Files are numbered by the lowest rank that
    opened them and the order of its first opens, so that a loop over files, or over ranks, has equal steps.
    """
    first: dict[int, tuple[int, float]] = {}
    events = job.tables["traced_events"]
    rows = zip(*(events[name].tolist() for name in ("file", "rank", "start")), strict=True)
    for key, rank, start in rows:
        first[key] = min((rank, start), first.get(key, (rank, start)))
    others = [job.records[module]["id"] for module in ("POSIX", "MPI-IO", "STDIO") if module in job.records]
    others += [job.tables["posix_extra"]["file"]] if len(job.tables.get("posix_extra", Records({}))) else []
    for key in (key for keys in others for key in keys.tolist()):
        first.setdefault(key, (job.nprocs, 0.0))
    streams = {key for key in first if job.names.get(key, "").startswith("<")}
    ids = {key: number for number, key in enumerate(sorted(first.keys() - streams, key=lambda key: (first[key], key)))}
    return ids, [job.names.get(key, f"{key:x}") for key in ids]


def _later_spans(calls: Calls) -> Calls:
    """Returns one call for the time from each MPI-IO open to the close, for files with non-blocking transfers, because
    the library may carry out the transfers at any time in between.
    """
    later = np.isin(calls.kind, (CallKind.MPI_WRITE_LATER, CallKind.MPI_READ_LATER))
    mine = calls[np.isin(calls.file, calls.file[later])]
    opens, closes = mine[mine.kind == CallKind.MPI_OPEN], mine[mine.kind == CallKind.MPI_CLOSE]
    ends = [
        closes.end[(closes.file == file) & (closes.rank == rank) & (closes.end > start)].min(initial=np.inf)
        for file, rank, start in zip(opens.file, opens.rank, opens.start, strict=True)
    ]
    return opens.changed(end=np.array(ends, np.float64))


def _lies_inside(below: Calls, outer: Calls, *, same_file: bool = False) -> np.ndarray:
    """Returns, for each call below MPI-IO, whether it lies within an MPI-IO call of the same rank; with `same_file`,
    the MPI-IO call must be on the same file.
    """
    inside = np.zeros(len(below), bool)
    if same_file:
        for file in np.unique(outer.file):
            mine = below.file == file
            inside[mine] = _lies_inside(below[mine], outer[outer.file == file])
        return inside
    for rank in np.unique(outer.rank):
        tops = outer[outer.rank == rank]
        order = np.argsort(tops.start, kind="stable")
        reach = np.maximum.accumulate(tops.end[order])
        mine = np.flatnonzero(below.rank == rank)
        at = np.searchsorted(tops.start[order], below.start[mine] + _SLACK, side="right") - 1
        inside[mine] = (at >= 0) & (below.end[mine] <= reach[np.maximum(at, 0)] + _SLACK)
    return inside


def _begins(job: Job) -> np.ndarray:
    """Returns the moment at which MPI_Init ended on each rank, in seconds of the job; 0 without MPI.

    `iolens run --why` records the call itself. Otherwise the duration of MPI_Init in the table `process` is taken as
    the time of its end, which neglects the short time before the call.
    """
    found = np.zeros(job.nprocs)
    calls = job.tables.get("why_events", Records({}))
    if len(calls):
        mine = np.isin(calls["function"].astype(str), ("MPI_Init", "MPI_Init_thread"))
        found[calls["rank"][mine]] = calls["end"][mine]
        return found
    table = job.tables.get("process", Records({}))
    if len(table) and "init_seconds" in table:
        mine = table["rank"] >= 0
        found[table["rank"][mine]] = table["init_seconds"][mine]
    return found


def _lost(job: Job, below: Calls, counted: Counted) -> list[str]:
    """Returns sentences on calls that are in the counters but not in the traces."""
    said = [f"The log is partial: {reason}" for reason in job.partial]
    said += list(job.unfollowed)
    beyond = job.tables.get("why_events", Records({})).left_out
    if beyond:
        said.append(f"Memory does not suffice for the last {beyond:,} events of --why; their messages are not made.")
    streams = {key for key, name in job.names.items() if name.startswith("<")}
    if streams:
        said.append("Calls on the standard streams are not made.")
    for word, (counter, kinds) in _COUNTERS.items():
        here, there = int(np.isin(below.kind, kinds).sum()), sum(counted.of(counter).values())
        if here != there:
            said.append(f"The counters have {there} {word} and the traces {here}; only traced ones are made.")
    return said


def _read_ends(job: Job, ids: Mapping[int, int]) -> dict[int, int]:
    """Returns, by file, the end of the bytes that reads returned, as POSIX counts them: a read of MPI-IO may have asked
    for more than the file held.
    """
    table, found = job.records.get("POSIX"), dict[int, int]()
    if table is not None:
        for key, last in zip(table["id"].tolist(), table["POSIX_MAX_BYTE_READ"].tolist(), strict=True):
            if key in ids:
                found[ids[key]] = max(found.get(ids[key], 0), int(last) + 1)
    return found


def _sizes_before(calls: Calls, modes: Sequence[int], read_ends: Mapping[int, int]) -> list[int | None]:
    """Returns for each file the bytes that it must hold before the run so that all reads succeed; None if the run
    created the file. `modes` has the permissions at the creation of each file, `read_ends` the end of all reads.
    """
    order = np.lexsort((calls.end, calls.file))
    edges = np.searchsorted(calls.file[order], np.arange(len(modes) + 1))
    parts = (calls[order[begin:end]] for begin, end in pairwise(edges.tolist()))
    return [
        _size_before(part, mode, read_ends.get(file))
        for file, (part, mode) in enumerate(zip(parts, modes, strict=True))
    ]


def _size_before(mine: Calls, mode: int, read_end: int | None) -> int | None:
    """Returns what `_sizes_before` returns for one file; its calls are in the order of their ends."""
    writes = np.isin(mine.kind, (CallKind.WRITE, CallKind.MPI_WRITE, CallKind.MPI_WRITE_ALL, CallKind.MPI_WRITE_SPLIT))
    reads = np.isin(mine.kind, (CallKind.READ, CallKind.MPI_READ, CallKind.MPI_READ_ALL, CallKind.MPI_READ_SPLIT)) & (
        mine.length > 0
    )
    ends = mine.offset + mine.length
    ends = ends if read_end is None else np.where(reads, np.minimum(ends, read_end), ends)
    short = reads & (ends > np.maximum.accumulate(np.where(writes, ends, 0)))
    if short.any():
        return int(ends[short].max())
    made = mode != 0 or bool(writes.any()) or not len(mine)
    return None if made else 0
