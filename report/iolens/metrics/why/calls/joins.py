"""The calls of different ranks that belong together: messages with their receives, and collective calls.

Messages are matched by the rule that they do not overtake one another: for one communicator, sender, receiver and tag,
the k-th posted send belongs to the k-th posted receive. The k-th collective calls of all ranks on a communicator belong
together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from iolens.log.records import Records
from iolens.metrics.why.calls.matching import (
    Near,
    WindowWaits,
    matched,
    near_of,
    numbered_in_runs,
    row_keys,
    window_waits,
)
from iolens.metrics.why.calls.program import Program

_POSTED_RECEIVES, _RECEIVES = ("irecv",), ("recv", "irecv")
_SENDS = ("send", "isend")
_COLLECTIVES = ("all", "iall")
ALL, ROOT_FIRST, ROOT_LAST, LOWER_FIRST, SOME, NEIGHBOURS, NOBODY = range(7)
"""The shapes of collective calls, by the ranks that a rank waits for. ALL: for all ranks. ROOT_FIRST: for the root.
ROOT_LAST: the root waits for the others. LOWER_FIRST: for the ranks with lower numbers. SOME: for those whose data it
gets. NEIGHBOURS: for its neighbours in a topology. NOBODY: not known.
"""

_SHAPES = {
    "Bcast": ROOT_FIRST,
    "Scatter": ROOT_FIRST,
    "Scatterv": ROOT_FIRST,
    "Reduce": ROOT_LAST,
    "Gather": ROOT_LAST,
    "Gatherv": ROOT_LAST,
    "Scan": LOWER_FIRST,
    "Exscan": LOWER_FIRST,
}
_OF_ALL = ("Allreduce", "Allgather", "Allgatherv", "Alltoall", "Reduce_scatter", "Reduce_scatter_block")
"""Functions in which each rank certainly needs all others, if they move data."""

_OF_SOME = ("Alltoallv", "Alltoallw", *_OF_ALL)
"""Functions in which a rank may need only some others: those whose data it gets, or none if there is no data."""

_CERTAINLY_HELD = 100e-6
"""A rank counts as having waited for another rank inside a collective call if that rank was late by at least this
number of seconds.
"""


@dataclass(frozen=True)
class Joins:
    """Calls that belong together, as arrays of their positions (-1: no call).

    Messages: the calls that posted and completed the send and the receive, and the message's `size` in bytes.
    Collective calls: the `group` of each role, the calls in which the rank `entered` and `completed` it, the `shape` of
    its group, whether the rank is its root, and `behind`, the call of a rank whose data came so late that this rank
    waited for them (-1: none is known). `perhaps_behind` is the same, but this rank may have waited for another
    operation, which the same call completed. `near`: pairs of neighbours in collective calls on topologies. `windows`:
    one-sided communication. `not_joined`: number of roles without a partner.
    """

    send: np.ndarray
    send_done: np.ndarray
    receive: np.ndarray
    receive_done: np.ndarray
    size: np.ndarray
    group: np.ndarray
    entered: np.ndarray
    completed: np.ndarray
    shape: np.ndarray
    is_root: np.ndarray
    behind: np.ndarray
    perhaps_behind: np.ndarray
    near: Near
    windows: WindowWaits
    not_joined: int


def joins_of(program: Program) -> Joins:
    """Returns the messages and collective calls of which all parts are recorded."""
    links = program.links
    kind = links["kind"]
    done = np.flatnonzero(kind == "done")
    completion = _completions(program, done)
    send = np.flatnonzero(np.isin(kind, _SENDS) & (links["communicator"] != 0))
    receive = np.flatnonzero(np.isin(kind, _RECEIVES) & (links["communicator"] != 0))
    peer, tag = links["peer"].copy(), links["tag"].copy()
    of_post = completion[receive]
    posted = np.isin(kind[receive], _POSTED_RECEIVES)
    known = posted & (of_post >= 0)
    peer[receive[known]], tag[receive[known]] = links["peer"][of_post[known]], links["tag"][of_post[known]]
    receive = receive[(peer[receive] >= 0) & (tag[receive] >= 0)]
    rank = links["rank"]
    from_send = np.stack([links["communicator"][send], rank[send], peer[send], tag[send]], axis=1)
    from_receive = np.stack([links["communicator"][receive], peer[receive], rank[receive], tag[receive]], axis=1)
    from_send, from_receive = from_send.astype(np.int64), from_receive.astype(np.int64)
    own_sends, own_receives = ~_of_other_threads(from_send, program), ~_of_other_threads(from_receive, program)
    at_send, at_receive, lone = matched(from_send[own_sends], from_receive[own_receives])
    send, receive = send[own_sends][at_send], receive[own_receives][at_receive]
    groups, lone_calls = _whole_collectives(program, completion)
    call = links["call"]
    # A message that a probe found was sent before the probe returned; the receive behind it does not wait.
    probe = links["probe"][receive]
    found = (probe >= 0) & (program.start[call[send]] <= program.end[probe])
    done = np.where(found, probe, _done_call(call, completion, receive, kind))
    return Joins(
        send=call[send],
        send_done=_done_call(call, completion, send, kind),
        receive=call[receive],
        receive_done=done,
        size=links["bytes"][send],
        windows=window_waits(program),
        not_joined=lone + lone_calls,
        **groups,
    )


def _of_other_threads(messages: np.ndarray, program: Program) -> np.ndarray:
    """Returns True for each message (communicator, sender, receiver, tag) that another thread of either rank could have
    sent or received: such messages have no order.
    """
    others = program.beside
    found = np.zeros(len(messages), bool)
    for kinds, names in ((_SENDS, ("rank", "peer")), (_RECEIVES, ("peer", "rank"))):
        rows = others.where(np.isin(others["kind"], kinds))
        sender, receiver = (rows[name] for name in names)
        theirs = np.stack([rows["communicator"], sender, receiver, rows["tag"]], axis=1).astype(np.int64)
        keys = row_keys(np.concatenate([messages, theirs]))
        found |= np.isin(keys[: len(messages)], keys[len(messages) :])
        # A receive of any source or tag can take each message to its rank.
        of_any = theirs[(theirs < -1).any(axis=1)]
        keys = row_keys(np.concatenate([messages, of_any])[:, [0, 2]])
        found |= np.isin(keys[: len(messages)], keys[len(messages) :])
    return found


def _done_call(call: np.ndarray, completion: np.ndarray, rows: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """Returns the calls that completed the operations that these rows posted: the same call if it blocks, -1 if no call
    did.
    """
    found = completion[rows]
    posted = np.isin(kind[rows], ("isend", "irecv", "iall"))
    done: np.ndarray = np.where(posted, np.where(found >= 0, call[np.maximum(found, 0)], -1), call[rows])
    return done


def _completions(program: Program, done: np.ndarray) -> np.ndarray:
    """Returns, for each role, the row of its completion; -1: none."""
    links = program.links
    found = np.full(len(links), -1)
    width = int(links["number"].max(initial=0)) + 1
    key = links["rank"] * width + links["number"]
    order = np.argsort(key, kind="stable")
    wanted = links["rank"][done] * width + links["request"][done]
    # Each row has a number of its own, even if several belong to one call, so that each number occurs once.
    place = np.searchsorted(key[order], wanted)
    place = np.minimum(place, max(len(key) - 1, 0))
    right = key[order][place] == wanted if len(key) else np.zeros(0, bool)
    found[order[place[right]]] = done[right]
    return found


def _whole_collectives(program: Program, completion: np.ndarray) -> tuple[dict[str, Any], int]:
    """Returns the collective calls that all their ranks recorded, and the number of roles in other collective calls."""
    links = program.links
    others = program.beside.where(np.isin(program.beside["kind"], _COLLECTIVES))["communicator"]
    known = (links["communicator"] != 0) & ~np.isin(links["communicator"], others)
    rows = np.flatnonzero(np.isin(links["kind"], _COLLECTIVES) & known & (links["size"] > 1))
    part = links.where(rows)
    order = np.lexsort((rows, part["rank"], part["communicator"]))
    member = part["communicator"][order].astype(np.int64) * (program.ranks + 1) + part["rank"][order]
    instance = numbered_in_runs(member)
    key = np.stack([part["communicator"][order].astype(np.int64), instance], axis=1)
    _, group, count = np.unique(row_keys(key), return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    whole = count[group] == part["size"][order]
    rows, group = rows[order][whole], group[whole]
    _, group = np.unique(group, return_inverse=True)
    rows, group = _taking_part(program, links, rows, group.reshape(-1))
    call = links["call"][rows]
    completed = _done_call(links["call"], completion, rows, links["kind"])
    names = np.array(program.functions)[program.function[call]] if len(call) else np.zeros(0, str)
    shape = _ranks_waited_for(program, names, group, call, completed, links["bytes"][rows])
    is_root = links["peer"][rows] == links["rank"][rows]
    near, in_topology = _near(program, links, rows, group, completed)
    shape[in_topology] = NEIGHBOURS
    behind = _behind(program, group, call, completed, shape, is_root)
    alone = np.bincount(links["call"], minlength=len(program))[completed] == 1 if len(rows) else np.zeros(0, bool)
    return {
        "group": group,
        "entered": call,
        "completed": completed,
        "shape": shape,
        "is_root": is_root,
        "behind": np.where(alone, behind, -1),
        "perhaps_behind": np.where(alone, -1, behind),
        "near": near,
    }, int(len(key) - whole.sum())


def _taking_part(
    program: Program, links: Records, rows: np.ndarray, group: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the roles without those of ranks that take no part in a call with a root: in an intercommunicator the
    ranks beside the root are in the call, and neither send nor receive.
    """
    rooted = np.array([_SHAPES.get(_bare(name)) in (ROOT_FIRST, ROOT_LAST) for name in program.functions] or [False])
    has_root = np.zeros(int(group.max(initial=-1)) + 1, bool)
    has_root[group[links["peer"][rows] >= 0]] = True
    idle = rooted[program.function[links["call"][rows]]] & (links["peer"][rows] < 0) & has_root[group]
    return rows[~idle], group[~idle]


