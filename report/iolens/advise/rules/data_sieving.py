"""MPI-IO that reads more than it was asked for, to read or to write with holes."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.remedies import COLLECTIVE
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import most_first, under_mpiio
from iolens.metrics.job.share import slowest_seconds

_HINTS = ("romio_ds_write disable", "romio_ds_read disable", "romio_cb_write enable", "romio_cb_read enable")


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns files of which POSIX reads far more than MPI-IO."""
    pair = under_mpiio(job)
    if pair is None:
        return None
    upper, lower = pair
    asked = upper["BYTES_READ"] + upper["BYTES_WRITTEN"]
    excess = lower["BYTES_READ"] - upper["BYTES_READ"]
    chosen = (asked > 0) & (excess >= limits["sieving_share"] * asked)
    if not chosen.any():
        return None
    rows = most_first(excess, chosen)
    ids = lower["id"][rows]
    read = float(excess[rows].sum() / lower["BYTES_READ"][rows].sum())
    written, wanted = float(lower["BYTES_WRITTEN"][rows].sum()), float(upper["BYTES_WRITTEN"][rows].sum())
    again = max(0.0, 1 - wanted / written) if written else 0.0
    seconds = [slowest_seconds(job, "POSIX", ids, (kind,)) for kind in ("READ", "WRITE")]
    evidence = (
        f"For {say.size(float(asked[rows].sum()))} of MPI-IO on {say.files(job, ids)}, POSIX read "
        f"{say.size(float(lower['BYTES_READ'][rows].sum()))} and wrote {say.size(written)}; "
        f"the program read {say.size(float(upper['BYTES_READ'][rows].sum()))}. The reads took "
        f"{say.seconds(seconds[0])} on the slowest rank."
    )
    gain = float(np.dot(seconds, [read, again]))
    bound = (
        f"It is {say.percent(read)} of the read and {say.percent(again)} of the write time: bytes that the program "
        f"did not ask for."
    )
    return Seen(evidence, gain, bound, f"{COLLECTIVE}\n\n{{hints}}", _HINTS)


RULE = Rule(
    id="data-sieving",
    title="Data sieving reads bytes that the program did not ask for",
    says="POSIX read more of a file than the program asked MPI-IO for, by `sieving_share` of the requested bytes or "
    "more",
    limits=("sieving_share",),
    why="Data sieving also reads the holes between the parts of a rank; for a write it reads, changes and writes back "
    "whole ranges under a lock.",
    read_more="R. Thakur et al., Data Sieving and Collective I/O in ROMIO, 1999",
    check=check,
    gauges=("size",),
)
