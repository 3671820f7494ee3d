"""The handles that a rank has on one file at the same time, as PnetCDF has one of all ranks and one of its own.

The log names the file of a call and not the handle. A mini-app uses the newest handle, except for collective transfers
and the views before them: these use the newest handle that several ranks opened, if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iolens.lab.mimic.calls import CallKind, Calls, Opening, View
from iolens.lab.mimic.visible import visible_before

_TOGETHER = (CallKind.MPI_WRITE_ALL, CallKind.MPI_READ_ALL, CallKind.MPI_WRITE_SPLIT, CallKind.MPI_READ_SPLIT)
_CHANGES = (CallKind.MPI_OPEN, CallKind.MPI_VIEW, CallKind.MPI_CLOSE)


@dataclass
class _Handle:
    """An open handle: whether one rank opened it alone, and the number of its view, -1 for none."""

    alone: bool
    view: int = -1


def in_view(
    calls: Calls, views: Sequence[View], openings: Sequence[Opening], communicators: Sequence[Sequence[int]]
) -> Calls:
    """Returns the calls with the offsets of transfers counted within their view, in bytes that the view makes visible,
    and with the length 1 for each view of a handle that several ranks share beside a rank's own.
    """
    offsets, lengths = calls.offset.copy(), calls.length.copy()
    alone = [len(communicators[opening.communicator]) < 2 for opening in openings]
    changes = np.isin(calls.kind, _CHANGES)
    together = np.isin(calls.kind, _TOGETHER)
    for file, rank in {*zip(calls.file[changes].tolist(), calls.rank[changes].tolist(), strict=True)}:
        mine = np.flatnonzero((calls.file == file) & (calls.rank == rank))
        bounds = np.flatnonzero(changes[mine])
        handles: list[_Handle] = []
        for first, last in zip(bounds, [*bounds[1:], len(mine)], strict=True):
            inside = mine[first + 1 : last]
            inside = inside[calls.kind[inside] >= CallKind.MPI_WRITE]
            shared = bool(len(inside)) and bool(together[inside[0]])
            kind, detail = CallKind(int(calls.kind[mine[first]])), int(calls.detail[mine[first]])
            if kind == CallKind.MPI_VIEW:
                lengths[mine[first]] = int(shared and len(handles) > 1)
            _change(handles, kind, detail, shared, alone)
            for way in (False, True):
                moved = inside[(together[inside] == way) & (calls.length[inside] > 0)]
                view = _handle_of(handles, way).view if handles else -1
                if view >= 0 and len(moved):
                    offsets[moved] = visible_before(views[view], offsets[moved])
    offsets[(calls.length <= 0) & (calls.offset < 0)] = 0
    return calls.changed(offset=offsets, length=lengths)


def _change(handles: list[_Handle], kind: CallKind, detail: int, shared: bool, alone: Sequence[bool]) -> None:
    """Opens or closes the newest handle, or sets the view of one."""
    if kind == CallKind.MPI_OPEN:
        handles.append(_Handle(alone[detail]))
    elif kind == CallKind.MPI_CLOSE:
        del handles[-1:]
    elif handles:
        _handle_of(handles, shared).view = detail


def _handle_of(handles: Sequence[_Handle], shared: bool) -> _Handle:
    """Returns the newest handle; for `shared`, the newest that several ranks opened, if there is one."""
    return next((one for one in reversed(handles) if shared and not one.alone), handles[-1])
