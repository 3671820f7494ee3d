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

_ENDED_SIGNS = ("ended without writing its log", "A snapshot while")
"""Words of the reasons for a process that did not end by itself, or that still ran."""

_DAMAGED = """\
Copy the log again from where it was written. If the copy is damaged, too, the
profiler wrote it so: a newer version may help."""

_DAMAGED_SIGN = "The log is damaged"
"""Words with which the reader names a region that cannot be read."""

_SPOOL = """\
Give the records of programs that may be killed more room: the folder that
IOLENS_SPOOL names, else /dev/shm or /tmp."""

_SPOOL_SIGN = "the spool folder ran out of room"
"""Words of the reason for records that were only in the memory of a killed process."""

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
    said = " ".join(job.partial)
    full = [module.name for module in job.modules if module.partial]
    is_spool = _SPOOL_SIGN in said
    remedies = {
        _REPLACED: _REPLACED_SIGN in said,
        _ENDED: any(sign in said for sign in _ENDED_SIGNS),
        _SPOOL: is_spool,
        _MEMORY.replace("{modules}", ",".join(full)): bool(full) and not is_spool,
        _DAMAGED: any(reason.startswith(_DAMAGED_SIGN) for reason in job.partial),
    }
    return Seen(said, None, "", "\n\n".join(remedy for remedy, fits in remedies.items() if fits))


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
