"""Parameters of the fitted machine in familiar terms: the bandwidths of a stripe and of a writer's link, and the share
of time for locks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iolens.lab.tune.belief import Belief
from iolens.lab.tune.features import Features
from iolens.lab.tune.machine import Array, Machines, byte_time, lock_time, parts_at


@dataclass(frozen=True)
class Trait:
    """A parameter of the fitted machine, with the interval that holds it with 95 % probability according to
    the model.
    """

    name: str
    unit: str
    value: float
    low: float
    high: float


def traits(machines: Machines, settings: Sequence[Features], best: int, belief: Belief) -> list[Trait]:
    """Returns the parameters of the machines that fit the runs: MiB/s of one stripe, MiB/s of one writer's link, and
    the share of time that goes to locks at the setting with the most writers. A parameter that is equal at all settings
    is left out.
    """
    parts, scale = parts_at(machines, settings[best]), np.exp(belief.scale)
    found = []
    if len({one.stripes for one in settings}) > 1:
        found.append(_trait("one stripe", "MiB/s", scale / parts["target"], belief.weights))
    if len({one.writers for one in settings}) > 1:
        found.append(_trait("one writer's link", "MiB/s", scale / parts["link"], belief.weights))
        stripe, buffer = max(one.stripe_size for one in settings), max(one.buffer for one in settings)
        most = max(
            (one for one in settings if one.own == settings[best].own), key=lambda one: (one.writers, one.stripes)
        )
        share = lock_time(parts, most, stripe) / byte_time(machines, most, stripe, buffer)
        found.append(
            _trait(f"share of locks in the time with {most.writers} writers", "%", 100.0 * share, belief.weights)
        )
    return found


def _trait(name: str, unit: str, values: Array, weights: Array) -> Trait:
    """Returns the weighted median of a parameter over the fitted machines, and the interval that holds 95 % of their
    weight.
    """
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    low, middle, high = (
        float(values[order][np.searchsorted(reached, share * reached[-1])]) for share in (0.025, 0.5, 0.975)
    )
    return Trait(name, unit, middle, low, high)
