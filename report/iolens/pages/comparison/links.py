"""The machines for which a sweep's best setting holds, by the speed of a client's link relative to that of a target."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from iolens.lab.predict.what_if import WhatIf, read_what_if
from iolens.lab.sweep.read.results import Results

_REQUESTED = {"aggregators": "cb_nodes"}
"""Names of settings in predictions, with the names that the runs of a sweep use for them."""


def machines_sentence(results: Results, asked: Mapping[str, Any], factors: tuple[str, ...], driver: object) -> str:
    """Returns a sentence on the machines for which the best setting of a sweep on emulated storage holds, given as
    ratios of a link's speed to a target's. The predictions that lie with the results give the ratios; without
    predictions, the sentence says how to make them. Empty if the storage is not emulated.

    `asked` are the requested settings of the best runs, `factors` the settings that the sweep varied.
    """
    speeds = [results.limits.get(key, 0.0) for key in ("link_mb_per_s", "ost_mb_per_s")]
    if min(speeds) <= 0:
        return ""
    here = speeds[0] / speeds[1]
    found = read_what_if(results.directory)
    links = found.links if found else None
    if found is None or links is None or not math.isclose(links.here, here, rel_tol=1e-3):
        return (
            f" It depends on the machine: here a client's link is {here:.3g} times as fast as a target. To see for "
            "which machines it holds, predict from a traced run (iolens predict LOG --stripes LIST -o "
            "RESULTS/what-if.json) and compare again."
        )
    place = _predicted_place(found, asked, factors, driver)
    if place is None:
        return (
            f" It depends on the machine (here a client's link is {here:.3g} times as fast as a target); the "
            "predictions leave this setting out."
        )
    told = links.words(place)
    return f" {told}" if told else " On this machine the model predicts another setting as the fastest one."


def _predicted_place(found: WhatIf, asked: Mapping[str, Any], factors: tuple[str, ...], driver: object) -> int | None:
    """Returns the number of the predicted point that has the settings of the best runs, including all varied ones; None
    if no point has them.
    """
    known = {**asked, "driver": driver}
    for place, (settings, _) in enumerate(found.points):
        equal = all(known.get(_REQUESTED.get(name, name)) == level for name, level in settings.items())
        if equal and set(factors) <= set(settings):
            return place
    return None
