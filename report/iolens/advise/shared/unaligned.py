"""Files whose transfers begin inside stripes: code shared by the rules about alignment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.advise import say
from iolens.advise.rule import Seen
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.use import among
from iolens.metrics.job.spent import Spent


@dataclass(frozen=True)
class Unaligned:
    """Files with transfers that begin inside a stripe or block of `unit` bytes, those with most bytes first.

    Of the `calls` transfers, `unaligned` begin inside one. They took `spent` seconds on the slowest rank, of which
    alignment can save at most `seconds`; `derivation` explains this bound.
    """

    ids: np.ndarray
    unit: int
    calls: float
    unaligned: float
    spent: Spent
    seconds: Spent
    derivation: str


def seen(job: Job, found: Unaligned | None, remedy: str, who: str) -> Seen | None:
    """Returns the evidence of files with transfers that begin inside stripes, with the remedy for their unit; None if
    there is none. `who` names the ranks that took the time.
    """
    if found is None:
        return None
    evidence = (
        f"{say.percent(found.unaligned / found.calls)} of {say.count(found.calls, 'transfer')} of "
        f"{say.files(job, found.ids)} do not begin at a multiple of {say.size(found.unit)}; {who} took "
        f"{say.seconds(found.spent)} on the slowest rank."
    )
    filled = remedy.replace("{unit}", say.size(found.unit)).replace("{bytes}", str(found.unit))
    return Seen(evidence, found.seconds, found.derivation, filled)


def of_kind(job: Job, table: Records, hdf5: bool) -> np.ndarray:
    """Returns a mask of the files in `table` that HDF5 opened, or of all others."""
    files = job.records.get("H5F")
    known = np.zeros(len(table), bool) if files is None else among(table["id"], files["id"])
    return known if hdf5 else ~known
