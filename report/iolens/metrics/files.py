"""Files: how they were used, which cost most, where they lie."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.layers import LAYERS, io_time
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

LOWEST = ("POSIX", "STDIO", "DFS", "DAOS")
"""The layers at which bytes reach a file; none contains another's calls, but DAOS those of DFS."""

LOCAL = ("", "overlay", "rootfs", "tmpfs", "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "squashfs")
"""Types of mount points whose files have no stripes: where one has, the log's mount table is that of a container."""

UNMOUNTED = "(no mount point)"
"""Where standard streams lie, and files below no mount point of the log."""

SMALL = 0.001
"""Part of the largest value below which a file is not worth a line."""

CATEGORIES = ("total opened", "read-only", "write-only", "read and written", "neither read nor written")


@once_per_job
def lowest(job: Job) -> list[str]:
    """The job's layers at which bytes reach a file, each byte in one of them."""
    return lowest_of(job.frames)


def lowest_of(layers: Collection[str]) -> list[str]:
    """Those of some layers at which bytes reach a file: of DFS and DAOS the upper one, DFS."""
    return [name for name in LOWEST if name in layers and not (name == "DAOS" and "DFS" in layers)]


@once_per_job
def files(job: Job, name: str) -> pd.DataFrame:
    """One row a file of a layer, its records added up.

    Columns: id, path, processes (-1: all), bytes_read, bytes_written, seconds (of its slowest process: the slowest
    rank of a shared record, the largest record else), seconds_sum (over all processes), size (highest offset seen
    plus one; NaN where the layer knows no offsets).
    """
    import pandas as pd

    frame, layer = job.frames[name], LAYERS[name]
    shared = frame["rank"] < 0
    spent = io_time(frame, layer.prefix)
    slowest = frame.get(f"{layer.prefix}_F_SLOWEST_RANK_TIME", spent)
    highest = (
        np.maximum(frame[f"{layer.prefix}_MAX_BYTE_READ"], frame[f"{layer.prefix}_MAX_BYTE_WRITTEN"]) + 1
        if layer.offsets
        else np.full(len(frame), np.nan)
    )
    rows = pd.DataFrame(
        {
            "id": frame["id"],
            "processes": np.where(shared, job.nprocs, 1),
            "bytes_read": frame[f"{layer.prefix}_BYTES_READ"].clip(lower=0),
            "bytes_written": frame[f"{layer.prefix}_BYTES_WRITTEN"].clip(lower=0),
            "seconds": np.where(shared, slowest, spent),
            "seconds_sum": spent,
            "size": highest,
        }
    )
    if rows["id"].is_unique:
        found = rows
    else:
        largest = {"seconds": "max", "size": "max"}
        how = {column: largest.get(column, "sum") for column in rows.columns if column != "id"}
        found = rows.groupby("id", sort=False, as_index=False).agg(how)
    moved = (found["bytes_read"] > 0) | (found["bytes_written"] > 0)
    found["size"] = found["size"].where(moved)
    found.insert(1, "path", paths(job, found["id"]))
    return found


def paths(job: Job, ids: Iterable[int]) -> list[str]:
    """The paths of records; a record without a name keeps its number."""
    return [job.names.get(int(key)) or f"record {int(key)}" for key in ids]


@once_per_job
def all_files(job: Job) -> pd.DataFrame:
    """`files` of the `lowest` layers together, one row a path, with `module` (the first that saw it)."""
    import pandas as pd

    parts = [files(job, name).assign(module=name) for name in lowest(job)]
    if not parts:
        return pd.DataFrame(columns=["id", "path", "bytes_read", "bytes_written", "seconds", "size", "module"])
    if len(parts) == 1:
        return parts[0]
    both = pd.concat(parts, ignore_index=True)
    largest = {"size": "max", "processes": "max", "path": "first", "module": "first"}
    how = {column: largest.get(column, "sum") for column in both.columns if column != "id"}
    return both.groupby("id", sort=False, as_index=False).agg(how)


@once_per_job
def file_counts(job: Job) -> pd.DataFrame:
    """Number, average and largest size of the files per `category`, over the `lowest` layers.

    The size of a file is the highest offset that the job touched in it, plus one: a file may be larger. Read-only:
    bytes were read and none written. The log does not tell which files the job created.
    """
    import pandas as pd

    found = all_files(job)
    read, written = found["bytes_read"] > 0, found["bytes_written"] > 0
    masks = (read | True, read & ~written, ~read & written, read & written, ~read & ~written)
    rows = []
    for category, mask in zip(CATEGORIES, masks, strict=True):
        sizes = found.loc[mask, "size"].dropna()
        average, largest = (float(sizes.mean()), float(sizes.max())) if len(sizes) else (np.nan, np.nan)
        rows.append((category, int(mask.sum()), average, largest))
    return pd.DataFrame(rows, columns=["category", "files", "average_size", "largest_size"])


@once_per_job
def top_files(job: Job, by: str, limit: int = 15) -> pd.DataFrame:
    """The files with the most `by` (`seconds` or `bytes`), most first; files without any are left out."""
    found = all_files(job)
    if found.empty:
        return found
    found = found.assign(bytes=found["bytes_read"] + found["bytes_written"])
    return found[found[by] > 0].nlargest(limit, by).reset_index(drop=True)


@once_per_job
def costly_files(job: Job) -> pd.DataFrame:
    """The `top_files` by time and by bytes together, each file once, those with most time first.

    Files with less than a thousandth of the first one's time and of the largest one's bytes are left out. stripe_count
    and stripe_size are those of a file's only layout component; 0 without one, or with several.
    """
    import pandas as pd

    both = pd.concat([top_files(job, "seconds"), top_files(job, "bytes")])
    found = both.drop_duplicates("id").sort_values("seconds", ascending=False, kind="stable", ignore_index=True)
    if len(found):
        found = found[
            (found["seconds"] >= SMALL * found["seconds"].max()) | (found["bytes"] >= SMALL * found["bytes"].max())
        ]
    return with_stripes(job, found)


@once_per_job
def every_file(job: Job) -> pd.DataFrame:
    """`costly_files` without a limit: every file, those with most time first."""
    found = all_files(job)
    if found.empty:
        return found
    found = found.assign(bytes=found["bytes_read"] + found["bytes_written"])
    return with_stripes(job, found.sort_values("seconds", ascending=False, kind="stable", ignore_index=True))


def with_stripes(job: Job, found: pd.DataFrame) -> pd.DataFrame:
    """Files with the stripe_count and stripe_size of their only layout component."""
    layouts = job.frames.get("LUSTRE")
    if layouts is None:
        return found.assign(stripe_count=0, stripe_size=0)
    single = layouts[layouts["id"].isin(found["id"])].drop_duplicates(["id", "component"])
    single = single[~single["id"].duplicated(keep=False)].set_index("id")[["stripe_count", "stripe_size"]]
    return found.join(single, on="id").fillna({"stripe_count": 0, "stripe_size": 0})


@once_per_job
def file_systems(job: Job) -> pd.DataFrame:
    """Bytes written and read and the number of files per mount point, over the `lowest` layers, most bytes first.

    Columns: mount, type, files, bytes_written, written_share (of all bytes written, NaN without any), bytes_read,
    read_share, options (as mounted on the first rank's node, empty where the log has none). A path belongs to the
    longest mount point that is one of its parents; standard streams and names without a path stand under
    `(no mount point)`, objects of DAOS under `(DAOS)`. A file with a layout of Lustre is on Lustre, whatever the mount
    table of a container says.
    """
    found = all_files(job)
    kinds = {mount.point: mount.kind for mount in job.mounts}
    striped = striped_files(job)
    where = mounts_of(found["path"].tolist(), kinds)
    places = [
        ("(DAOS)", "daos")
        if module in ("DFS", "DAOS")
        else (mount, "lustre" if key in striped and kinds.get(mount, "") in LOCAL else kinds.get(mount, ""))
        for key, mount, module in zip(found["id"].tolist(), where, found["module"].tolist(), strict=True)
    ]
    table = found.assign(mount=[place for place, _ in places], type=[kind for _, kind in places], files=1)
    sums = table.groupby(["mount", "type"], as_index=False)[["files", "bytes_written", "bytes_read"]].sum()
    sums["bytes"] = sums["bytes_written"] + sums["bytes_read"]
    for kind in ("written", "read"):
        sums[f"{kind}_share"] = sums[f"bytes_{kind}"] / (sums[f"bytes_{kind}"].sum() or float("nan"))
    options = mount_options(job)
    sums["options"] = [options.get(mount, "") for mount in sums["mount"]]
    return sums.sort_values(["bytes", "mount"], ascending=[False, True], ignore_index=True).drop(columns="bytes")


@once_per_job
def striped_files(job: Job) -> set[int]:
    """The ids of files that lie on a Lustre target; none on storage that answers as Lustre does (emulated)."""
    frame = job.frames.get("LUSTRE")
    if frame is None or job.storage not in (None, "lustre"):
        return set()
    return {int(key) for key, osts in zip(frame["id"], frame["osts"], strict=True) if osts}


@once_per_job
def mount_options(job: Job) -> dict[str, str]:
    """The options of each mount point on the first rank's node, where the log has them."""
    info = job.private.get("job")
    mounts = info.get("mounts", {}) if isinstance(info, dict) else {}
    return {str(point): str(one.get("options", "")) for point, one in mounts.items() if isinstance(one, dict)}


def mounts_of(names: Iterable[str], kinds: Mapping[str, str]) -> list[str]:
    """The mount point of each path; each folder is looked up once."""
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
