"""The parts of the private regions that pages require; they are checked once, when a log is read. Regions describe
themselves, so columns and keys that are not listed here may be absent; code that uses them tests for that.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from iolens.log.format.columns import Columns

PROCESSES = "processes"
"""The private region with the facts of each process of a log that joins several (profiler/LOG.md)."""

REPLACED = "became another program"
"""Words of the reason that `iolens-recover` gives for a process that called exec; its records are whole up to then."""

SPOOL_FULL = "the spool folder ran out of room"
"""Words of the reason for records that were only in the memory of a process that wrote no log."""

SINCE_START = {
    "traced_events": ("start", "end"),
    "threads": ("begin",),
    "sample_times": ("time",),
    "why_events": ("start", "end"),
    "heap": ("high_time",),
}
"""Columns of private tables with times since the start of the job."""

_MESSAGES = "bytes_sent bytes_received messages size_0 size_1 size_2 size_3 size_4 size_5 size_6"
_INTEGERS = {
    "file_ranks": "file rank reads writes bytes_read bytes_written largest_write common_write common_write_count "
    "writes_not_aligned",
    "mpiio_hints": "file",
    "mpiio_collectives": "file rank calls",
    "hdf5_settings": "file",
    "hdf5_not_collective": "dataset rank own others collective node",
    "heap": "rank node calls bytes live_blocks live_bytes high_bytes",
    "posix_extra": "file rank",
    "mpiio_extra": "file rank",
    "file_locks": "file rank locks exclusive refused waits",
    "mapped_files": "file rank mappings bytes told in_memory forbidden fetched reached random_advice syncs "
    "major_faults storage_read storage_written",
    "failed_calls": "rank error calls",
    "gpu_storage": "rank gpu error bytes_read reads posix_reads bytes_written writes posix_writes",
    "connections": "rank connections established open_at_end received sent resent",
    "http_requests": "rank requests partial failed received sent",
    "ost_bytes": "file rank component stripe ost bytes_read bytes_written",
    "ceph_layouts": "file stripe_count stripe_unit object_size",
    "lustre_client": "rank samples_before samples_after sum_before sum_after",
    "unfollowed": "rank",
    "io_uring": "rank rings requests completions unseen",
    "start_up": "rank libraries entries missing",
    "region_names": "rank region parent id",
    "regions": "rank thread region calls unended",
    "call_nodes": "rank node parent object offset leaf",
    "objects": "rank object",
    "generated_code": "rank begin bytes",
    "samples": "rank thread region node count kind",
    "sampling": "rank thread samples stacks lost cut",
    "counters": "rank region value",
    "mpi_calls": f"rank region calls {_MESSAGES}",
    "mpi_sites": f"rank region node calls {_MESSAGES}",
    "mpi_peers": "rank peer messages bytes on_node",
    "memory_nodes": "rank memory_node high_bytes bytes",
    "process": "rank ranks max_rss minor_faults major_faults voluntary_switches involuntary_switches",
}
_DOUBLES = {
    "file_ranks": "read_time write_time",
    "mpiio_collectives": "seconds waiting access exchange",
    "posix_extra": "seconds",
    "hdf5_not_collective": "seconds",
    "heap": "high_time",
    "file_locks": "seconds longest",
    "mapped_files": "sync_seconds",
    "failed_calls": "seconds",
    "start_up": "seconds",
    "gpu_storage": "read_seconds write_seconds",
    "connections": "connect_seconds busy_seconds limited_seconds shortest_rtt",
    "http_requests": "seconds first_byte_seconds",
    "process": "user_time system_time",
    "regions": "time exclusive_time min_time max_time",
    "sampling": "asked_hz duration handler_time",
    "counters": "time_enabled time_running",
    "mpi_calls": "time min_time max_time sync_time",
    "mpi_sites": "time",
}
_TEXTS = {
    "mpiio_hints": "key requested effective",
    "hdf5_settings": "key requested given effective",
    "hdf5_not_collective": "cause",
    "failed_calls": "operation",
    "connections": "address",
    "http_requests": "url",
    "ceph_layouts": "pool",
    "lustre_client": "node layer device counter unit",
    "region_names": "label",
    "objects": "build_id path",
    "generated_code": "name",
    "sampling": "timer",
    "counters": "event unavailable",
    "mpi_calls": "function",
    "mpi_sites": "function",
}
_CONTAINERS: dict[str, type] = {
    "hosts": list,
    "rank_host": list,
    "programs": list,
    "rank_program": list,
    "partial": list,
    "remarks": list,
    "environment": dict,
    "mounts": dict,
    "compiler": list,
    "ancestors": list,
    "begin": dict,
    "processor": dict,
}
"""The keys of the region `job` whose values are lists or objects."""


def check_region(name: str, found: Columns | dict[str, Any]) -> None:
    """Raises ValueError if a known region is of another kind, or lacks columns that pages rely on."""
    if isinstance(found, dict):
        if name in _INTEGERS:
            raise ValueError("it is no table")
        if name == "job":
            check_job(found)
        if name == PROCESSES:
            _check_processes(found[PROCESSES])
    elif name in ("job", PROCESSES):
        raise ValueError("it is no json")
    elif found:
        for column, kinds in _relied_on(name):
            if found.kind(column) not in kinds:
                raise ValueError(f"it has no column {column} of the right type")


@cache
def _relied_on(name: str) -> tuple[tuple[str, str], ...]:
    """Returns the columns that a table must have, each with the kinds of array, as numpy names them, that it may be."""
    return tuple(
        (column, kinds)
        for kinds, names in (("iu", _INTEGERS), ("f", _DOUBLES), ("O", _TEXTS))
        for column in names.get(name, "").split()
    )


def _check_processes(rows: list[dict[str, Any]]) -> None:
    """Raises ValueError or KeyError if a fact of a process has another type."""
    kinds = {"numbers": list, "metadata": list, "command": str, "job": dict, "modules": list}
    for row in rows:
        for key, kind in kinds.items():
            if not isinstance(row[key], kind):
                raise ValueError(f"{key} is not a {kind.__name__}")
        if len(row["numbers"]) != 7 or not all(
            type(number) is int and abs(number) < 1 << 62 for number in row["numbers"]
        ):
            raise ValueError("a process does not have seven whole numbers of 62 bits")
        check_job(row["job"])


def check_job(job: dict[str, Any]) -> None:
    """Raises ValueError if lists have another type, or if a rank refers to a host or program without a name."""
    for key, kind in _CONTAINERS.items():
        if not isinstance(job.get(key, kind()), kind):
            raise ValueError(f"{key} is not a {kind.__name__}")
    hosts = job.get("hosts", [])
    if not all(isinstance(host, str) for host in hosts):
        raise ValueError("a host has no name")
    programs = job.get("programs", [])
    if not all(isinstance(program, str) for program in programs):
        raise ValueError("a program has no name")
    if not all(type(program) is int and -1 <= program < len(programs) for program in job.get("rank_program", [])):
        raise ValueError("a rank refers to an unknown program")
    numbers = [*job.get("ancestors", []), *job.get("begin", {}).values(), job.get("pid", 0)]
    if not all(type(number) is int for number in numbers):
        raise ValueError("a number of its process is invalid")
    if type(job.get("processor", {}).get("peak", 0)) is not int:
        raise ValueError("the peak of its processor is not a whole number")
    if not all(type(host) is int and 0 <= host < len(hosts) for host in job.get("rank_host", [])):
        raise ValueError("a rank refers to an unknown host")
