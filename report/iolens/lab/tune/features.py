"""What of a setting decides its bandwidth, in the terms of any striped storage."""

from __future__ import annotations

from dataclasses import dataclass

from iolens.lab.io_components import LUSTRE
from iolens.lab.sweep.experiment import Experiment
from iolens.lab.sweep.matrix import Point

USUAL_BUFFER = 16 * 2**20
"""ROMIO's cb_buffer_size, bytes."""


@dataclass(frozen=True)
class Features:
    """A setting: `stripes` of `stripe_size` bytes, `writers` that move data at a time, each `buffer` bytes a round, and
    the levels of the experiment's own factors by name."""

    stripes: int
    stripe_size: int
    writers: int
    buffer: int
    own: tuple[tuple[str, str], ...] = ()


def features_of(experiment: Experiment, point: Point) -> Features:
    """The features of a point; what the matrix does not vary is the same everywhere, so that its value is no matter."""
    given = point.numbers
    stripes = given.get("stripe_count", 1)
    writers = min(given.get("aggregators", given.get("ranks", 1)), given.get("ranks", experiment.ranks))
    if experiment.io_component == LUSTRE:
        writers = writers_of_lustre(stripes, writers)
    return Features(
        stripes=stripes,
        stripe_size=given.get("stripe_size", experiment.stripe_size),
        writers=writers,
        buffer=given.get("cb_buffer_size", USUAL_BUFFER),
        own=tuple((factor, str(level)) for factor, level in point.settings.items() if factor in experiment.own),
    )


def writers_of_lustre(stripes: int, wanted: int) -> int:
    """How many aggregators ROMIO's Lustre driver takes of those that are wanted: no more than there are stripes, and as
    many as share them evenly (ad_lustre_aggregate.c, romio_lustre_co_ratio = 1)."""
    return next(count for count in range(min(stripes, wanted), 0, -1) if count == stripes or stripes % count == 0)
