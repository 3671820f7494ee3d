"""Tests the critical path by region, the lost cores on it, and the places of its work in the source."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.why.answers import all_path_parts, all_waits, path_by_activity, why
from iolens.metrics.why.calls.program import by_region
from iolens.pages.exhibits.waits import path_note
from test_why_bounds import job_with
from why_programs import RankLine, events_of


def alone(*lines: RankLine) -> Job:
    """Returns a job that has nothing but these events and the names of two regions."""
    events = events_of(*lines)
    made = job_with(*(RankLine() for _ in lines))
    frame = pd.DataFrame({name: events[name] for name in events.names})
    names = pd.DataFrame({"rank": 0, "region": [1, 2], "parent": [0, 1], "id": [1, 2], "label": ["step", "output"]})
    return replace(made, nprocs=len(lines), private={**made.private, "why_events": frame, "region_names": names})


def path_of(job: Job, *columns: str) -> list[tuple[object, ...]]:
    """Returns the rows of the path, with numbers that may differ by rounding."""
    rows = path_by_activity(job)
    assert rows is not None
    return [
        tuple(pytest.approx(each) if isinstance(each, float) else each for each in row) for row in rows.rows(*columns)
    ]


def steps(*shares: float) -> list[RankLine]:
    """Returns ranks that each compute for its own number of seconds in `shares`; rank 0 then writes for another second,
    and all meet.
    """
    end = max(shares[0] + 1, *shares)
    lines = [RankLine().together("MPI_Finalize", share, end, len(shares)) for share in shares[1:]]
    first = RankLine().file(shares[0], shares[0] + 1).together("MPI_Finalize", shares[0] + 1, end, len(shares))
    return [first, *lines]


def test_a_rank_that_waits_is_a_core_that_is_lost() -> None:
    """Vector T6: of the two seconds on the path rank 1 waits for half a second, because rank 0 writes."""
    found = path_of(alone(*steps(1.0, 1.5)), "rank", "kind", "lost_cores")
    assert found == [(0, "computing", 0.0), (0, "I/O", 0.25)]


def test_lost_cores_are_spread_over_all_work_of_which_the_path_has_more() -> None:
    """Rank 1 waits for 3 of 4 s: 2 s because rank 0 computes longer, and 1 s because it writes; rank 2 for 1 s."""
    job = alone(*steps(3.0, 1.0, 3.0))
    assert path_of(job, "kind", "seconds", "lost_cores") == [("computing", 3.0, 0.5), ("I/O", 1.0, 0.5)]
    assert "Lost cores" in path_note(job)
    assert "1.0 of 3" in path_note(job)
    assert "I/O is 25.0 %" in path_note(job)


@pytest.mark.parametrize("seed", range(20))
def test_lost_cores_add_up_to_the_ranks_that_wait_on_average(seed: int) -> None:
    random = np.random.default_rng(seed)
    ranks, time = 5, 0.0
    lines = [RankLine() for _ in range(ranks)]
    for _ in range(6):
        work, written = random.uniform(0, 2, ranks), random.uniform(0, 1, ranks)
        end = time + float((work + written).max())
        for rank, line in enumerate(lines):
            begin = time + float(work[rank])
            line.file(begin, begin + float(written[rank]), file=1 + rank)
            line.together("MPI_Barrier", begin + float(written[rank]), end, ranks)
        time = end
    for line in lines:
        line.together("MPI_Finalize", time, time, ranks)
    job = alone(*lines)
    found, rows = why(job), path_by_activity(job)
    assert found is not None
    assert rows is not None
    assert rows["lost_cores"].sum() == pytest.approx(found.waits.waited.sum() / time)


def test_the_path_is_divided_by_the_innermost_region() -> None:
    line = RankLine().file(1, 3).region(2, 2.5, 2).region(0.5, 3.5, 1).together("MPI_Finalize", 5, 5, 1)
    job = alone(line)
    assert path_of(job, "kind", "region", "seconds") == [
        ("computing", "", 2.0),
        ("I/O", "step", 1.5),
        ("computing", "step", 1.0),
        ("I/O", "step/output", 0.5),
    ]


def test_visits_are_no_calls_and_keep_the_numbers_of_events() -> None:
    first = RankLine()
    post = first.region(0, 0.5, 1).post(1, 1.1, 1)
    first.region(0.6, 1.2, 2).wait(1.5, 4, post)
    found = why(
        alone(first.together("MPI_Finalize", 4, 5, 2), RankLine().send(3, 3.1, 0).together("MPI_Finalize", 4, 5, 2))
    )
    assert found is not None
    assert len(found.joins.send) == 1
    assert found.joins.not_joined == found.program.left_out == 0
    assert found.waits.waited.max() == pytest.approx(1.5)


@pytest.mark.parametrize("seed", range(30))
def test_regions_at_random_moments(seed: int) -> None:
    """A second computation finds the visits that contain a single moment; the shortest of these is the innermost
    region.
    """
    random = np.random.default_rng(seed)
    visits: list[tuple[float, float, int]] = []

    def nest(begin: float, end: float, depth: int) -> None:
        edges = np.sort(random.uniform(begin, end, 2 * random.integers(0, 4)))
        for low, high in edges.reshape(-1, 2).tolist():
            visits.append((low, high, len(visits) + 1))
            if depth < 3:
                nest(low, high, depth + 1)

    nest(0.0, 10.0, 0)
    line = RankLine()
    for low, high, number in visits:
        line.region(low, high, number)
    edges = np.sort(random.uniform(0, 10, 8)).reshape(-1, 2)
    pieces = Records({"rank": np.zeros(4, int), "start": edges[:, 0], "end": edges[:, 1]})
    found = by_region(pieces, events_of(line))
    assert (found["end"] - found["start"]).sum() == pytest.approx((edges[:, 1] - edges[:, 0]).sum())
    for start, end, region in found.rows("start", "end", "region"):
        moment = (start + end) / 2
        held = [(high - low, number) for low, high, number in visits if low <= moment < high]
        assert region == (min(held)[1] if held else 0)


def placed() -> Job:
    """Returns a job whose rank 0 writes from two places of a program without symbols."""
    first = RankLine().file(0, 3).file(3, 4).together("MPI_Finalize", 4, 5, 2)
    job = alone(first, RankLine().together("MPI_Finalize", 1, 5, 2))
    events = job.private["why_events"].assign(node=[0, 1, -1, -1])
    nodes = pd.DataFrame({"rank": -1, "node": [0, 1], "parent": -1, "object": 0, "offset": [0x100, 0x200], "leaf": 0})
    objects = pd.DataFrame({"rank": [-1], "object": [0], "build_id": [""], "path": ["/gone/solver"]})
    private = {**job.private, "why_events": events, "call_nodes": nodes, "objects": objects}
    return replace(job, private=private)


def test_the_place_is_that_of_the_longest_calls() -> None:
    for rows in (all_waits(placed()), all_path_parts(placed())):
        assert rows is not None
        of_io = rows.where(rows["kind"] == "I/O")
        assert of_io["place"].tolist() == ["0xff (solver)"], "the call before the return address 0x100"


def test_work_without_a_recorded_place_has_none() -> None:
    job = alone(*steps(1.0, 1.5))
    rows = all_waits(job)
    assert rows is not None
    assert set(rows["place"].tolist()) == {""}
