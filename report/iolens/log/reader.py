"""Read a log file into a Job."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from iolens.lazy import pd
from iolens.log.format.apmpi import read_apmpi
from iolens.log.format.container import Container, LogError, Region, inflate, open_container
from iolens.log.format.dxt import read_dxt
from iolens.log.format.fallback import read_with_darshan
from iolens.log.format.fixed import read_fixed
from iolens.log.format.header import read_job, read_names
from iolens.log.format.layouts import MODULES
from iolens.log.format.private import Entry, entries_of, read_private
from iolens.log.format.variable import VERSIONS, read_heatmap, read_lustre
from iolens.log.job import Job, ModuleInfo
from iolens.log.processes import process_of_rank
from iolens.log.records import Frames, Records

if TYPE_CHECKING:
    Found: TypeAlias = Records | pd.DataFrame

_Value = TypeVar("_Value")

_VARIABLE = {
    "LUSTRE": read_lustre,
    "DXT_POSIX": read_dxt,
    "DXT_MPIIO": read_dxt,
    "APMPI": read_apmpi,
    "HEATMAP": read_heatmap,
}
"""Readers of the modules whose records differ in length."""

ESSENCE = ("POSIX", "MPI-IO", "STDIO", "DFS", "DAOS", "HEATMAP", "job", "process", "processes")
"""The modules and private regions with the bytes and times of each rank and file, which are all that commands for many
logs need.
"""


def read_log(path: Path | str, parts: Collection[str] = ()) -> Job:
    """Reads a log of Darshan 3.0 or later or of this profiler, or only some of its modules and private regions.

    A damaged region costs only that region, and the job says which one (`Job.partial`). Raises LogError if the file is
    not a log, if its header or job region is damaged, or if no module can be read. LOG/3 is process 3 of a log that
    joins the processes of a command.
    """
    log, rank = Path(path).parent, Path(path).name
    if rank.isdecimal() and log.is_file():
        found = process_of_rank(job_of(open_container(log)), int(rank))
        if found is None:
            raise LogError(log, f"has no process {rank}; `iolens show --all {log}` lists those that it has", 2)
        return found
    return job_of(open_container(Path(path)), parts)


def job_of(log: Container, parts: Collection[str] = ()) -> Job:
    """Returns a log in memory, or some modules and private regions of it, as a Job."""
    fields, damage = read_job(log), _Damage()
    tables: dict[str, Found] = {}
    modules = []
    for region in log.modules:
        if parts and region.name not in parts:
            modules.append(ModuleInfo(region.name, region.version, region.length, region.partial, cut=region.cut))
            continue
        table, unread, note = _module(log, region, fields.nprocs, damage)
        if table is not None:
            tables[region.name] = table
        modules.append(ModuleInfo(region.name, region.version, region.length, region.partial, unread, note, region.cut))
    if damage.first is not None and not tables:
        raise damage.first
    private, listed = _private_regions(log, parts, fields.nprocs, damage)
    names = damage.without(lambda: read_names(log))
    return Job(
        path=log.path,
        version=f"{log.format[0]}.{log.format[1]}",
        byte_order="little" if log.order == "<" else "big",
        compression=log.compression,
        exe=fields.command.split(" ")[0],
        command=fields.command,
        uid=fields.uid,
        jobid=fields.jobid,
        start=fields.start,
        end=fields.end,
        run_time=fields.run_time,
        nprocs=fields.nprocs,
        metadata=fields.metadata,
        mounts=fields.mounts,
        names=names or {},
        modules=tuple(modules),
        frames=Frames(tables),
        private=Frames(private),
        missing=(*_missing(log, modules, tables, listed is None or bool(listed), fields.metadata), *damage.said),
        regions=tuple(entry.name for entry in listed or ()),
    )


_NOTHING_LEFT = "Its contents are missing."


class _Damage:
    """Collects the damaged regions of a log: the first error, and a sentence for each region."""

    def __init__(self) -> None:
        self.first: LogError | None = None
        self.said: list[str] = []

    def without(self, read: Callable[[], _Value]) -> _Value | None:
        """Returns the result of reading a region; None if the region is damaged, which is then noted."""
        try:
            return read()
        except LogError as error:
            self.note(error, _NOTHING_LEFT)
        return None

    def note(self, error: LogError, left: str) -> None:
        """Adds the sentence on a damaged region: the damage, and what is left of the region."""
        self.first = self.first or error
        self.said.append(f"The log {error.reason}. {left}")


def _module(log: Container, region: Region, nprocs: int, damage: _Damage) -> tuple[Found | None, str, str]:
    """Returns a module's records, or the reason for having none, and a note. Of a damaged region, only the records in
    front of the damage are returned, and only if the region could be decompressed as a whole.
    """
    if not region.length:
        return None, "cut off" * region.cut, ""
    try:
        return _checked_module(log, region, nprocs)
    except LogError as error:
        first = error
    try:
        inflate(log, region)
        table, _, note = _checked_module(log, replace(region, cut=True), nprocs)
    except LogError:
        table, note = None, ""
    rows = 0 if table is None else len(table)
    damage.note(first, f"Only the first {rows:,} rows of {region.name} are there." if rows else _NOTHING_LEFT)
    return (table, "", note) if rows else (None, "damaged", "")


def _checked_module(log: Container, region: Region, nprocs: int) -> tuple[Found | None, str, str]:
    """Returns what `read_module` does; raises LogError if a record belongs to a rank that the job does not have."""
    table, unread, note = read_module(log, region)
    if region.cut and table is not None and not len(table):
        table, unread = None, "cut off"
    if table is not None:
        _check_ranks(log, region, table, nprocs)
    return table, unread, note


def _private_regions(
    log: Container, parts: Collection[str], nprocs: int, damage: _Damage
) -> tuple[dict[str, Records | dict[str, Any]], tuple[Entry, ...] | None]:
    """Returns the private regions that could be read, by name, and the directory of all; None instead of a damaged
    directory.
    """
    try:
        entries = entries_of(log) or ()
    except LogError as error:
        damage.note(error, "What iolens adds to Darshan's data (hosts, hints, processes) is missing.")
        return {}, None
    found = {}
    for entry in entries:
        if not parts or entry.name in parts:
            region = damage.without(partial(read_private, log, entry, nprocs))
            if region is not None:
                found[entry.name] = region
    return found, entries


def _missing(
    log: Container,
    modules: Iterable[ModuleInfo],
    tables: Mapping[str, Found],
    private: bool,
    metadata: Mapping[str, str],
) -> tuple[str, ...]:
    """Returns sentences on the parts that are missing because the file was cut short; empty for a complete log."""
    said = []
    for name, unread in ((module.name, module.unread) for module in modules if module.cut):
        left = f"; only the first {len(tables[name]):,} rows are there" if name in tables else ""
        said.append(f"{name}: the file is truncated{left or '; nothing is there' * bool(unread)}.")
    if log.names.cut:
        said.insert(0, "Names of files: the log is truncated, and some or all names are missing.")
    if not private and metadata.get("lib_ver", "").startswith("iolens"):
        said.append(
            "The file is truncated: the data that iolens adds to Darshan's (hosts, hints, processes) is missing."
        )
    return tuple(said)


def read_module(log: Container, region: Region) -> tuple[Found | None, str, str]:
    """Returns a module's records, or the reason for having none, and a note."""
    if region.name in _VARIABLE:
        if region.version in VERSIONS[region.name]:
            return _VARIABLE[region.name](log, region), "", ""
        return None, f"record version {region.version} is unknown", ""
    if region.name in MODULES and region.version in MODULES[region.name].versions:
        records, note = read_fixed(log, region)
        return records, "", note
    if region.name in MODULES:
        found, reason = read_with_darshan(log.path, region.name)
        reason = reason and f"record version {region.version} is unknown; {reason}"
        return found, reason, "read by libdarshan-util" if found is not None else ""
    return None, "iolens does not know the records of this module", ""


def _check_ranks(log: Container, region: Region, table: Found, nprocs: int) -> None:
    """Raises LogError if a record belongs to a rank that the job does not have."""
    ranks = np.asarray(table["rank"])
    if len(ranks) and not -1 <= ranks.min() <= ranks.max() < nprocs:
        reason = f"is damaged: a record of its {region.name} region has a rank that a job of {nprocs} does not have"
        raise LogError(log.path, reason)
