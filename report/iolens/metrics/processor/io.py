"""The I/O of single ranks: time, calls and bytes by layer, kind and file, as far as the log knows ranks apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from iolens.metrics.files import LOWEST, paths
from iolens.metrics.layers import LAYERS, io_time
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

KINDS = {"read": ("READ", "BYTES_READ"), "write": ("WRITE", "BYTES_WRITTEN"), "meta": ("META", None)}
META = {
    "POSIX": ("OPENS", "STATS", "SEEKS", "FSYNCS", "FDSYNCS"),
    "STDIO": ("OPENS", "SEEKS", "FLUSHES"),
}
"""Calls whose time a record holds as metadata time; syncs count there as calls, and as writes in time."""

TRANSFERS = ("independent read", "independent write", "collective read", "collective write")

COLUMNS = ["rank", "group", "function", "id", "calls", "time", "bytes"]


@once_per_job
def rank_io(job: Job) -> pd.DataFrame | None:
    """A row per rank, `group` (POSIX, STDIO, MPI-IO), `function` (read, write, meta; of MPI-IO exchange, meta), file.

    Columns also: file (path), calls, time (seconds), bytes. A file that all ranks used is known by rank where the
    private table `file_ranks` has it; else its rows are of rank -1, all ranks together. The groups do not overlap:
    MPI-IO is what its calls took beyond the POSIX time in them; of a file that all ranks used, collective transfers are
    known by rank, and all other calls of all ranks together. None where no layer recorded anything.
    """
    import pandas as pd

    parts = [part for name in LOWEST if name in job.frames for part in layer_rows(name, job)]
    parts += exchange_rows(job)
    parts = [part[(part["calls"] > 0) | (part["time"] > 0)] for part in parts]
    parts = [part for part in parts if len(part)]
    if not parts:
        return None
    rows = pd.concat(parts, ignore_index=True)
    return rows.assign(file=paths(job, rows["id"]))


def layer_rows(name: str, job: Job) -> Iterator[pd.DataFrame]:
    """POSIX or STDIO: a frame a kind."""
    frame = job.frames[name]
    apart = job.private.get("file_ranks") if name == "POSIX" else None
    if apart is not None and not isinstance(apart, dict) and len(apart):
        shared = frame.loc[frame["rank"] < 0, "id"]
        apart = apart[apart["file"].isin(shared)]
        frame = frame[(frame["rank"] >= 0) | ~frame["id"].isin(apart["file"])]
        yield from (apart_rows(apart, kind) for kind in KINDS)
    for kind, (time, moved) in KINDS.items():
        counters = META[name] if kind == "meta" else (f"{time}S",)
        yield rows_of(
            rank=frame["rank"],
            group=name,
            function=kind,
            id=frame["id"],
            calls=sum(frame[f"{name}_{one}"].clip(lower=0) for one in counters if f"{name}_{one}" in frame),
            time=frame[f"{name}_F_{time}_TIME"].clip(lower=0),
            bytes=frame[f"{name}_{moved}"].clip(lower=0) if moved else 0,
        )


def apart_rows(apart: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The same from `file_ranks`."""
    calls, moved = {"read": ("reads", "bytes_read"), "write": ("writes", "bytes_written"), "meta": ("opens", "")}[kind]
    return rows_of(
        rank=apart["rank"],
        group="POSIX",
        function=kind,
        id=apart["file"],
        calls=apart.get(calls, 0),
        time=apart.get(f"{kind}_time", 0.0),
        bytes=apart[moved] if moved else 0,
    )


def exchange_rows(job: Job) -> list[pd.DataFrame]:
    """MPI-IO beyond POSIX."""
    frame, posix = job.frames.get("MPI-IO"), job.frames.get("POSIX")
    found = []
    if frame is not None:
        own = frame[frame["rank"] >= 0]
        below = {}
        if posix is not None:
            spent = posix[["id", "rank"]].assign(spent=io_time(posix, "POSIX"))
            below = spent.groupby(["id", "rank"])["spent"].sum().to_dict()
        within = [below.get(key, 0.0) for key in zip(own["id"], own["rank"], strict=True)]
        calls = sum(own[f"MPIIO_{name}"] for names in LAYERS["MPI-IO"].operations.values() for name in names)
        time = np.maximum(io_time(own, "MPIIO") - within, 0)
        found.append(
            rows_of(rank=own["rank"], group="MPI-IO", function="exchange", id=own["id"], calls=calls, time=time)
        )
    table = job.private.get("mpiio_collectives")
    if table is not None and not isinstance(table, dict) and len(table) and frame is not None:
        part = table[table["file"].isin(frame.loc[frame["rank"] < 0, "id"])]
        time = (part["seconds"] - part["access"]).clip(lower=0)
        calls = part["calls"]
        found.append(
            rows_of(rank=part["rank"], group="MPI-IO", function="exchange", id=part["file"], calls=calls, time=time)
        )
    if frame is not None:
        found += shared_rows(frame[frame["rank"] < 0], posix, table)
    return found


def shared_rows(shared: pd.DataFrame, posix: pd.DataFrame | None, collectives: Any) -> list[pd.DataFrame]:
    """MPI-IO beyond POSIX in files that all ranks used, of all together: metadata, and transfers that are not known by
    rank. A merged record holds the sums of the times of all ranks."""
    below, timed = no_rows(), no_rows()
    if posix is not None:
        below = posix.assign(meta=posix["POSIX_F_META_TIME"], all=io_time(posix, "POSIX")).groupby("id").sum()
    if collectives is not None and not isinstance(collectives, dict) and len(collectives):
        timed = collectives.groupby("file")[["calls", "seconds", "access"]].sum()

    def of(frame: pd.DataFrame, column: str) -> pd.Series[float]:
        return frame[column].reindex(shared["id"], fill_value=0).set_axis(shared.index)

    meta = (shared["MPIIO_F_META_TIME"] - of(below, "meta")).clip(lower=0)
    moved = io_time(shared, "MPIIO") - shared["MPIIO_F_META_TIME"] - of(timed, "seconds")
    beneath = (of(below, "all") - of(below, "meta") - of(timed, "access")).clip(lower=0)
    operations = LAYERS["MPI-IO"].operations
    transfers = sum(shared[f"MPIIO_{name}"] for kind in TRANSFERS for name in operations[kind])
    opens = sum(
        shared[f"MPIIO_{name}"] for kind in ("independent open", "collective open") for name in operations[kind]
    )
    columns = {"rank": -1, "group": "MPI-IO", "id": shared["id"]}
    return [
        rows_of(**columns, function="meta", calls=opens, time=meta),
        rows_of(
            **columns,
            function="exchange",
            calls=(transfers - of(timed, "calls")).clip(lower=0),
            time=(moved - beneath).clip(lower=0),
        ),
    ]


def no_rows() -> pd.DataFrame:
    """Sums by file of what was not recorded."""
    import pandas as pd

    return pd.DataFrame({name: pd.Series(dtype=float) for name in ("meta", "all", "calls", "seconds", "access")})


def rows_of(**columns: object) -> pd.DataFrame:
    """A frame with COLUMNS."""
    import pandas as pd

    return pd.DataFrame({"bytes": 0, **columns})[COLUMNS].reset_index(drop=True)
