"""The processes that used each file, their roles, and files that were read more than once. Bytes and seconds."""

from __future__ import annotations

from functools import cache
from pathlib import PurePosixPath

import numpy as np

from iolens.forest.forest import Forest
from iolens.forest.tree import process_names, tree_of
from iolens.lazy import pd
from iolens.metrics.files.families import families

_ROLES = ("handed over", "scratch", "input", "output", "only opened")
"""Roles of a file: written by one process and read by another; written and read by the same process; only read; only
written; neither.
"""


@cache
def file_rows(forest: Forest) -> pd.DataFrame:
    """Returns a row per path, those with most bytes first; standard streams are left out.

    Columns: path, role (one of _ROLES), size (highest offset that any process touched plus one; 0: not known),
    processes that used it, producers, consumers and both (processes that only wrote, only read, or did both),
    bytes_read, bytes_written, opens, seconds (over all processes), passes (bytes_read / size, NaN without), first and
    last (moment of the first and last call, seconds since the first process began), files (1).
    """
    uses = _uses_in_time(forest)
    read, written = uses["bytes_read"] > 0, uses["bytes_written"] > 0
    uses = uses.assign(both=read & written, producers=written & ~read, consumers=read & ~written, processes=1)
    by_path = uses.groupby("path")
    totals = ["processes", "producers", "consumers", "both", "bytes_read", "bytes_written", "opens", "seconds"]
    found = by_path[totals].sum()
    found = found.assign(size=by_path["size"].max(), first=by_path["begin"].min(), last=by_path["end"].max())
    writers, readers = found["producers"] + found["both"], found["consumers"] + found["both"]
    handed = (
        (writers > 0)
        & (readers > 0)
        & ((found["processes"] > 1) & ((writers > 1) | (readers > 1) | (found["both"] == 0)))
    )
    masks = [handed, (writers > 0) & (readers > 0), readers > 0, writers > 0]
    found["role"] = np.select(masks, _ROLES[:4], _ROLES[4])
    found["passes"] = found["bytes_read"] / found["size"].where(found["size"] > 0)
    found.insert(0, "name", [forest.paths[number] for number in found.index])
    found = found[np.array([name.startswith("/") for name in found["name"]], dtype=bool)]
    moved = found["bytes_read"] + found["bytes_written"]
    found = found.assign(moved=moved, files=1).sort_values(["moved", "name"], ascending=[False, True])
    return pd.DataFrame(found.drop(columns="moved").rename_axis("number").reset_index()).rename(
        columns={"name": "path"}
    )


@cache
def _uses_in_time(forest: Forest) -> pd.DataFrame:
    """Returns the uses of files by processes, each with its seconds, its begin and end (since the first process began;
    NaN: not known) and its group.
    """
    tree, uses = tree_of(forest), forest.uses
    start = tree.start[uses["process"]]
    return uses.assign(
        group=tree.group[uses["process"]],
        seconds=uses["read_seconds"] + uses["write_seconds"] + uses["meta_seconds"],
        begin=np.where(uses["first"] > 0, start + uses["first"], np.nan),
        end=np.where(uses["last"] > 0, start + uses["last"], np.nan),
    )


@cache
def file_families(forest: Forest) -> pd.DataFrame:
    """Returns `file_rows` with the files of one family and one role in one row, those with most bytes first: path (the
    family's label, or the file's own), files (number of members), and the other columns of `file_rows` over all
    members; a process that wrote one member and read another counts in `both`.
    """
    found = file_rows(forest)
    kin = families(found["path"].tolist())
    found = found.assign(label=np.array(kin.labels, object)[kin.place])
    found["family"] = found.groupby([kin.place, found["role"]], sort=False).ngroup()
    members = found.groupby("family")
    rows = members[["files", "size", "bytes_read", "bytes_written", "opens", "seconds"]].sum()
    rows = rows.assign(role=members["role"].first(), first=members["first"].min(), last=members["last"].max())
    rows.insert(0, "path", members["label"].first().where(rows["files"] > 1, members["path"].first()))
    uses = _uses_in_time(forest).merge(found[["number", "family"]], left_on="path", right_on="number")
    used = uses.groupby(["family", "process"])[["bytes_read", "bytes_written"]].sum() > 0
    read, written = used["bytes_read"], used["bytes_written"]
    kinds = {"producers": written & ~read, "consumers": read & ~written, "both": read & written}
    rows = rows.assign(processes=used.groupby("family").size())
    rows = rows.assign(**{name: kind.groupby("family").sum() for name, kind in kinds.items()})
    rows["passes"] = rows["bytes_read"] / rows["size"].where(rows["size"] > 0)
    moved = (rows["bytes_read"] + rows["bytes_written"]).to_numpy()
    return rows.iloc[np.argsort(-moved, kind="stable")].reset_index(drop=True)


