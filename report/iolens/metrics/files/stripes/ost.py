"""The bytes that each object storage target (OST) moved, and the number of ranks that meet on each stripe.

A byte at offset `o` of a file lies on stripe (o // stripe_size) % stripe_count of the component whose extent holds it
(Lustre's RAID-0 layout, counted from the start of the file). The private region `ost_bytes` was counted in this way
during the run (profiler/LOG.md). For other logs the same numbers follow exactly from the layout and single transfers
(DXT_POSIX). POSIX records alone do not tell where in a file the bytes went, unless all files have a single stripe: then
bytes and times of a file are those of its target, and a slow target can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.grouped import families_of
from iolens.metrics.files.use import among
from iolens.metrics.files.writers import ranks_of_files
from iolens.metrics.grouping import Groups, ordered
from iolens.metrics.once import once_per_job
from iolens.metrics.times.traces import PIECE, record_slices, run_begins

_COLUMNS = ["file", "rank", "component", "stripe", "ost", "bytes_read", "bytes_written"]
_KINDS = ("u8", "i8", "i8", "i8", "i8", "i8", "i8")
"""NumPy type of each of _COLUMNS."""
_GAP = 1.25
"""Slow targets are clearly apart if the slowest of the other targets is at least this factor faster than the fastest
slow one.
"""
_FEWEST_TARGETS = 3
"""Minimum number of targets with which one of them can be called slow."""
_SENT = ["STDIO_BYTES_READ", "STDIO_BYTES_WRITTEN"]


@dataclass(frozen=True)
class TargetBytes:
    """`table`: one row per target: ost, ranks, files, bytes_read, bytes_written, bytes, seconds (in reads and writes,
    all ranks added up) and bytes_per_second of it, both NaN if not known; `table` is None if there is none, and
    `reason` says why.

    `unplaced`: bytes whose target is not known, because the file is mirrored or a part of it lies on a metadata target.
    """

    table: Records | None
    reason: str
    unplaced: int = 0


@once_per_job
def target_bytes(job: Job) -> TargetBytes:
    """Returns the bytes, ranks and files of each target, over all files with a layout."""
    rows, reason = stripe_records(job)
    if rows is None:
        return TargetBytes(None, reason)
    known, others = rows.where(rows["ost"] >= 0), rows.where(rows["ost"] < 0)
    unplaced = int((others["bytes_read"] + others["bytes_written"]).sum())
    if not len(known):
        return TargetBytes(None, "no bytes were moved to or from a file whose target is known", unplaced)
    targets = Groups(known["ost"])
    read, written = (targets.sum(known[f"bytes_{kind}"]) for kind in ("read", "written"))
    seconds = targets.sum(known.get("seconds", np.full(len(known), np.nan)))
    table = {
        "ost": known["ost"][targets.first],
        "ranks": np.where(targets.min(known["rank"]) < 0, job.nprocs, targets.distinct(known["rank"])).astype(float),
        "files": targets.distinct(known["file"]),
        "bytes_read": read,
        "bytes_written": written,
        "seconds": seconds,
        "bytes": read + written,
        "bytes_per_second": (read + written) / np.where(seconds > 0, seconds, np.nan),
    }
    return TargetBytes(ordered(Records(table), "ost"), "", unplaced)


@once_per_job
def target_rows(job: Job) -> Records | None:
    """Returns the table of `target_bytes`; None if it has a reason instead."""
    return target_bytes(job).table


@once_per_job
def stripe_ranks(job: Job, limit: int = 15, by_family: bool = True) -> Records | None:
    """Returns, for each file, how many ranks moved bytes of the same stripe. Files with the most bytes come first; a
    family of files is represented by its file with the most bytes.

    Columns: path (a family's label), files (of the family), stripes (that moved bytes), fewest_ranks and most_ranks (on
    one of these stripes), ranks (of the file), bytes, fullest (bytes of the largest stripe over the mean). None if
    `target_bytes` has a reason instead of a table.
    """
    rows, _ = stripe_records(job)
    if rows is None or "seconds" in rows:  # Files of a single stripe cannot be uneven.
        return None
    rows = rows.where(rows["ost"] >= 0)
    if not len(rows):
        return None
    stripes = Groups(rows["file"], rows["component"], rows["stripe"])
    file, ranks = rows["file"][stripes.first], stripes.distinct(rows["rank"])
    moved = stripes.sum(rows["bytes_read"] + rows["bytes_written"])
    files, users = Groups(file), Groups(rows["file"])
    found = Records(
        {
            "id": file[files.first],
            "stripes": files.sizes,
            "fewest_ranks": files.min(ranks),
            "most_ranks": files.max(ranks),
            "ranks": users.distinct(rows["rank"]),
            "bytes": files.sum(moved),
            "fullest": files.max(moved) / (files.sum(moved) / files.sizes),
        }
    )
    every = ordered(found, "-bytes")
    kin = families_of(job, every["id"], by_family)
    names = {"path": np.array(kin.labels, object), "files": kin.sizes}
    return every.where(Groups(kin.place).first).beside(names).where(slice(limit))


def target_imbalance(table: Records) -> float:
    """Returns the bytes of the busiest target over the mean of the targets that moved any bytes; 1: even."""
    return float(table["bytes"].max() / table["bytes"].mean())


def clearly_slow(speed: np.ndarray, factor: float) -> np.ndarray:
    """Returns which targets are slow: `factor` times below the median speed, and _GAP times below the next target.

    No target is slow if many others are nearly as slow, because a single target is then not the cause. A target of
    unknown speed (NaN) is not slow.
    """
    known = np.sort(speed[~np.isnan(speed)])
    slow = int((known * factor <= np.median(known)).sum()) if len(known) else 0
    if not slow or (slow < len(known) and known[slow] < _GAP * known[slow - 1]):
        return np.zeros(len(speed), bool)
    return np.asarray(speed <= known[slow - 1])


@once_per_job
def slow_targets(job: Job) -> Records | None:
    """Returns the targets of `target_bytes` that moved less than half as many bytes per second as the median target,
    and clearly less than the next one, slowest first; `median` has the median target's bytes per second. None if
    times are not known. Targets with less than half of the mean bytes are left out, because their time may be mostly
    latency.
    """
    table = target_bytes(job).table
    if table is None or len(table) < _FEWEST_TARGETS or np.isnan(table["bytes_per_second"]).all():
        return None
    table = table.where(table["bytes"] >= table["bytes"].mean() / 2)
    median = float(np.nanmedian(table["bytes_per_second"]))
    slow = ordered(table.where(clearly_slow(table["bytes_per_second"], 2)), "bytes_per_second")
    return slow.beside({"median": np.full(len(slow), median)})


@once_per_job
def stripe_records(job: Job) -> tuple[Records | None, str]:
    """Returns the bytes per file, rank and stripe (_COLUMNS) and an empty text; or None and the reason."""
    counted = job.tables.get("ost_bytes")
    if counted is not None and len(counted):
        return Records({name: counted[name] for name in _COLUMNS}), ""
    if not len(job.records.get("LUSTRE", ())):
        return None, "the log has no layouts of files"
    single = _from_single_stripes(job)
    if single is not None:
        return single, ""
    traced, posix = job.records.get("DXT_POSIX"), job.records.get("POSIX")
    if traced is None or posix is None:
        return None, "the log has only sums per file, not bytes per target or single transfers (DXT)"
    layouts = job.records["LUSTRE"]
    begins_at = np.append(run_begins(traced["id"]), len(traced))
    striped = np.repeat(among(traced["id"][begins_at[:-1]], layouts["id"]), np.diff(begins_at))
    counted_bytes = posix["POSIX_BYTES_READ"] + posix["POSIX_BYTES_WRITTEN"]
    if int(traced["length"][striped].sum()) != int(counted_bytes[among(posix["id"], layouts["id"])].sum()):
        return None, "only some transfers were traced (DXT)"
    stdio = job.records.get("STDIO")
    if stdio is not None and any(stdio[name][among(stdio["id"], layouts["id"])].any() for name in _SENT):
        return None, "stdio also moved bytes, and DXT does not trace stdio"
    return _from_traces(traced, layouts), ""


def _from_single_stripes(job: Job) -> Records | None:
    """Returns _COLUMNS and `seconds` from sums per file if each file that moved bytes lies on one target; else None."""
    layouts, moved = job.records["LUSTRE"], moving_records(job)
    moved = moved.where(among(moved["file"], layouts["id"]))
    layouts = layouts.where(among(layouts["id"], moved["file"]))
    if not len(layouts) or layouts["component"].any() or any(len(osts) != 1 for osts in layouts["osts"]):
        return None
    target = {key: osts[0] for key, osts in zip(layouts["id"].tolist()[::-1], layouts["osts"][::-1], strict=True)}
    places = np.array([target[key] for key in moved["file"].tolist()], "i8")
    none = np.zeros(len(moved), "i8")
    return moved.beside({"component": none, "stripe": none, "ost": places})


@once_per_job
def moving_records(job: Job) -> Records:
    """Returns records of POSIX and STDIO that moved bytes: file, rank, bytes_read, bytes_written, seconds (all
    its ranks).
    """
    parts = [
        {
            "file": records["id"],
            "rank": records["rank"],
            "bytes_read": np.maximum(records[f"{name}_BYTES_READ"], 0),
            "bytes_written": np.maximum(records[f"{name}_BYTES_WRITTEN"], 0),
            "seconds": sum(np.maximum(records[f"{name}_F_{kind}_TIME"], 0) for kind in ("READ", "WRITE")),
        }
        for name, records in job.records.items()
        if name in ("POSIX", "STDIO")
    ]
    kinds = {"file": "u8", "rank": "i8", "bytes_read": "i8", "bytes_written": "i8", "seconds": "f8"}
    found = {name: np.concatenate([np.zeros(0, kind), *(part[name] for part in parts)]) for name, kind in kinds.items()}
    return Records(found).where((found["bytes_read"] > 0) | (found["bytes_written"] > 0))


def moved_by_target(job: Job) -> tuple[np.ndarray, np.ndarray]:
    """Returns the targets that moved bytes, and the bytes of each; both are empty if `target_bytes` has a reason
    instead of a table.
    """
    rows, _ = stripe_records(job)
    if rows is None:
        return np.zeros(0, "i8"), np.zeros(0)
    rows = rows.where(rows["ost"] >= 0)
    targets, place = np.unique(rows["ost"], return_inverse=True)
    return targets, np.bincount(place, rows["bytes_read"] + rows["bytes_written"], len(targets))


@dataclass(frozen=True)
class RecordedComponent:
    """A component of a file's layout, as the module `variable` describes it."""

    component: int
    stripe_size: int
    extent_start: int
    extent_end: int
    mirror: int
    osts: tuple[int, ...]


