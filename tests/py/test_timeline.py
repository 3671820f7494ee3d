"""Timelines have few cells however many calls there are, and their sums equal those of the calls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from iolens.log import Job, read_log
from iolens.metrics.times import timespans, traces
from iolens.metrics.times.timespans import Spread

DATA = Path(__file__).parents[1] / "data"
TRACED = next(DATA.rglob("treddy_mpi-io-test*.darshan"))
MAPPED = next(DATA.rglob("imbalanced-io.darshan"))


def traced_job(calls: int, ranks: int, files: int) -> Job:
    """Returns a job of 100 s whose calls are spread at random over ranks and files."""
    draw = np.random.default_rng(1)
    start = draw.random(calls) * 99
    frame = pd.DataFrame(
        {
            "id": draw.integers(1, files + 1, calls).astype("u8"),
            "rank": draw.integers(0, ranks, calls),
            "op": np.where(draw.random(calls) < 0.5, "read", "write").astype(object),
            "offset": draw.integers(0, 1 << 30, calls),
            "length": draw.integers(1, 1 << 20, calls),
            "start": start,
            "end": start + draw.exponential(0.1, calls).clip(max=1.0),
        }
    )
    return replace(read_log(TRACED), frames={"DXT_POSIX": frame}, nprocs=ranks, run_time=100.0)


def test_an_amount_is_spread_evenly_over_its_time() -> None:
    spread = Spread(lines=1, bins=4, width=1.0)
    spread.add(np.array([0, 0]), np.array([1000, 7]), np.array([0.5, 3.2]), np.array([3.0, 3.2]))
    line, bins, moved, calls, busy = spread.cells()
    assert line.tolist() == [0, 0, 0, 0]
    assert bins.tolist() == [0, 1, 2, 3]
    assert moved.tolist() == [200, 400, 400, 7]
    assert calls.tolist() == [1, 0, 0, 1]
    assert busy == pytest.approx([0.5, 1.0, 1.0, 0.0])


@pytest.mark.parametrize(("layer", "module"), [("POSIX", "DXT_POSIX"), ("MPI-IO", "DXT_MPIIO")])
def test_cells_have_the_sums_of_the_calls(layer: str, module: str) -> None:
    job = read_log(TRACED)
    calls, (cells,) = job.frames[module], timespans.traced(job, layer)
    assert cells.moved.sum() == pytest.approx(calls["length"].sum(), rel=1e-6)
    assert cells.calls.sum() == cells.traced == len(calls)
    assert cells.busy.sum() == pytest.approx((calls["end"] - calls["start"]).sum(), rel=1e-3)
    assert cells.single is not None
    assert cells.single.length.sum() == calls["length"].sum()
    of_first = cells.single.length[cells.single.file == 0].sum()
    assert of_first == calls.groupby("id")["length"].sum().max()
    read = cells.moved[cells.kind == timespans.KINDS.index("read")].sum()
    assert read == pytest.approx(calls.loc[calls["op"] == "read", "length"].sum(), rel=1e-6)


def test_a_heatmap_keeps_its_bytes() -> None:
    job = read_log(MAPPED)
    for layer in timespans.mapped(job):
        frame = job.frames["HEATMAP"]
        frame = frame[frame["module"] == layer]
        cells = timespans.heatmap_timeline(job, layer)
        moved = int((frame["written"] + frame["read"]).sum())
        assert moved == (0 if cells is None else cells.moved.sum())


def test_many_calls_make_few_cells() -> None:
    job = traced_job(400_000, 128, 60)
    by_rank, by_file = timespans.traced(job, "POSIX")
    moved = job.frames["DXT_POSIX"]["length"].sum()
    for cells in (by_rank, by_file):
        assert len(cells.bin) <= timespans.MOST_CELLS
        assert cells.moved.sum() == pytest.approx(moved, rel=1e-6)
        assert cells.single is not None
        assert len(cells.single.start) == timespans.MOST_SINGLE
    assert by_rank.bins >= timespans.FEWEST_BINS
    assert len(by_rank.files) == timespans.MOST_FILES[1] + 1
    assert by_rank.files[-1] == "50 other files"
    assert len(by_file.files) == 60
    assert set(by_file.row) == {0}


def test_traced_calls_give_the_bytes_over_time_of_a_log_without_heatmap() -> None:
    job = read_log(TRACED)
    assert timespans.mapped(job) == ["MPI-IO", "POSIX"]
    grids = timespans.activity(job, "POSIX")
    assert grids is not None
    written, read, width = grids
    assert (written.sum() + read.sum()) == pytest.approx(job.frames["DXT_POSIX"]["length"].sum(), rel=1e-6)
    assert written.shape[0] == 32
    assert width * written.shape[1] >= job.run_time


def test_places_show_the_time_of_the_calls_where_it_is_short() -> None:
    job = traced_job(1000, 4, 1)
    frame = job.frames["DXT_POSIX"]
    whole = traces.transfer_places(job, "DXT_POSIX")
    assert whole is not None
    assert (whole.begin, whole.seconds) == (0.0, 100.0)
    early = frame.assign(start=40 + frame["start"] / 100, end=40 + frame["end"] / 100)
    short = traces.transfer_places(replace(job, frames={"DXT_POSIX": early}), "DXT_POSIX")
    assert short is not None
    assert (short.begin, short.seconds) == (early["start"].min(), early["end"].max())
    assert short.written.any(axis=0).sum() > 150


def test_calls_without_a_time_have_cells() -> None:
    job = traced_job(5, 2, 1)
    frame = job.frames["DXT_POSIX"].assign(start=0.0, end=0.0, rank=-1)
    (cells,) = timespans.traced(replace(job, frames={"DXT_POSIX": frame}, run_time=0.0), "POSIX")
    assert cells.moved.sum() == frame["length"].sum()
    assert (cells.bin.max(), cells.row.max()) == (0, 0)
    assert cells.end > 0
