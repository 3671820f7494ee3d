"""Tests ranks that write one after the other, in whole and in damaged logs."""

from __future__ import annotations

import pytest
from iolens.metrics.job.ranks import Turns, write_turns
from job_example import frame, job_of


def writes(rank: int, begin: float) -> dict[str, float]:
    """Returns the record of a rank that writes for a second."""
    times = {"F_WRITE_START_TIMESTAMP": begin, "F_WRITE_END_TIMESTAMP": begin + 1.0, "F_WRITE_TIME": 1.0}
    return {"id": rank, "rank": rank, "BYTES_WRITTEN": 10, **times}


@pytest.mark.parametrize("strange", [[], [2], [2**31], [2**62]])
def test_a_rank_that_the_job_does_not_have_takes_no_turn(strange: list[int]) -> None:
    rows = [writes(0, 1.0), writes(1, 2.0), *(writes(rank, 3.0) for rank in strange)]
    names = {int(row["id"]): f"/d/{number}" for number, row in enumerate(rows)}
    made = job_of(frames={"POSIX": frame("POSIX", rows)}, nprocs=2, names=names)
    assert write_turns(made) == Turns(2, 2, 2.0, 1.0)


def turns_of(begins: list[float]) -> Turns | None:
    """Returns the turns of ranks that begin to write at these times, for a second each."""
    rows = [writes(rank, begin) for rank, begin in enumerate(begins)]
    names = {rank: f"/d/{rank}" for rank in range(len(begins))}
    return write_turns(job_of(frames={"POSIX": frame("POSIX", rows)}, nprocs=len(begins), names=names))


def test_groups_of_ranks_take_turns() -> None:
    assert turns_of([1.0, 1.1, 1.05, 2.05, 2.15, 2.1]) == Turns(6, 2, pytest.approx(2.15), 1.0)
    assert turns_of([1.0, 1.1, 2.0, 2.1, 3.0, 3.2]) == Turns(6, 3, pytest.approx(3.2), 1.0)


def test_ranks_that_wait_for_one_rank_each_take_turns() -> None:
    """One of two chains of ranks falls behind the other, so that the ranks of a turn begin at different times."""
    assert turns_of([1.0, 1.0, 2.0, 2.2, 3.0, 3.4, 4.0, 4.6]) == Turns(8, 4, pytest.approx(4.6), pytest.approx(1.0))


@pytest.mark.parametrize("begins", [[1.0, 1.1, 1.2, 1.15], [1.0, 1.5, 2.0, 2.5], [1.0, 1.1, 1.6, 1.7], [1, 1, 5, 5]])
def test_ranks_side_by_side_or_far_apart_take_no_turns(begins: list[float]) -> None:
    assert turns_of(begins) is None
