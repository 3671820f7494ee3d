"""The rule about collective calls that are slower than independent ones would be."""

from __future__ import annotations

from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules.mpiio import few_aggregators
from iolens.advise.rules.mpiio.exchange import dominated
from iolens.log import Job


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files of large contiguous parts whose aggregators exchange longer than they access."""
    return None if few_aggregators.check(job, limits) else dominated(job, limits, contiguous=True)


RULE = Rule(
    id="collective-slower",
    title="Collective calls slower than independent ones",
    says="in collective calls on a file the aggregators exchange data for longer than they access the file, although "
    "each rank gives a large contiguous part and sets no view, and `few-aggregators` is not reported",
    limits=("large_transfer",),
    why="Collective buffering helps with many small pieces; large contiguous parts only travel twice.",
    read_more="https://github.com/pmodels/mpich/issues/7935; ROMIO hints romio_cb_write, romio_cb_read",
    check=check,
)