def _components_of(layouts: Records) -> dict[int, dict[int, RecordedComponent]]:
    """Returns the components of each file's layout, by file and number."""
    found: dict[int, dict[int, RecordedComponent]] = {}
    names = ("component", "stripe_size", "extent_start", "extent_end", "mirror", "osts")
    for key, *values in zip(*(layouts[name].tolist() for name in ("id", *names)), strict=True):
        component = RecordedComponent(*values)
        found.setdefault(key, {}).setdefault(component.component, component)
    return found


def _from_traces(traced: Records, layouts: Records) -> Records:
    """Returns _COLUMNS from single transfers and the components of the files' layouts; files without a layout are left
    out.
    """
    parts: list[list[Any]] = [[np.zeros(0, kind)] for kind in _KINDS]
    known = _components_of(layouts)
    for (key, rank), places in record_slices(traced).items():
        if key not in known:
            continue
        components = list(known[key].values())
        offset, left = (np.concatenate([traced[name][place] for place in places]) for name in ("offset", "length"))
        length = left.copy()
        reading = np.concatenate([traced.says("op", "read", place) for place in places])
        for component in components if len({each.mirror for each in components}) == 1 else ():
            begin, end = _clipped(offset, length, component)
            if component.stripe_size <= 0 or not component.osts:
                continue
            left -= end - begin
            moved = [_per_stripe(begin[mask], end[mask], component) for mask in (reading, ~reading)]
            number = np.arange(len(component.osts))
            _add_rows(parts, (key, rank, component.component, number, np.array(component.osts), *moved))
        _add_rows(parts, (key, rank, -1, np.array([-1]), -1, *(left[mask].sum() for mask in (reading, ~reading))))
    found = dict(zip(_COLUMNS, map(np.concatenate, parts), strict=True))
    return Records(found).where((found["bytes_read"] > 0) | (found["bytes_written"] > 0))


