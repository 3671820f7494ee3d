"""Collective calls where independent ones would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.advise.rule import Rule, Seen
from iolens.advise.rules.exchange import dominated

if TYPE_CHECKING:
    from iolens.advise.limits import Limits
    from iolens.log import Job


def check(job: Job, limits: Limits) -> Seen | None:
    """Files of large contiguous parts whose aggregators exchange longer than they access."""
    seen = dominated(job, limits, contiguous=True)
    hints = ("romio_cb_write disable", "romio_cb_read disable")
    return Seen(seen.evidence, seen.seconds, seen.derivation, seen.remedy, hints) if seen else None


RULE = Rule(
    id="collective-slower",
    title="Collective calls slower than independent ones",
    says="in collective calls on a file the aggregators exchange data for longer than they access the file, though "
    "each rank gives a large contiguous part and no view",
    limits=("large_transfer",),
    why="Collective buffering pays for many small pieces; large contiguous parts only travel twice.",
    read_more="https://github.com/pmodels/mpich/issues/7935; ROMIO hints romio_cb_write, romio_cb_read",
    check=check,
)
