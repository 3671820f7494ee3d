"""The events of a job as calls: the sequence of each rank with its loops and regions, and the links between the calls
of ranks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.log.records import Records

REGION = "region"
"""Kind of the rows of `why_events` that are visits of regions, not calls."""

OUTSIDE = 0
"""Number for the time outside all regions."""


def by_region(pieces: Records, events: Records) -> Records:
    """Returns pieces of time (rank, start, end), split where the innermost region of the rank changes, with a column
    `region`: its number, or OUTSIDE. events: rows of the table `why_events`, of which those of kind REGION count.
    """
    visits = events.where((events["kind"] == REGION) & (events["thread"] == 0))
    if not len(visits):
        return pieces.beside({"region": np.full(len(pieces), OUTSIDE)})
    parts = []
    for rank in np.unique(pieces["rank"]).tolist():
        mine = pieces.where(pieces["rank"] == rank)
        of_rank = visits.where(visits["rank"] == rank)
        times, regions = _innermost(of_rank["start"], of_rank["end"], of_rank["region"])
        for start, end in zip(mine["start"].tolist(), mine["end"].tolist(), strict=True):
            first, last = np.searchsorted(times, [start, end], side="right")
            edges = np.concatenate([[start], times[first:last], [end]])
            parts.append((np.full(len(edges) - 1, rank), edges[:-1], edges[1:], regions[first : last + 1]))
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    found = Records(dict(zip(("rank", "start", "end", "region"), columns, strict=True)))
    return found.where(found["end"] > found["start"])


def _innermost(start: np.ndarray, end: np.ndarray, region: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the moments at which the innermost region changes, and the regions: the one before the first moment,
    those between two moments, and the one after the last.
    """
    times: list[float] = []
    regions = [OUTSIDE]
    inside: list[tuple[float, int]] = []
    for at in np.lexsort((-end, start)).tolist():
        _leave(inside, float(start[at]), times, regions)
        times.append(float(start[at]))
        regions.append(int(region[at]))
        inside.append((float(end[at]), int(region[at])))
    _leave(inside, np.inf, times, regions)
    return np.array(times), np.array(regions)


def _leave(inside: list[tuple[float, int]], until: float, times: list[float], regions: list[int]) -> None:
    """Ends the visits that end up to this moment, the innermost one first."""
    while inside and inside[-1][0] <= until:
        times.append(max(inside.pop()[0], times[-1]))
        regions.append(inside[-1][1] if inside else OUTSIDE)


REPEATED = ", repeated"
"""End of the function name for a loop of tests that ended with a completion."""

_LONGEST_PAUSE = 50e-6
"""Longest usual pause, in seconds, between two calls of a polling loop: with longer pauses the program computes and
does not wait. A few pauses may be longer, while other processes have the core.
"""
_SHORT_SLEEP = 1e-3
"""Longest time asleep, in seconds, that can be an error of the kernel's counts: these are read up to a millisecond
before the time between two calls begins.
"""
_PROBES = ("MPI_Iprobe", "MPI_Improbe")
_STATUS = "MPI_Request_get_status"
"""Function that tells whether a posted operation could be completed, and leaves its completion to a later call."""


def without_polling(rows: Records) -> Records:
    """Returns the rows with each loop of `MPI_Test*` or `MPI_Request_get_status` that ends with a completion, and each
    loop of `MPI_Iprobe` that ends with a receive, as one call from the start of the loop. If the receive is posted, it
    remains a call of its own.
    """
    between = _between_polls(rows)
    rows = rows.where(~between) if between.any() else rows
    function = rows["function"].tolist()
    tests = {name for name in set(function) if _is_poll(name)} - {*_PROBES, _STATUS}
    if not tests and not set(function).intersection((*_PROBES, _STATUS)):
        return rows
    is_test = np.fromiter((name in tests for name in function), bool, len(rows))
    is_probe = np.fromiter((name in _PROBES for name in function), bool, len(rows))
    is_status = np.fromiter((name == _STATUS for name in function), bool, len(rows))
    kind = rows["kind"]
    asks = kind == "call"
    goes_on = (
        (is_test[:-1] & is_test[1:] & (asks | (kind == "done") | (kind == "win"))[1:])
        | (is_probe[:-1] & ((is_probe & asks) | (kind == "recv") | (kind == "irecv"))[1:])
        | (is_status[:-1] & ((is_status & asks) | (kind == "done"))[1:])
    )
    linked = asks[:-1] & goes_on & (rows["rank"][1:] == rows["rank"][:-1])
    long = linked & (rows["start"][1:] - rows["end"][:-1] >= _LONGEST_PAUSE)
    loop = np.cumsum(np.append(True, ~linked)) - 1
    firsts = np.flatnonzero(np.append(True, ~linked))
    lasts = np.append(firsts[1:] - 1, len(rows) - 1)
    pauses = np.bincount(loop, weights=np.append(long, False))
    # One row of the log can represent many calls with short pauses between them.
    calls = np.bincount(loop, weights=np.where(asks & (is_test | is_probe | is_status), np.maximum(rows["size"], 1), 1))
    ended = (lasts > firsts) & ~asks[lasts] & (2 * pauses < calls - 1)
    start = rows["start"].copy()
    same = (rows["rank"][1:] == rows["rank"][:-1]) & (start[1:] == start[:-1]) & (rows["end"][1:] == rows["end"][:-1])
    call = np.cumsum(np.append(True, ~same)) - 1
    begin = start[np.searchsorted(call, np.arange(call[-1] + 1))]
    # If the receive is posted, it does not wait: the wait is in the last probe before it.
    waiting = lasts - (kind[lasts] == "irecv")
    begin[call[waiting[ended]]] = start[firsts[ended]]
    polled = np.isin(call, call[waiting[ended]])
    name = rows["function"].astype(object)
    name[polled & (is_test | is_probe)] += REPEATED
    kept = ~(ended[loop] & asks)
    kept[waiting[ended]] = True
    return rows.beside({"start": begin[call], "function": name}).where(kept)


