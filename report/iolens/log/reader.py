"""Read a log file into a Job."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from iolens.lazy import pd
from iolens.log.format.apmpi import read_apmpi
from iolens.log.format.container import Container, LogError, Region, open_container
from iolens.log.format.dxt import read_dxt
from iolens.log.format.fallback import read_with_darshan
from iolens.log.format.fixed import read_fixed
from iolens.log.format.header import read_job, read_names
from iolens.log.format.layouts import MODULES
from iolens.log.format.private import entries_of, read_private
from iolens.log.format.variable import VERSIONS, read_heatmap, read_lustre
from iolens.log.job import Job, ModuleInfo
from iolens.log.records import Frames, Records

if TYPE_CHECKING:
    Found: TypeAlias = Records | pd.DataFrame

_VARIABLE = {
    "LUSTRE": read_lustre,
    "DXT_POSIX": read_dxt,
    "DXT_MPIIO": read_dxt,
    "APMPI": read_apmpi,
    "HEATMAP": read_heatmap,
}
"""Readers of the modules whose records differ in length."""

ESSENCE = ("POSIX", "MPI-IO", "STDIO", "DFS", "DAOS", "HEATMAP", "job", "process")
"""The modules and private regions with the bytes and times of each rank and file, which are all that commands for many
logs need.
"""


def read_log(path: Path | str, parts: Collection[str] = ()) -> Job:
    """Reads a log of Darshan 3.0 or later or of this profiler, or only some of its modules and private regions; raises
    LogError if what is read is damaged, or if the file is not a log.
    """
    return job_of(open_container(Path(path)), parts)


def job_of(log: Container, parts: Collection[str] = ()) -> Job:
    """Returns a log in memory, or some modules and private regions of it, as a Job."""
    fields = read_job(log)
    tables: dict[str, Found] = {}
    modules = []
    for region in log.modules:
        if parts and region.name not in parts:
            modules.append(ModuleInfo(region.name, region.version, region.length, region.partial, cut=region.cut))
            continue
        table, unread, note = read_module(log, region) if region.length else (None, "cut off" * region.cut, "")
        if region.cut and table is not None and not len(table):
            table, unread = None, "cut off"
        if table is not None:
            _check_ranks(log, region, table, fields.nprocs)
            tables[region.name] = table
        modules.append(ModuleInfo(region.name, region.version, region.length, region.partial, unread, note, region.cut))
    entries = entries_of(log) or ()
    private = read_private(log, [entry for entry in entries if not parts or entry.name in parts], fields.nprocs)
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
        names=read_names(log),
        modules=tuple(modules),
        frames=Frames(tables),
        private=Frames(private),
        missing=_missing(log, modules, tables, bool(entries), fields.metadata),
        regions=tuple(entry.name for entry in entries),
    )


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
