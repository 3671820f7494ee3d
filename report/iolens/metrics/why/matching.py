"""The order in which the parts of different ranks belong together: the first to the first, the second to the second."""

from __future__ import annotations

import numpy as np


def matched(sends: np.ndarray, receives: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Returns places of sends and receives that belong together, and how many have no partner.

    Rows are what both must have in common, such as communicator, sender, receiver and tag (integers); the k-th send
    with the same row belongs to the k-th such receive.
    """
    both = np.concatenate([sends, receives])
    if not len(both):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), 0
    _, channel = np.unique(both, axis=0, return_inverse=True)
    channel = channel.reshape(-1)
    ours, theirs = channel[: len(sends)], channel[len(sends) :]
    send_order, receive_order = np.argsort(ours, kind="stable"), np.argsort(theirs, kind="stable")
    send_key = numbered(ours[send_order])
    receive_key = numbered(theirs[receive_order])
    width = max(len(both), 1)
    common, at_send, at_receive = np.intersect1d(
        ours[send_order] * width + send_key,
        theirs[receive_order] * width + receive_key,
        assume_unique=True,
        return_indices=True,
    )
    return send_order[at_send], receive_order[at_receive], len(both) - 2 * len(common)


def numbered(groups: np.ndarray) -> np.ndarray:
    """Returns 0, 1, 2 … within each run of equal values."""
    if not len(groups):
        return groups
    begins = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    numbered: np.ndarray = np.arange(len(groups)) - np.repeat(begins, np.diff(np.append(begins, len(groups))))
    return numbered
