"""Settings that change together are one axis in every figure; speed-up and efficiency equal numbers computed
by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from comparison_example import write_run
from iolens.figures.sweep_effects import grouped_bars
from iolens.lab.subjects.subjects import read_subjects
from iolens.lab.sweep.read.results import load_results
from iolens.log import read_log
from iolens.metrics.comparison import scaling
from iolens.metrics.comparison.results import Comparison, compare
from iolens.metrics.comparison.scaling import ScalingPoint
from iolens.pages.comparison.sweep_document import write_comparison
from iolens.pages.exhibits.sweep_answers import SCALING
from iolens.pages.wording.sweep_verdict import comparison_subtitle

DATA = Path(__file__).resolve().parents[1] / "data"
Speed = Callable[[int, int], float]


def sweep(folder: Path, speed: Speed, together: bool = True) -> Comparison:
    """Returns runs in which ranks and aggregators change together, for two stripe counts with three runs each."""
    for ranks in (1, 2, 16):
        for aggregators in (ranks,) if together else (1, 2):
            for stripes in (1, 4):
                for n in (1, 2, 3):
                    point = {"ranks": ranks, "aggregators": aggregators, "stripe_count": stripes}
                    name = f"np{ranks}_ag{aggregators}_sc{stripes}"
                    write_run(folder / name / f"rep-{n}", point, n, speed(ranks, stripes) * (1 + n / 1000))
    results = load_results(folder)
    return compare(results.runs, results.settings)


@pytest.fixture(scope="module")
def zipped(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return sweep(tmp_path_factory.mktemp("zipped"), lambda ranks, stripes: 100.0 * ranks * stripes)


def test_settings_side_by_side_are_one(zipped: Comparison) -> None:
    assert zipped.settings == ("ranks", "aggregators", "stripe_count")
    assert zipped.factors == ("ranks / aggregators", "stripe_count")
    assert list(zipped.points["label"])[:2] == ["1 rank, 1 aggregator, 1 stripe", "1 rank, 1 aggregator, 4 stripes"]
    assert list(zipped.points["aggregators"]) == [1, 1, 2, 2, 16, 16]
    assert set(zipped.effects["pairs"]) == {2, 3}


def test_the_alternative_text_names_the_most_and_the_least_efficient(tmp_path: Path) -> None:
    found = sweep(tmp_path, lambda ranks, stripes: 100.0 * stripes * ranks ** (1.0 if stripes == 1 else 0.5))
    (figure,) = SCALING.figures(found)
    assert "least: 4 stripes, 16 workers, 25.0 %" in figure.says
    assert figure.says.startswith("most: ")


def test_independent_settings_stay_apart(tmp_path: Path) -> None:
    found = sweep(tmp_path, lambda ranks, stripes: 100.0 * ranks * stripes, together=False)
    assert found.factors == ("ranks", "aggregators", "stripe_count")


def test_the_axis_of_a_joint_setting_is_labelled(zipped: Comparison) -> None:
    columns = ("value", "low", "high", "bandwidth")
    figure = grouped_bars(zipped.points, zipped.runs, zipped.factors, columns, "MiB/s", zipped.best)
    assert len(figure.axes) == 1
    assert figure.axes[0].get_xlabel() == "ranks / aggregators"
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["1 / 1", "2 / 2", "16 / 16"]


def test_named_levels_keep_their_order_in_figures(zipped: Comparison) -> None:
    assert zipped.interaction is not None
    (name, _) = zipped.interaction.names
    levels = zipped.interaction.cells[name]
    assert [level.short for level in sorted(set(levels), key=lambda level: level.place)] == [
        "1 / 1",
        "2 / 2",
        "16 / 16",
    ]


def test_a_sweep_of_ranks_has_a_page_of_its_own(tmp_path: Path) -> None:
    sweep(tmp_path / "sweep", lambda ranks, stripes: 100.0 * ranks**0.5 * stripes)
    results = load_results(tmp_path / "sweep")
    summary = write_comparison(results, tmp_path / "out.html", read_log)
    assert "Speed-up and efficiency" in (tmp_path / "out.html").read_text()
    assert len(summary.frames["scaling"]) == 6
    assert comparison_subtitle(results, compare(results.runs, results.settings)).startswith("sweep, 4 ranks, 6 points")


def test_strong_scaling_is_the_ratio_of_times(zipped: Comparison) -> None:
    found = scaling.of_comparison(zipped)
    assert found is not None
    assert set(found["kind"]) == {"strong"}
    assert set(found["rest"]) == {"1 stripe", "4 stripes"}
    assert list(found["speedup"][:3]) == pytest.approx([1, 2, 16])
    assert list(found["efficiency"][:3]) == pytest.approx([1, 1, 1])
    row = found.iloc[2]
    assert row["low"] < 1 < row["high"]
    assert list(found["seconds"][:2]) == pytest.approx([1.0, 0.5], rel=0.01)


@pytest.mark.parametrize(
    ("works", "seconds", "kind", "speedup", "efficiency"),
    [
        ([8.0, 8.0], [4.0, 2.5], "strong", 1.6, 0.8),
        ([8.0, 16.0], [4.0, 5.0], "weak", 1.6, 0.8),
        ([8.0, 12.0], [4.0, 4.0], "neither", 1.5, 0.75),
        ([None, 8.0], [4.0, 4.0], "not known", 1.0, 0.5),
    ],
)
def test_the_kind_of_scaling_follows_from_the_work(
    works: list[Any], seconds: list[float], kind: str, speedup: float, efficiency: float
) -> None:
    points = [
        ScalingPoint("", workers, work, [(work or 8.0) / time], time)
        for workers, work, time in zip((1, 2), works, seconds, strict=True)
    ]
    found = scaling.scaling(points)
    assert found is not None
    assert set(found["kind"]) == {kind}
    assert found.loc[1, "speedup"] == pytest.approx(speedup)
    assert found.loc[1, "efficiency"] == pytest.approx(efficiency)
    assert found.loc[1, "low"] != found.loc[1, "low"]


def test_without_two_numbers_of_workers_there_is_no_scaling(tmp_path: Path) -> None:
    logs = [DATA / "darshan" / f"mpi-io-test-x86_64-{version}.darshan" for version in ("3.4.0", "3.5.0")]
    assert scaling.of_subjects(read_subjects(logs)) is None
    assert scaling.scaling([ScalingPoint("", 4, 1.0, [1.0], 1.0), ScalingPoint("", 4, 1.0, [2.0], 0.5)]) is None


def test_logs_of_one_program_on_different_numbers_of_processes_scale() -> None:
    wide = next((DATA / "darshan").glob("treddy_mpi-io-test*"))
    subjects = read_subjects([DATA / "darshan/mpi-io-test-x86_64-3.4.0.darshan", wide])
    found = scaling.of_subjects(subjects)
    assert found is not None
    assert list(found["workers"]) == [4, 32]
    times = [subject.jobs[0].run_time for subject in subjects.all]
    assert list(found["seconds"]) == pytest.approx(times)
