"""The progress of a complete run comes from the steps that the program itself prints."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from iolens.lab.sweep.perform import progress
from iolens.lab.workloads.btio import BTIO, time_steps
from patience import PATIENCE


def test_the_latest_step_counts() -> None:
    assert BTIO.step
    assert (
        progress.last_step(b" Time step    1\n Writing data set, time step          5\n Time step   20\n", BTIO.step)
        == 20
    )
    assert progress.last_step(b" Iterations:   60\n", BTIO.step) == 0


def test_every_further_step_is_told_with_the_time_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PERIOD", 0.01)
    told: list[tuple[str, float]] = []
    output = tmp_path / "stdout.txt"
    with progress.watched(output, BTIO, ["--class", "S"], lambda line, left: told.append((line, left))):
        for step in (1, 20, 40):
            with output.open("a", encoding="utf-8") as file:
                file.write(f" Time step {step:4d}\n")
            deadline = time.monotonic() + PATIENCE
            while (not told or f"step {step} " not in told[-1][0]) and time.monotonic() < deadline:
                time.sleep(0.005)
    assert [line for line, _ in told] == [f"complete run: step {step} of 60" for step in (1, 20, 40)]
    assert told[0][1] == 0
    assert told[-1][1] > 0


def test_steps_of_a_command_line() -> None:
    assert time_steps(["--class", "C", "--method", "full"]) == 200
    assert time_steps(["--class", "C", "--steps", "50"]) == 50
    assert time_steps(["--grid", "1,2,3"]) is None
