"""A model of a machine with striped storage, of which nothing is known beforehand but its shape.

Moving one byte takes, in this order: the time of the targets or of the writers' links, whichever is longer; work for
each byte; work for each piece of a stripe; work for each round of the collective buffer; and, with more than one
writer, locks that change hands for each byte, and for each piece of a stripe. Each of these is a number that the runs
must tell. Before they do, a machine may have any of them: `draw` makes many machines, from those whose links never
matter to those where nothing else does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iolens.lab.tune.features import Features

Array = NDArray[np.float64]

RANGES = {
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
"""Of each part the smallest and the largest time of a byte, relative to one another, at one stripe and one writer, with
the largest stripes and buffers; drawn log-uniformly between."""

SHARPNESS = 4.0
"""How little the shorter of two times that overlap adds to the longer one: the norm by which they are joined."""

OWN_SPREAD = 0.8
"""How far a level of an experiment's own factor may change a part: the standard deviation of its logarithm."""

MACHINES = 4096
MOST_CELLS = 2_000_000
"""Machines drawn, and machines times settings at most, of large matrices."""


@dataclass(frozen=True)
class Machines:
    """Machines that may be: of each part the time of a byte, an array over the machines, and by what each level of an
    own factor multiplies it."""

    parts: dict[str, Array]
    own: dict[tuple[str, str], dict[str, Array]]


def draw(settings: Sequence[Features], seed: int) -> Machines:
    """Machines drawn at random, the same for the same seed."""
    random = np.random.default_rng(seed)
    count = max(256, min(MACHINES, MOST_CELLS // max(1, len(settings))))

    def between(low: float, high: float) -> Array:
        return np.exp(random.uniform(np.log(low), np.log(high), count))

    parts = {name: between(*limits) for name, limits in RANGES.items()}
    levels = dict.fromkeys(level for setting in settings for level in setting.own)
    own = {level: {name: np.exp(random.normal(0.0, OWN_SPREAD, count)) for name in RANGES} for level in levels}
    return Machines(parts, own)


def log_bandwidth(machines: Machines, settings: Sequence[Features]) -> Array:
    """Logarithm of the bandwidth, up to a constant, of each machine (rows) at each setting (columns)."""
    stripe = max(setting.stripe_size for setting in settings)
    buffer = max(setting.buffer for setting in settings)
    return np.stack([-np.log(byte_time(machines, one, stripe, buffer)) for one in settings], axis=1)


def parts_at(machines: Machines, setting: Features) -> dict[str, Array]:
    """The parts with the setting's levels of own factors."""
    parts = dict(machines.parts)
    for level in setting.own:
        parts = {name: times * machines.own[level][name] for name, times in parts.items()}
    return parts


def byte_time(machines: Machines, setting: Features, stripe: int, buffer: int) -> Array:
    """Time of a byte on each machine; `stripe` and `buffer` are the sizes for which a piece's and a round's share of it
    are given."""
    part = parts_at(machines, setting)
    targets, links = part["target"] / setting.stripes, part["link"] / setting.writers
    moving = (targets**SHARPNESS + links**SHARPNESS) ** (1.0 / SHARPNESS)
    pieces, rounds = stripe / setting.stripe_size, buffer / setting.buffer
    sizes = (
        part["piece"] * pieces + part["large_piece"] / pieces + part["round"] * rounds + part["large_round"] / rounds
    )
    return np.asarray(moving + part["byte"] + sizes + lock_time(part, setting, stripe))


def lock_time(part: dict[str, Array], setting: Features, stripe: int) -> Array:
    """What of a byte's time goes to locks that change hands."""
    shared = 1.0 - 1.0 / setting.writers
    return np.asarray(shared * (part["lock"] + part["lock_piece"] * (stripe / setting.stripe_size)))
