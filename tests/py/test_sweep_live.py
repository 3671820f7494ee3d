"""Tests the display of a running sweep in a terminal."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from comparison_example import write_sweep
from iolens.lab.sweep.perform.progress import Lines
from iolens.pages.comparison.sweep_live import Screenful, shown, standing_lines
from rich.console import Console
from rich.live import Live

MATRIX = {"stripe_count": [1, 2, 4], "aggregators": [1, 2, 4]}


def test_the_table_has_the_best_point_first_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    assert standing_lines(tmp_path, 100, 5) == [], "nothing has run"
    lines = standing_lines(write_sweep(tmp_path, MATRIX), 100, 5)
    assert lines[1].split() == ["setting", "runs", "typical", "95", "%", "interval"]
    assert lines[3].startswith("4 stripes, 4 aggregators")
    assert "MiB/s to" in lines[3]
    longest = [line.count("█") for line in lines[3:8]]
    assert longest == sorted(longest, reverse=True)
    assert lines[8] == "The 4 slowest points are not shown."


def test_the_screen_names_the_run_under_way_and_the_time_left(tmp_path: Path) -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=80, height=24)
    with Live(console=console, auto_refresh=False) as view:
        screenful = Screenful(view, write_sweep(tmp_path, MATRIX), 27, 0, 80)
        screenful.begun("sc1_ag1/rep-1")
        screenful(1, 27, "sc1_ag1/rep-1: ok", 52)
        between = out.getvalue()
        screenful.begun("sc4_ag2/rep-1")
    assert "now" not in between.rpartition("1 of 27 runs")[2], "a run that has ended is not under way"
    last = out.getvalue().rpartition("4 stripes, 1 aggregator")[2]
    assert "1 of 27 runs, 52 s left, now sc4_ag2/rep-1" in last
    assert "last: sc1_ag1/rep-1: ok" in last
    assert all(len(line) <= 80 for line in last.splitlines()[2:] if "\x1b" not in line)


def test_where_the_output_is_no_terminal_each_run_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    with shown(tmp_path, 27, 0) as progress:
        assert isinstance(progress, Lines)
        progress.begun("sc1_ag1/rep-1")
        progress(1, 27, "sc1_ag1/rep-1: ok", 52)
    assert capsys.readouterr().out == "[1/27] sc1_ag1/rep-1: ok (about 52 s left)\n"
