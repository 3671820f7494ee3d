"""Tests the time lines of all ranks with the critical path."""

from __future__ import annotations

import numpy as np
import pytest
from iolens.figures.job_ranks import path_over_time
from iolens.metrics.why.answers import why_of
from iolens.metrics.why.calls.program import program_of
from iolens.metrics.why.path import critical_path
from iolens.metrics.why.time_lines import KINDS, TimeLines, time_lines
from why_programs import RankLine, events_of


def drawn(ranks: int, most_rows: int, bins: int = 10) -> TimeLines:
    """Returns the lines of a job of 10 s: the last rank computes for 1 s and writes for 8 s, the others wait for it."""
    lines = [RankLine().together("MPI_Barrier", 2, 10, ranks) for _ in range(ranks - 1)]
    lines.append(RankLine().file(1, 9).together("MPI_Barrier", 9, 10, ranks))
    found = why_of(program_of(events_of(*lines), ranks))
    return time_lines(found, critical_path(found.program, found.waits), most_rows, bins)


def test_each_bin_has_the_shares_of_what_the_rank_did() -> None:
    shares = drawn(2, 2).shares
    names = [[KINDS[int(np.argmax(bin))] for bin in row] for row in shares]
    assert names == [["computing"] * 2 + ["waiting"] * 7 + ["MPI"], ["computing"] + ["I/O"] * 8 + ["MPI"]]
    assert shares.sum(axis=2) == pytest.approx(np.ones((2, 10)))


def test_ranks_beyond_the_rows_are_drawn_together() -> None:
    lines = drawn(5, 2)
    assert (lines.each, lines.shares.shape) == (3, (2, 10, len(KINDS)))
    assert lines.shares[1, 4, KINDS.index("I/O")] == pytest.approx(0.5)
    assert lines.shares.sum(axis=2) == pytest.approx(np.ones((2, 10)))


def test_the_strip_has_the_work_on_the_path_alone() -> None:
    lines = drawn(4, 4, 20)
    assert lines.path.tolist() == [[3, 0, 10]]
    assert lines.on_path.sum(axis=0) / 2 == pytest.approx([1.0, 8.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    assert lines.on_path.sum(axis=1) == pytest.approx(np.ones(20))


@pytest.mark.parametrize("ranks", [1, 3, 1000])
def test_the_figure_names_what_it_shows(ranks: int) -> None:
    figure = path_over_time(drawn(ranks, 250), ranks)
    (axes,) = figure.axes
    legend = axes.get_legend()
    assert legend is not None
    names = [text.get_text() for text in legend.get_texts()]
    assert names[0] == "computing"
    assert names[-1] == "critical path"
    assert ("waiting for another rank" in names) == (ranks > 1)
    assert axes.get_ylim()[1] > ranks - 0.5
    assert all(0 <= tick < ranks for tick in axes.get_yticks()), "the strip has no rank"
