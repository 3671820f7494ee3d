"""Tests the time of the slowest rank where a log has only sums over ranks, on random ranks whose times are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from iolens.advise import diagnosis
from iolens.log import Job
from iolens.metrics.job.spent import slowest_seconds
from job_example import frame, job_of

KINDS = ("READ", "WRITE", "META")
JOBS = 40


def drawn_times(draw: np.random.Generator) -> np.ndarray:
    """Returns the seconds of each rank (rows) in the calls of each kind (columns) on each file (first axis)."""
    files, ranks = int(draw.integers(1, 5)), int(draw.integers(2, 40))
    times = draw.gamma(draw.choice([0.1, 1.0, 20.0]), size=(files, ranks, len(KINDS))) * draw.choice(
        [0.0, 1.0], len(KINDS)
    )
    times[:, int(draw.integers(ranks))] *= draw.choice([1.0, 1.0, 30.0])  # One rank may do most of the work.
    return np.asarray(times * (draw.random((files, 1, 1)) < 0.9))


def merged(times: np.ndarray, **private: Any) -> Job:
    """Returns the job with one record for all ranks of each file, as Darshan merges records of ranks."""
    rows = []
    for key, file in enumerate(times, 1):
        each = file.sum(axis=1)
        row = {"id": key, "rank": -1, "F_SLOWEST_RANK_TIME": each.max(), "SLOWEST_RANK": int(each.argmax())}
        rows.append(row | {f"F_{kind}_TIME": file[:, place].sum() for place, kind in enumerate(KINDS)})
    return job_of(1e6, nprocs=times.shape[1], frames={"POSIX": frame("POSIX", rows)}, names={}, private=private)


@pytest.mark.parametrize("places", [(0,), (1,), (2,), (0, 1), (0, 1, 2)])
def test_the_interval_holds_the_time_of_the_slowest_rank(places: tuple[int, ...]) -> None:
    draw = np.random.default_rng(7)
    for _ in range(JOBS):
        times = drawn_times(draw)
        truth = float(times[:, :, places].sum(axis=(0, 2)).max())
        kinds = tuple(KINDS[place] for place in places)
        found = slowest_seconds(merged(times), "POSIX", range(1, len(times) + 1), kinds)
        assert found.least <= truth + 1e-9
        assert truth <= found.most + 1e-9
        assert found.least - 1e-9 <= found.about <= found.most + 1e-9
        if len(times) == 1 and len(places) == len(KINDS):
            assert not found.is_interval


def test_more_time_never_makes_the_interval_smaller() -> None:
    draw = np.random.default_rng(11)
    for _ in range(JOBS):
        times = drawn_times(draw)
        grown = times.copy()
        grown[:, :, 2] *= 1 + draw.random()
        before, after = (
            slowest_seconds(merged(each), "POSIX", range(1, len(times) + 1), ("META",)) for each in (times, grown)
        )
        assert after.least >= before.least - 1e-9
        assert after.most >= before.most - 1e-9


def test_the_times_of_each_rank_make_the_interval_a_number() -> None:
    draw = np.random.default_rng(8)
    for _ in range(20):
        times = drawn_times(draw)
        rows = [
            {"file": np.uint64(key), "rank": rank, "read_time": each[0], "write_time": each[1], "meta_time": each[2]}
            | dict.fromkeys("reads writes bytes_read bytes_written".split(), 1)
            for key, file in enumerate(times, 1)
            for rank, each in enumerate(file)
        ]
        made = merged(times, file_ranks=pd.DataFrame(rows))
        found = slowest_seconds(made, "POSIX", range(1, len(times) + 1), ("META",))
        assert found.about == pytest.approx(times[:, :, 2].sum(axis=0).max())
        assert found.least == pytest.approx(found.about)


def phases(draw: np.random.Generator) -> tuple[Job, float]:
    """Returns a job whose ranks write a file of their own in several phases, computing before each and meeting behind
    it, and the seconds that the run saves without the writes.
    """
    ranks, steps = int(draw.integers(2, 9)), int(draw.integers(1, 7))
    compute = draw.gamma(draw.choice([0.2, 5.0]), size=(steps, ranks))
    write = draw.gamma(draw.choice([0.2, 5.0]), size=(steps, ranks))
    begins = np.zeros((steps, ranks))
    now = 0.0
    for step in range(steps):
        begins[step] = now + compute[step]
        now = float((begins[step] + write[step]).max())
    rows = [
        {
            "id": rank + 1,
            "rank": rank,
            "WRITES": 5000,
            "SIZE_WRITE_0_100": 5000,
            "BYTES_WRITTEN": 400_000,
            "F_WRITE_TIME": write[:, rank].sum(),
            "F_WRITE_START_TIMESTAMP": begins[0, rank],
            "F_WRITE_END_TIMESTAMP": begins[-1, rank] + write[-1, rank],
        }
        for rank in range(ranks)
    ]
    made = job_of(
        now, nprocs=ranks, frames={"POSIX": frame("POSIX", rows)}, names={n: f"/scratch/{n}" for n in range(9)}
    )
    return made, now - float(compute.max(axis=1).sum())


def test_no_run_without_the_calls_saves_more_than_what_is_printed_as_a_bound() -> None:
    """The slowest rank's own time is no bound: in each phase, another rank may be the one that all wait for."""
    draw = np.random.default_rng(9)
    said = above = 0
    for _ in range(120):
        made, saved = phases(draw)
        found = next((one for one in diagnosis(made).findings if one.id == "small-writes"), None)
        if found is None or found.gain is None:
            continue
        said += 1
        above += saved / made.run_time > found.gain + 0.01
        assert ("at most" in found.gain_words) == (found.bound is not None)
        assert saved / made.run_time <= (1.0 if found.bound is None else found.bound) + 1e-9
    assert said > 40
    assert above > 4  # If no estimate is exceeded, the phases are too simple to tell an estimate from a bound.


