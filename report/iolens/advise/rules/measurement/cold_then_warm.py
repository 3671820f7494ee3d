"""The rule about a first pass over the same bytes that is slow, and later passes that are fast."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.passes import cold_and_warm
from iolens.metrics.files.use import most_first

REMEDY = """\
Do not average the first pass with the others: report it separately, or make
all passes alike:
  - cold: drop caches between passes (posix_fadvise(fd, 0, 0,
    POSIX_FADV_DONTNEED)), or read other data each time;
  - warm: leave the first pass out, and say so."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for traced files that were read in passes, the first far slower than the others."""
    found = cold_and_warm(job)
    if found is None:
        return None
    chosen = (found["cold"] * limits["cold_factor"] <= found["warm"]) & (found["bytes"] >= limits["much_bytes"])
    if not chosen.any():
        return None
    first = most_first(found["bytes"], chosen)[0]
    cold, warm = (say.rate(float(found[name][first]), 1) for name in ("cold", "warm"))
    evidence = f"A rank read {say.files(job, found['id'][chosen])} at {cold} first, and again at {warm}."
    return Seen(evidence, None, "", REMEDY)


RULE = Rule(
    id="cold-then-warm",
    title="Cold and warm cache in one run",
    says="a rank read bytes of a file again `cold_factor` times as fast as the first time (needs traces, DXT)",
    limits=("cold_factor", "much_bytes"),
    why="An average of both rates describes neither of them.",
    read_more="IO500 rules: https://io500.org/rules/submission",
    check=check,
    note=True,
)
