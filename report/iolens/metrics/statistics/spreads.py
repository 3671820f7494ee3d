"""The true spread of each point's runs, from its own few runs and from those of the other points.

Three runs say little about their own spread, and a hundred runs of other points say much about the usual one. A point
is either usual, with a variance near a common one (scaled inverse chi-square), or odd, with any variance from the
common one to 1000 times the common one. The data decide how similar usual points are and which points are odd. G. K.
Smyth, Statistical Applications in Genetics and Molecular Biology 3 (2004), has the first half, as moderated variances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
else:
    Array = Any

_ALIKE = (1.0, 4.0, 16.0)
"""Degrees of freedom with which the usual points may inform about one another's variance; all are equally likely a
priori.
"""

_ODD = 0.08
"""Minimum share of odd points that is expected a priori. If there are few points, one odd point is expected."""

_LARGEST, _STEEP = 1000.0, 0.2
"""Largest variance of an odd point as a multiple of the common one, and the power that makes larger variances more
likely a priori.
"""

_STEPS, _COMMON_STEPS, _BEYOND = 24, 60, 3.0
"""Number of steps for an odd point's variance and for the common one, and how far the logarithm of the common one may
lie outside the estimates.
"""


@dataclass(frozen=True)
class Spreads:
    """The probabilities of the variances behind some points' estimates.

    `variances` and `freedom` are the estimates with their degrees of freedom; `chances` has the probability of each
    pair of `alike` and `common` variance, and `odd` that of each point to be odd under that pair.
    """

    variances: Array
    freedom: Array
    common: Array
    chances: Array
    odd: Array

    def typical(self) -> Array:
        """Returns a variance for each point: the reciprocal of the expected reciprocal."""
        import numpy as np

        alike = np.array(_ALIKE)[:, None, None]
        usual = (alike + self.freedom) / (alike * self.common[:, None] + self.freedom * self.variances)
        inverse = usual * (1 - self.odd) + self.odd / self.variances
        return np.asarray(1 / (self.chances[:, :, None] * inverse).sum((0, 1)))

    def drawn(self, count: int, random: np.random.Generator) -> Array:
        """Returns `count` rows of variances, one column per point, as likely as the data make them."""
        import numpy as np

        places = random.choice(self.chances.size, count, p=self.chances.ravel())
        rows, columns = np.divmod(places, len(self.common))
        alike, common = np.array(_ALIKE)[rows][:, None], self.common[columns][:, None]
        scatter = random.chisquare(alike + self.freedom)
        found = (alike * common + self.freedom * self.variances) / scatter
        odd, points = np.nonzero(random.random(found.shape) < self.odd[rows, columns])
        factors, beforehand = _odd_factors()
        chances = beforehand * _density(
            (self.variances[points] / common[odd, 0])[:, None] / factors, self.freedom[points, None]
        )
        sums = chances.cumsum(1)
        chosen = (sums < random.random((len(odd), 1)) * sums[:, -1:]).sum(1)
        found[odd, points] = common[odd, 0] * factors[np.minimum(chosen, _STEPS - 1)]
        return np.asarray(found)


def spreads(variances: Array, freedom: Array) -> Spreads:
    """Returns the probabilities of the variances behind these estimates, which must be above 0."""
    import numpy as np

    logs = np.log(variances)
    common = np.exp(np.linspace(logs.min() - _BEYOND, logs.max() + _BEYOND, _COMMON_STEPS))
    quotients = variances / common[:, None]
    factors, beforehand = _odd_factors()
    share = max(_ODD, 1 / len(variances))
    odd = share * (_density(quotients[..., None] / factors, freedom[:, None]) * beforehand).sum(-1)
    usual = (1 - share) * np.stack([_usual_density(quotients, freedom, alike) for alike in _ALIKE])
    both = odd + usual + 1e-300
    chances = np.log(both).sum(2)
    chances = np.exp(chances - chances.max())
    return Spreads(variances, freedom, common, chances / chances.sum(), odd / both)


def _odd_factors() -> tuple[Array, Array]:
    """Returns the variances of outlying points, as multiples of the common variance, and their probabilities."""
    import numpy as np

    logs = np.linspace(0.0, math.log(_LARGEST), _STEPS)
    weights = np.exp(_STEEP * logs)
    return np.exp(logs), weights / weights.sum()


def _density(quotients: Array, freedom: Array) -> Array:
    """Returns the density of the logarithm of an estimated variance over the true one: chi-square over its freedom."""
    import numpy as np

    half = freedom / 2
    return np.asarray(np.exp(half * np.log(half * quotients) - half * quotients - _log_gamma(half)))


def _usual_density(quotients: Array, freedom: Array, alike: float) -> Array:
    """Returns the density of the logarithm of a usual point's estimated variance over the common one: Snedecor's F."""
    import numpy as np

    scaled = freedom * quotients / alike
    rest = _log_gamma((freedom + alike) / 2) - _log_gamma(freedom / 2) - math.lgamma(alike / 2)
    return np.asarray(np.exp(freedom / 2 * np.log(scaled) - (freedom + alike) / 2 * np.log1p(scaled) + rest))


def _log_gamma(values: Array) -> Array:
    """Returns the logarithm of the gamma function of each value."""
    import numpy as np

    return np.asarray(np.vectorize(math.lgamma, otypes=[float])(values))
