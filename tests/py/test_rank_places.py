"""Tests the places of ranks: ranks that share processors, and the cases that deserve a warning."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from iolens.metrics.processor.mpi.calls import late_receives
from iolens.metrics.processor.mpi.rank_places import communicators, processors, rank_places
from processor_example import job


def places(*rows: tuple[str, str]) -> pd.DataFrame:
    columns = ["host", "cpus"]
    made = pd.DataFrame(rows, columns=columns).rename_axis("rank").reset_index()
    return made.assign(cpu_count=[len(processors(text)) for text in made["cpus"]], thread_level=3)


@pytest.mark.parametrize(
    ("rows", "warnings"),
    [
        ([("a", "0"), ("a", "1"), ("b", "0"), ("b", "1")], ["", "", "", ""]),
        ([("a", "0-3"), ("a", "0-3")], ["not bound", "not bound"]),
        ([("a", "0-1")] * 3, ["more ranks than processors"] * 3),
        ([("a", "0"), ("a", "0"), ("a", "1")], ["more ranks than processors", "more ranks than processors", ""]),
        ([("a", "0-1"), ("a", "1-2")], ["shares processors", "shares processors"]),
        ([("a", ""), ("a", "")], ["", ""]),
    ],
)
def test_overlapping_processors_are_named(rows: list[tuple[str, str]], warnings: list[str]) -> None:
    found = rank_places(job(len(rows), rank_places=places(*rows))).frame()
    assert found is not None
    assert list(found["warning"]) == warnings
    assert set(found["thread_level"]) == {"multiple"}


def test_processors_as_the_kernel_lists_them() -> None:
    assert processors("0-2,8") == {0, 1, 2, 8}
    assert processors("") == processors("x-") == frozenset()


def test_communicators_and_late_receives() -> None:
    sizes: Any = pd.DataFrame(
        [(0, 4, 0, 2), (1, 4, 0, 3), (1, 2, 0, 1)], columns=["rank", "size", "remote_size", "communicators"]
    )
    found = communicators(job(mpi_communicators=sizes))
    assert found is not None
    assert found.to_numpy().tolist() == [[4, 0, 2, 3], [2, 0, 1, 1]]
    calls = pd.DataFrame(
        [("MPI_Recv", 8, 2, 0), ("MPI_Send", 8, 0, 0)], columns=["function", "calls", "late_receives", "region"]
    )
    late = late_receives(job(mpi_calls=calls)).frame()
    assert late is not None
    assert late.to_numpy().tolist() == [["MPI_Recv", 8, 2, 25.0]]
    assert late_receives(job(mpi_calls=calls.assign(late_receives=0))) is None
