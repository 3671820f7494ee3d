"""The neighbours of each rank in the topologies of communicators, and who waits for whom in their collective calls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from iolens.log.records import Records
from iolens.metrics.why.calls.matching import row_keys


class Near(NamedTuple):
    """Pairs of calls of neighbours in one collective call: the call of the neighbour, and the call that completes it on
    the rank of the pair. gets: True if this rank receives from the neighbour, so that it waits for it; False if it
    sends to the neighbour.
    """

    other: np.ndarray
    completed: np.ndarray
    gets: np.ndarray


def near_of(
    links: Records, communicator: np.ndarray, rank: np.ndarray, group: np.ndarray, entered: np.ndarray, done: np.ndarray
) -> tuple[Near, np.ndarray]:
    """Returns the pairs of neighbours in collective calls on topologies, and for each role True if the neighbours of
    its rank are known.

    links: roles of calls, of which those of kind `neighbour` name the neighbours. The other arrays have a value for
    each role in a neighbourhood's collective call: communicator, rank, number of the call of all ranks, and the calls
    that entered and completed it.
    """
    said = links.where(links["kind"] == "neighbour")
    if not len(said) or not len(group):
        none = np.zeros(0, np.int64)
        return Near(none, none, np.zeros(0, bool)), np.zeros(len(group), bool)
    of_topology = np.stack([said["communicator"], said["rank"]], axis=1).astype(np.int64)
    of_role = np.stack([communicator, rank], axis=1).astype(np.int64)
    keys = row_keys(np.concatenate([of_topology, of_role]))
    theirs, ours = keys[: len(said)], keys[len(said) :]
    order = np.argsort(theirs, kind="stable")
    low, high = (np.searchsorted(theirs[order], ours, side) for side in ("left", "right"))
    many = high - low
    role = np.repeat(np.arange(len(group)), many)
    at = order[np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many) + np.repeat(low, many)]
    wanted = np.stack([group[role], said["peer"][at].astype(np.int64)], axis=1)
    other = _entered_by(np.stack([group, rank.astype(np.int64)], axis=1), wanted, entered)
    kept = (other >= 0) & (done[role] >= 0)
    kept &= other != done[role]
    is_topology = np.isin(communicator, said["communicator"])
    return Near(other[kept], done[role][kept], said["tag"][at][kept] == 1), is_topology


def _entered_by(members: np.ndarray, wanted: np.ndarray, entered: np.ndarray) -> np.ndarray:
    """Returns the calls with which ranks entered collective calls; -1 for a rank that is no member."""
    keys = row_keys(np.concatenate([members, wanted]))
    ours, theirs = keys[: len(members)], keys[len(members) :]
    order = np.argsort(ours, kind="stable")
    place = np.minimum(np.searchsorted(ours[order], theirs), len(members) - 1)
    found: np.ndarray = np.where(ours[order][place] == theirs, entered[order[place]], -1)
    return found
