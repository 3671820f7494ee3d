"""`iolens table --csv` and `--json` have every row; a terminal says how many it hides, and how to see them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from iolens.cli.main import main

LOG = str(Path(__file__).resolve().parents[1] / "data/iolens/mpi_calls.darshan")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Returns what `iolens table` prints for these words."""
    assert main(["table", *words]) == 0
    return capsys.readouterr().out


def test_exports_ignore_the_threshold_and_a_terminal_names_its_option(capsys: pytest.CaptureFixture[str]) -> None:
    every = list(csv.DictReader(io.StringIO(printed(capsys, "profile_time", LOG, "--csv"))))
    asked = list(csv.DictReader(io.StringIO(printed(capsys, "profile_time", LOG, "--csv", "--no-threshold"))))
    assert every == asked
    assert len(json.loads(printed(capsys, "profile_time", LOG, "--json"))) == len(every)
    terminal = printed(capsys, "profile_time", LOG).replace("\n", " ")
    assert "Left out: " in terminal
    assert "--no-threshold shows them." in terminal
    assert "--no-threshold" not in printed(capsys, "profile_time", LOG, "--no-threshold")


def test_a_level_that_was_asked_for_stays_in_an_export(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(printed(capsys, "profile_time", LOG, "--csv", "--by", "function"))))
    assert {row["level"] for row in rows} >= {"function"}
    assert "group" not in {row["level"] for row in rows}


def test_a_list_says_how_many_rows_it_hides(capsys: pytest.CaptureFixture[str]) -> None:
    every = list(csv.DictReader(io.StringIO(printed(capsys, "costly_files", LOG, "--csv"))))
    terminal = printed(capsys, "costly_files", LOG).replace("\n", " ")
    shown = sum(f"{row['path']} " in terminal for row in every)
    assert f"{len(every) - shown} more row" in terminal
    assert "--csv and --json have every row." in terminal
