"""The builds of a program, and whether all of them computed the same result."""

from __future__ import annotations

from typing import Any

from iolens.lazy import pd
from iolens.metrics.comparison.results import Comparison
from iolens.pages.comparison.numbers import difference
from iolens.pages.exhibit import Column, Exhibit

_MADE = ("build.compiler", "build.version", "build.flags")


def build_answers(comparison: Comparison) -> pd.DataFrame | None:
    """Returns a row for each setting of a sweep that builds its program in several ways: `label`, the compiler and
    flags of the program, `difference` (the greatest relative difference between its runs' answers and the
    baseline's) and `answer` in words.
    """
    runs = comparison.runs
    if "answer.said" not in runs or runs["answer.said"].isna().all():
        return None
    rows: list[dict[str, Any]] = []
    for index, point in comparison.points.iterrows():
        own = runs[runs["point"] == index]
        told = own[own["answer.difference"].notna()]
        worst = told["answer.difference"].astype(float).idxmax() if len(told) else own.index[0]
        rows.append(
            {
                "label": point["label"],
                **{name.partition(".")[2]: _build_values(own, name) for name in _MADE},
                "runs": len(own),
                "difference": own.loc[worst, "answer.difference"],
                "answer": own.loc[worst, "answer.said"],
            }
        )
    return pd.DataFrame(rows).astype({"difference": float})


def _build_values(runs: pd.DataFrame, column: str) -> str:
    """Returns the values of a column that describe how the program of these runs was built."""
    values = runs[column].dropna() if column in runs else []
    return "; ".join(dict.fromkeys(map(str, values))) or "n/a"


ANSWERS: Exhibit[Comparison] = Exhibit(
    name="answers",
    title="Builds and their answers",
    metric=build_answers,
    columns=[
        Column("setting", "label"),
        Column(
            "compiler", ("compiler", "version"), lambda compiler, version: compiler if version == "n/a" else version
        ),
        Column("flags", "flags"),
        Column("runs", "runs"),
        Column("greatest difference", "difference", difference),
        Column("answer", "answer"),
    ],
    note="The answer that the program printed in each run, compared with the answer of the baseline build at "
    "otherwise equal settings. Two answers are the same if no number differs from the baseline's, relative to "
    "it, by more than the tolerance of the program's own verification.",
)
