"""The rule about objects of HDF5 files that begin inside stripes or blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules.targets.unaligned_own import unaligned_own_files
from iolens.advise.rules.targets.unaligned_shared import unaligned_shared_files
from iolens.advise.shared.unaligned import seen
from iolens.log import Job
from iolens.metrics.job.spent import NONE

REMEDY = """\
Let HDF5 place each large object on a multiple of the stripe size:

  C        H5Pset_alignment(access, 65536, {bytes});
           H5Pset_meta_block_size(access, {bytes});
  Fortran  call h5pset_alignment_f(access, 65536_hsize_t, &
                {bytes}_hsize_t, error)
  Python   h5py.File(path, 'w', alignment_threshold=65536,
                     alignment_interval={bytes})"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of HDF5 files whose large transfers mostly begin inside a stripe or block."""
    if "H5F" not in job.records:
        return None
    found = [
        each
        for files in (unaligned_shared_files, unaligned_own_files)
        if (each := files(job, limits, of_hdf5=True)) is not None
    ]
    if not found:
        return None
    ids = np.concatenate([each.ids for each in found])
    spent, seconds = (sum((getattr(each, name) for each in found), start=NONE) for name in ("spent", "seconds"))
    calls, unaligned = (float(sum(getattr(each, name) for each in found)) for name in ("calls", "unaligned"))
    both = replace(found[0], ids=ids, calls=calls, unaligned=unaligned, spent=spent, seconds=seconds)
    return seen(job, both, REMEDY, "they")


RULE = Rule(
    id="hdf5-unaligned",
    title="HDF5 objects begin inside stripes",
    says="HDF5 files meet the conditions of `unaligned-shared` or `unaligned-own`, which are then not reported for "
    "these files",
    limits=("least_alignment", "unaligned_share", "small_transfer", "every_share", "much_bytes"),
    why="HDF5 puts objects right behind each other and behind 2 KiB of header, unless an alignment is set.",
    read_more="https://docs.hdfgroup.org (H5Pset_alignment, H5Pset_meta_block_size)",
    check=check,
    before=("shared-stripes",),
)