def _between_polls(rows: Records) -> np.ndarray:
    """Returns True for spans without a core, in page faults or asleep that lie between the polls of one row, and for
    spans without a core between any polls of one function: a rank that polls waits, and does not compute in between. A
    short sleep counts as a span without a core.
    """
    asks = rows["kind"] == "call"
    many = asks & (rows["size"] > 1)
    found, short = np.isin(rows["kind"], ("core", "fault", "sleep")), rows["end"] - rows["start"] < _SHORT_SLEEP
    off_core = (rows["kind"] == "core") | ((rows["kind"] == "sleep") & short)
    polls = np.isin(rows["function"], [name for name in set(rows["function"].tolist()) if _is_poll(name)])
    last, after = np.roll(many, 1), np.roll(many, -1)
    found &= last | after | (off_core & np.roll(asks & polls, 1))
    same = np.roll(rows["function"], 1) == np.roll(rows["function"], -1)
    between: np.ndarray = found & same & (np.roll(rows["rank"], 1) == np.roll(rows["rank"], -1))
    return between


def _is_poll(function: str) -> bool:
    """Returns True for functions that programs call in a loop until something has arrived or completed."""
    return function.startswith("MPI_Test") or function in ("MPI_Win_test", *_PROBES, _STATUS)


MPI, FILE, FILES, LOCK, CORE, FAULT, SLEEP = range(7)
"""Kinds of events: calls of MPI, calls of the file system (FILE), sums of several short ones (FILES), and calls for the
lock of a file. CORE, FAULT and SLEEP are no calls but spans between calls, in which a rank had no core, waited for
pages of files, or slept.
"""

_HELD = {"core": CORE, "fault": FAULT, "sleep": SLEEP}
_KINDS = {"file": FILE, "files": FILES, "lock": LOCK, **_HELD}
_PROGRAM_PROBES = ("MPI_Probe", "MPI_Mprobe")
_ALL_PROBES = (*_PROGRAM_PROBES, *(f"MPI_{name}{end}" for name in ("Iprobe", "Improbe") for end in ("", REPEATED)))


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
    probe = (rows["kind"] == "call") & np.isin(rows["function"], _PROGRAM_PROBES)
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


_LONGEST = 1e9
"""Maximum plausible time of an event in seconds: no job lasts so long, so a later time is damage."""


def sound_part(events: Records, ranks: int) -> Records:
    """Returns the rows of the table `why_events` of each rank before its first row with an impossible time; no rows if
    any row has an impossible rank, because the order of calls is then lost.
    """
    rank = events["rank"]
    if not len(events) or rank.min() < 0 or rank.max() >= ranks:
        return events.where(slice(0))
    possible = (np.abs(events["start"]) < _LONGEST) & (np.abs(events["end"]) < _LONGEST)
    first = np.full(ranks, len(events))
    np.minimum.at(first, rank[~possible], np.flatnonzero(~possible))
    return events if possible.all() else events.where(np.arange(len(events)) < first[rank])


def whole_part(events: Records, ranks: int) -> tuple[Records, float | None]:
    """Returns rows of the table `why_events` up to the last collective call that all ranks recorded, and when that call
    ended on the last rank (seconds).

    All rows and None if each rank recorded its MPI_Finalize; no rows and 0 if no collective call is in the events of
    all ranks. Later calls would be joined with wrong calls of other ranks, or with none.
    """
    if len(np.unique(events["rank"][events["function"] == "MPI_Finalize"])) == ranks:
        return events, None
    common = (events["kind"] == "all") & (events["size"] == ranks) & (events["thread"] == 0)
    best: np.ndarray = np.full(ranks, -1)
    until = 0.0
    for communicator in np.unique(events["communicator"][common]).tolist():
        rows = np.flatnonzero(common & (events["communicator"] == communicator))
        rows = rows[np.argsort(events["rank"][rows], kind="stable")]
        first = np.searchsorted(events["rank"][rows], np.arange(ranks + 1))
        instances = int(np.diff(first).min())
        last = rows[first[:-1] + instances - 1] if instances else best
        if instances and events["end"][last].max() > until:
            best, until = last, float(events["end"][last].max())
    kept = np.arange(len(events)) <= best[events["rank"]]
    return events.where(kept), until
