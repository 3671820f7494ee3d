"""The rule about MPI-IO that reads more than the program requested, for reads or for writes with holes."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.remedies import COLLECTIVE
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.use import most_first, under_mpiio
from iolens.metrics.job.spent import slowest_seconds

_HINTS = ("romio_ds_write disable", "romio_ds_read disable", "romio_cb_write enable", "romio_cb_read enable")


_WHOLE = """\
The parts of the ranks leave holes, so that an aggregator reads a range
before it writes it. Write all variables of a step in one collective call
without holes (PnetCDF: ncmpi_bput_vara, then ncmpi_wait_all), or let the
aggregators write each part by itself.

{hints}"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files of which POSIX reads far more than MPI-IO."""
    pair = under_mpiio(job)
    if pair is None:
        return None
    upper, lower = pair
    asked = upper["BYTES_READ"] + upper["BYTES_WRITTEN"]
    chosen = sieved_files(upper, lower, limits)
    if not chosen.any():
        return None
    excess = lower["BYTES_READ"] - upper["BYTES_READ"]
    rows = most_first(asked, chosen)
    ids, got = lower["id"][rows], float(lower["BYTES_READ"][rows].sum())
    read = float(excess[rows].sum()) / got if got else 1.0
    written, wanted = float(lower["BYTES_WRITTEN"][rows].sum()), float(upper["BYTES_WRITTEN"][rows].sum())
    again = max(0.0, 1 - wanted / written) if written else 0.0
    seconds = [slowest_seconds(job, "POSIX", ids, (kind,)) for kind in ("READ", "WRITE")]
    evidence = (
        f"For {say.size(float(asked[rows].sum()))} of MPI-IO on {say.files(job, ids)}, POSIX read {say.size(got)} in "
        f"{say.count(float(lower['READS'][rows].sum()), 'read')}{'' if got else ' of places still empty'} and wrote "
        f"{say.size(written)}; "
        f"the program read {say.size(float(upper['BYTES_READ'][rows].sum()))}. The reads took "
        f"{say.seconds(seconds[0])} on the slowest rank."
    )
    gain = seconds[0] * read + seconds[1] * again
    bound = (
        f"The bound is {say.percent(read)} of the read and {say.percent(again)} of the write time: transfers that the "
        f"program did not ask for."
    )
    alone, together = upper["INDEP_WRITES"] + upper["NB_WRITES"], upper["COLL_WRITES"] + upper["SPLIT_WRITES"]
    if together[rows].sum() > 10 * alone[rows].sum():
        return Seen(evidence, gain, bound, _WHOLE, _HINTS[:1])
    return Seen(evidence, gain, bound, f"{COLLECTIVE}\n\n{{hints}}", _HINTS)


def sieved_files(upper: Records, lower: Records, limits: Limits) -> np.ndarray:
    """Returns which files of `use.under_mpiio` MPI-IO sieves: POSIX reads far more bytes than the program, or reads
    before most writes of a file that the program never reads, even if the file has no bytes there yet.
    """
    asked = upper["BYTES_READ"] + upper["BYTES_WRITTEN"]
    more = lower["BYTES_READ"] - upper["BYTES_READ"] >= limits["sieving_share"] * asked
    calls = sum(upper[f"{way}_READS"] for way in ("INDEP", "COLL", "SPLIT", "NB"))
    before = (calls == 0) & (lower["READS"] >= limits["few_calls"]) & (2 * lower["READS"] >= lower["WRITES"])
    return np.asarray((asked > 0) & (more | before))


RULE = Rule(
    id="data-sieving",
    title="Data sieving makes reads that the program did not ask for",
    says="POSIX read more of a file than the program asked MPI-IO for, by `sieving_share` of the requested bytes or "
    "more; or it read at least `few_calls` times, before half of the writes or more, from a file that the program only "
    "writes",
    limits=("sieving_share", "few_calls"),
    why="Data sieving also reads the holes between the parts of a rank; for a write it reads, changes and writes back "
    "whole ranges under a lock.",
    read_more="R. Thakur et al., Data Sieving and Collective I/O in ROMIO, 1999",
    check=check,
    gauges=("size",),
)
