"""Finds the messages that MPI does not buffer: their sends cannot complete before the receives are posted."""

from __future__ import annotations

import numpy as np

from iolens.metrics.why.calls.joins import Joins
from iolens.metrics.why.calls.program import Program

CERTAINLY_BLOCKED = 100e-6
"""Minimum delay in seconds for a send to count as waiting for its receive."""


def calls_of_one(program: Program) -> np.ndarray:
    """Returns True for each call that is part of at most one message or collective call."""
    alone: np.ndarray = np.bincount(program.links["call"], minlength=len(program)) <= 1
    return alone


def is_rendezvous(program: Program, joins: Joins) -> np.ndarray:
    """Returns, for each message, True if its send cannot complete before the receive is posted.

    These are synchronous sends, and messages at least as large as the smallest one whose send waited for its receive. A
    send that ended before its receive was posted shows that the library buffers messages up to its size. If the call
    that completed the send had several messages, it shows a wait only if the senders of all that it received had begun
    before the receive was posted.
    """
    known = joins.send_done >= 0
    done = np.maximum(joins.send_done, 0)
    posted = program.start[joins.receive]
    synchronous = np.array([name in ("MPI_Ssend", "MPI_Issend") for name in program.functions] or [False])
    buffered = known & (program.end[done] <= posted)
    held = known & (program.end[done] > posted) & (posted - program.start[done] > CERTAINLY_BLOCKED)
    senders = np.full(len(program), -np.inf)
    received = joins.receive_done >= 0
    np.maximum.at(senders, joins.receive_done[received], program.start[joins.send[received]])
    held &= calls_of_one(program)[done] | (posted > senders[done])
    largest_buffered = joins.size[buffered].max(initial=-1)
    held &= joins.size > largest_buffered
    least = joins.size[held].min(initial=np.iinfo(np.int64).max)
    always: np.ndarray = known & (synchronous[program.function[joins.send]] | (joins.size >= least))
    return always
