"""Calls on intercommunicators and topologies of real programs are joined, and a posted call can wait for a rank."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from iolens.log import Job, read_log
from iolens.metrics.why.answers import Why, replays, why
from iolens.metrics.why.calls.joins import NEIGHBOURS
from iolens.metrics.why.what_if import STORAGE
from mpi_libraries import ROOT, library

sys.path.insert(0, str(ROOT / "tests/bench"))
from why_kinds import RANKS, Program, compiled, run

pytestmark = pytest.mark.mpi


def _job(name: str, pattern: str, folder: Path, mib: int = 0) -> Job:
    its = library(name)
    command = [str(compiled(its, folder / "program"))]
    return read_log(run(Program(its, name, command, (pattern,)), pattern, mib, folder / "run").log)


def _solved(name: str, pattern: str, folder: Path) -> Why:
    found = why(_job(name, pattern, folder))
    assert found is not None
    return found


def _calls(found: Why, function: str) -> np.ndarray:
    """Returns True for the collective roles of this function."""
    return np.array(found.program.functions)[found.program.function[found.joins.entered]] == function


@pytest.mark.parametrize("name", ["usual", "mpich"])
@pytest.mark.parametrize(
    ("pattern", "function", "ranks"),
    [
        ("inter_barrier", "MPI_Barrier", {0, 1, 2, 3}),
        ("inter_bcast", "MPI_Bcast", {0, 2, 3}),
        ("inter_allreduce", "MPI_Allreduce", {0, 1, 2, 3}),
        ("inter_posted", "MPI_Ibarrier", {0, 1, 2, 3}),
        ("inter_create_late", "MPI_Intercomm_create", {0, 1, 2, 3}),
        ("inter_merge_late", "MPI_Intercomm_merge", {0, 1, 2, 3}),
        ("group_late", "MPI_Comm_create_group", {0, 1, 2}),
        ("file_posted_write_late", "MPI_File_iwrite_at_all", {0, 1, 2, 3}),
    ],
)
def test_calls_of_two_groups_are_joined(
    tmp_path: Path, name: str, pattern: str, function: str, ranks: set[int]
) -> None:
    """In a call with a root, the rank beside the root takes no part."""
    found = _solved(name, pattern, tmp_path)
    assert found.joins.not_joined == 0
    of_function = _calls(found, function)
    assert set(found.program.rank[found.joins.entered[of_function]].tolist()) >= ranks
    groups = found.joins.group[of_function]
    last = of_function & (found.joins.group == groups.max())
    assert set(found.program.rank[found.joins.entered[last]].tolist()) == ranks


@pytest.mark.parametrize("name", ["usual", "mpich"])
def test_messages_between_two_groups_are_joined(tmp_path: Path, name: str) -> None:
    found = _solved(name, "inter_message", tmp_path)
    pairs = {
        (int(found.program.rank[send]), int(found.program.rank[receive]))
        for send, receive in zip(found.joins.send, found.joins.receive, strict=True)
    }
    assert (3, 0) in pairs
    assert found.joins.not_joined == 0


@pytest.mark.parametrize("name", ["usual", "mpich"])
@pytest.mark.parametrize(
    ("pattern", "sources"),
    [
        ("neighbour_ring", {rank: {(rank - 1) % RANKS, (rank + 1) % RANKS} for rank in range(RANKS)}),
        ("neighbour_line", {0: {1}, 1: {0, 2}, 2: {1, 3}, 3: {2}}),
        ("graph_late_source", {1: {0}, 2: {1}, 3: {2}}),
    ],
)
def test_ranks_wait_for_those_that_the_topology_names(
    tmp_path: Path, name: str, pattern: str, sources: dict[int, set[int]]
) -> None:
    found = _solved(name, pattern, tmp_path)
    near, rank = found.joins.near, found.program.rank
    seen: dict[int, set[int]] = {}
    for other, done in zip(near.other[near.gets], near.completed[near.gets], strict=True):
        seen.setdefault(int(rank[done]), set()).add(int(rank[other]))
    assert seen == sources
    assert (found.joins.shape == NEIGHBOURS).any()


@pytest.mark.parametrize("name", ["usual", "mpich"])
def test_the_saving_lies_in_the_interval_where_a_posted_call_waits(tmp_path: Path, name: str) -> None:
    """Rank 2 writes for 1 s between the post and the completion of a broadcast, which others may wait for."""
    answers = replays(_job(name, "ibcast_absent_inner", tmp_path, 20))
    assert answers is not None
    (row,) = answers.where(answers["question"] == STORAGE).rows("least", "saved", "most")
    least, saved, most = row
    assert least <= saved <= most
    assert most - least > 0.5 or saved < 0.1, "the wait is open, or there was none"
