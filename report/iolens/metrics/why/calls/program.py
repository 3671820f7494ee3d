"""The events of a job as calls: the sequence of each rank, and the links between the calls of different ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.log.records import Records
from iolens.metrics.why.calls.polling import REPEATED, without_polling
from iolens.metrics.why.calls.regions import REGION

MPI, FILE, FILES, LOCK, CORE, FAULT, SLEEP = range(7)
"""Kinds of events: calls of MPI, calls of the file system (FILE), sums of several short ones (FILES), and calls for the
lock of a file. CORE, FAULT and SLEEP are no calls but spans between calls, in which a rank had no core, waited for
pages of files, or slept.
"""

_HELD = {"core": CORE, "fault": FAULT, "sleep": SLEEP}
_KINDS = {"file": FILE, "files": FILES, "lock": LOCK, **_HELD}
_PROBES = ("MPI_Probe", "MPI_Mprobe")
_ALL_PROBES = (*_PROBES, *(f"MPI_{name}{end}" for name in ("Iprobe", "Improbe") for end in ("", REPEATED)))


@dataclass(frozen=True)
class Program:
    """Calls of all ranks, ordered by rank and begin; arrays with a value per call unless said otherwise.

    first: position of each rank's first call, followed by the number of all calls. function: positions in `functions`.
    inner_*: file system calls inside a call of MPI, with the place of that call. link_*: the roles of MPI calls in
    messages and collective calls, in the order of each rank's events; `request` is the number of the event that posted
    (else -1), `probe` the call of the probe before a receive (else -1). left_out: events of threads that are not
    followed. beside: their roles in messages and collective calls.
    """

    ranks: int
    first: np.ndarray
    rank: np.ndarray
    start: np.ndarray
    end: np.ndarray
    kind: np.ndarray
    function: np.ndarray
    file: np.ndarray
    functions: tuple[str, ...]
    inner_call: np.ndarray
    inner_seconds: np.ndarray
    inner_function: np.ndarray
    inner_file: np.ndarray
    links: Records
    beside: Records
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.rank)

    @property
    def run_time(self) -> float:
        """Returns the seconds until the last call of the job returned."""
        return float(self.end.max()) if len(self) else 0.0


def program_of(events: Records, ranks: int) -> Program:
    """Returns the calls in rows of the table `why_events`. Only each rank's first thread is followed."""
    of_rank = np.bincount(events["rank"], minlength=ranks)
    number = np.arange(len(events)) - np.repeat(np.cumsum(of_rank) - of_rank, of_rank)
    is_call = events["kind"] != REGION
    main, others = is_call & (events["thread"] == 0), is_call & (events["thread"] != 0)
    order = _by_begin(events, np.flatnonzero(main), number)
    rows = without_polling(_received_from_probe(events.beside({"number": number}).where(order)))
    rank, start, end = rows["rank"].astype(np.int64), rows["start"], rows["end"]
    is_file = np.isin(rows["kind"], list(_KINDS))
    functions, function = _numbered_names(rows["function"])
    heads = _first_rows_of_calls(rank, start, end, is_file)
    call_of_row = np.cumsum(heads) - 1
    inner = _inside(rank, start, end, is_file, heads)
    inner[np.isin(rows["kind"], list(_HELD))] = -1
    heads &= inner < 0
    call_of_row = np.cumsum(heads) - 1
    outer_row = np.flatnonzero(heads)
    within = np.flatnonzero(inner >= 0)
    linked = np.flatnonzero(~is_file & (rows["kind"] != "call"))
    links = rows.where(linked).take("kind", "communicator", "peer", "tag", "size", "request", "bytes", "number")
    return Program(
        ranks=ranks,
        first=np.searchsorted(rank[outer_row], np.arange(ranks + 1)),
        rank=rank[outer_row],
        start=start[outer_row],
        end=_ordered_ends(rank[outer_row], start[outer_row], end[outer_row]),
        kind=np.select([rows["kind"] == name for name in _KINDS], list(_KINDS.values()), MPI)[outer_row],
        function=function[outer_row],
        file=rows["file"][outer_row],
        functions=functions,
        inner_call=call_of_row[inner[within]],
        inner_seconds=(end - start)[within],
        inner_function=function[within],
        inner_file=rows["file"][within],
        links=links.beside(
            {
                "call": call_of_row[linked],
                "rank": rank[linked],
                "probe": _probes_before(rows, is_file, call_of_row)[linked],
            }
        ),
        beside=events.where(np.flatnonzero(others)).take("kind", "communicator", "rank", "peer", "tag"),
        left_out=int(others.sum()),
    )


