"""The rule about programs that wait for what another program writes into their standard input."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import among, by_file
from iolens.metrics.job.spent import NONE, slowest_seconds

_STDIN = "<STDIN>"

REMEDY = """\
Find out what the program in front of the pipe waits for:

  iolens run -- PRODUCER > FILE        # its own I/O and computing
  iolens run -- PROGRAM < FILE         # this program without waiting

If the producer is slow, start more of them, or let this program read its
input itself. If it is quick, the pipe is small: pv, mbuffer or
fcntl(fd, F_SETPIPE_SZ, 1 << 20) give it a larger buffer."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the time of reads of standard input; these reads wait for the program that writes into it."""
    spent, calls, moved = NONE, 0.0, 0.0
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        ids = [key for key, path in job.names.items() if path == _STDIN]
        if table is None or not ids:
            continue
        mine = table.where(among(table["id"], ids))
        calls, moved = calls + float(mine["READS"].sum()), moved + float(mine["BYTES_READ"].sum())
        spent += slowest_seconds(job, name, mine["id"], ("READ",))
    if not calls or spent.about < limits["worth_gain"] * job.run_time:
        return None
    evidence = (
        f"{say.count(calls, 'read')} of standard input took {say.seconds(spent)} on the slowest rank for "
        f"{say.size(moved)} ({say.rate(moved, spent)}): a pipe or terminal gives bytes when another program or a "
        "person has written them."
    )
    return Seen(evidence, spent, "It assumes that reads of standard input take no time.", REMEDY)


RULE = Rule(
    id="standard-input",
    title="The program waits for its standard input",
    says="reads of standard input take `worth_gain` of the run or more",
    limits=("worth_gain",),
    why="These reads wait for another program, not for storage.",
    read_more="man 7 pipe",
    check=check,
    gauges=("size",),
    bounds="standard input",
    before=("small-reads", "stdio-data"),
)
