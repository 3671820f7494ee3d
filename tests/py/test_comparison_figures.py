"""Tests the contents of the comparison's figures, read back from matplotlib's objects."""

from __future__ import annotations

import json
from itertools import pairwise

import pandas as pd
import pytest
from comparison_example import MIB, write_sweep
from iolens.figures.sweep_curves import MOST, ranking
from iolens.figures.sweep_effects import (
    effect_forest,
    grouped_bars,
    heatmap_figure,
    interaction_lines,
    nice_ticks,
    ratio_ticks,
    reach,
)
from iolens.lab.sweep.read.results import load_results
from iolens.metrics.comparison.results import Comparison, compare
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

GRID = {"stripe_count": [1, 2, 4], "aggregators": [1, 4], "cb_buffer_size": [MIB, 16 * MIB]}
LABEL = "write bandwidth, MiB/s"


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    results = load_results(write_sweep(tmp_path_factory.mktemp("figures") / "sweep", GRID))
    return compare(results.runs, results.settings)


def words_of(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_every_point_is_a_bar_and_every_run_a_dot(comparison: Comparison) -> None:
    columns = ("value", "low", "high", "bandwidth")
    figure = grouped_bars(comparison.points, comparison.runs, comparison.factors, columns, LABEL, comparison.best)
    assert len(figure.axes) == 2
    heights = sorted(bar.get_height() for axes in figure.axes for bar in axes.patches)
    assert heights == pytest.approx(sorted(comparison.points["value"]))
    groups = [group for axes in figure.axes for group in axes.collections if isinstance(group, PathCollection)]
    assert sum(len(group.get_offsets()) for group in groups) == len(comparison.runs)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "1 MiB collective buffer",
        "16 MiB collective buffer",
    ]
    assert figure.axes[0].get_ylabel() == LABEL


def test_the_bound_of_a_setting_is_a_line_above_its_bar(comparison: Comparison) -> None:
    bound = 1.2 * float(comparison.points["value"].max())
    points, columns = comparison.points.assign(bound=bound), ("value", "low", "high", "bandwidth")
    figure = grouped_bars(points, comparison.runs, comparison.factors, columns, LABEL, comparison.best)
    lines = [line for axes in figure.axes for line in axes.lines if list(line.get_ydata()) == [bound, bound]]
    assert len(lines) == len(points)
    assert figure.axes[0].get_ylim()[1] > bound
    seconds = ("seconds", "seconds_low", "seconds_high", "io_seconds")
    times = grouped_bars(points, comparison.runs, comparison.factors, seconds, "I/O time, s", comparison.best)
    assert not [line for axes in times.axes for line in axes.lines if list(line.get_ydata()) == [bound, bound]]


