"""The time, access sizes, bytes over time and files of each subject, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iolens.lazy import pd
from iolens.metrics.files.families import families
from iolens.metrics.files.overview import all_files
from iolens.metrics.job.cost import io_cost
from iolens.metrics.job.interfaces.operations import access_sizes, operation_counts, sized_layers
from iolens.metrics.once import once_per_job
from iolens.metrics.subjects.subject import Subject, Subjects
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


_COLUMNS = ("bytes_read", "bytes_written", "seconds")


@once_per_job
def aligned_files(subjects: Subjects) -> pd.DataFrame:
    """Returns one row per file: `file`, and for each subject, named by its letter, `bytes_read A`, `bytes_written A`
    and `seconds A` (of its slowest process), averaged over its runs; NaN if it has no such file. `standing B`: the same
    (if bytes read and written are equal), changed, appeared or vanished; empty if neither subject has the file. Files
    that differ come first, those with most bytes or time foremost.

    Files are the same if their paths are equal. Different paths with the same last part are the same file, too, unless
    a subject has two of them.
    """

    found = [_mean_files(subject) for subject in subjects.all]
    keys = keys_of([list(table.index) for table in found])
    rows = _side_by_side(
        [table.rename(index=dict(names)) if names else table for table, names in zip(found, keys, strict=True)],
        subjects.letters,
    )
    first, weight = subjects.letters[0], np.zeros(len(rows))
    for letter in subjects.letters[1:]:
        pairs = [(rows[f"{name} {letter}"], rows[f"{name} {first}"]) for name in _COLUMNS]
        here, there = pairs[0][0].notna(), pairs[0][1].notna()
        moved = sum(abs(a.fillna(0) - b.fillna(0)) for a, b in pairs[:2])
        words = np.select(
            [here & ~there, there & ~here, moved > 0, here], ["appeared", "vanished", "changed", "same"], ""
        )
        rows[f"standing {letter}"] = words
        weight = np.maximum(weight, moved + 1.0 * (here != there))
    rows = rows.assign(weight=weight, spent=rows[[f"seconds {letter}" for letter in subjects.letters]].max(axis=1))
    ordered = rows.sort_values(["weight", "spent"], ascending=False, kind="stable")
    return ordered.drop(columns=["weight", "spent"]).reset_index()


@once_per_job
def aligned_families(subjects: Subjects) -> pd.DataFrame:
    """Returns `aligned_files` with the files of one family that have the same standing in all subjects in one row:
    `file` (the family's label, or the file's own), `files` (number of members), and sums of the other columns.
    """
    found = aligned_files(subjects)
    if found.empty:
        return found.assign(files=1)
    kin = families(found["file"].tolist())
    marks = [f"standing {letter}" for letter in subjects.letters[1:]]
    numbers = [column for column in found if column not in ("file", *marks)]
    found = found.assign(files=1, label=np.array(kin.labels, object)[kin.place])
    members = found.groupby([pd.Series(kin.place, found.index), *marks], sort=False)
    rows = members[["file", "label", *marks]].first().assign(files=members["files"].sum())
    rows[numbers] = members[numbers].sum(min_count=1)
    rows["file"] = rows.pop("label").where(rows["files"] > 1, rows["file"])
    return rows.reset_index(drop=True)


def _side_by_side(tables: Sequence[pd.DataFrame], letters: Sequence[str]) -> pd.DataFrame:
    """Returns one row per file of any table, with each table's columns by its letter."""
    named = [table.add_suffix(f" {letter}") for table, letter in zip(tables, letters, strict=True)]
    if all(table.index.equals(named[0].index) for table in named):
        return pd.concat([table.set_axis(named[0].index) for table in named], axis=1).rename_axis("file")
    files = list(dict.fromkeys(file for table in tables for file in table.index))
    rows = pd.DataFrame(index=pd.Index(files, name="file"))
    for table in named:
        rows = rows.join(table)
    return rows


def _mean_files(subject: Subject) -> pd.DataFrame:
    """Returns bytes and seconds of each path, averaged over the runs; paths of different runs are matched in the same
    way as those of subjects.
    """
    parts = [all_files(job).take("path", *_COLUMNS).frame().groupby("path").sum() for job in subject.jobs]
    if not parts:
        return pd.DataFrame(columns=list(_COLUMNS), index=pd.Index([], name="path"), dtype=float)
    if len(parts) == 1:
        return parts[0]
    names = keys_of([list(part.index) for part in parts])
    renamed = [part.rename(index=dict(each)) for part, each in zip(parts, names, strict=True)]
    return pd.concat(renamed).groupby(level=0).sum() / len(parts)


def keys_of(paths: Sequence[Sequence[str]]) -> list[Mapping[str, str]]:
    """Returns, for each subject, the last part of the path for files that are matched by it: the subjects have this
    last part in different paths, and none has it twice. All other files are matched by their whole paths.
    """
    if all(each == paths[0] for each in paths):
        return [{} for _ in paths]
    first_path: dict[str, str] = {}
    several: set[str] = set()
    for path in (path for each in paths for path in each):
        name = _last(path)
        if first_path.setdefault(name, path) != path:
            several.add(name)
    for each in paths:
        counts = Counter(name for name in map(_last, each) if name in several)
        several -= {name for name, count in counts.items() if count > 1}
    return [{path: _last(path) for path in each if _last(path) in several} for each in paths]


def _last(path: str) -> str:
    """Returns the last part of a path."""
    return path.rstrip("/").rpartition("/")[2] or path
