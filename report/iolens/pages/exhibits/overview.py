"""The first facts that a reader needs: four gauges with their bounds, and the facts that the log cannot tell."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from iolens import advise
from iolens.advise import say
from iolens.advise.diagnosis import ALL_IN_USE
from iolens.advise.judge import LEAST_SHARE
from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.job import unknown
from iolens.metrics.job.gauges import is_without_io
from iolens.metrics.once import once_per_job
from iolens.missing import is_nan
from iolens.pages import words
from iolens.pages.blocks import Block, FigureBlock, Row, Text
from iolens.pages.exhibit import Column, Exhibit

if TYPE_CHECKING:
    from iolens.log.records import Records

_TITLES = {
    "share": "I/O share of the run",
    "balance": "balance of I/O over ranks",
    "size": "mean transfer",
    "stripes": "effective storage targets",
}
_SHORT = {"share": "share", "balance": "balance", "size": "transfer", "stripes": "targets"}
_EFFECTIVE = (
    "Effective targets: the number of targets with bytes if they carry equal amounts; 1 if one target carries almost "
    "all bytes."
)
_LARGEST = 24
"""The largest size on the bar of sizes is 2 to this power: 16 MiB."""


def _diagnosed_gauges(job: Job) -> Records:
    """Returns one row per gauge: gauge, value, bound, good (value on the right side of the bound; None: not judged),
    source (of the bound), reason (why it is not known or not judged, or the finding that explains a value outside its
    bound).

    See `metrics.job.gauges.gauges` for the values, and `advise.diagnosis` for the judgement.
    """
    return advise.diagnosis(job).gauges


@once_per_job
def finding_rows(job: Job) -> pd.DataFrame | None:
    """Returns one row per finding of iolens.advise, those that can gain most first; None if there is none.

    Columns: id, severity, title, evidence, why, gain (part of the run time, NaN if the log does not have it), bound
    (of the gain, NaN if nothing but the run bounds it), doubt, gain_words, derivation (of the gain), remedy, read_more.
    """
    rows = [
        {key: value for key, value in asdict(one).items() if key != "hints"} for one in advise.diagnosis(job).findings
    ]
    return pd.DataFrame(rows).astype({"gain": float, "bound": float}) if rows else None


def gauge_text(gauge: str, value: float) -> str:
    """Returns a gauge's value in words; the share of I/O as an upper bound, in the words of the verdict."""
    if is_nan(value):
        return words.NONE
    if gauge == "share":
        return f"≤ {say.at_most(max(value, LEAST_SHARE))}"
    return words.size(value) if gauge == "size" else words.ratio(round(value, 2) if value >= 0.1 else value)


def _bound_said(gauge: str, bound: float) -> str:
    """Returns a gauge's bound in words."""
    if is_nan(bound):
        return words.NONE
    return f"≤ {say.percent(bound)}" if gauge == "share" else f"≥ {gauge_text(gauge, bound)}"


def _bounded(gauge: str, bound: float, reason: str) -> str:
    """Returns a gauge's bound, and the reason if the gauge is not judged."""
    said = f"bound {_bound_said(gauge, bound)}"
    return f"{said}, {reason}" if reason == ALL_IN_USE else said


def _judged(good: Any) -> str:
    """Returns the word for a value on the right side of its bound, on the wrong side, or not judged."""
    return words.NONE if good is None or is_nan(good) else "yes" if good else "no"


def _place(gauge: str, value: float, most: float) -> float | None:
    """Returns the position of a value on its bar, from 0 to 1; `most` is the largest number of storage targets on their
    bar.
    """
    if is_nan(value):
        return None
    if gauge == "size":
        return min(1.0, math.log2(max(1.0, value)) / _LARGEST)
    if gauge == "stripes":
        return min(1.0, value / most) if not is_nan(most) else None
    return min(1.0, value)


def _most_targets(value: float, bound: float) -> float:
    """Returns the number of targets at the end of the bar: the value, or a little more than the bound, rounded up."""
    return bound if is_nan(value) or is_nan(bound) else float(math.ceil(max(value, bound / 0.9)))


