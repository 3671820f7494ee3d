"""The rules about the log itself and its numbers: what it lacks, and what it measured instead of storage."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.log.known import REPLACED, SPOOL_FULL
from iolens.metrics.files.special_uses import cold_and_warm
from iolens.metrics.files.use import by_file, id_rows, most_first
from iolens.metrics.job.share import KINDS, io_seconds, rank_seconds
from iolens.metrics.job.spent import slowest_seconds
from iolens.metrics.times.traces import TRACES

ABOVE_DEVICE_REMEDY = """\
Measure the storage instead of memory:
  - let the write end on the storage: fsync before the clock stops
    (ior -e), and write more than the nodes' memory;
  - read what another node wrote (ior -C), or drop the cache in between;
  - O_DIRECT where it is allowed (ior -B, --posix.odirect);
  - IO500's rule: at least 300 s of writing."""


def above_device(job: Job, limits: Limits) -> Seen | None:
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
    return Seen(" ".join(said), None, "", ABOVE_DEVICE_REMEDY) if said else None


def _movers(job: Job, counter: str) -> int:
    """Returns the number of processes that moved bytes; all processes if a record of several has some."""
    ranks = np.unique(job.records["POSIX"]["rank"][job.records["POSIX"][counter] > 0])
    return job.nprocs if (ranks < 0).any() else len(ranks)


ABOVE_DEVICE = Rule(
    id="above-device",
    title="Faster than the device",
    says="bytes were read or written faster than `process_rate` for each process, or faster than `device_rate` if "
    "given",
    limits=("process_rate", "device_rate", "much_bytes"),
    why="This is the rate of the page cache. More data, or another day, will give a lower rate.",
    read_more="IO500 rules: https://io500.org/rules/submission",
    check=above_device,
    exhibit="performance",
    note=True,
)


COLD_THEN_WARM_REMEDY = """\
Do not average the first pass with the others: report it separately, or make
all passes alike:
  - cold: drop caches between passes (posix_fadvise(fd, 0, 0,
    POSIX_FADV_DONTNEED)), or read other data each time;
  - warm: leave the first pass out, and say so."""


def cold_then_warm(job: Job, limits: Limits) -> Seen | None:
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
    return Seen(evidence, None, "", COLD_THEN_WARM_REMEDY)


COLD_THEN_WARM = Rule(
    id="cold-then-warm",
    title="Cold and warm cache in one run",
    says="a rank read bytes of a file again `cold_factor` times as fast as the first time (needs traces, DXT)",
    limits=("cold_factor", "much_bytes"),
    why="An average of both rates describes neither of them.",
    read_more="IO500 rules: https://io500.org/rules/submission",
    check=cold_then_warm,
    exhibit="costly_files",
    note=True,
)


LOG_BLIND_REMEDY = """\
Record below MPI-IO as well: preload the profiler before the MPI library,

  iolens run -- mpirun -np N ./app

do not exclude the folder (NAME_EXCLUDE, DARSHAN_EXCLUDE_DIRS), nor the
module (MOD_DISABLE POSIX); a statically linked MPI library hides its calls."""


def log_blind(job: Job, limits: Limits) -> Seen | None:
    """Returns the bytes of MPI-IO that POSIX (or DFS) did not see, and calls that were detected but not followed."""
    said = list(job.unfollowed)
    table, lower = by_file(job, "MPI-IO"), by_file(job, "POSIX")
    if table is not None and "DFS" not in job.frames:
        moved = table["BYTES_READ"] + table["BYTES_WRITTEN"]
        below = moved * 0
        if lower is not None:
            seen = np.append(lower["BYTES_READ"] + lower["BYTES_WRITTEN"], 0.0)
            below = seen[id_rows(table["id"], lower["id"])]
        blind = (moved >= limits["blind_bytes"]) & (below <= 0.01 * moved)
        if blind.any():
            rows = most_first(moved, blind)
            said.append(
                f"MPI-IO moved {say.size(float(moved[rows].sum()))} on {say.files(job, table['id'][rows])}, but POSIX "
                f"recorded less than 1 % of it: sizes, order, alignment and ratios of these files are not in the log."
            )
    return Seen(" ".join(said), None, "", LOG_BLIND_REMEDY) if said else None


