"""Stripe counts and sizes of the files."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.grouped import families_of, names_of_groups
from iolens.metrics.files.overview import all_files, path_column, with_bytes
from iolens.metrics.files.use import by_file, id_rows, joined_files
from iolens.metrics.grouping import Groups, ordered, without_repeats
from iolens.metrics.once import once_per_job


@once_per_job
def layouts(job: Job) -> Records | None:
    """Returns one row per distinct layout: component, stripe_size, stripe_count, extent_end, pool, files, bytes,
    example path.

    `bytes` are those that POSIX and STDIO moved to and from the files of that layout; those with most bytes first. None
    without a LUSTRE module.
    """
    rows = _known_layouts(job)
    if rows is None:
        return None
    moved = np.where(rows["component"] == 0, _file_bytes(job, rows["id"]), 0)
    keys = ("component", "stripe_size", "stripe_count", "extent_end", "pool")
    return _with_files(job, rows.beside({"bytes": moved}), keys)


@once_per_job
def ceph_layouts(job: Job) -> Records | None:
    """Returns one row per distinct layout on CephFS: stripe_count, stripe_unit, object_size, pool, files, bytes,
    example path.

    `bytes` are those that POSIX and STDIO moved to and from the files of that layout; those with most bytes first. None
    if no file lay on CephFS.
    """
    rows = job.tables.get("ceph_layouts")
    if rows is None or not len(rows):
        return None
    rows = without_repeats(rows, "file")
    rows = rows.beside({"id": rows["file"], "bytes": _file_bytes(job, rows["file"])})
    return _with_files(job, rows, ("stripe_count", "stripe_unit", "object_size", "pool"))


def _with_files(job: Job, rows: Records, keys: tuple[str, ...]) -> Records:
    """Returns the distinct layouts of rows by their `keys`, each with its files, their bytes, and the path of the file
    with most bytes; `rows` have the columns id and bytes.
    """
    rows = ordered(rows, "-bytes")
    same = Groups(*(rows[key] for key in keys))
    ids = rows["id"][same.first]
    found = ordered(
        rows.take(*keys)
        .where(same.first)
        .beside(
            {
                "files": same.distinct(rows["id"]),
                "bytes": same.sum(rows["bytes"]),
                "id": ids,
                "path": path_column(job, ids),
            }
        ),
        *keys,
    )
    return ordered(found, "-bytes", "-files")


@once_per_job
def _known_layouts(job: Job) -> Records | None:
    """Returns the LUSTRE module, each component of a file once; None if there is none."""
    layouts = job.records.get("LUSTRE")
    return None if layouts is None or not len(layouts) else without_repeats(layouts, "id", "component")


@once_per_job
def unrecorded_files(job: Job) -> int:
    """Returns the number of files that have stripes in a log without POSIX records, and no record in any other layer: a
    program opened them by calls that this log lacks. 0 for a log with POSIX records.
    """
    rows = _known_layouts(job)
    if rows is None or "POSIX" in job.records:
        return 0
    known = [records["id"] for name, records in job.records.items() if name != "LUSTRE" and "id" in records]
    return len(set(rows["id"].tolist()).difference(*(ids.tolist() for ids in known)))


def _file_bytes(job: Job, ids: np.ndarray) -> np.ndarray:
    """Returns the bytes read from and written to each of these files, in the order of `ids`; 0 for files without
    transfers.
    """
    moved = dict(with_bytes(all_files(job)).rows("id", "bytes"))
    return np.array([moved.get(key, 0) for key in ids.tolist()], "i8")


@once_per_job
def targets(job: Job) -> Records | None:
    """Returns how many files have a stripe on each object storage target (`ost`); None without a LUSTRE module."""
    layouts = job.records.get("LUSTRE")
    if layouts is None or not len(layouts):
        return None
    pairs = {(ost, key) for key, osts in layouts.rows("id", "osts") for ost in osts}
    known, files = np.unique(np.array([ost for ost, _ in pairs], "i8"), return_counts=True)
    return Records({"ost": known, "files": files})


@once_per_job
def named_targets(job: Job) -> int:
    """Returns how many targets the file system has at least, by the highest target number in the log; 0 without
    layouts.
    """
    layouts = job.records.get("LUSTRE")
    return 0 if layouts is None else max((max(osts) + 1 for osts in layouts["osts"] if osts), default=0)


@once_per_job
def file_layouts(job: Job, limit: int = 15, by_family: bool = True) -> Records | None:
    """Returns the layouts of the files with the most bytes: path, files, bytes, component, stripe_size, stripe_count,
    osts. Files of a family that have the same stripes are one row, with the targets of all.
    """
    rows = _known_layouts(job)
    if rows is None or not len(all_files(job)):
        return None
    moved = _file_bytes(job, rows["id"])
    both = ordered(rows.beside({"bytes": moved}).where(moved > 0), "-bytes", "id", "component")
    kin = families_of(job, both["id"], by_family)
    same = Groups(kin.place, *(both[name] for name in ("component", "stripe_size", "stripe_count")))
    columns = names_of_groups(job, both["id"], kin, same) | {"bytes": same.sum(both["bytes"])}
    every = [(sorted({target for one in own.tolist() for target in one}),) for own in same.parts(both["osts"])]
    columns |= Records.of(["osts"], every).single
    return ordered(both.where(same.first).beside(columns), "-bytes").where(slice(limit))


@once_per_job
def file_stripes(job: Job) -> Records | None:
    """Returns one row per file with a layout, by `id`: stripe_size (of its last component), stripes (of its widest
    one).

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


@once_per_job
def striped_files(job: Job) -> Records | None:
    """Returns one row per file with a layout that POSIX calls used: the columns of `by_file` and of `file_stripes`;
    `moved`, bytes read and written; `size`, the highest offset that was read or written plus one.

    None without a LUSTRE module or POSIX records.
    """
    table, layout = by_file(job, "POSIX"), file_stripes(job)
    if table is None or layout is None:
        return None
    table = joined_files(table, layout)
    moved = table["BYTES_READ"] + table["BYTES_WRITTEN"]
    return table.beside({"moved": moved, "size": np.maximum(table["MAX_BYTE_READ"], table["MAX_BYTE_WRITTEN"]) + 1})


def reached_stripes(stripes: int, unit: int, size: float) -> int:
    """Returns how many of a file's stripes hold any of its `size` bytes, at least 1."""
    return max(1, min(stripes, int(np.ceil(size / max(1, unit)))))


def block_size(job: Job, table: Records) -> np.ndarray:
    """Returns the size in bytes to which writes of a file should be aligned, for the rows of `use.by_file` of POSIX:
    the file's stripe size or block size, whichever is larger.

    An access that is not aligned to FILE_ALIGNMENT is not aligned to a larger stripe either.
    """
    layout = file_stripes(job)
    if layout is None:
        return table["FILE_ALIGNMENT"]
    stripe = np.append(layout["stripe_size"], 0)[id_rows(table["id"], layout["id"])]
    return np.asarray(np.maximum(table["FILE_ALIGNMENT"], stripe))
