"""The results of a sweep that measures the latency of MPI calls: improvement over the baseline, and the latencies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from iolens.lazy import pd
from iolens.metrics.comparison.latency import LatencyComparison
from iolens.metrics.comparison.settings import size_text, three_digits
from iolens.metrics.statistics.intervals import CONFIDENCE, RATIO, claim
from iolens.missing import is_nan
from iolens.pages.base import columns, words
from iolens.pages.base.blocks import FigureBlock
from iolens.pages.base.exhibit import Column, Exhibit
from iolens.pages.base.words import interval

_MICRO = 1e6


@dataclass(frozen=True, eq=False)
class Latencies:
    """A sweep of latencies: the comparison, the MPI library's choices per variant, and the rows of all runs."""

    comparison: LatencyComparison
    choices: pd.DataFrame
    rows: pd.DataFrame


def _overall(found: Latencies) -> pd.DataFrame:
    """Returns `LatencyComparison.overall`: each operation and variant over all sizes."""
    return found.comparison.overall


def _latency_cells(found: Latencies) -> pd.DataFrame:
    """Returns `LatencyComparison.cells`: each operation, size and variant."""
    return found.comparison.cells


def _choices(found: Latencies) -> pd.DataFrame | None:
    """Returns the choices of the MPI library under each variant, from metrics.comparison.latency.choices; None if
    unknown.
    """
    told = bool(found.choices[["selected", "eager_observed"]].notna().to_numpy().any())
    return found.choices if told else None


def _latency_rows_of(found: Latencies) -> pd.DataFrame:
    """Returns the latencies of all runs in the form of metrics.comparison.latency.latency_rows."""
    return found.rows


def _by_size(found: Latencies) -> pd.DataFrame:
    """Returns typical seconds, one row per operation and size, with a column `seconds VARIANT` for each variant."""
    every = found.comparison.cells
    order = {operation: i for i, operation in enumerate(dict.fromkeys(every["operation"]))}
    every = every.assign(place=every["operation"].map(order)).sort_values(["place", "bytes"], kind="stable")
    table = every.pivot_table(
        index=["operation", "bytes"], columns="variant", values="seconds", sort=False, aggfunc="first"
    )
    wide: pd.DataFrame = table[list(found.comparison.variants)].add_prefix("seconds ").reset_index()
    return wide


