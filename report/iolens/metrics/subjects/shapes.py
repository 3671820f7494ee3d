"""The time, access sizes and bytes over time of each subject, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.lazy import pd
from iolens.metrics.job.cost import io_cost
from iolens.metrics.job.interfaces.operations import access_sizes, operation_counts, sized_layers
from iolens.metrics.once import once_per_job
from iolens.metrics.subjects.subject import Subjects
from iolens.metrics.times.timespans import activity, mapped

_KINDS = ("read", "write", "meta")

_WORTH = 0.01
"""Minimum share of the longest time for which a layer is shown."""


@once_per_job
def operation_seconds(subjects: Subjects) -> pd.DataFrame:
    """Returns seconds of an average process by operation, a row for each layer and compared subject: module, letter,
    read, write, meta (means over the subject's logs), smallest and largest (sum of these in a log), run_time (mean; NaN
    for short runs on a clock of whole seconds), logs. Layers in which no subject spent 1 % of the longest time are left
    out. The time of a layer includes that of the layers that it calls.
    """
    parts = []
    for letter, subject in subjects.named:
        for number, job in enumerate(subject.jobs):
            run_time = float("nan") if job.coarse else job.run_time
            parts.append(io_cost(job).frame().assign(letter=letter, number=number, run_time=run_time))
    columns = ["module", "letter", *_KINDS, "smallest", "largest", "run_time", "logs"]
    if not parts:
        return pd.DataFrame(columns=columns)
    rows = pd.concat(parts, ignore_index=True)
    rows["spent"] = rows[list(_KINDS)].sum(axis=1)
    found = rows.groupby(["module", "letter"], sort=False, as_index=False).agg(
        **{kind: (kind, "mean") for kind in _KINDS},
        smallest=("spent", "min"),
        largest=("spent", "max"),
        run_time=("run_time", "mean"),
        logs=("number", "count"),
    )
    longest = found.groupby("module")["largest"].transform("max")
    used = (longest > 0) & (longest >= _WORTH * longest.max())
    return found[used].reset_index(drop=True)[columns]


@once_per_job
def operation_calls(subjects: Subjects) -> pd.DataFrame:
    """Returns one row per operation that any subject called: name, and for each subject a column, named by its letter,
    with the calls of all ranks (mean over its logs; NaN if no log records them).
    """
    parts = [
        operation_counts(job).frame().assign(letter=letter)
        for letter, subject in subjects.named
        for job in subject.jobs
    ]
    if not parts:
        return pd.DataFrame(columns=["name", *subjects.letters])
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.assign(name=rows["module"] + " " + rows["operation"], count=rows["count"].astype(float))
    found = rows.pivot_table("count", "name", "letter", "mean", sort=False).reindex(columns=subjects.letters)
    return found[(found > 0).any(axis=1)].reset_index()


@once_per_job
def sizes(subjects: Subjects) -> pd.DataFrame:
    """Returns the accesses by range of sizes: layer, kind (reads, writes), bucket, its place, letter, count (mean over
    the logs).

    Layers and kinds without an access are left out, and so are the ranges below the first and above the last one that
    any subject used.
    """
    parts = []
    for letter, subject in subjects.named:
        for job in subject.jobs:
            for layer in sized_layers(job):
                table = access_sizes(job, layer).frame().melt("bucket", ["reads", "writes"], "kind", "count")
                parts.append(table.assign(layer=layer, letter=letter, share=1 / len(subject.jobs)))
    columns = ["layer", "kind", "bucket", "place", "letter", "count"]
    if not parts:
        return pd.DataFrame(columns=columns)
    rows = pd.concat(parts, ignore_index=True)
    rows["count"] = rows["count"] * rows["share"]
    order = list(dict.fromkeys(rows["bucket"]))
    rows["place"] = [order.index(bucket) for bucket in rows["bucket"]]
    found = rows.groupby(["layer", "kind", "bucket", "place", "letter"], sort=False, as_index=False)["count"].sum()
    kept = []
    for _, group in found.groupby(["layer", "kind"], sort=False):
        used = group.loc[group["count"] > 0, "place"]
        if len(used):
            kept.append(group[group["place"].between(used.min(), used.max())])
    return pd.concat(kept, ignore_index=True)[columns] if kept else pd.DataFrame(columns=columns)


@dataclass(frozen=True, eq=False)
class SubjectActivity:
    """Bytes over time of one subject: `rates` (rows of ranks from 0 on, bins) in bytes per second of one rank, the
    `width` of a bin in seconds, and the number of ranks.
    """

    letter: str
    label: str
    rates: np.ndarray
    width: float
    nprocs: int


@once_per_job
def activities(subjects: Subjects, rows: int = 48, columns: int = 120) -> tuple[str, list[SubjectActivity]]:
    """Returns the layer for which most subjects have a heatmap, and the `SubjectActivity` of each subject, from its
    first log with a heatmap.

    Reads and writes are added. Empty without heatmaps.
    """
    layers = [layer for subject in subjects.all for layer in {one for job in subject.jobs for one in mapped(job)}]
    if not layers:
        return "", []
    layer = max(dict.fromkeys(layers), key=lambda name: (layers.count(name), name == "POSIX"))
    found = []
    for letter, subject in subjects.named:
        for job in subject.jobs:
            grids = activity(job, layer, rows, columns)
            if grids is not None:
                written, read, width = grids
                together = max(1, -(-job.nprocs // rows))
                rates = (written + read) / width / together if width > 0 else written + read
                found.append(SubjectActivity(letter, subject.label, rates, width, job.nprocs))
                break
    return layer, found
