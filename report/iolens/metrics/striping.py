"""How files are striped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.log.records import Records
from iolens.metrics.files import all_files, paths
from iolens.metrics.once import once_per_job
from iolens.metrics.use import rows_of

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


@once_per_job
def layouts(job: Job) -> pd.DataFrame | None:
    """One row a distinct layout: component, stripe_size, stripe_count, extent_end, pool, files, bytes, example path.

    `bytes` are those that POSIX and STDIO moved to and from the files of that layout; most bytes first. None
    without a LUSTRE module.
    """
    frame = job.frames.get("LUSTRE")
    if frame is None or frame.empty:
        return None
    moved = all_files(job)
    bytes_of = dict(zip(moved["id"], moved["bytes_read"] + moved["bytes_written"], strict=True)) if len(moved) else {}
    frame = frame.drop_duplicates(["id", "component"])
    first = frame["component"] == 0
    rows = frame.assign(
        bytes=[bytes_of.get(key, 0) if head else 0 for key, head in zip(frame["id"], first, strict=True)]
    )
    rows = rows.sort_values("bytes", ascending=False, kind="stable")
    keys = ["component", "stripe_size", "stripe_count", "extent_end", "pool"]
    found = rows.groupby(keys, as_index=False).agg(files=("id", "nunique"), bytes=("bytes", "sum"), id=("id", "first"))
    found["path"] = paths(job, found["id"])
    return found.sort_values(["bytes", "files"], ascending=False, ignore_index=True)


@once_per_job
def targets(job: Job) -> pd.DataFrame | None:
    """How many files have a stripe on each object storage target (`ost`); None without a LUSTRE module."""
    frame = job.frames.get("LUSTRE")
    if frame is None or frame.empty:
        return None
    pairs = frame[["id", "osts"]].explode("osts").dropna().drop_duplicates()
    return pairs.groupby("osts", as_index=False).agg(files=("id", "count")).rename(columns={"osts": "ost"})


@once_per_job
def file_layouts(job: Job, limit: int = 15) -> pd.DataFrame | None:
    """The layouts of the files with the most bytes: path, bytes, component, stripe_size, stripe_count, osts."""
    frame = job.frames.get("LUSTRE")
    if frame is None or frame.empty:
        return None
    moved = all_files(job)
    if moved.empty:
        return None
    moved = moved.assign(bytes=moved["bytes_read"] + moved["bytes_written"])
    both = frame.merge(moved[["id", "bytes"]].drop_duplicates("id"), on="id")
    both = both.drop_duplicates(["id", "component"])
    both = both[both["bytes"] > 0].sort_values(["bytes", "id", "component"], ascending=[False, True, True])
    both = both.head(limit).reset_index(drop=True)
    return both.assign(path=paths(job, both["id"]))


@once_per_job
def file_stripes(job: Job) -> Records | None:
    """One row a file with a layout, by `id`: stripe_size (of its last component), stripes (of its widest one).

    None without a LUSTRE module.
    """
    layouts = job.records.get("LUSTRE")
    if layouts is None or not len(layouts):
        return None
    files: dict[int, dict[int, tuple[int, int]]] = {}
    for key, component, size, osts in zip(
        *(layouts[name].tolist() for name in ("id", "component", "stripe_size", "osts")), strict=True
    ):
        files.setdefault(key, {}).setdefault(component, (size, len(osts)))
    ids = np.array(sorted(files), layouts["id"].dtype)
    sizes = np.array([files[key][max(files[key])][0] for key in sorted(files)])
    stripes = np.array([max(count for _, count in files[key].values()) for key in sorted(files)])
    return Records({"id": ids, "stripe_size": sizes, "stripes": stripes}).where((stripes > 0) & (sizes > 0))


def block_size(job: Job, table: Records) -> np.ndarray:
    """The unit that writers of a file should keep to, for the rows of `use.by_file` of POSIX: its stripe or its block.

    What is not aligned to FILE_ALIGNMENT is not aligned to a larger stripe either.
    """
    layout = file_stripes(job)
    if layout is None:
        return table["FILE_ALIGNMENT"]
    stripe = np.append(layout["stripe_size"], 0)[rows_of(table["id"], layout["id"])]
    return np.asarray(np.maximum(table["FILE_ALIGNMENT"], stripe))
