"""What is believed of every setting after some runs: machines that fit them, and what no such machine explains.

The logarithm of the bandwidth at a setting is that of a machine, plus a departure from it that settings near each other
share, plus noise. Machine by machine the departures are normal, and runs are conditioned on as in any Gaussian process
(Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, section 2.7); the machines are weighted by how
likely they make the runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iolens.lab.tune.features import Features
from iolens.lab.tune.machine import Array

NOISE = 0.03
"""Standard deviation of the logarithm of a run's bandwidth, runs of one setting."""

DEPARTURE = 0.25
"""Standard deviation of the logarithm by which a setting departs from the machine that describes the others best."""

REACH = 1.0
"""How far settings are alike in that: doublings of a number over which the correlation falls to 0.6."""

OTHER_LEVEL = 0.3
"""Correlation of departures between two levels of an own factor."""

ANY_SCALE = 3.0
"""Standard deviation of the logarithm of the bandwidth that all settings share: nothing is known of it."""


@dataclass(frozen=True)
class Belief:
    """Of every setting, machine by machine: `means` of the logarithm of the bandwidth (rows: machines), its `sd`, which
    is the same for all, the machines' `weights`, which add up to 1, and the logarithm of the `scale` by which each
    machine's bandwidths must be multiplied to be those of the runs."""

    means: Array
    sd: Array
    weights: Array
    scale: Array

    @property
    def expected(self) -> Array:
        """The mean of the logarithm over the machines."""
        return np.asarray(self.weights @ self.means)

    @property
    def spread(self) -> Array:
        """Standard deviation of the logarithm, machines and departures together."""
        return np.asarray(np.sqrt(self.sd**2 + self.weights @ (self.means - self.expected) ** 2))

    def improvement(self, best: float) -> Array:
        """Of every setting the expected gain over `best` on the logarithmic scale, which is 0 where there is none."""
        gap = (self.means - best) / self.sd
        gain = self.sd * (gap * normal_below(gap) + np.exp(-0.5 * gap**2) / np.sqrt(2.0 * np.pi))
        return np.asarray(self.weights @ gain)


def normal_below(x: Array) -> Array:
    """Distribution function of the standard normal, to 0.0002 (Page, Applied Statistics 26, 1977, 75-76)."""
    return np.asarray(0.5 * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * x * (1.0 + 0.044715 * x * x))))


def kernel(settings: Sequence[Features]) -> Array:
    """Covariance of the departures of all settings."""
    numbers = np.log2([[one.stripes, one.stripe_size, one.writers, one.buffer] for one in settings])
    apart = np.square(numbers[:, None, :] - numbers[None, :, :]).sum(axis=2)
    own = np.zeros(apart.shape)
    for levels in zip(*(one.own for one in settings), strict=True):
        place = np.array([sorted(set(levels)).index(level) for level in levels])
        own += place[:, None] != place[None, :]
    return np.asarray(DEPARTURE**2 * np.exp(-0.5 * apart / REACH**2) * OTHER_LEVEL**own)


def believe(logs: Array, covariance: Array, measured: Mapping[int, float]) -> Belief:
    """What is believed after runs: `measured` has the logarithm of the bandwidth by the number of the setting, `logs`
    those of the machines, and `covariance` that of the departures."""
    total = covariance + ANY_SCALE**2
    at = np.array(sorted(measured), dtype=int)
    seen = np.array([measured[i] for i in at])
    inverse = np.linalg.inv(total[np.ix_(at, at)] + NOISE**2 * np.eye(len(at)))
    missed = seen - logs[:, at]
    likely = -0.5 * np.einsum("ki,ij,kj->k", missed, inverse, missed)
    weights = np.exp(likely - likely.max())
    gain = total[:, at] @ inverse
    left = np.diag(total) - np.einsum("ij,ij->i", gain, total[:, at])
    scale = ANY_SCALE**2 * (missed @ inverse.sum(axis=0))
    return Belief(logs + missed @ gain.T, np.sqrt(np.maximum(left, 1e-8)), weights / weights.sum(), scale)
