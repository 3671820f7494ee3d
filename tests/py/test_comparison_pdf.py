"""Tests the comparison PDF and `iolens compare`, on hand-made sweeps of several shapes."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from comparison_example import MIB, stripes_model, write_sweep
from iolens.cli.main import main
from iolens.errors import IolensError
from iolens.lab.sweep.read.results import load_results
from iolens.log import read_log
from iolens.metrics.comparison.results import bounded, compare
from iolens.pages.comparison.sweep_document import write_comparison

GRID = {"stripe_count": [1, 2, 4], "aggregators": [1, 2, 4], "cb_buffer_size": [MIB, 16 * MIB]}


def pages_of(pdf: Path) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))


def text_of(pdf: Path, *options: str) -> str:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext (poppler-utils) is not installed")
    done = subprocess.run(["pdftotext", "-layout", *options, pdf, "-"], capture_output=True, text=True, check=True)
    return " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("matrix", "repetitions"),
    [
        (GRID, 3),
        ({"stripe_count": [1, 2, 4, 8, 10]}, 6),
        ({"method": ["full", "simple"], "cb_buffer_size": [MIB]}, 2),
        ({"stripe_count": [4]}, 1),
        ({}, 2),
    ],
)
def test_any_matrix_becomes_a_pdf(tmp_path: Path, matrix: dict[str, list[Any]], repetitions: int) -> None:
    summary = write_comparison(
        load_results(write_sweep(tmp_path / "sweep", matrix, repetitions)), tmp_path / "out.pdf", read_log
    )
    assert summary.path.read_bytes().startswith(b"%PDF")
    assert 2 <= pages_of(summary.path) <= 40
    assert summary.verdict.startswith("Best: ")


@pytest.mark.parametrize("form", ["pdf", "html"])
def test_two_repetitions_of_many_points_that_scatter_widely_are_compared(tmp_path: Path, form: str) -> None:
    """The intervals of 32 points reach beyond the largest floating-point number."""
    grid = {"stripe_count": [1, 2, 4, 8], "aggregators": [1, 2, 4, 8], "cb_buffer_size": [MIB, 16 * MIB]}
    folder = write_sweep(tmp_path / "sweep", grid, 2, spread=1.5)
    assert main(["compare", str(folder), "-o", str(tmp_path / f"out.{form}")]) == 0
    text = text_of(tmp_path / "out.pdf") if form == "pdf" else (tmp_path / "out.html").read_text(encoding="utf-8")
    assert not re.search(r"\binf\b|Infinity|e\+\d{3}|1e-\d{3}", text)


def test_without_settings_there_is_nothing_to_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_sweep(tmp_path / "first", {}, 2)
    experiment = folder / "experiment.yaml"
    experiment.write_text(re.sub(r", hints: {.*?}", "", experiment.read_text()))
    assert main(["compare", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "Best: " in said
    assert "To use" not in said
    assert "The best setting" not in said


def test_several_sweeps_are_compared_with_the_sweep_as_a_setting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    matrix = {"stripe_count": [1, 4]}
    sweeps = [
        write_sweep(tmp_path / name, matrix, 3, lambda point, gain=gain: gain * stripes_model(point))
        for name, gain in (("before", 1.0), ("after", 2.0))
    ]
    out, tables = tmp_path / "both.pdf", tmp_path / "tables"
    assert main(["compare", *map(str, sweeps), "-o", str(out), "--csv", str(tables)]) == 0
    assert "experiment after" in capsys.readouterr().out
    rows = list(csv.DictReader((tables / "comparison-effects.csv").open()))
    (effect,) = [row for row in rows if row["setting"] == "experiment"]
    assert (effect["base"], effect["level"], effect["pairs"]) == ("before", "after", "2")
    assert float(effect["low"]) < 2 < float(effect["high"])
    assert float(effect["low"]) > 1.5


def test_a_device_bounds_what_was_not_emulated(tmp_path: Path) -> None:
    results = load_results(write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4]}, 2))
    found = compare(results.runs, results.settings)
    assert bounded(found, 500.0).points["bound"].isna().all()
    real = bounded(replace(found, runs=found.runs.assign(storage="lustre")), 500.0)
    assert list(real.points["bound"]) == [500.0, 500.0]
    assert set(real.points["bound_by"]) == {"device"}


def test_sweeps_of_different_settings_stand_beside_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = write_sweep(tmp_path / "one", {"stripe_count": [1, 4]}, 1)
    two = write_sweep(tmp_path / "two", {"aggregators": [1]}, 1)
    assert main(["compare", str(one), str(two), "-o", str(tmp_path / "both.html")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "C (two) against A" in said
    assert "one: 4 stripes" in said


def test_the_pdf_says_what_matters(tmp_path: Path) -> None:
    write_comparison(load_results(write_sweep(tmp_path / "sweep", GRID)), tmp_path / "out.pdf", read_log)
    text = text_of(tmp_path / "out.pdf")
    for words in (
        "BT-IO class A grid, 10 dumps",
        "Best: 4 stripes, 4 aggregators, 16 MiB collective buffer",
        "EMULATED STORAGE",
        "lfs setstripe -c 4 -S 1M DIRECTORY",
        "cb_nodes 4",
        "cb_buffer_size 16777216",
        "write bandwidth, MiB/s",
        "I/O time, s",
        "All runs",
        "times the product of their single gains",
        "page 1 of",
    ):
        assert words in text
    # The page shows aggregators as requested, effective and observed, for 3 x 2 points of 3 runs each.
    assert len(re.findall(r"4 ?/ ?4 ?/ ?4", text)) == 18


SLOW = "the machine was slower than the emulated storage"


@pytest.mark.parametrize("lost", ["stripe_count1_*", "stripe_count4_*", "*"])
def test_settings_that_lost_every_run_are_on_the_first_page(
    tmp_path: Path, lost: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4], "aggregators": [1, 4]})
    for run in folder.glob(f"points/{lost}/*/run.json"):
        run.write_text(json.dumps(json.loads(run.read_text()) | {"status": "invalid", "reason": SLOW}))
    assert main(["compare", str(folder)]) == 0
    assert SLOW in capsys.readouterr().out.replace("\n", " ")
    first_page = text_of(folder / "comparison.pdf", "-l", "1")
    assert "runs were lost" in first_page
    assert SLOW in first_page


LOG = Path(__file__).parents[1] / "data" / "darshan" / "imbalanced-io.darshan"


def test_each_setting_gets_one_small_job_summary(tmp_path: Path) -> None:
    """The run with the median speed, repetition 2, has a real log. The logs of the other runs are damaged, and must not
    be opened.
    """
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]}, 3)
    speeds = {1: 140.0, 2: 150.0, 3: 170.0}
    for run in folder.rglob("run.json"):
        content = json.loads(run.read_text())
        repetition = content["point"]["repetition"]
        result = json.loads((run.parent / "result.json").read_text())
        result["phases"][0]["seconds"]["max"] = 100 / speeds[repetition]
        (run.parent / "result.json").write_text(json.dumps(result))
        (run.parent / "job.darshan").write_bytes(LOG.read_bytes() if repetition == 2 else b"damaged")
        run.write_text(json.dumps(content | {"log": "job.darshan"}))
    write_comparison(load_results(folder), tmp_path / "out.pdf", read_log)
    text = text_of(tmp_path / "out.pdf")
    assert text.count("repetition 2: 150 MiB/s") == 2
    assert text.count("Log: job.darshan") == 2
    for said in ("A: 1 stripe, repetition 2", "B: 2 stripes, repetition 2"):
        assert said in text
    assert "MPI-IO collective write 101,184 101,184" in text
    assert "cannot be read" not in text


def test_a_damaged_log_is_named_and_the_rest_stands(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]}, 1)
    for run in folder.rglob("run.json"):
        (run.parent / "job.darshan").write_bytes(b"damaged")
        run.write_text(json.dumps(json.loads(run.read_text()) | {"log": "job.darshan"}))
    write_comparison(load_results(folder), tmp_path / "out.pdf", read_log)
    assert text_of(tmp_path / "out.pdf").count("The log cannot be read") == 2


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2], "aggregators": [1, 2]}, 2)
    for name in ("a.pdf", "b.pdf"):
        write_comparison(load_results(folder), tmp_path / name, read_log)
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


def test_a_sweep_where_everything_failed_still_gets_its_table(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2]}, 1)
    for run in folder.rglob("run.json"):
        run.write_text(json.dumps(json.loads(run.read_text()) | {"status": "failed", "reason": "no space left"}))
    summary = write_comparison(load_results(folder), tmp_path / "out.pdf", read_log)
    assert "no space left" in summary.verdict
    assert text_of(summary.path).count("failed: no space left") == 2


def test_the_command_writes_pdf_and_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 2], "aggregators": [1, 2]}, 3)
    assert main(["compare", str(folder), "--csv", str(tmp_path / "csv"), "--json", str(tmp_path / "json")]) == 0
    out = capsys.readouterr().out
    words = " ".join(out.split())
    assert "Best: 2 stripes, 2 aggregators, " in words
    assert "lfs setstripe -c 2 -S 1M DIRECTORY" in words
    assert "[" in words.partition("Best:")[2]
    assert str(folder / "comparison.pdf") in out
    assert (folder / "comparison.pdf").exists()
    with (tmp_path / "csv" / "comparison-runs.csv").open() as source:
        rows = list(csv.DictReader(source))
    assert len(rows) == 12
    points = json.loads((tmp_path / "json" / "comparison-points.json").read_text())
    assert [point["count"] for point in points] == [3, 3, 3, 3]
    mine = [float(r["bandwidth"]) for r in rows if (r["stripe_count"], r["aggregators"]) == ("2", "2")]
    product = mine[0] * mine[1] * mine[2]
    assert points[3]["value"] == pytest.approx(product ** (1 / 3), rel=1e-6)


def test_nothing_to_compare_is_one_line_and_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(tmp_path), "-o", str(tmp_path / "out.pdf")]) == 1
    assert main(["compare", str(tmp_path / "missing")]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 2
    assert all(line.startswith("iolens compare: ") for line in errors)
    assert not (tmp_path / "out.pdf").exists()


def test_predictions_beside_the_results_are_on_a_page_of_their_own(tmp_path: Path) -> None:
    """Predictions are written into the folder of results, as by `iolens predict -o`, and must appear on a page of the
    comparison.
    """
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4]}, 2)
    times = {"io": 2.0, "run": 3.0, "least": 2.0, "most": 2.0}
    content = {
        "schema": 1,
        "log": "traced.darshan",
        "model": "machine.yaml",
        "model_errors": [0.031, 0.082],
        "remarks": [],
        "recorded": times,
        "replayed": {"io": 2.1, "run": 3.1, "least": 2.1, "most": 2.1},
        "exchange": None,
        "points": [{"stripe_count": 16, "aggregators": 8, "io": 0.525, "run": 1.5, "least": 0.4, "most": 0.6}],
    }
    (folder / "what-if.json").write_text(json.dumps(content))
    text = text_of(write_comparison(load_results(folder), tmp_path / "out.pdf", read_log).path)
    assert "What if: predicted, not measured" in text
    assert "stripe count 16, aggregators 8" in text
    assert "-75.0 %" in text
    assert "0.400 to 0.600" in text
    assert "by +5.0 %" in text
    assert "3.1 % at the median, 8.2 % at most" in text
    (folder / "what-if.json").write_text("{}")
    with pytest.raises(IolensError, match=r"what-if\.json is not a file of predictions"):
        write_comparison(load_results(folder), tmp_path / "out.pdf", read_log)


def test_names_that_the_font_has_no_letters_for_warn_nobody(recwarn: pytest.WarningsRecorder) -> None:
    from iolens.pages.html.svg import svg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 1))
    figure.add_subplot().set_title("大きい")
    svg(figure, "x", "A title")
    assert not [warning for warning in recwarn if "Glyph" in str(warning.message)]