LOG_BLIND = Rule(
    id="log-blind",
    title="The log does not show how some bytes were moved",
    says="POSIX recorded less than 1 % of the bytes that MPI-IO moved on a file, or the program made requests by "
    "io_uring or raw io_submit whose bytes the log lacks",
    limits=("blind_bytes",),
    why="Rules about sizes and order have no data, so the absence of their findings means nothing.",
    read_more="profiler/manual/recorded.md; https://github.com/darshan-hpc/darshan/issues/984",
    check=log_blind,
    exhibit="modules",
    note=True,
)


_ENDED = """\
Let the program end by itself: the last records of a killed program may be
missing."""

_REPLACED = """\
Also read the log of the program that the process became (exec): it has its
own log."""

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

_MEMORY = """\
Give the profiler more memory, or record fewer files:

  iolens   export IOLENS_MEMORY=2048                # MiB of a process
  Darshan  export DARSHAN_MODMEM=64 DARSHAN_NAMEMEM=64
           a file named by DARSHAN_CONFIG_PATH: MAX_RECORDS 100000 {modules}
           NAME_EXCLUDE .pyc$ *"""


def log_partial(job: Job, limits: Limits) -> Seen | None:
    """Returns the remarks in the log that say which of its parts are missing; None if it is complete."""
    if not job.partial:
        return None
    said = " ".join(job.partial)
    full = [module.name for module in job.modules if module.partial]
    is_spool = SPOOL_FULL in said
    remedies = {
        _REPLACED: REPLACED in said,
        _ENDED: any(sign in said for sign in _ENDED_SIGNS),
        _SPOOL: is_spool,
        _MEMORY.replace("{modules}", ",".join(full)): bool(full) and not is_spool,
        _DAMAGED: any(reason.startswith(_DAMAGED_SIGN) for reason in job.partial),
    }
    return Seen(said, None, "", "\n\n".join(remedy for remedy, fits in remedies.items() if fits))


LOG_PARTIAL = Rule(
    id="log-partial",
    title="The log is incomplete",
    says="the log says that records are missing, a region is damaged, or the process was killed",
    limits=(),
    why="Sums and shares are lower bounds.",
    read_more="profiler/manual/killed.md; https://github.com/darshan-hpc/darshan/issues/970",
    check=log_partial,
    exhibit="modules",
    note=True,
)


OVERLAPPING_TIMES_REMEDY = """\
Look at times of events instead of sums: the heat map, the files' first and
last accesses, and single transfers:

  iolens run --dxt -- ./app
  export DXT_ENABLE_IO_TRACE=1     # Darshan"""

_TRACED = OVERLAPPING_TIMES_REMEDY.partition(":\n")[0] + ", all of which this log has."
"""Remedy for a log that has traced each transfer."""


def overlapping_times(job: Job, limits: Limits) -> Seen | None:
    """Returns ranks whose records of POSIX and STDIO add up to more than the run time."""
    own = np.zeros(max(job.nprocs, 1))
    for name in ("POSIX", "STDIO"):
        if name in job.frames:
            own += rank_seconds(job, name, None, KINDS, waits=True)[0]
    most = float(own.max())
    if most < limits["overlap"] * job.run_time or most < limits["least_seconds"]:
        return None
    whose = f"rank {int(own.argmax())}" if job.nprocs > 1 else "the process"
    evidence = (
        f"The I/O times of {whose} add up to {say.seconds(most)} in a run of "
        f"{say.seconds(job.run_time)}: threads did I/O at the same time, or waited in I/O calls (for a pipe or a lock)."
    )
    counted = io_seconds(job)
    if counted is not None and counted < limits["overlap"] * job.run_time / 2:
        evidence += (
            f" The I/O time of the job ({say.seconds(counted)}) leaves out the calls that opened a file and waited "
            "there for another process."
        )
    return Seen(evidence, None, "", _TRACED if set(TRACES) & set(job.records) else OVERLAPPING_TIMES_REMEDY)


OVERLAPPING_TIMES = Rule(
    id="overlapping-times",
    title="I/O times add up to more than the run",
    says="a rank's read, write and metadata times add up to `overlap` times the run time",
    limits=("overlap", "least_seconds"),
    why="Shares and bounds are limited to the run time here, and mean little.",
    read_more="https://github.com/darshan-hpc/darshan/issues/593",
    check=overlapping_times,
    exhibit="io_cost",
    note=True,
)
