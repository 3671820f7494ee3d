"""Find the command line of IOR that makes the transfers of a traced run, if it has a pattern of IOR."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.lab.mimic.calls import CallKind, Calls, Trace

_INTERFACES = {
    "-a POSIX": (CallKind.WRITE, CallKind.READ),
    "-a MPIIO": (CallKind.MPI_WRITE, CallKind.MPI_READ),
    "-a MPIIO -c": (CallKind.MPI_WRITE_ALL, CallKind.MPI_READ_ALL),
}
"""Options of IOR, with the kinds of calls that IOR then uses to write and read."""

_BESIDE = (
    CallKind.OPEN,
    CallKind.CLOSE,
    CallKind.MPI_OPEN,
    CallKind.MPI_CLOSE,
    CallKind.FSYNC,
    CallKind.MPI_SYNC,
    CallKind.STAT,
    CallKind.UNLINK,
)
"""Kinds of calls that IOR makes besides its transfers."""


@dataclass(frozen=True)
class _Pattern:
    """A pattern of IOR's transfers: bytes of a transfer, bytes of a rank's block, number of segments, and True if every
    rank has its own file.
    """

    transfer: int
    block: int
    segments: int
    own_files: bool

    def __str__(self) -> str:
        """Returns the options of IOR."""
        return f"{'-F ' * self.own_files}-b {self.block} -t {self.transfer} -s {self.segments}"


def ior_command(trace: Trace) -> str | None:
    """Returns the arguments of IOR for the transfers of a run, sizes in bytes; None if the pattern is not one of IOR's:
    every rank moves blocks of equal transfers, in rank order in each segment of one file, or in a file of its own.
    """
    calls = trace.calls
    without = calls.kind[(calls.kind < CallKind.BARRIER) & ~np.isin(calls.kind, _BESIDE)]
    for options, kinds in _INTERFACES.items():
        if not len(without) or not np.isin(without, kinds).all() or trace.views:
            continue
        phases = [calls[calls.kind == kind] for kind in kinds]
        patterns = {_pattern_of(phase, trace.nprocs) for phase in phases if len(phase)}
        if len(patterns) != 1 or None in patterns or not _writes_first(*phases):
            return None
        moves = "".join(f" {option}" for option, phase in zip(("-w", "-r"), phases, strict=True) if len(phase))
        flush = " -e" if np.isin(calls.kind, (CallKind.FSYNC, CallKind.MPI_SYNC)).any() else ""
        return f"{options}{moves}{flush} {patterns.pop()}"
    return None


def _writes_first(writes: Calls, reads: Calls) -> bool:
    """Returns True if no read begins before the last write has ended."""
    return not len(writes) or not len(reads) or float(writes.end.max()) <= float(reads.start.min())


def _pattern_of(calls: Calls, ranks: int) -> _Pattern | None:
    """Returns the pattern of one phase, whose calls are in the order of the ranks; None if it is not one of IOR's."""
    length = int(calls.length[0])
    each = len(calls) // ranks
    if not length or (calls.length != length).any() or len(calls) != each * ranks:
        return None
    if not np.array_equal(calls.rank, np.repeat(np.arange(ranks), each)):
        return None
    offsets, files = calls.offset.reshape(ranks, each), calls.file.reshape(ranks, each)
    if (files != files[:, :1]).any():
        return None
    number = np.arange(each)
    if ranks > 1 and len(np.unique(files[:, 0])) == ranks:
        return _Pattern(length, length * each, 1, own_files=True) if (offsets == number * length).all() else None
    block = int(offsets[1, 0]) if ranks > 1 else length * each
    if len(np.unique(files)) > 1 or block < length or block % length or each % (block // length):
        return None
    inside = block // length
    first = number // inside * block * ranks + number % inside * length
    fits = (offsets == first + np.arange(ranks)[:, None] * block).all()
    return _Pattern(length, block, each // inside, own_files=False) if fits else None