LONG = [
    "a folder of its own for each of the ranks",
    "one folder, flushed after every single write",
    "posix, direct, aligned to 4096 bytes",
    "mpiio collective with large buffers",
    "everything_in_a_single_word_without_a_blank",
]


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    matrix = {"variant": LONG, "kind of file that is written": LONG[:4]}
    folder = write_sweep(tmp_path_factory.mktemp("figures") / "long", matrix, model=lambda p: 100.0 + len(p["variant"]))
    for run in folder.glob("points/*/rep-1/run.json"):
        content = json.loads(run.read_text())
        if content["point"]["variant"] == LONG[1]:
            run.write_text(json.dumps(content | {"status": "invalid", "reason": "slow disk"}))
    results = load_results(folder)
    return compare(results.runs, results.settings)


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Returns pairs of tick names on an axis that overlap once drawn; names that are slanted are compared by their
    baselines.
    """
    figure.canvas.draw()
    pairs = []
    for axes in figure.axes:
        for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
            shown = [label for label in labels if label.get_text()]
            for one, two in pairwise(shown):
                first, second = one.get_window_extent(), two.get_window_extent()
                lines = 1 + max(one.get_text().count("\n"), two.get_text().count("\n"))
                slanted = one.get_rotation() != 0 and second.x1 - first.x1 > lines * 1.5 * one.get_fontsize()
                if first.overlaps(second) and not slanted:
                    pairs.append((one.get_text(), two.get_text()))
    return pairs


@pytest.mark.parametrize("count", [4, 5])
def test_long_names_do_not_run_into_each_other(long_names: Comparison, count: int) -> None:
    """Four of the names can be broken into lines; the fifth cannot."""
    points = long_names.points[long_names.points["variant"].isin(LONG[:count])]
    columns = ("value", "low", "high", "bandwidth")
    factors = long_names.factors
    pair, label = (factors[1], factors[0]), LABEL
    figures = [
        grouped_bars(points, long_names.runs, factors, columns, label, long_names.best),
        heatmap_figure(points, pair, [], label, long_names.best),
        ranking(points, label),
        effect_forest(long_names.effects),
    ]
    found = long_names.interaction
    assert found is not None
    figures.append(interaction_lines(found.cells, (found.names[1], found.names[0]), label))
    for figure in figures:
        assert overlapping(figure) == []


def test_a_setting_that_lost_runs_says_so_in_every_figure(long_names: Comparison) -> None:
    columns = ("value", "low", "high", "bandwidth")
    bars = grouped_bars(long_names.points, long_names.runs, long_names.factors, columns, LABEL, long_names.best)
    assert words_of(bars) == ["1 lost"] * 4
    pair = (long_names.factors[0], long_names.factors[1])
    assert sum("1 lost" in text for text in words_of(heatmap_figure(long_names.points, pair, [], LABEL, None))) == 4
    names = [name.get_text() for name in ranking(long_names.points, LABEL).axes[0].get_yticklabels()]
    assert sum("(1 of 3 runs lost)" in name.replace("\n", " ") for name in names) == 4


def test_every_number_is_in_the_map_and_a_missing_one_says_so(comparison: Comparison) -> None:
    points = comparison.points.copy()
    points.loc[0, ["value", "left_out"]] = [float("nan"), "no usable run"]
    figure = heatmap_figure(points, ("stripe_count", "aggregators"), ["cb_buffer_size"], LABEL, comparison.best)
    expected = [f"{value:.0f}" for value in points["value"].dropna()]
    assert sorted(words_of(figure)) == sorted([*expected, "n/a"])


def test_effects_and_interaction_have_a_row_and_a_line_each(comparison: Comparison) -> None:
    forest = effect_forest(comparison.effects)
    rows = [label.get_text() for label in forest.axes[0].get_yticklabels()]
    assert rows == [
        "stripe count  1 → 2",
        "stripe count  1 → 4",
        "aggregators  1 → 4",
        "collective buffer  16 MiB → 1 MiB",
    ]
    assert comparison.interaction is not None
    lines = interaction_lines(comparison.interaction.cells, comparison.interaction.names, LABEL)
    legend = lines.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["1 stripe", "2 stripes", "4 stripes"]


def test_the_ranking_begins_with_the_best_and_stays_on_a_page(comparison: Comparison) -> None:
    many = pd.concat([comparison.points] * 5, ignore_index=True)
    labels = [label.get_text() for label in ranking(many, LABEL).axes[0].get_yticklabels()]
    assert len(labels) == MOST
    assert labels[0] == comparison.points.loc[comparison.best, "label"]


def test_one_wild_interval_does_not_flatten_the_bars() -> None:
    singles = pd.Series([100.0, 200.0])
    assert reach(singles, pd.Series([110.0, 250.0])) == pytest.approx(1.06 * 250)
    assert reach(singles, pd.Series([110.0, 1e6])) == pytest.approx(1.06 * 300)
    assert reach(singles, pd.Series([float("nan")] * 2)) == pytest.approx(1.06 * 200)


@pytest.mark.parametrize(("low", "high"), [(0.5, 4.0), (100, 700), (0.001, 10000), (3.0, 3.6)])
def test_ticks_are_few_and_inside(low: float, high: float) -> None:
    for ticks in (nice_ticks(low, high), ratio_ticks(low, high)):
        assert len(ticks) <= 9
        assert all(low <= tick <= high for tick in ticks)
