"""Loops that ask MPI again and again: they wait as a blocking call does, and count as one."""

from __future__ import annotations

import numpy as np

from iolens.log.records import Records

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
