"""The rule about a log that is incomplete."""

from __future__ import annotations

from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job

_ENDED = """\
Let the program end by itself: the last records of a killed program may be
missing."""

_REPLACED = """\
Also read the log of the program that the process became (exec): it has its
own log."""

_REPLACED_SIGN = "became another program"
"""Words of the reason that `iolens-recover` gives for a process that called exec."""

_DAMAGED = """\
Copy the log again from where it was written. If the copy is damaged, too, the
profiler wrote it so: a newer version may help."""

_DAMAGED_SIGN = "The log is damaged"
"""Words with which the reader names a region that cannot be read."""

_MEMORY = """\
Give the profiler more memory, or record fewer files:

  iolens   export IOLENS_MEMORY=2048                # MiB of a process
  Darshan  export DARSHAN_MODMEM=64 DARSHAN_NAMEMEM=64
           a file named by DARSHAN_CONFIG_PATH: MAX_RECORDS 100000 {modules}
           NAME_EXCLUDE .pyc$ *"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the remarks in the log that say which of its parts are missing; None if it is complete."""
    if not job.partial:
        return None
    full = [module.name for module in job.modules if module.partial]
    remedies = [_MEMORY.replace("{modules}", ",".join(full))] if full else []
    damaged = [reason for reason in job.partial if reason.startswith(_DAMAGED_SIGN)]
    if len(job.partial) > len(full) + len(damaged):
        is_replaced = any(_REPLACED_SIGN in reason for reason in job.partial)
        remedies.insert(0, _REPLACED if is_replaced else _ENDED)
    remedies += [_DAMAGED] * bool(damaged)
    return Seen(" ".join(job.partial), None, "", "\n\n".join(remedies))


RULE = Rule(
    id="log-partial",
    title="The log is incomplete",
    says="the log says that records are missing, a region is damaged, or the process was killed",
    limits=(),
    why="Sums and shares are lower bounds.",
    read_more="profiler/manual/killed.md; https://github.com/darshan-hpc/darshan/issues/970",
    check=check,
    note=True,
)
