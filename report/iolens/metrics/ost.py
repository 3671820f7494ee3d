"""What each object storage target (OST) moved, and how many ranks meet on each stripe.

A byte at offset `o` of a file lies on stripe (o // stripe_size) % stripe_count of the component whose extent holds it
(Lustre's RAID-0 layout, counted from the start of the file). The private region `ost_bytes` has been counted so during
the run (profiler/LOG.md); from other logs the same comes out of the layout and single transfers (DXT_POSIX), exactly;
POSIX records alone do not say where in a file the bytes went.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from iolens.metrics.files import paths
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

COLUMNS = ["file", "rank", "component", "stripe", "ost", "bytes_read", "bytes_written"]
SENT = ["STDIO_BYTES_READ", "STDIO_BYTES_WRITTEN"]


@dataclass(frozen=True)
class TargetBytes:
    """`table`: one row a target: ost, ranks, files, bytes_read, bytes_written, bytes; None for `reason`.

    `unplaced`: bytes whose target is not known: mirrored files, a file's part on a metadata target.
    """

    table: pd.DataFrame | None
    reason: str
    unplaced: int = 0


@once_per_job
def target_bytes(job: Job) -> TargetBytes:
    """Bytes, ranks and files per target, over all files with a layout."""
    rows, reason = stripe_bytes(job)
    if rows is None:
        return TargetBytes(None, reason)
    known = rows[rows["ost"] >= 0]
    table = known.groupby("ost", as_index=False).agg(
        ranks=("rank", "nunique"),
        files=("file", "nunique"),
        bytes_read=("bytes_read", "sum"),
        bytes_written=("bytes_written", "sum"),
    )
    table["bytes"] = table["bytes_read"] + table["bytes_written"]
    unplaced = int(rows.loc[rows["ost"] < 0, ["bytes_read", "bytes_written"]].sum().sum())
    if table.empty:
        return TargetBytes(None, "no bytes were moved to or from a file whose target is known", unplaced)
    return TargetBytes(table, "", unplaced)


@once_per_job
def target_rows(job: Job) -> pd.DataFrame | None:
    """The table of `target_bytes`; None for its reason."""
    return target_bytes(job).table


@once_per_job
def stripe_ranks(job: Job, limit: int = 15) -> pd.DataFrame | None:
    """How many ranks share the stripes of a file; the files with most bytes first.

    Columns: path, stripes (that moved bytes), fewest_ranks, most_ranks (on one of them), ranks (of the file), bytes,
    fullest (the largest stripe's share of the bytes over an even share). None where `target_bytes` has a reason.
    """
    import pandas as pd

    rows, _ = stripe_bytes(job)
    if rows is None:
        return None
    rows = rows[rows["ost"] >= 0].assign(bytes=lambda part: part["bytes_read"] + part["bytes_written"])
    found = []
    for key, part in rows.groupby("file", sort=False):
        each = part.groupby(["component", "stripe"]).agg(ranks=("rank", "nunique"), bytes=("bytes", "sum"))
        found.append(
            {
                "path": paths(job, [key])[0],
                "stripes": len(each),
                "fewest_ranks": int(each["ranks"].min()),
                "most_ranks": int(each["ranks"].max()),
                "ranks": int(part["rank"].nunique()),
                "bytes": int(each["bytes"].sum()),
                "fullest": float(each["bytes"].max() / each["bytes"].mean()),
            }
        )
    return pd.DataFrame(found).nlargest(limit, "bytes").reset_index(drop=True) if found else None


def imbalance(table: pd.DataFrame) -> float:
    """Bytes of the busiest target over the mean of the targets that moved any; 1: even."""
    return float(table["bytes"].max() / table["bytes"].mean())


@once_per_job
def stripe_bytes(job: Job) -> tuple[pd.DataFrame | None, str]:
    """Bytes per file, rank and stripe (COLUMNS), or None and why there are none."""
    import pandas as pd

    counted = job.private.get("ost_bytes")
    if isinstance(counted, pd.DataFrame) and not counted.empty:
        return counted[COLUMNS], ""
    layouts = job.frames.get("LUSTRE")
    if layouts is None or layouts.empty:
        return None, "the log has no layouts of files"
    traced = job.frames.get("DXT_POSIX")
    posix = job.frames.get("POSIX")
    if traced is None or posix is None:
        return None, "the log has sums per file only: neither bytes per target nor single transfers (DXT)"
    traced = traced[traced["id"].isin(layouts["id"])]
    posix = posix[posix["id"].isin(layouts["id"])]
    if int(traced["length"].sum()) != int(posix[["POSIX_BYTES_READ", "POSIX_BYTES_WRITTEN"]].to_numpy().sum()):
        return None, "only some transfers were traced (DXT)"
    stdio = job.frames.get("STDIO")
    if stdio is not None and stdio.loc[stdio["id"].isin(layouts["id"]), SENT].to_numpy().any():
        return None, "stdio moved bytes as well, which are not traced (DXT)"
    return from_traces(traced, layouts.drop_duplicates(["id", "component"])), ""


def from_traces(traced: pd.DataFrame, layouts: pd.DataFrame) -> pd.DataFrame:
    """COLUMNS from single transfers and the components of the files' layouts."""
    import pandas as pd

    parts: list[pd.DataFrame] = []
    for (key, rank), transfers in traced.groupby(["id", "rank"], sort=False):
        components = layouts[layouts["id"] == key]
        left = transfers["length"].to_numpy(dtype=np.int64).copy()
        reading = (transfers["op"] == "read").to_numpy()
        mirrored = components["mirror"].nunique() > 1
        for component in () if mirrored else components.itertuples():
            begin, end = clipped(transfers, component)
            if component.stripe_size <= 0 or not component.osts:
                continue
            left -= end - begin
            moved = [per_stripe(begin[mask], end[mask], component) for mask in (reading, ~reading)]
            numbers = np.arange(len(component.osts))
            parts.append(rows_of(key, rank, component.component, numbers, component.osts, moved))
        rest = [np.array([left[mask].sum()]) for mask in (reading, ~reading)]
        parts.append(rows_of(key, rank, -1, np.array([-1]), (-1,), rest))
    found = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
    return found[(found["bytes_read"] > 0) | (found["bytes_written"] > 0)].reset_index(drop=True)


def clipped(transfers: pd.DataFrame, component: Any) -> tuple[np.ndarray, np.ndarray]:
    """Begin and end of each transfer within the component's extent; equal where it is outside."""
    offset = transfers["offset"].to_numpy(dtype=np.int64)
    begin = np.maximum(offset, max(0, component.extent_start))
    end = offset + transfers["length"].to_numpy(dtype=np.int64)
    if component.extent_end >= 0:
        end = np.minimum(end, component.extent_end)
    return begin, np.maximum(begin, end)


def per_stripe(begin: np.ndarray, end: np.ndarray, component: Any) -> np.ndarray:
    """Bytes on each stripe of the ranges [begin, end): those of whole rounds, and what the last round has of it."""
    size, count = component.stripe_size, len(component.osts)
    first = np.arange(count)[:, None] * size

    def below(place: np.ndarray) -> np.ndarray:
        return np.asarray(place // (size * count) * size + np.clip(place % (size * count) - first, 0, size))

    return np.asarray((below(end) - below(begin)).sum(axis=1))


def rows_of(
    key: Any, rank: Any, component: int, stripes: np.ndarray, osts: tuple[int, ...], moved: list[np.ndarray]
) -> pd.DataFrame:
    """COLUMNS of one file, rank and component."""
    import pandas as pd

    return pd.DataFrame(
        {
            "file": key,
            "rank": rank,
            "component": component,
            "stripe": stripes,
            "ost": list(osts),
            "bytes_read": moved[0],
            "bytes_written": moved[1],
        }
    )
