"""The rule about transfers between storage and GPUs that went through the processor's memory."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.job.interfaces.gpu_storage import gpu_storage

_REMEDY = """\
Find out why the direct path was not taken:

  NVIDIA   gdscheck.py -p, which lists the file systems that are supported;
           "allow_compat_mode": false in cufile.json makes such transfers fail
  AMD      HIPFILE_ALLOW_COMPAT_MODE=false does the same

The file system must support it, the kernel module (nvidia-fs) be loaded, and
offsets and sizes be multiples of 4 KiB."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the number of transfers that went through the processor's memory, and the time of the rank that spent
    most in all transfers.
    """
    found = gpu_storage(job)
    if not len(found) or not len(found := found.where(np.isfinite(found["gpu"]))):
        return None
    calls, fell = found["reads"] + found["writes"], found["posix_reads"] + found["posix_writes"]
    if fell.sum() < limits["gpu_fallback"] * calls.sum() or fell.sum() == 0:
        return None
    moved = found["bytes_read"].sum() + found["bytes_written"].sum()
    libraries = " and ".join(dict.fromkeys(found["library"].tolist()))
    evidence = (
        f"{libraries} carried out {say.count(fell.sum())} of {say.count(calls.sum(), 'transfer')} between storage and "
        f"GPUs through POSIX calls and the processor's memory; {say.size(moved)} were moved in all."
    )
    spent = float(np.bincount(found["rank"].astype(int), found["read_seconds"] + found["write_seconds"]).max())
    return Seen(evidence, spent, "It assumes that transfers to and from GPUs take no time.", _REMEDY)


RULE = Rule(
    id="gpu-fallback",
    title="Transfers to GPUs are not direct",
    says="`gpu_fallback` or more of the transfers that cuFile or hipFile counted went through POSIX calls",
    limits=("gpu_fallback",),
    why="Where the direct path is not available, both libraries fall back without a message and copy each byte through "
    "the processor's memory.",
    read_more="https://docs.nvidia.com/gpudirect-storage (troubleshooting guide)",
    check=check,
    beside_io=True,
)