def _add_rows(parts: list[list[Any]], values: tuple[Any, ...]) -> None:
    """Appends one array to each list in `parts`, one list for each of _COLUMNS, with an element per stripe. The fourth
    of the `values` has an element per stripe; single values are repeated.
    """
    for part, value, kind in zip(parts, values, _KINDS, strict=True):
        part.append(np.broadcast_to(np.asarray(value, kind), len(values[3])))


def _clipped(offset: np.ndarray, length: np.ndarray, component: RecordedComponent) -> tuple[np.ndarray, np.ndarray]:
    """Returns the begin and end of each transfer, cut to the component's extent; they are equal if the transfer lies
    outside.
    """
    begin, end = np.maximum(offset, max(0, component.extent_start)), offset + length
    if component.extent_end >= 0:
        end = np.minimum(end, component.extent_end)
    return begin, np.maximum(begin, end)


def _per_stripe(begin: np.ndarray, end: np.ndarray, component: RecordedComponent) -> np.ndarray:
    """Returns the bytes on each stripe of the ranges [begin, end): whole rounds, and the part of the last round."""
    size, count = component.stripe_size, len(component.osts)
    first = np.arange(count)[:, None] * size

    def below(place: np.ndarray) -> np.ndarray:
        return np.asarray(place // (size * count) * size + np.clip(place % (size * count) - first, 0, size))

    moved, step = np.zeros(count, dtype=np.int64), max(1, PIECE // count)
    for at in range(0, len(begin), step):
        moved += (below(end[at : at + step]) - below(begin[at : at + step])).sum(axis=1)
    return moved


@once_per_job
def stripe_writers(job: Job) -> Records | None:
    """Returns how many ranks wrote to the stripes of each file that more than one rank wrote, by `id`.

    Columns: stripes (that were written), fewest and most (ranks on one of them), ranks (of the file), bytes (written).
    None if `target_bytes` has a reason instead of a table, or if no stripe is known to be written.
    """
    rows, _ = stripe_records(job)
    if rows is None:
        return None
    rows = rows.where((rows["ost"] >= 0) & (rows["bytes_written"] > 0))
    rows = rows.where(np.lexsort([rows["rank"], rows["stripe"], rows["component"], rows["file"]]))
    file = _differs_from_last(rows["file"])
    stripe = file | _differs_from_last(rows["component"]) | _differs_from_last(rows["stripe"])
    if not len(rows):
        return None
    ranks = np.add.reduceat(stripe | _differs_from_last(rows["rank"]), np.flatnonzero(stripe), dtype="i8")
    first = np.flatnonzero(file[stripe])
    users = ranks_of_files(rows["file"], rows["rank"])
    found = {
        "id": rows["file"][file],
        "stripes": np.diff(first, append=len(ranks)),
        "fewest": np.minimum.reduceat(ranks, first),
        "most": np.maximum.reduceat(ranks, first),
        "bytes": np.add.reduceat(rows["bytes_written"], np.flatnonzero(file)),
        "ranks": np.array([users[key] for key in rows["file"][file].tolist()]),
    }
    return Records(found).where(found["ranks"] > 1)


def _differs_from_last(values: np.ndarray) -> np.ndarray:
    """Returns whether each value differs from the one before it; True for the first."""
    found = np.ones(len(values), bool)
    found[1:] = values[1:] != values[:-1]
    return found


@once_per_job
def apart(job: Job) -> np.ndarray:
    """Returns the ids of files that several ranks wrote although each stripe is known to have been written by a single
    rank.
    """
    found = stripe_writers(job)
    return np.zeros(0, "u8") if found is None else found["id"][found["most"] == 1]
