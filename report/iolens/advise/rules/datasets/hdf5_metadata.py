"""The rule about metadata of HDF5 that every rank reads or writes."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Let one rank read metadata for all, and keep it in memory:

  C        H5Pset_all_coll_metadata_ops(access, 1);
           H5Pset_coll_metadata_write(access, 1);
           H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
           H5Pset_meta_block_size(access, 4 << 20);

Open a dataset once instead of in each step; write attributes on one rank."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence that metadata calls take a large share of the time in shared datasets."""
    table = by_file(job, "H5D")
    if table is None:
        return None
    shared = table.where(table["ranks"] > 1)
    if float(shared["OPENS"].sum()) < max(1.0, limits["few_calls"]):
        return None
    meta, data = float(shared["F_META_TIME"].sum()), float((shared["F_READ_TIME"] + shared["F_WRITE_TIME"]).sum())
    if meta <= 0 or meta < limits["meta_share"] * (meta + data):
        return None
    spent = slowest_seconds(job, "H5D", shared["id"], ("META",))
    evidence = (
        f"{say.count(float(shared['OPENS'].sum()), 'open')} of {say.count(len(shared), 'dataset')} by several ranks: "
        f"metadata calls took {say.percent(meta / (meta + data))} of the time in these datasets, at most "
        f"{say.seconds(spent)} on the slowest rank."
    )
    return Seen(evidence, spent, "It assumes that these metadata calls take no time on the slowest rank.", REMEDY)


RULE = Rule(
    id="hdf5-metadata",
    title="HDF5 metadata calls of all ranks",
    says="opening, closing and flushing of datasets that several ranks use takes at least `meta_share` of the time in "
    "these datasets, and there are many opens",
    limits=("meta_share", "few_calls"),
    why="Each rank reads the same headers and B-trees of the file by itself, in small accesses.",
    read_more="https://docs.hdfgroup.org (H5Pset_all_coll_metadata_ops, H5Pset_coll_metadata_write)",
    check=check,
    bounds="metadata",
)
