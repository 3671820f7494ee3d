"""Tests the picture of a job's first page: its parts add up to the run time, and its texts agree with the numbers."""

from __future__ import annotations

from pathlib import Path

import processor_example
import pytest
from iolens.log import Job, read_log
from iolens.metrics.job.share import io_mean_seconds, run_parts
from iolens.pages.base.blocks import FigureBlock
from iolens.pages.exhibits.operations import OPERATIONS
from iolens.pages.exhibits.overview import IO_COST, PERFORMANCE
from iolens.pages.exhibits.processor_time import TIME_PARTS
from iolens.pages.html.svg import svg
from iolens.pages.job.time_bar import time_bar
from job_example import MIB, frame, job_of

DATA = Path(__file__).parents[1] / "data" / "darshan"


def made(seconds: float, **fields: object) -> Job:
    """Returns a job of 4 ranks that ran for 10 s; two ranks read for the given time and the other two half as long."""
    rows = [
        {"id": n, "rank": n, "READS": 4, "BYTES_READ": MIB, "F_READ_TIME": seconds * (1 + n % 2), "F_META_TIME": 0.001}
        for n in range(4)
    ]
    return job_of(frames={"POSIX": frame("POSIX", rows)}, names={n: f"/scratch/{n}" for n in range(4)}, **fields)


def bars(block: FigureBlock) -> dict[str, float]:
    """Returns the percentages in a bar's segments by their names."""
    return {one.get_label(): one.patches[0].get_width() for one in block.figure.axes[0].containers}


def test_the_bar_of_a_log_of_io_alone_names_what_it_does_not_know() -> None:
    (block,) = time_bar(made(2.0))
    assert {name: round(width, 2) for name, width in bars(block).items()} == {
        "POSIX read": 30.0,
        "other I/O": 0.01,
        "not recorded by this log": 69.99,
    }
    assert "Mean of 4 ranks: 3.0 s in I/O, on the slowest rank up to 4.0 s." in block.caption
    assert block.says.startswith("POSIX read: 3.0 s, 30.0 %; other I/O: ")


def test_there_is_no_bar_where_times_overlap_or_nothing_is_known() -> None:
    # The parts of an average rank's time are 13.5 s, more than the run of 10 s, so that nothing is drawn.
    assert time_bar(made(9.0)) == []
    assert time_bar(job_of(frames={}, names={})) == []


def test_a_log_with_processor_times_shows_them() -> None:
    tables = processor_example.tables()
    job = processor_example.job(**{name: tables[name] for name in ("mpi_calls", "process")})
    parts = TIME_PARTS.frame(job)
    (block,) = time_bar(job)
    assert list(bars(block)) == parts["part"].tolist()
    assert list(bars(block).values()) == pytest.approx(parts["share"].tolist())
    assert all(isinstance(one, FigureBlock) and one.says.startswith("ranks differ") for one in TIME_PARTS.figures(job))


@pytest.mark.parametrize("log", sorted(DATA.glob("*.darshan")), ids=lambda path: path.stem[:24])
def test_the_parts_of_a_log_add_up_to_its_run_time(log: Path) -> None:
    job = read_log(log)
    parts = run_parts(job)
    if parts is None:
        assert not io_mean_seconds(job), "it has times of I/O"
        return
    assert parts["seconds"].sum() == pytest.approx(job.run_time)
    rest = parts["seconds"][parts["operation"] == ""].sum()
    assert job.run_time - rest == pytest.approx(io_mean_seconds(job))
    assert (parts["seconds"] >= 0).all()


def test_numbers_in_light_segments_stay_dark_on_a_dark_page() -> None:
    (block,) = time_bar(made(2.0))
    drawn = svg(block.figure, "key", "title")
    assert 'style="fill:#111111">70 %' in drawn
    assert 'style="fill:#ffffff">30 %' in drawn


def test_pictures_that_would_show_nothing_are_left_out() -> None:
    assert list(IO_COST.figures(made(0.001))) == []
    (bars_of_layers,) = IO_COST.figures(made(2.0))
    assert bars_of_layers.says == "POSIX: 30.0 % of the run time, most in read"
    row = {"id": 1, "rank": 0, "WRITES": 4, "BYTES_WRITTEN": 8, "F_WRITE_TIME": 1.0}
    printing = job_of(frames={"STDIO": frame("STDIO", [row])}, names={1: "<STDOUT>"})
    assert list(OPERATIONS.figures(printing)) == []


def test_no_speed_is_printed_where_calls_took_longer_than_the_run() -> None:
    speeds = [PERFORMANCE.table(made(seconds)).rows[0][-1] for seconds in (2.0, 9.0)]
    assert speeds == ["1.00 MiB/s", "n/a"]
