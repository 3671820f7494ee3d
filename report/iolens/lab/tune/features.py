"""The features of a setting that determine its bandwidth on striped storage of any kind."""

from __future__ import annotations

from dataclasses import dataclass

from iolens.lab.io_components import LUSTRE
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.matrix import Point
from iolens.metrics.files.stripes.striping import reached_stripes

_USUAL_BUFFER = 16 * 2**20
"""ROMIO's default cb_buffer_size in bytes."""


@dataclass(frozen=True)
class Features:
    """A setting: `stripes` of `stripe_size` bytes, `writers` that move data at a time, each of them `buffer` bytes per
    round, and the levels of user-defined factors by name.
    """

    stripes: int
    stripe_size: int
    writers: int
    buffer: int
    own: tuple[tuple[str, str], ...] = ()


def features_of(experiment: Experiment, point: Point, file_bytes: int = 0) -> Features:
    """Returns the features of a point. A feature that the matrix does not vary gets a default value, since it is the
    same for all points. If the size of the largest file is known, only stripes that hold data count.
    """
    given = point.numbers
    stripes = given.get("stripe_count", 1)
    stripe_size = given.get("stripe_size", experiment.stripe_size)
    if file_bytes:
        stripes = reached_stripes(stripes, stripe_size, file_bytes)
    writers = min(given.get("aggregators", given.get("ranks", 1)), given.get("ranks", experiment.ranks))
    if experiment.io_component == LUSTRE:
        writers = writers_of_lustre(stripes, writers)
    return Features(
        stripes=stripes,
        stripe_size=stripe_size,
        writers=writers,
        buffer=given.get("cb_buffer_size", _USUAL_BUFFER),
        own=tuple(
            (factor, str(level))
            for factor, level in point.settings.items()
            if factor in (*experiment.own, "object_size")
        ),
    )


def writers_of_lustre(stripes: int, wanted: int) -> int:
    """Returns how many of the `wanted` aggregators ROMIO's Lustre driver uses: no more than there are stripes, and a
    number that divides them evenly (ad_lustre_aggregate.c, romio_lustre_co_ratio = 1).
    """
    return next(count for count in range(min(stripes, wanted), 0, -1) if count == stripes or stripes % count == 0)
