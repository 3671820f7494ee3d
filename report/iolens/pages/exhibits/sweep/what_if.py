"""Predicted times of a sweep's traced run at settings that were not run, with the error of the prediction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from iolens.lab.predict.what_if import WhatIf, smallest_of_fastest
from iolens.lazy import pd
from iolens.metrics.comparison.settings import level_text, name_text, three_digits
from iolens.pages import words
from iolens.pages.blocks import FigureBlock
from iolens.pages.exhibit import Column, Exhibit
from iolens.pages.exhibits import finding

_RECORDED = "as recorded"


def predicted_points(found: WhatIf) -> pd.DataFrame:
    """Returns a row for each setting: settings (words), io and run (predicted seconds), least and most (I/O time by the
    order of the ranks), change (of the I/O time against the replay at the recorded settings, a share). The first row is
    that replay.
    """
    times = [(_RECORDED, found.replayed), *((_settings_text(settings), each) for settings, each in found.points)]
    frame = pd.DataFrame([{"settings": name, **asdict(each)} for name, each in times])
    return frame.assign(change=frame["io"] / found.replayed.io - 1 if found.replayed.io > 0 else 0.0)


def _settings_text(settings: Mapping[str, int | str]) -> str:
    """Returns changed settings in words."""
    return ", ".join(f"{name_text(name)} {level_text(name, value)}" for name, value in settings.items())


def _by_order(least: float, most: float) -> str:
    """Returns in words how much the result depends on which rank comes first; empty if it does not."""
    return f"{three_digits(least)} to {three_digits(most)}" if most > least else ""


def _error_text(found: WhatIf) -> str:
    """Returns the known error of the predictions in words."""
    text = f"{found.doubt} " if found.doubt else ""
    text += (
        f"Predicted, not measured, from the traced run {found.log}. At the recorded settings, the replay misses the "
        f"measured I/O time of {three_digits(found.recorded.io)} s by {100 * found.own_error:+.1f} %. "
    )
    if found.model_errors:
        text += (
            f"The model was fitted to this storage and missed the runs of its calibration by "
            f"{100 * found.model_errors[0]:.1f} % at the median, {100 * found.model_errors[1]:.1f} % at most. "
        )
    else:
        text += (
            f"The model's parameters are those of {Path(found.model).name}; how well they fit this storage is unknown. "
        )
    text += (
        "I/O time: of the slowest rank, closes included. By order of ranks: its smallest and largest value, which "
        "differ by the rank that is served first when several arrive together. "
    )
    if found.exchange:
        text += (
            f"Exchange between ranks and aggregators is assumed to run at {found.exchange / 1e6:.0f} MB/s, as "
            "recorded. "
        )
    return text + _best_text(found) + " ".join(found.remarks)


def _best_text(found: WhatIf) -> str:
    """Returns a sentence that names the setting to choose and the machines for which it holds; an empty text if the
    machine was not varied.
    """
    best = smallest_of_fastest(found)
    if found.links is None or best is None:
        return ""
    tied = len(found.links.fastest)
    among = f", the smallest of {tied} that are hardly slower" if tied > 1 else ""
    return f"Best: {_settings_text(found.points[best][0])}{among}. {_empty_text(found, best)}{found.links.words(best)} "


def _empty_text(found: WhatIf, place: int) -> str:
    """Returns a sentence that some stripes of a point stay empty and how many stripes to request; empty if the largest
    file fills them.
    """
    filled = found.filled[place] if place < len(found.filled) else None
    return f"The largest file fills only {filled} of these stripes, so request {filled}. " if filled else ""


def _strip(found: WhatIf, frame: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure of predicted times as hatched bars, and the measured one as a line."""
    from iolens.figures.sweep_curves import what_if_strip

    yield FigureBlock(
        what_if_strip(frame, found.recorded.io, abs(found.own_error)),
        "I/O time predicted at other settings (hatched), with the error of the replay at the recorded ones.",
        says=finding.extremes(zip(frame["settings"], frame["io"], strict=True), words.duration),
    )


WHAT_IF: Exhibit[WhatIf] = Exhibit(
    name="what_if",
    title="What if: predicted, not measured",
    metric=predicted_points,
    columns=[
        Column("settings", "settings"),
        Column("predicted I/O s", "io", three_digits),
        Column("by order of ranks", ("least", "most"), _by_order),
        Column("change", "change", lambda share: f"{100 * share:+.1f} %"),
        Column("predicted run s", "run", three_digits),
    ],
    note=_error_text,
    draw=_strip,
)
