"""`iolens table --csv` and `--json` have every row; a terminal says how many it hides, and how to see them."""

from __future__ import annotations

import csv
import io
import json
import math
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from iolens.cli.main import main
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
from iolens.pages.output.export import json_rows, json_text

LOG = str(Path(__file__).resolve().parents[1] / "data/iolens/mpi_calls.darshan")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Returns what `iolens table` prints for these words."""
    assert main(["table", *words]) == 0
    return capsys.readouterr().out


def test_exports_ignore_the_threshold_and_a_terminal_names_its_option(capsys: pytest.CaptureFixture[str]) -> None:
    for asked in ([], ["--by", "function"], ["--filter", "pe<2"]):
        words = ["profile_time", LOG, *asked]
        every = list(csv.DictReader(io.StringIO(printed(capsys, *words, "--csv", "--no-threshold"))))
        assert list(csv.DictReader(io.StringIO(printed(capsys, *words, "--csv")))) == every
        assert len(json.loads(printed(capsys, *words, "--json"))) == len(every)
        terminal = printed(capsys, *words).replace("\n", " ")
        assert "Left out: " in terminal
        assert "--no-threshold shows them." in terminal
        assert "--no-threshold" not in printed(capsys, *words, "--no-threshold")


def test_json_has_all_digits_that_csv_has(capsys: pytest.CaptureFixture[str]) -> None:
    """Short times have digits behind the fifteenth decimal."""
    table = csv.DictReader(io.StringIO(printed(capsys, "profile_time", LOG, "--csv")))
    rows = json.loads(printed(capsys, "profile_time", LOG, "--json"))
    assert [row["time"] for row in rows] == [float(row["time"]) if row["time"] else None for row in table]
    assert any(0 < (row["time"] or 0) < 1e-3 for row in rows)


def test_the_summary_as_json_has_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", LOG, "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert "costly_files" in tables
    for name, rows in tables.items():
        assert rows == json.loads(printed(capsys, name, LOG, "--json")), name


def test_values_of_every_type_become_json() -> None:
    row = {"n": 2**63, "no": math.nan, "far": math.inf, "when": pd.Timestamp("2026-11-27"), "who": np.array([1, 2])}
    found = json_rows(pd.DataFrame([row, dict.fromkeys(row)]))
    assert found[0] == {"n": 2**63, "no": None, "far": None, "when": "2026-11-27T00:00:00", "who": [1, 2]}
    assert set(found[1].values()) == {None}
    assert json.loads(json_text(pd.DataFrame([row]))) == found[:1]
    assert json_text(pd.DataFrame({"n": []})) == "[]"


def test_a_level_that_was_asked_for_stays_in_an_export(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(printed(capsys, "profile_time", LOG, "--csv", "--by", "function"))))
    assert {row["level"] for row in rows} >= {"function"}
    assert "group" not in {row["level"] for row in rows}


def test_every_list_with_a_limit_has_all_rows_in_exports() -> None:
    limited = {exhibit for exhibit in JOB_EXHIBITS if "limit" in signature(exhibit.metric).parameters}
    assert "hot_lines" in {exhibit.name for exhibit in limited}
    assert [exhibit.name for exhibit in limited if exhibit.whole is None] == []


def test_a_list_says_how_many_rows_it_hides(capsys: pytest.CaptureFixture[str]) -> None:
    every = list(csv.DictReader(io.StringIO(printed(capsys, "costly_files", LOG, "--csv"))))
    terminal = printed(capsys, "costly_files", LOG).replace("\n", " ")
    shown = sum(f"{row['path']} " in terminal for row in every)
    assert f"{len(every) - shown} more row" in terminal
    assert "--csv and --json have every row." in terminal
