"""Tests events besides the traced transfers: views, collective calls, opens and closes of traced files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from iolens.lab.predict.recorded import views_of
from iolens.log import Job, read_log
from test_profiler_mpi import programs, start, the_log

__all__ = ["programs"]

pytestmark = pytest.mark.mpi


class TracedProgram(NamedTuple):
    """Log of a program, and the words of each line that it printed."""

    job: Job
    lines: list[list[str]]


@pytest.fixture(scope="module")
def traced(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> TracedProgram:
    folder = tmp_path_factory.mktemp("traced")
    done = start(folder, 2, programs / "mpi_views", folder, IOLENS_DXT="1")
    assert done.returncode == 0, done.stderr
    return TracedProgram(read_log(the_log(folder)), [line.split() for line in done.stdout.splitlines()])


def test_views_are_kept_as_mpi_understands_them(traced: TracedProgram) -> None:
    for rank in range(2):
        views = views_of(traced.job, rank)
        assert len(views) == len(traced.lines) + 1, "a view that is set again is the same one"
        for number, *told in traced.lines:
            view = views[int(number)]
            if told == ["unknown"]:
                assert view is None
                continue
            assert view is not None
            offsets = np.array(told[1:], dtype=np.int64)
            extents = view.extents(int(offsets[0]), len(offsets))
            pairs = zip(extents.begin, extents.end, strict=True)
            assert [byte for begin, end in pairs for byte in range(begin, end)] == offsets.tolist()
            assert [view.place(int(offset)) for offset in offsets] == list(range(len(offsets)))


def test_events_say_what_transfers_do_not(traced: TracedProgram) -> None:
    job = traced.job
    events = job.private["traced_events"]
    viewed = next(key for key, path in job.names.items() if path.endswith("viewed"))
    for rank, mine in events[events["file"] == viewed].sort_values("start", kind="stable").groupby("rank"):
        words = [word.decode() if isinstance(word, bytes) else word for word in mine["event"]]
        of_mpi = [word for word in words if word.startswith("MPI")]
        assert of_mpi == ["MPI open", *["MPI view"] * 17, "MPI sync", "MPI close"]
        assert words.count("collective") == 1
        assert {"open", "close"} <= set(words)
        assert (mine["end"] >= mine["start"]).all()
        collective = mine[[word == "collective" for word in words]]
        transfers = job.frames["DXT_MPIIO"]
        transfers = transfers[(transfers["rank"] == rank) & (transfers["id"] == viewed)]
        assert collective["start"].iloc[0] in set(transfers["start"])
        assert len(transfers) == 2


def test_nothing_is_kept_without_traces(programs: Path, tmp_path: Path) -> None:
    done = start(tmp_path, 1, programs / "mpi_views", tmp_path)
    assert done.returncode == 0, done.stderr
    private = read_log(the_log(tmp_path)).private
    assert "traced_events" not in private or private["traced_events"].empty