def _improvement_figure(found: Latencies, every: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure of improvements over sizes or operations; nothing for a single variant."""
    from iolens.figures.sweep_curves import LOWEST, improvement_bars, operation_improvement

    baseline = found.comparison.baseline
    if len(found.comparison.variants) < 2:
        return
    caption = (
        f"100 (t_base - t) / t_base against {baseline}: above the line is faster. Whiskers: {100 * CONFIDENCE:.0f} % "
        "interval of the proven bars; faint: not proven among all bars of its operation."
    )
    if (every["improvement"] < LOWEST).any():
        caption += f" Bars that end at {LOWEST:.0f} % are longer: they carry their number."
    draw = improvement_bars if found.comparison.by_size else operation_improvement
    compared = every[every["variant"] != baseline]
    says = _ends_of_latencies(compared, "improvement", lambda value: f"{value:.0f} %")
    yield FigureBlock(draw(every, baseline), caption, says=says)


def _latency_figure(found: Latencies, table: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure of latencies: lines over sizes with the observed eager limits, or dots if operations have no
    sizes.
    """
    from iolens.figures.sweep_curves import latency_lines, operation_latencies

    caption = "Mean over iterations and ranks; typical value of the repetitions, with its interval"
    says = _ends_of_latencies(
        found.comparison.cells, "seconds", lambda value: f"{three_digits(_MICRO * value)} microseconds"
    )
    if not found.comparison.by_size:
        yield FigureBlock(operation_latencies(found.comparison.cells), f"{caption}.", says=says)
        return
    eager = found.choices.set_index("variant")["eager_observed"].dropna().astype(float)
    caption += " as a band."
    caption += " Dotted: the largest message that was sent without a receiver waiting." if len(eager) else ""
    limits = {str(key): float(value) for key, value in eager.items()}
    yield FigureBlock(latency_lines(found.comparison.cells, limits), caption, says=says)


def _ends_of_latencies(cells: pd.DataFrame, column: str, say: Callable[[float], str]) -> str:
    """Returns the largest and the smallest number in a column of `LatencyComparison.cells`, with operation, size and
    variant.
    """
    known = cells.dropna(subset=[column])
    names = (
        f"{operation}{'' if is_nan(size) else f' of {size_text(int(size))}'}, {variant}"
        for operation, size, variant in zip(known["operation"], known["bytes"], known["variant"], strict=True)
    )
    return columns.extremes(zip(names, known[column], strict=True), say)


def _sizes_note(found: Latencies) -> str:
    """Returns the definition of a ratio that is the mean over several message sizes, and the coverage of its
    interval.
    """
    divided = f"Time of {found.comparison.baseline} divided by the variant's"
    return f"{divided}, geometric mean over the sizes; above 1 is faster. Method: {claim(RATIO, CONFIDENCE)}."


def _operations_note(found: Latencies) -> str:
    """Returns the definition of the ratio of an operation without sizes, and the coverage of its interval."""
    divided = f"Time of {found.comparison.baseline} divided by the variant's"
    return f"{divided}; above 1 is faster. Method: {claim(RATIO, CONFIDENCE)}."


def _size_columns(found: Latencies) -> list[Column]:
    """Returns the columns: operation, message size if there are several, and each variant in microseconds."""
    sizes = [Column("message", "bytes", size_text)] if found.comparison.by_size else []
    variants = [Column(f"{variant}, µs", f"seconds {variant}", _micro) for variant in found.comparison.variants]
    return [Column("operation", "operation"), *sizes, *variants]


def _micro(seconds: float) -> str:
    """Formats seconds as microseconds."""
    return words.NONE if is_nan(seconds) else three_digits(seconds * _MICRO)


def _is_present(value: Any) -> bool:
    """Returns whether a value is known: neither None nor a frame's missing value."""
    return value is not None and not is_nan(value)


def _variant_remark(crowded: Any, same_as: Any) -> str:
    """Returns reasons to doubt a variant's latencies, and the name of a variant that ran in the same way."""
    if not _is_present(crowded):
        return words.NONE
    said = ["more ranks than processors"] * bool(crowded) + [f"ran as {same_as} did"] * _is_present(same_as)
    return ", ".join(said)


_RATIOS = [
    Column("operation", "operation"),
    Column("variant", "variant"),
    Column("× as fast", ("ratio", "low", "high"), lambda ratio, *ends: f"{three_digits(ratio)}{interval(*ends)}"),
]

OVERALL: Exhibit[Latencies] = Exhibit(
    name="overall",
    title="Over all sizes",
    metric=_overall,
    columns=[*_RATIOS, Column("sizes", "sizes")],
    note=_sizes_note,
)

EACH_OPERATION: Exhibit[Latencies] = Exhibit(
    name="overall",
    title="Each operation",
    metric=_overall,
    columns=_RATIOS,
    note=_operations_note,
)

CHOICES: Exhibit[Latencies] = Exhibit(
    name="choices",
    title="What the MPI library did",
    metric=_choices,
    columns=[
        Column("variant", "variant"),
        Column("first component", "selected", lambda name: str(name) if _is_present(name) else words.NONE),
        Column(
            "eager limit seen", "eager_observed", lambda size: f"{int(size)} B" if _is_present(size) else words.NONE
        ),
        Column("remark", ("oversubscribed", "same_as"), _variant_remark),
    ],
    note="First component: from the library's parameters. Eager limit: largest send that returned without a receiver. "
    "n/a: not reported, not measured, or no limit among the sizes.",
)

IMPROVEMENT: Exhibit[Latencies] = Exhibit(
    "latency", "Improvement over message size", _latency_cells, draw=_improvement_figure
)

LATENCIES: Exhibit[Latencies] = Exhibit(
    name="latency_by_size",
    title="Latency",
    metric=_by_size,
    columns=_size_columns,
    note="Geometric mean over the repetitions, in microseconds.",
    draw=_latency_figure,
)

_LATENCY_RUNS: Exhibit[Latencies] = Exhibit("runs", "All runs", _latency_rows_of)

LATENCY_EXHIBITS: tuple[Exhibit[Latencies], ...] = (IMPROVEMENT, LATENCIES, OVERALL, CHOICES, _LATENCY_RUNS)
"""The exhibits in the order of the exports."""