def _bare(name: str) -> str:
    """Returns the name of a collective call without MPI_, the I of a posted and the _init of a persistent one."""
    bare = name.rpartition("MPI_")[2].removesuffix("_init")
    return bare[1:].capitalize() if bare[:1] == "I" and bare[1:2].islower() else bare


def _near(
    program: Program, links: Records, rows: np.ndarray, group: np.ndarray, done: np.ndarray
) -> tuple[Near, np.ndarray]:
    """Returns the pairs of neighbours in collective calls on topologies, and True for roles whose neighbours are
    known.
    """
    entered = links["call"][rows]
    of_topology = np.array([_bare(name).startswith("Neighbor") for name in program.functions] or [False])
    at = np.flatnonzero(of_topology[program.function[entered]])
    part = links.where(rows[at])
    near, known = near_of(links, part["communicator"], part["rank"], group[at], entered[at], done[at])
    found = np.zeros(len(rows), bool)
    found[at] = known
    return near, found


def _behind(
    program: Program, group: np.ndarray, entered: np.ndarray, completed: np.ndarray, shape: np.ndarray, root: np.ndarray
) -> np.ndarray:
    """Returns, for each rank's part in a collective call that does not wait for all ranks, the call of a later rank
    that it waited for.

    MPI sends the data of a call with a root, or of a scan, along a tree of ranks. A rank therefore also waits for the
    ranks between it and the root; in a reduction an inner rank waits for the ranks below it, and in a scan a rank may
    wait for higher ones. The tree is unknown, as are the ranks whose data a rank gets in MPI_Alltoallv. So the rank
    that arrived last before this rank returned counts as the one it waited for.
    """
    found = np.full(len(group), -1)
    some = np.isin(shape, (ROOT_FIRST, LOWER_FIRST, SOME)) | ((shape == ROOT_LAST) & ~root)
    rows = np.flatnonzero(some & (completed >= 0))
    if not len(rows):
        return found
    begin = program.start[entered]
    roots = np.full(group.max() + 1, -np.inf)
    roots[group[root]] = begin[root]
    ready = np.where(shape == ROOT_FIRST, np.maximum(begin, roots[group]), begin)
    scans = np.flatnonzero(shape == LOWER_FIRST)
    ready[scans] = begin[scans[latest_lower(group[scans], program.rank[entered[scans]], begin[scans])]]
    times = np.concatenate([begin, program.end[completed[rows]]])
    is_end = np.concatenate([np.zeros(len(group), bool), np.ones(len(rows), bool)])
    order = np.lexsort((is_end, times, np.concatenate([group, group[rows]])))
    places = np.maximum.accumulate(np.where(is_end[order], -1, np.arange(len(order))))
    at_end = np.empty(len(order), np.int64)
    at_end[order] = order[places]
    latest = at_end[len(group) :]
    held = begin[latest] > np.maximum(ready[rows], program.start[completed[rows]]) + _CERTAINLY_HELD
    found[rows[held]] = entered[latest[held]]
    return found


