"""Detect whether the machine changed during a sweep, by runs of the same settings early and late."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from iolens.lazy import pd
from iolens.metrics.statistics.intervals import CONFIDENCE, Ratio, ratio_of
from iolens.metrics.statistics.student import t_quantile

if TYPE_CHECKING:
    from iolens.metrics.comparison.measure import Measure

_LEAST_FREEDOM = 3
"""Fewest degrees of freedom for which a trend can be distinguished from scatter."""


def drift(runs: pd.DataFrame, measure: Measure) -> Ratio | None:
    """Returns how much faster the last run of a sweep is expected to be than the first, whatever their settings, with
    its 95 % interval; None if too few settings ran more than once.

    `runs` have their point in `point`. A straight line is fitted by least squares through the logarithms of the rates
    over the runs' place in the order of starts (0 to 1). From both, the mean over all runs of the same point is
    subtracted, so that settings do not matter. The interval is Student's, from the scatter around the line.
    """
    import numpy as np

    usable = runs[runs["usable"].astype(bool) & runs[measure.column].notna() & runs["started"].notna()]
    if len(usable) < _LEAST_FREEDOM:
        return None
    usable = usable.sort_values(["started", "repetition"], kind="stable")
    rates = measure.rates([float(value) for value in usable[measure.column]])
    table = pd.DataFrame(
        {"point": usable["point"].to_numpy(), "x": np.linspace(0.0, 1.0, len(usable)), "y": np.log(rates)}
    )
    x, y = (table[name] - table.groupby("point")[name].transform("mean") for name in ("x", "y"))
    freedom, spread = len(table) - table["point"].nunique() - 1, float((x * x).sum())
    if freedom < _LEAST_FREEDOM or spread <= 0:
        return None
    slope = float((x * y).sum()) / spread
    error = math.sqrt(float(((y - slope * x) ** 2).sum()) / freedom / spread)
    half = t_quantile(0.5 + CONFIDENCE / 2, freedom) * error
    return ratio_of(slope, half)
