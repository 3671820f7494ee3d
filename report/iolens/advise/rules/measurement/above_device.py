"""The rule about transfers that are faster than any device: the run measured the page cache."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Measure the storage instead of memory:
  - let the write end on the storage: fsync before the clock stops
    (ior -e), and write more than the nodes' memory;
  - read what another node wrote (ior -C), or drop the cache in between;
  - O_DIRECT where it is allowed (ior -B, --posix.odirect);
  - IO500's rule: at least 300 s of writing."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for reads or writes that are faster than a process, or than the device of `device_rate`, can be."""
    table = by_file(job, "POSIX")
    if table is None or job.emulated:
        return None
    said = []
    for kind, counter, past in (("READ", "BYTES_READ", "read"), ("WRITE", "BYTES_WRITTEN", "written")):
        used = table[counter] > 0
        moved = float(table[counter].sum())
        if moved < limits["much_bytes"]:
            continue
        spent = slowest_seconds(job, "POSIX", table["id"][used], (kind,))
        ranks = _movers(job, f"POSIX_{counter}")
        limit = limits["device_rate"] or limits["process_rate"] * ranks
        if spent.about > 0 and moved / spent.about > limit:
            whose = "the device" if limits["device_rate"] else say.count(ranks, "process")
            said.append(
                f"{say.size(moved)} were {past} in {say.seconds(spent)} on the slowest rank, "
                f"{say.rate(moved, spent)}: more than {say.rate(limit, 1)}, the highest rate assumed for {whose}."
            )
    return Seen(" ".join(said), None, "", REMEDY) if said else None


def _movers(job: Job, counter: str) -> int:
    """Returns the number of processes that moved bytes; all processes if a record of several has some."""
    ranks = np.unique(job.records["POSIX"]["rank"][job.records["POSIX"][counter] > 0])
    return job.nprocs if (ranks < 0).any() else len(ranks)


RULE = Rule(
    id="above-device",
    title="Faster than the device",
    says="bytes were read or written faster than `process_rate` for each process, or faster than `device_rate` if "
    "given",
    limits=("process_rate", "device_rate", "much_bytes"),
    why="This is the rate of the page cache. More data, or another day, will give a lower rate.",
    read_more="IO500 rules: https://io500.org/rules/submission",
    check=check,
    note=True,
)
