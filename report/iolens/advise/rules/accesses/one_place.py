"""The rule about tiny accesses at the same place of a file, again and again."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import among, by_file, most_first
from iolens.metrics.job.interfaces.operations import STREAMS
from iolens.metrics.job.spent import NONE, slowest_seconds

REMEDY = """\
Read or write less often:
  - a status, a counter, a step number: write it once every few seconds;
  - waiting for a file: use inotifywait, or sleep between two checks;
  - a value that does not change: read it once and keep it in memory;
  - a lock file: use flock(2), or let one rank grant turns by MPI."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of files that are tiny, and read or written over and over."""
    said, spent = [], NONE
    streams = [key for key, name in job.names.items() if name in STREAMS]
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is None:
            continue
        for kind, counter in (("READ", "BYTES_READ"), ("WRITE", "BYTES_WRITTEN")):
            calls, moved = table[f"{kind}S"] / table["ranks"], table[counter] / table["ranks"]
            size = table[f"MAX_BYTE_{'READ' if kind == 'READ' else 'WRITTEN'}"] + 1
            chosen = (calls >= limits["few_calls"]) & (moved >= limits["repeats"] * size)
            chosen &= (size <= limits["small_transfer"]) & ~among(table["id"], streams)
            if not chosen.any():
                continue
            ids = table["id"][most_first(calls, chosen)]
            spent += slowest_seconds(job, name, ids, (kind,))
            number, place = float(table[f"{kind}S"][chosen].sum()), float(size[chosen].sum())
            said.append(
                f"{say.count(number, kind.lower())} went to the same {say.size(place)} of {say.files(job, ids)}"
            )
    if not said:
        return None
    evidence = f"{'; '.join(said)}; they took {say.seconds(spent)} on the slowest rank."
    return Seen(evidence, spent, "It assumes that these calls take no time on the slowest rank.", REMEDY)


RULE = Rule(
    id="one-place",
    title="One small place is accessed again and again",
    says="the ranks that use a file of at most `small_transfer` bytes read or write, on average, `repeats` times "
    "its size in many calls",
    limits=("small_transfer", "repeats", "few_calls"),
    why="Each call costs its latency, and moves data that was already there.",
    read_more="man inotify(7); man 2 lseek",
    check=check,
    bounds="small transfers",
    gauges=("size",),
    before=("small-reads", "small-writes", "rewriting", "read-again", "shared-small-writes"),
)
