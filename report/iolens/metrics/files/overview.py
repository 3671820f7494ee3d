"""The use of files, and the mount points on which they lie."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from iolens.log import Job, Mount
from iolens.log.job import mount_point
from iolens.log.records import Records
from iolens.metrics.grouping import Groups, empty, labelled, ordered, stacked
from iolens.metrics.job.interfaces.layers import LAYERS, io_time
from iolens.metrics.once import once_per_job

LOWEST = ("POSIX", "STDIO", "DFS", "DAOS")
"""The layers at which bytes reach a file. None of them contains another's calls, except that DAOS contains those of
DFS.
"""

_LOCAL = ("", "overlay", "rootfs", "tmpfs", "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "squashfs")
"""Types of mount points whose files have no stripes. If such a file has stripes, the mount table is that of a
container.
"""

UNMOUNTED = "(no mount point)"
"""Mount point shown for standard streams and for files below no mount point of the log."""

_COLUMNS = {
    "id": "u8",
    "path": "O",
    "processes": "i8",
    "bytes_read": "i8",
    "bytes_written": "i8",
    "seconds": "f8",
    "seconds_sum": "f8",
    "size": "f8",
    "module": "O",
}
"""The columns of files, and their types."""

_CATEGORIES = ("all files", "read-only", "write-only", "read and written", "neither read nor written")


@once_per_job
def lowest(job: Job) -> list[str]:
    """Returns the layers of the job by which bytes reach a file, chosen so that each byte is counted in only one
    layer.
    """
    return lowest_of(job.records)


def lowest_of(layers: Collection[str]) -> list[str]:
    """Returns the given layers at which bytes reach a file: of DFS and DAOS only the upper one, DFS."""
    return [name for name in LOWEST if name in layers and not (name == "DAOS" and "DFS" in layers)]


@once_per_job
def files(job: Job, name: str) -> Records:
    """Returns one row per file of a layer, its records added up.

    Columns: id, path, processes (-1: all), bytes_read, bytes_written, seconds (of its slowest process: the slowest rank
    of a shared record, else the longest record), seconds_sum (over all processes), size (highest offset seen plus one;
    NaN if the layer knows no offsets).
    """
    records, prefix = job.records[name], LAYERS[name].prefix
    shared = records["rank"] < 0
    highest = (
        np.maximum(records[f"{prefix}_MAX_BYTE_READ"], records[f"{prefix}_MAX_BYTE_WRITTEN"]) + 1
        if LAYERS[name].offsets
        else np.full(len(records), np.nan)
    )
    same = Groups(records["id"])
    ids = records["id"][same.first]
    size = same.max(highest)
    read, written = (same.sum(np.maximum(records[f"{prefix}_BYTES_{kind}"], 0)) for kind in ("READ", "WRITTEN"))
    moved = (read > 0) | (written > 0)
    return Records(
        {
            "id": ids,
            "path": path_column(job, ids),
            "processes": same.sum(np.where(shared, job.nprocs, 1)),
            "bytes_read": read,
            "bytes_written": written,
            "seconds": same.max(slowest_record_seconds(job, name)),
            "seconds_sum": same.sum(io_time(records, prefix)),
            "size": size if moved.all() else np.where(moved, size, np.nan),
        }
    )


@once_per_job
def slowest_record_seconds(job: Job, name: str) -> np.ndarray:
    """Returns the time of each record of a layer; for a shared record, the time of its slowest rank."""
    records, prefix = job.records[name], LAYERS[name].prefix
    spent = io_time(records, prefix)
    slowest = records.get(f"{prefix}_F_SLOWEST_RANK_TIME", spent)
    return np.where(records["rank"] < 0, slowest, spent)


def paths(job: Job, ids: Iterable[int]) -> list[str]:
    """Returns the paths of records; a record without a name keeps its number."""
    return [job.names.get(int(key)) or f"record {int(key)}" for key in ids]


def path_column(job: Job, ids: np.ndarray) -> np.ndarray:
    """Returns `paths` as a column: an object array in the order of `ids`."""
    return np.array(paths(job, ids.tolist()), object)


@once_per_job
def all_files(job: Job) -> Records:
    """Returns `files` of the `lowest` layers together, one row per path, with `module` (the first layer that
    saw it).
    """
    parts = [labelled(files(job, name), "module", name) for name in lowest(job)]
    if not parts:
        return empty(_COLUMNS)
    both = stacked(parts)
    same = Groups(both["id"])
    sums = {name: same.sum(both[name]) for name in ("bytes_read", "bytes_written", "seconds", "seconds_sum")}
    largest = {name: same.max(both[name]) for name in ("processes", "size")}
    return both.where(same.first).beside(sums | largest)


@once_per_job
def file_counts(job: Job) -> Records:
    """Returns the number, average size and largest size of the files per `category`, over the `lowest` layers. The size
    of a file is the highest offset that the job touched in it, plus one, so that the file itself may be larger. A
    file counts if any call was made on it, a stat included; it is read-only if bytes were read and none written. The
    log does not tell which files the job created.
    """
    found = all_files(job)
    read, written = found["bytes_read"] > 0, found["bytes_written"] > 0
    masks = (read | True, read & ~written, ~read & written, read & written, ~read & ~written)
    rows = []
    for category, mask in zip(_CATEGORIES, masks, strict=True):
        sizes = found["size"][mask & ~np.isnan(found["size"])]
        average, largest = (float(sizes.mean()), float(sizes.max())) if len(sizes) else (np.nan, np.nan)
        rows.append((category, int(mask.sum()), average, largest))
    return Records.of(["category", "files", "average_size", "largest_size"], rows)


def with_bytes(found: Records) -> Records:
    """Returns the rows with one more column, `bytes`: `bytes_read` and `bytes_written` together."""
    return found.beside({"bytes": found["bytes_read"] + found["bytes_written"]})


@once_per_job
def file_systems(job: Job) -> Records:
    """Returns bytes written and read and the number of files per mount point, over the `lowest` layers, those with most
    bytes first.

    Columns: mount, type, files, bytes_written, written_share (of all bytes written, NaN if there is none), bytes_read,
    read_share, options (as mounted on the first rank's node, empty if the log has none). `file_mounts` says where a
    file belongs; standard streams and names without a path stand under `(no mount point)`, objects of DAOS under
    `(DAOS)`. A file with a layout of Lustre is on Lustre, whatever the mount table of a container
    says.
    """
    found = all_files(job)
    striped = _striped_files(job)
    where = file_mounts(job, found["id"].tolist(), found["path"].tolist())
    places = [
        ("(DAOS)", "daos")
        if module in ("DFS", "DAOS")
        else (mount.point, "lustre" if key in striped and mount.kind in _LOCAL else mount.kind)
        for key, mount, module in zip(found["id"].tolist(), where, found["module"].tolist(), strict=True)
    ]
    table = Records.of(["mount", "type"], places)
    same, options = Groups(table["mount"], table["type"]), _mount_options(job)
    written, read = (same.sum(found[f"bytes_{kind}"]) for kind in ("written", "read"))
    table = table.where(same.first).beside(
        {
            "files": same.sizes,
            "bytes_written": written,
            "bytes_read": read,
            "written_share": written / (written.sum() or np.nan),
            "read_share": read / (read.sum() or np.nan),
            "options": np.array([options.get(mount, "") for mount in table["mount"][same.first]], object),
        }
    )
    found = ordered(table.beside({"bytes": written + read}), "-bytes", "mount", "type")
    return found.take(*(name for name in found.names if name != "bytes"))


@once_per_job
def used_types(job: Job) -> frozenset[str]:
    """Returns the types of file systems that held bytes or layouts of a job; only the storage's name if it was
    emulated.
    """
    if job.emulated:
        return frozenset({job.storage or ""})
    table = file_systems(job)
    used = table["type"][table["bytes_written"] + table["bytes_read"] > 0].tolist()
    return frozenset([*used, *(["lustre"] if _striped_files(job) else [])])


@once_per_job
def _striped_files(job: Job) -> set[int]:
    """Returns the ids of files that lie on a Lustre target; none if the storage is emulated."""
    layouts = job.records.get("LUSTRE")
    if layouts is None or job.storage not in (None, "lustre"):
        return set()
    return {key for key, osts in layouts.rows("id", "osts") if osts}


@once_per_job
def _mount_options(job: Job) -> dict[str, str]:
    """Returns the options of each mount point on the first rank's node, if the log has them."""
    mounts = job.info.get("mounts", {}).items()
    return {mount_point(point): str(one.get("options", "")) for point, one in mounts if isinstance(one, dict)}


def file_mounts(job: Job, ids: Iterable[int], names: Iterable[str]) -> list[Mount]:
    """Returns the file system of each file, given by record id and path. A file belongs to the longest mount point that
    is one of its parents, unless the log says that the kernel had it on another one.
    """
    kinds = job.file_systems
    moved = job.tables.get("file_mounts")
    own = (
        {key: Mount(str(kind), mount_point(str(point)) or UNMOUNTED) for key, point, kind in moved.rows(*_MOVED)}
        if moved is not None
        else {}
    )
    found = mounts_of(names, kinds)
    return [own.get(key) or Mount(kinds.get(point, ""), point) for key, point in zip(ids, found, strict=True)]


_MOVED = ("file", "mount", "type")
"""The columns of the region file_mounts that name a file's own file system."""


def mounts_of(names: Iterable[str], kinds: Mapping[str, str]) -> list[str]:
    """Returns the mount point of each path; each folder is looked up once."""
    known: dict[str, str] = {point.rstrip("/"): point for point in kinds}
    nowhere = UNMOUNTED

    def find(folder: str) -> str:
        chain = []
        while folder not in known and folder:
            chain.append(folder)
            folder = folder.rpartition("/")[0]
        found = known.get(folder, nowhere)
        known.update(dict.fromkeys(chain, found))
        return found

    points = dict(known)
    found = []
    for name in names:
        folder = name if name in points else name.rpartition("/")[0]
        place = known.get(folder) if name.startswith("/") else nowhere
        found.append(place or find(folder))
    return found
