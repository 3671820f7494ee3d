"""Ranks that write one after the other, in whole and in damaged logs."""

from __future__ import annotations

import pytest
from iolens.metrics.job.ranks import write_turns
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
    assert write_turns(made) == (2, 2.0, 1.0)
