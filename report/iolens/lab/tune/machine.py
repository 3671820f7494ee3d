"""A model of a machine with striped storage; only its structure is known in advance.

The time to move one byte is the sum of: the time of the targets or of the writers' links, whichever is longer; work for
each byte; work for each piece of a stripe; work for each round of the collective buffer; and, with more than one
writer, locks that change hands for each byte and for each piece of a stripe. The runs must determine these parameters.
Before the first run any values are possible: `draw` makes many machines, from machines whose links never limit the
bandwidth to machines on which only the links do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iolens.lab.tune.features import Features

Array = NDArray[np.float64]

_RANGES = {
    "target": (0.3, 1.0),
    "link": (0.01, 1.0),
    "byte": (0.001, 0.3),
    "piece": (0.0003, 0.3),
    "round": (0.0003, 0.3),
    "large_piece": (0.0003, 0.3),
    "large_round": (0.0003, 0.3),
    "lock": (0.0003, 0.3),
    "lock_piece": (0.0003, 0.5),
}
"""Smallest and largest time per byte of each part, relative to each other, at one stripe and one writer with the
largest stripes and buffers; values between them are drawn log-uniformly.
"""

_SHARPNESS = 4.0
"""Order of the norm that joins two overlapping times: the higher it is, the less the shorter time adds to the
longer one.
"""

_OWN_SPREAD = 0.8
"""Standard deviation of the logarithm of the factor by which a level of a user-defined factor changes one part of the
time.
"""

_MACHINES = 4096
_MOST_CELLS = 2_000_000
"""Number of machines drawn, and maximum product of machines and settings for large matrices."""


@dataclass(frozen=True)
class Machines:
    """Possible machines: the time per byte of each part as an array over the machines, and the factors by which each
    level of a user-defined factor multiplies it.
    """

    parts: dict[str, Array]
    own: dict[tuple[str, str], dict[str, Array]]


def draw(settings: Sequence[Features], seed: int) -> Machines:
    """Draws machines at random; the same seed gives the same machines."""
    random = np.random.default_rng(seed)
    count = max(256, min(_MACHINES, _MOST_CELLS // max(1, len(settings))))

    def between(low: float, high: float) -> Array:
        drawn: Array = np.exp(random.uniform(np.log(low), np.log(high), count))
        return drawn

    parts = {name: between(*limits) for name, limits in _RANGES.items()}
    levels = dict.fromkeys(level for setting in settings for level in setting.own)
    own = {level: {name: np.exp(random.normal(0.0, _OWN_SPREAD, count)) for name in _RANGES} for level in levels}
    return Machines(parts, own)


def log_bandwidth(machines: Machines, settings: Sequence[Features]) -> Array:
    """Returns the logarithm of the bandwidth, up to a constant, of each machine (rows) at each setting (columns)."""
    stripe = max(setting.stripe_size for setting in settings)
    buffer = max(setting.buffer for setting in settings)
    return np.stack([-np.log(byte_time(machines, one, stripe, buffer)) for one in settings], axis=1)


def parts_at(machines: Machines, setting: Features) -> dict[str, Array]:
    """Returns the parts of the time per byte, multiplied by the factors of the setting's user-defined levels."""
    parts = dict(machines.parts)
    for level in setting.own:
        parts = {name: times * machines.own[level][name] for name, times in parts.items()}
    return parts


def byte_time(machines: Machines, setting: Features, stripe: int, buffer: int) -> Array:
    """Returns the time per byte of the setting on each machine. `stripe` and `buffer` are the stripe size and the
    buffer size to which the machines' times per piece and per round refer.
    """
    part = parts_at(machines, setting)
    targets, links = part["target"] / setting.stripes, part["link"] / setting.writers
    moving = (targets**_SHARPNESS + links**_SHARPNESS) ** (1.0 / _SHARPNESS)
    pieces, rounds = stripe / setting.stripe_size, buffer / setting.buffer
    sizes = (
        part["piece"] * pieces + part["large_piece"] / pieces + part["round"] * rounds + part["large_round"] / rounds
    )
    return np.asarray(moving + part["byte"] + sizes + lock_time(part, setting, stripe))


def lock_time(part: dict[str, Array], setting: Features, stripe: int) -> Array:
    """Returns the part of the time per byte that goes to locks that change hands."""
    shared = 1.0 - 1.0 / setting.writers
    return np.asarray(shared * (part["lock"] + part["lock_piece"] * (stripe / setting.stripe_size)))
