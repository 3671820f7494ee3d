"""Four numbers that say whether a job's I/O is worth a look, each with the bound that is usual for it."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.stripes.ost import moved_by_target, moving_records, stripe_records
from iolens.metrics.files.stripes.striping import named_targets
from iolens.metrics.files.use import among
from iolens.metrics.grouping import Groups, without_repeats
from iolens.metrics.job.cost import moved_once
from iolens.metrics.job.interfaces.layers import LAYERS, total
from iolens.metrics.job.interfaces.operations import file_bytes
from iolens.metrics.job.ranks import io_span_share
from iolens.metrics.job.share import io_mean_seconds, io_seconds
from iolens.metrics.once import once_per_job

_EFFICIENT = 0.8
"""The efficiency that POP (the EU's Performance Optimisation and Productivity centre) takes as acceptable."""

_INEFFICIENT = 0.2
"""Share of the run that I/O may take if an efficiency of _EFFICIENT is acceptable: 1 less that efficiency."""

_WHOLE = 1 << 20
"""Lustre's default stripe size in bytes: a smaller transfer cannot fill a stripe."""

_SOURCES = {
    "share": "POP: efficiencies of 0.8 are acceptable",
    "balance": "POP: efficiencies of 0.8 are acceptable",
    "size": "Lustre's default stripe size",
    "stripes": "Lustre's manual: one stripe per writer; here at most as many as the log has targets",
}


LITTLE_IO = 0.01
"""Minimum share of the run that I/O must take for a report's title to name I/O, and for opens, closes and similar calls
to be reported in a job that moved no bytes of files.
"""


@once_per_job
def is_without_io(job: Job) -> bool:
    """Returns True for a job that moved no bytes of files, standard streams left out, and spent no time in I/O."""
    moved = moved_once(job)
    of_files = any(file_bytes(job, name) if name == "STDIO" else each for name, each in moved.items())
    return not of_files and (io_span_share(job) or 0.0) < LITTLE_IO


@once_per_job
def gauges(job: Job) -> Records:
    """Returns one row per gauge: gauge, value, bound, good (value on the right side of the bound; None: not known),
    source (of the bound), reason (why the value is not known).

    share: `io_span_share`, good up to 0.2; not known for short runs timed in whole seconds. balance: mean over ranks of
    I/O time over that of the slowest (POP's load balance of the I/O), good from 0.8 on. size: mean bytes of a read or
    write that reaches the file system, good from 1 MiB on. stripes: `targets_in_use`, good from as many as there are
    ranks that move bytes; where the log names fewer targets and all of them are in use, it is not known whether there
    were more.
    """
    share = None if job.coarse else io_span_share(job)
    rows = [
        ("share", share, _INEFFICIENT, None if share is None else share <= _INEFFICIENT, _no_share(job)),
        ("balance", *_at_least(balance(job), _EFFICIENT), "one process" if job.nprocs == 1 else "no time is recorded"),
        ("size", *_at_least(_mean_size(job), _WHOLE), _no_sizes(job)),
        ("stripes", *_enough_targets(job), _no_stripes(job)),
    ]
    told = [
        (name, _nan_if_unknown(value), _nan_if_unknown(bound), good, why if value is None else "", _SOURCES[name])
        for name, value, bound, good, why in rows
    ]
    return Records.of(["gauge", "value", "bound", "good", "reason", "source"], told)


def _no_share(job: Job) -> str:
    """Returns why the share of I/O is not known."""
    return "the log counts whole seconds" if job.coarse else "no time is recorded"


def _nan_if_unknown(value: float | None) -> float:
    """Converts a value to float for a column of numbers; None (not known) becomes NaN."""
    return float("nan") if value is None else float(value)


def _at_least(value: float | None, bound: float | None) -> tuple[float | None, float | None, bool | None]:
    """Returns value, bound, and whether the value reaches the bound (0.5 % below it is enough)."""
    return value, bound, None if value is None or bound is None else value >= 0.995 * bound


def _enough_targets(job: Job) -> tuple[float | None, float | None, bool | None]:
    """Returns the effective number of targets, the number that could be of use, and whether the former is enough. The
    last value is None if all targets that the log names are in use.
    """
    value, bound, good = _at_least(*targets_in_use(job))
    return value, bound, None if good and bound is not None and bound < movers(job) else good


def balance(job: Job) -> float | None:
    """Returns the mean I/O time of a rank over that of the slowest rank; None for one process or without I/O time."""
    slowest, mean = io_seconds(job), io_mean_seconds(job)
    return min(1.0, mean / slowest) if job.nprocs > 1 and slowest and mean is not None else None


def _mean_size(job: Job) -> float | None:
    """Returns the mean bytes of a read or write at POSIX or DFS, or at MPI-IO if these saw no transfer; None without
    transfers.
    """
    for names in (("POSIX", "DFS"), ("MPI-IO",)):
        moved = calls = 0
        for name in names:
            records = job.records.get(name)
            if records is None:
                continue
            layer = LAYERS[name]
            moved += sum(total(records, f"{layer.prefix}_BYTES_{kind}") or 0 for kind in ("READ", "WRITTEN"))
            counters = [each for kind, each in layer.operations.items() if kind.endswith(("read", "write"))]
            calls += sum(total(records, *(f"{layer.prefix}_{one}" for one in each)) or 0 for each in counters)
        if moved and calls:
            return moved / calls
    return None


def _no_sizes(job: Job) -> str:
    """Returns the reason why the size of a transfer is not known."""
    return "STDIO's buffer sets it" if moved_once(job) else "no bytes were moved"


def targets_in_use(job: Job) -> tuple[float | None, float | None]:
    """Returns the effective number of storage targets, and the number that could be of use; both are None without
    layouts.

    With b the bytes of each target, the effective number is (sum of b)^2 / sum of b^2: the number of targets if all
    have the same bytes, 1 if one target has all bytes. If a log does not know the bytes of targets, a file's bytes are
    assumed to lie evenly on its stripes. As many targets can be of use as ranks moved bytes, but no more than exist
    according to the highest target number in the log.
    """
    layouts = job.records.get("LUSTRE")
    if layouts is None or not len(layouts):
        return None, None
    spread = _target_share(job)
    if not len(spread):
        return None, None
    return float(spread.sum() ** 2 / (spread**2).sum()), float(max(1, min(movers(job), named_targets(job))))


def _target_share(job: Job) -> np.ndarray:
    """Returns the bytes of each target that has any: exact, or assumed to be even over the stripes of each file."""
    if stripe_records(job)[0] is not None:
        return moved_by_target(job)[1]
    records = moving_records(job)
    files = Groups(records["file"])
    sums = files.sum(records["bytes_read"] + records["bytes_written"])
    moved = dict(zip(records["file"][files.first].tolist(), sums.tolist(), strict=True))
    spread: dict[int, float] = {}
    for key, osts in without_repeats(job.records["LUSTRE"], "id").rows("id", "osts"):
        for ost in osts:
            spread[ost] = spread.get(ost, 0.0) + moved.get(key, 0) / len(osts)
    return np.array([each for each in spread.values() if each > 0])


def movers(job: Job) -> int:
    """Returns the number of ranks that moved bytes of files with a layout; all ranks if any of these files is shared by
    all.
    """
    records = moving_records(job)
    ranks = set(records["rank"][among(records["file"], job.records["LUSTRE"]["id"])].tolist())
    return job.nprocs if -1 in ranks else len(ranks)


def _no_stripes(job: Job) -> str:
    """Returns the reason why the number of targets in use is not known."""
    if "LUSTRE" in job.records:
        return "no bytes on striped files"
    return "CephFS does not name them" if len(job.tables.get("ceph_layouts", ())) else "no stripes are recorded"