def _ranks_waited_for(
    program: Program,
    names: np.ndarray,
    group: np.ndarray,
    entered: np.ndarray,
    completed: np.ndarray,
    size: np.ndarray,
) -> np.ndarray:
    """Returns the ranks that each rank waits for. MPI does not promise that ranks wait for one another when they make a
    communicator, write a file together, or exchange no bytes. Calls of these kinds count as synchronising if all ranks
    were in them at the same time.
    """
    shape = np.full(len(names), NOBODY)
    if not len(names):
        return shape
    bare = np.array([_bare(name) for name in names.tolist()])
    latest = np.full(group.max() + 1, -np.inf)
    earliest = np.full(group.max() + 1, np.inf)
    np.maximum.at(latest, group, program.start[entered])
    np.minimum.at(earliest, group, np.where(completed >= 0, program.end[completed], np.inf))
    overlaps = (earliest >= latest)[group]
    largest = np.zeros(group.max() + 1)
    np.maximum.at(largest, group, size)
    shape[np.isin(bare, _OF_SOME)] = SOME
    shape[overlaps | (bare == "Barrier") | (np.isin(bare, _OF_ALL) & (largest[group] > 0))] = ALL
    for name, each in _SHAPES.items():
        shape[bare == name] = each
    neighbours = np.char.startswith(bare, "Neighbor")
    shape[neighbours] = NOBODY
    return shape


def latest_lower(group: np.ndarray, rank: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """Returns, for each member of a group, the place of the member that began last among itself and those with lower
    ranks.
    """
    order, by_begin = np.lexsort((rank, group)), np.lexsort((rank, begin))
    number = np.empty(len(group), np.int64)
    number[by_begin] = np.arange(len(group))
    # All numbers of a group are larger than those of the groups before it, so that the running maximum begins anew with
    # each group.
    highest = np.maximum.accumulate(group[order] * len(group) + number[order])
    found = np.empty(len(group), np.int64)
    found[order] = by_begin[highest % max(len(group), 1)]
    return found