def _by_begin(events: Records, rows: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Returns the numbers of rows ordered by rank and begin. Of two calls with the same begin, one without duration
    comes first.
    """
    start, end, rank = events["start"][rows], events["end"][rows], events["rank"][rows]
    ordered: np.ndarray = rows[np.lexsort((number[rows], -end, end > start, start, rank))]
    return ordered


def _numbered_names(names: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    """Returns the different names in their order, and for each row the place of its name."""
    rows = names.tolist()
    different = sorted(set(rows))
    places = {name: place for place, name in enumerate(different)}
    return tuple(different), np.fromiter(map(places.__getitem__, rows), np.int64, len(rows))


def _received_from_probe(rows: Records) -> Records:
    """Returns the rows with each probe that waits for a message, and the receive that follows it, merged into one
    receive.

    A receive into memory of the message's size is such a pair; its wait for the sender is in the probe.
    """
    probe = (rows["kind"] == "call") & np.isin(rows["function"], _PROBES)
    paired = np.flatnonzero(probe[:-1] & (rows["kind"][1:] == "recv") & (rows["rank"][1:] == rows["rank"][:-1]))
    if not len(paired):
        return rows
    start = rows["start"].copy()
    start[paired + 1] = start[paired]
    kept = np.ones(len(rows), bool)
    kept[paired] = False
    return rows.beside({"start": start}).where(kept)


def _probes_before(rows: Records, is_file: np.ndarray, call_of_row: np.ndarray) -> np.ndarray:
    """Returns, for each receive, the call of the probe that the rank made before it, with no other call of MPI in
    between; -1: none.
    """
    found = np.full(len(rows), -1)
    mpi = np.flatnonzero(~is_file)
    receives = np.isin(rows["kind"][mpi[1:]], ("recv", "irecv")) & (rows["rank"][mpi[1:]] == rows["rank"][mpi[:-1]])
    probed = receives & np.isin(rows["function"][mpi[:-1]], _ALL_PROBES)
    found[mpi[1:][probed]] = call_of_row[mpi[:-1][probed]]
    return found


def _first_rows_of_calls(rank: np.ndarray, start: np.ndarray, end: np.ndarray, is_file: np.ndarray) -> np.ndarray:
    """Returns True for the first row of each call: rows of MPI with the same times are one call."""
    if not len(rank):
        return np.zeros(0, bool)
    same = (rank[1:] == rank[:-1]) & (start[1:] == start[:-1]) & (end[1:] == end[:-1])
    same &= ~is_file[1:] & ~is_file[:-1]
    return np.concatenate([[True], ~same])


def _inside(
    rank: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    is_file: np.ndarray,
    heads: np.ndarray,
) -> np.ndarray:
    """Returns, for each row of a file system call inside a call of MPI, the row of that call; else -1."""
    outer = np.where(heads & ~is_file, np.arange(len(rank)), -1)
    last = np.maximum.accumulate(outer) if len(outer) else outer
    found = is_file & (last >= 0)
    at = np.where(found, last, 0)
    found &= (rank[at] == rank) & (start < end[at]) if len(rank) else found
    return np.where(found, last, -1)


def _ordered_ends(rank: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Returns the ends of calls, none of them after the start of the rank's next call."""
    if len(rank) < 2:
        return end
    limit = np.append(np.where(rank[1:] == rank[:-1], start[1:], np.inf), np.inf)
    ordered: np.ndarray = np.maximum(np.minimum(end, limit), start)
    return ordered
