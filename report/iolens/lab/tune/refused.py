"""Settings that are dropped from a search: hints that the MPI-IO driver ignores, and levels that did not take effect in
a run.
"""

from __future__ import annotations

from collections.abc import Sequence

from iolens.lab.io_components import LUSTRE
from iolens.lab.run.record import RunRecord
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.matrix import Point
from iolens.metrics.comparison.settings import SETTINGS


def ignored_factors(experiment: Experiment) -> tuple[str, ...]:
    """Returns the factors of the matrix whose hint the requested MPI-IO driver ignores: ROMIO's Lustre driver writes
    whole stripes, whatever the collective buffer (ad_lustre_wrcoll.c).
    """
    ignores = experiment.io_component == LUSTRE and experiment.metric == "write_bandwidth"
    return ("cb_buffer_size",) if ignores and "cb_buffer_size" in experiment.matrix else ()


def refused_points(points: Sequence[Point], record: RunRecord) -> frozenset[int]:
    """Returns the points that cannot take effect, as a run shows in which the system replaced a requested level by
    another one. A point is among them if its level lies on the same side of the level in effect as the requested one.
    ROMIO, for example, limits cb_nodes to the number of hosts.
    """
    found: set[int] = set()
    for factor, setting in SETTINGS.items():
        asked, known = record.requested.get(setting.key), record.effective.get(setting.key)
        if known is None and setting.key == "cb_nodes":
            known = record.observed.get("aggregators")
        if record.took_effect.get(setting.key) is not False or asked is None or known is None:
            continue
        levels = [point.numbers.get(factor, known) for point in points]
        found |= {i for i, level in enumerate(levels) if (level - known) * (asked - known) > 0}
    return frozenset(found)
