"""The estimated bandwidth of every setting after some runs: machine models that fit the runs, and the part that no
model explains.

The logarithm of the bandwidth at a setting is the sum of the value by a machine's model, a departure from that value,
which is similar for neighbouring settings, and noise. For each machine the departures are normally distributed, and
runs condition them as in any Gaussian process (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006,
section 2.7). The machines are weighted by the likelihood of the runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iolens.lab.tune.features import Features
from iolens.lab.tune.machine import Array

_NOISE = 0.03
"""Standard deviation of the logarithm of a run's bandwidth, among runs of one setting."""

_DEPARTURE = 0.25
"""Standard deviation of a setting's departure: the logarithm of its bandwidth, minus the value of the machine model
that best describes the other settings.
"""

_REACH = 1.0
"""Number of doublings of a setting over which the correlation of departures falls to 0.6."""

_OTHER_LEVEL = 0.3
"""Correlation of departures between two levels of a user-defined factor."""

_ANY_SCALE = 3.0
"""Standard deviation of the logarithm of the bandwidth that all settings share; it is large because nothing is known
about this bandwidth before the first run.
"""


@dataclass(frozen=True)
class Belief:
    """The estimate for every setting, machine by machine. `means` are the means of the logarithm of the bandwidth
    (rows: machines), `sd` is its standard deviation, which is the same for all machines. The machines' `weights` add up
    to 1. `scale` is the logarithm of the factor that converts each machine's bandwidths into those of the runs.
    """

    means: Array
    sd: Array
    weights: Array
    scale: Array

    @property
    def expected(self) -> Array:
        """Returns the mean of the logarithm over the machines."""
        return np.asarray(self.weights @ self.means)

    @property
    def spread(self) -> Array:
        """Returns the standard deviation of the logarithm from machines and departures together."""
        return np.asarray(np.sqrt(self.sd**2 + self.weights @ (self.means - self.expected) ** 2))

    def improvement(self, best: float) -> Array:
        """Returns for every setting the expected gain over `best` on the logarithmic scale; a loss counts as 0."""
        gap = (self.means - best) / self.sd
        gain = self.sd * (gap * _normal_below(gap) + np.exp(-0.5 * gap**2) / np.sqrt(2.0 * np.pi))
        return np.asarray(self.weights @ gain)


def _normal_below(x: Array) -> Array:
    """Returns the distribution function of the standard normal, to 0.0002 (Page, Applied Statistics 26, 1977,
    75-76).
    """
    return np.asarray(0.5 * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * x * (1.0 + 0.044715 * x * x))))


def kernel(settings: Sequence[Features]) -> Array:
    """Returns the covariance of the departures of all settings."""
    numbers = np.log2([[one.stripes, one.stripe_size, one.writers, one.buffer] for one in settings])
    apart = np.square(numbers[:, None, :] - numbers[None, :, :]).sum(axis=2)
    own = np.zeros(apart.shape)
    for levels in zip(*(one.own for one in settings), strict=True):
        place = np.array([sorted(set(levels)).index(level) for level in levels])
        own += place[:, None] != place[None, :]
    return np.asarray(_DEPARTURE**2 * np.exp(-0.5 * apart / _REACH**2) * _OTHER_LEVEL**own)


def believe(logs: Array, covariance: Array, measured: Mapping[int, float]) -> Belief:
    """Returns the estimate after the runs in `measured`: logarithms of bandwidths by the number of the setting.

    `logs` has the logarithms that each candidate machine predicts for every setting, and `covariance` the covariance of
    the real machine's departures from them.
    """
    total = covariance + _ANY_SCALE**2
    at = np.array(sorted(measured), dtype=int)
    seen = np.array([measured[i] for i in at])
    inverse = np.linalg.inv(total[np.ix_(at, at)] + _NOISE**2 * np.eye(len(at)))
    missed = seen - logs[:, at]
    likely = -0.5 * np.einsum("ki,ij,kj->k", missed, inverse, missed)
    weights = np.exp(likely - likely.max())
    gain = total[:, at] @ inverse
    left = np.diag(total) - np.einsum("ij,ij->i", gain, total[:, at])
    scale = _ANY_SCALE**2 * (missed @ inverse.sum(axis=0))
    return Belief(logs + missed @ gain.T, np.sqrt(np.maximum(left, 1e-8)), weights / weights.sum(), scale)