def _ends(gauge: str, most: float) -> tuple[str, str]:
    """Returns the labels at both ends of a gauge's bar, on which `_place` gives the position of a value."""
    if gauge == "size":
        return "1 B", f"{words.size(1 << _LARGEST)} (logarithmic)"
    if gauge == "stripes":
        return "0", "" if is_nan(most) else words.ratio(most)
    return ("0 %", "100 %") if gauge == "share" else ("0", "1 (even)")


def gauge_pairs(job: Job) -> list[Block]:
    """Returns the gauges in pairs, side by side on paper and one below the other on a phone, preceded by the meaning of
    their colours.
    """
    drawn = [block for block in GAUGES.figures(job) if isinstance(block, FigureBlock)]
    return [Row([replace(block, caption="") for block in drawn]), Text(drawn[0].caption, "note")] if drawn else []


def _gauge_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the gauges as figures of two each; no figure for a job without I/O."""
    from iolens.figures.job_transfers import Gauge, gauge_row
    from iolens.figures.style import HALF_WIDTH

    if is_without_io(job):
        return
    drawn = [
        Gauge(
            _TITLES[row.gauge],
            gauge_text(row.gauge, row.value),
            _bounded(row.gauge, row.bound, row.reason) if not is_nan(row.value) else row.reason,
            _place(row.gauge, row.value, _most_targets(row.value, row.bound)),
            _place(row.gauge, row.bound, _most_targets(row.value, row.bound)) if not is_nan(row.value) else None,
            None if row.good is None else bool(row.good),
            _ends(row.gauge, _most_targets(row.value, row.bound)),
        )
        for row in found.itertuples()
    ]
    known = found[found["value"].notna()]
    red = known[[good is False for good in known["good"]]]
    grey = known[[good is None for good in known["good"]]]
    unjudged = set(grey["reason"]) if len(grey) == len(known) else set()
    why = f" ({unjudged.pop()})" if len(unjudged) == 1 else ""
    colours = {True: "green: within the bound", False: "red: outside it", None: f"grey: not judged{why}"}
    shown = "; ".join(meaning for good, meaning in colours.items() if good in set(known["good"]))
    caption = f"{shown[:1].upper()}{shown[1:]}." if shown else ""
    caption += _by_reason("Outside", red)
    caption += "" if why else _by_reason("Not judged", grey[grey["reason"] != ALL_IN_USE])
    caption += f" {_EFFECTIVE}" if "stripes" in set(known["gauge"]) else ""
    for pair in (drawn[:2], drawn[2:]):
        values = "; ".join(f"{one.title}: {one.value} ({one.bound})" for one in pair)
        yield FigureBlock(gauge_row(pair, HALF_WIDTH), caption, says=values)


def _by_reason(what: str, gauges: pd.DataFrame) -> str:
    """Returns a sentence, after a space, with the names of some gauges and the reasons they share; empty without
    gauges.
    """
    if gauges.empty:
        return ""
    named = gauges.groupby("reason", sort=False)["gauge"].agg(lambda names: ", ".join(_SHORT[name] for name in names))
    return f" {what}: {'; '.join(f'{names} ({reason})' for reason, names in named.items())}."


GAUGES: Exhibit[Job] = Exhibit(
    name="gauges",
    title="Four gauges",
    metric=_diagnosed_gauges,
    columns=[
        Column("", "gauge", _TITLES.__getitem__),
        Column("value", ("gauge", "value"), gauge_text),
        Column("bound", ("gauge", "bound"), _bound_said),
        Column("within", "good", _judged),
        Column("because", "reason"),
        Column("the bound is from", "source"),
    ],
    draw=_gauge_figure,
)

FINDINGS: Exhibit[Job] = Exhibit("findings", "What to do", finding_rows)
"""The findings: paragraphs on pages and in the terminal, rows in exports."""

UNKNOWN: Exhibit[Job] = Exhibit(
    name="unknown",
    title="What this log cannot tell",
    metric=unknown.unknown,
    columns=[Column("", "what"), Column("", "why")],
)
