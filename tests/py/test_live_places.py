"""Tests the functions in which the ranks of a running job are, found from two readings of its samples."""

from __future__ import annotations

import pandas as pd
from iolens.metrics.job.progress import Standing, stands

NAMES = ["rank", "group", "function", "samples"]


def test_ranks_stand_where_their_new_samples_are() -> None:
    then = [(0, "USER", "solve", 900), (1, "MPI", "MPI_Init", 9), (2, "MPI", "MPI_Init", 9), (3, "POSIX", "read", 5)]
    now = [
        *((0, "USER", "solve", 901), (0, "POSIX", "write", 2), (0, "POSIX", "write", 1)),
        *((1, "MPI", "MPI_Init", 9), (1, "MPI", "MPI_Recv", 40)),
        *((2, "MPI", "MPI_Init", 9), (2, "MPI", "MPI_Recv", 60), (2, "USER", "poll", 40)),
        (3, "POSIX", "read", 5),
    ]
    first, *others = stands(pd.DataFrame(now, columns=NAMES), pd.DataFrame(then, columns=NAMES))
    assert first == Standing("MPI_Recv", "MPI", (1, 2), 80.0)
    assert [(one.function, one.ranks) for one in others] == [("write", (0,)), ("", (3,))]
    assert others[0].share == 75.0


def test_without_any_new_sample_no_function_is_named() -> None:
    rows = pd.DataFrame([(0, "MPI", "MPI_Init", 9)], columns=NAMES)
    (only,) = stands(rows, rows)
    assert (only.function, only.group, only.ranks) == ("", "", (0,))