def roles(forest: Forest) -> pd.DataFrame:
    """Returns files by role (one of _ROLES): role, files, size, bytes_written, bytes_read, passes (bytes_read / size of
    those read).
    """
    found = file_rows(forest)
    by_role = found.groupby("role")
    rows = by_role[["size", "bytes_written", "bytes_read"]].sum()
    rows.insert(0, "files", by_role.size())
    return rows.reindex([role for role in _ROLES if role in rows.index]).reset_index()


@cache
def handed_over(forest: Forest) -> pd.DataFrame | None:
    """Returns which groups wrote files that other groups read, those with most bytes first; None without such files.

    The columns are producer and consumer (groups' names), files, bytes_written by the producers and bytes_read by the
    consumers of these files, and wait: the longest time in seconds from the last call of a producer on a file to the
    first call of a consumer; NaN if consumers began earlier.
    """
    shared = file_rows(forest)
    numbers = shared.loc[shared["role"] == _ROLES[0], "number"]
    uses = _uses_in_time(forest)
    uses = uses[uses["path"].isin(numbers)]
    rows = []
    for kind in ("bytes_written", "bytes_read"):
        some = uses[uses[kind] > 0].groupby(["path", "group"])
        rows.append(
            pd.DataFrame(
                {kind: some[kind].sum(), "who": some["process"].min(), "n": some.size(), "begin": some["begin"].min()}
            ).assign(end=some["end"].max())
        )
    pairs = rows[0].reset_index().merge(rows[1].reset_index(), on="path", suffixes=("_from", "_to"))
    alone = (pairs["who_from"] == pairs["who_to"]) & (pairs["n_from"] == 1) & (pairs["n_to"] == 1)
    pairs = pairs[~alone]
    if pairs.empty:
        return None
    wait = pairs["begin_to"] - pairs["end_from"]
    pairs = pairs.assign(wait=wait.where(wait >= 0), files=1)
    by_pair = pairs.groupby(["group_from", "group_to"])
    found = by_pair[["files", "bytes_written", "bytes_read"]].sum().assign(wait=by_pair["wait"].max()).reset_index()
    called = process_names(forest)
    found.insert(0, "producer", called[found.pop("group_from")].to_numpy())
    found.insert(1, "consumer", called[found.pop("group_to")].to_numpy())
    return found.sort_values("bytes_read", ascending=False, kind="stable", ignore_index=True)


@cache
def read_again(forest: Forest) -> pd.DataFrame | None:
    """Returns the folders whose files were read more than once, sorted by the bytes read beyond the first time; None
    without such folders.

    Columns: folder, files (that were read), size (together), bytes_read, again (bytes_read beyond size, over the files
    read more than once), least, median and most passes over a file (bytes_read / size), readers (processes). A data set
    whose files all have the same number of passes was read in that many epochs.
    """
    found = file_rows(forest)
    found = found[(found["size"] > 0) & (found["bytes_read"] > 0)]
    found = found.assign(folder=[str(PurePosixPath(path).parent) for path in found["path"]], files=1)
    found["again"] = (found["bytes_read"] - found["size"]).clip(lower=0)
    found = found[found["again"].groupby(found["folder"]).transform("sum") > 0]
    if found.empty:
        return None
    by_folder = found.groupby("folder")
    rows = by_folder[["files", "size", "bytes_read", "again"]].sum()
    for name, how in (("least", "min"), ("median", "median"), ("most", "max")):
        rows[name] = by_folder["passes"].agg(how)
    uses = _uses_in_time(forest)
    readers = uses[uses["bytes_read"] > 0].merge(found[["number", "folder"]], left_on="path", right_on="number")
    rows["readers"] = readers.groupby("folder")["process"].nunique()
    return rows.sort_values("again", ascending=False, kind="stable").reset_index()