def test_a_sum_over_many_ranks_is_no_time_of_one() -> None:
    """2048 ranks that read for 70 s each and open for 0.03 s each: 65 s of metadata in all."""
    row: dict[str, Any] = {
        "id": 1,
        "rank": -1,
        "OPENS": 4098,
        "READS": 75_776,
        "BYTES_READ": 1_649_291_067_392,
        "SEEKS": 61_444,
    }
    row |= {"F_READ_TIME": 143_030.0, "F_META_TIME": 65.03, "F_SLOWEST_RANK_TIME": 76.3, "SLOWEST_RANK": 1552}
    row |= {"MAX_BYTE_READ": 2_199_023_261_831, "SIZE_READ_100M_1G": 12_288, "SIZE_READ_100_1K": 63_488}
    made = job_of(
        85.0, nprocs=2048, version="3.10", frames={"POSIX": frame("POSIX", [row])}, names={1: "/scratch/v.h5"}
    )
    spent = slowest_seconds(made, "POSIX", [1], ("META",))
    assert (spent.least, spent.most) == pytest.approx((65.03 / 2048, 65.03))
    assert spent.about < 0.05
    found = diagnosis(made)
    assert not [one.id for one in found.findings if one.id in ("metadata-storm", "many-seeks")]


def test_metadata_of_every_rank_is_told_as_an_interval() -> None:
    """128 files of one owner each on which all ranks call stat: 1.97 s of metadata on an average rank of 4.2 s."""
    each: dict[str, Any] = {
        "rank": -1,
        "OPENS": 1,
        "STATS": 128,
        "WRITES": 20,
        "BYTES_WRITTEN": 20 << 20,
        "F_WRITE_TIME": 0.0184,
    }
    each |= {"F_META_TIME": 1.97, "F_SLOWEST_RANK_TIME": 0.6}
    rows = [each | {"id": key, "SLOWEST_RANK": key - 1, "MAX_BYTE_WRITTEN": (20 << 20) - 1} for key in range(1, 129)]
    names = {key: f"/lustre/out-{key}" for key in range(1, 129)}
    made = job_of(4.176, nprocs=128, frames={"POSIX": frame("POSIX", rows)}, names=names)
    found = diagnosis(made)
    (storm,) = [one for one in found.findings if one.id == "metadata-storm"]
    assert "took 2.0 to 4.2 s of the 4.2 s" in storm.evidence
    assert "at most" not in storm.gain_words
    assert found.confidence == "medium"
    assert any("only the sum over ranks" in doubt for doubt in found.doubts)
    alone = replace(made, nprocs=1, frames={"POSIX": frame("POSIX", [{**row, "rank": 0} for row in rows[:2]])})
    assert slowest_seconds(alone, "POSIX", [1, 2], ("META",)).span == made.run_time
