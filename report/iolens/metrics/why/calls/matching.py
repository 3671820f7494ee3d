"""Matches operations of different ranks by their order: the first send belongs to the first receive, the second send to
the second receive.
"""

from __future__ import annotations

import numpy as np

_MOST = 1 << 62
"""Upper limit of the keys, which must fit into 64 bits."""


def matched(sends: np.ndarray, receives: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Returns the positions of sends and receives that belong together, and the number without a partner. Rows are
    integers that both must have in common, such as communicator, sender, receiver and tag; the k-th send with a row
    belongs to the k-th receive with the same row.
    """
    both = np.concatenate([sends, receives])
    if not len(both):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), 0
    keys = row_keys(both)
    ours, theirs = keys[: len(sends)], keys[len(sends) :]
    send_order, receive_order = np.argsort(ours, kind="stable"), np.argsort(theirs, kind="stable")
    ours, theirs = ours[send_order], theirs[receive_order]
    place = np.searchsorted(theirs, ours, side="left") + numbered_in_runs(ours)
    known = place < np.searchsorted(theirs, ours, side="right")
    return send_order[known], receive_order[place[known]], len(both) - 2 * int(known.sum())


def row_keys(rows: np.ndarray) -> np.ndarray:
    """Returns an integer for each row of integers; equal rows have equal integers, and the integers are ordered as the
    rows are.
    """
    keys: np.ndarray = np.zeros(len(rows), np.int64)
    width = 1
    for column in rows.T if len(rows) else ():
        least, span = int(column.min()), int(column.max()) - int(column.min()) + 1
        if span > 4 * len(rows):
            values, column = np.unique(column, return_inverse=True)
            least, span = 0, len(values)
        if width * span >= _MOST:
            values, keys = np.unique(keys, return_inverse=True)
            width = len(values)
        keys = keys.reshape(-1) * span + (column.reshape(-1) - least)
        width *= span
    return keys


def numbered_in_runs(groups: np.ndarray) -> np.ndarray:
    """Returns 0, 1, 2 … within each run of equal values."""
    if not len(groups):
        return groups
    begins = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    numbered: np.ndarray = np.arange(len(groups)) - np.repeat(begins, np.diff(np.append(begins, len(groups))))
    return numbered
