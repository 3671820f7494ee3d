"""Tests fresh runs of the best setting and the baseline: which runs are made, and which differences they prove."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from comparison_example import write_fresh, write_sweep
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.read.next_runs import confirming
from iolens.lab.sweep.read.results import load_results
from iolens.log import read_log
from iolens.metrics.comparison.results import Comparison, compare
from iolens.pages.comparison.sweep_document import write_comparison
from iolens.pages.wording import sweep_verdict
from iolens.pages.wording.sweep_remedy import remedy

MATRIX = {"stripe_count": [1, 4], "aggregators": [1, 4]}
BEST, BASE = {"stripe_count": 4, "aggregators": 4}, {"stripe_count": 1, "aggregators": 1}
EXPERIMENT = Experiment(
    name="example",
    title="example",
    program="btio",
    arguments=(),
    ranks=4,
    matrix={name: tuple(levels) for name, levels in MATRIX.items()},
)


def compared(folder: Path) -> Comparison:
    results = load_results(folder)
    return compare(results.runs, results.settings, fresh=results.fresh)


def test_the_best_and_the_baseline_run_again_in_turn(tmp_path: Path) -> None:
    runs = confirming(EXPERIMENT, write_sweep(tmp_path / "sweep", MATRIX))
    assert [(dict(run.point.settings), run.repetition) for run in runs] == [
        (BEST, 1),
        (BASE, 1),
        (BASE, 2),
        (BEST, 2),
        (BEST, 3),
        (BASE, 3),
    ]
    json.dumps([run.point.settings for run in runs])


@pytest.mark.parametrize(("asked", "made"), [(0, 0), (1, 1), (5, 5)])
def test_how_many_is_the_experiment_s_to_say(tmp_path: Path, asked: int, made: int) -> None:
    runs = confirming(replace(EXPERIMENT, confirm=asked), write_sweep(tmp_path / "sweep", MATRIX))
    assert all(count == made for count in Counter(run.point.id for run in runs).values())
    assert len(runs) == 2 * made


def test_a_best_that_is_the_baseline_needs_no_confirmation(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", MATRIX, model=lambda p: 100.0 / p["stripe_count"] / p["aggregators"])
    assert confirming(EXPERIMENT, folder) == []


def test_fresh_runs_have_no_part_in_the_choice(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", MATRIX)
    before = load_results(folder)
    write_fresh(folder, [BEST, BASE], [[1.0, 1.1, 1.2], [900.0, 910.0, 920.0]])
    comparison = compared(folder)
    assert len(load_results(folder).runs) == len(before.runs) == 12
    assert comparison.points.equals(compare(before.runs, before.settings).points)
    assert not comparison.proven
    assert "do not prove that it is better" in sweep_verdict.comparison_verdict(comparison)


def test_fresh_runs_prove_what_the_sweep_alone_could_not(tmp_path: Path) -> None:
    """Two repetitions of four settings prove nothing; three fresh runs of the best setting and the baseline do."""
    folder = write_sweep(tmp_path / "sweep", MATRIX, repetitions=2, spread=0.7)
    assert not compared(folder).proven
    write_fresh(folder, [BEST, BASE], [[600.0, 610.0, 590.0], [150.0, 151.0, 152.0]])
    comparison = compared(folder)
    assert comparison.proven
    text = sweep_verdict.comparison_verdict(comparison)
    assert text.startswith("Confirmed: 4 stripes, 4 aggregators gives 3.97 times [")
    assert "600 against 151 MiB/s in 3 fresh runs of each." in text
    assert "In the sweep, from which the setting was picked, it gave " in text
    assert "do not prove" not in text
    results = load_results(folder)
    found = remedy(results, comparison)
    assert found is not None
    assert found.lead == "To use the best setting"


def test_fresh_runs_that_were_lost_prove_nothing(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", MATRIX)
    write_fresh(folder, [BASE], [[150.0, 151.0, 152.0]])
    write_fresh(folder, [BEST], [[600.0] * 3], status="invalid", reason="slow disk")
    comparison = compared(folder)
    assert comparison.fresh is not None
    assert comparison.fresh.ratio is None
    problem = "4 stripes, 4 aggregators: no usable run: slow disk"
    assert f"The fresh runs that should confirm this cannot be used ({problem})." in sweep_verdict.comparison_verdict(
        comparison
    )


def test_fresh_runs_of_a_former_best_are_not_mixed_in(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", MATRIX)
    write_fresh(folder, [{"stripe_count": 4, "aggregators": 1}, BASE], [[900.0] * 3, [150.0] * 3])
    assert compared(folder).fresh is None


def test_the_fresh_runs_are_in_the_document_and_in_the_tables(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", MATRIX)
    write_fresh(folder, [BEST, BASE], [[600.0, 610.0, 590.0], [150.0, 151.0, 152.0]])
    summary = write_comparison(load_results(folder), tmp_path / "comparison.pdf", read_log)
    assert summary.frames["runs"]["fresh"].sum() == 6
    assert summary.verdict.startswith("Confirmed: ")


def test_every_figure_of_a_sweep_says_its_finding_in_words(tmp_path: Path) -> None:
    folder = write_sweep(tmp_path / "sweep", MATRIX)
    write_comparison(load_results(folder), tmp_path / "comparison.html", read_log)
    figures = re.findall(r"<svg.*?<title[^>]*>(.*?)</title>", (tmp_path / "comparison.html").read_text(), re.DOTALL)
    assert any("most: 4 stripes, 4 aggregators, " in title for title in figures)
    assert any("stripe count 1 to 4: " in title for title in figures)
    assert [title for title in figures if ": " not in title] == []
