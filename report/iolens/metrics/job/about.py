"""The contents of the log itself: modules with their records, and the hosts and programs of the ranks."""

from __future__ import annotations

from iolens.log import Job, ModuleInfo
from iolens.log.records import Records
from iolens.metrics.once import once_per_job
from iolens.metrics.times.clocks import common_clock


@once_per_job
def job_facts(job: Job) -> Records:
    """Returns the job in one row: log, jobid, uid, exe, command, nprocs, start and end (since 1970) and run_time
    (seconds), log_format, byte_order, compression, profiler, partial, unfollowed and remarks (sentences; empty:
    none), anonymized, clock_uncertainty (of a rank's times on the job's axis, seconds; NaN: not known) and clocks (a
    sentence), mounts (type and mount point), and further single values that the log has about the job (`job_…`: MPI,
    storage …).
    """
    single = {f"job_{key}": value for key, value in job.info.items() if isinstance(value, (str, int, float, bool))}
    clock = common_clock(job)
    row = {
        "log": job.log_name,
        **{
            name: getattr(job, name)
            for name in ("jobid", "uid", "exe", "command", "nprocs", "start", "end", "run_time")
        },
        "log_format": job.version,
        "byte_order": job.byte_order,
        "compression": job.compression,
        "profiler": job.metadata.get("lib_ver", ""),
        "partial": " ".join(job.partial),
        "unfollowed": " ".join(job.unfollowed),
        "remarks": " ".join(job.remarks),
        "anonymized": job.anonymized,
        "clock_uncertainty": float("nan") if clock.uncertainty is None else clock.uncertainty,
        "clocks": clock.said,
        "mounts": "; ".join(f"{mount.kind} {mount.point}" for mount in job.mounts),
    }
    found = row | single
    return Records.of(found, [list(found.values())])


@once_per_job
def modules(job: Job) -> Records | None:
    """Returns one row per module: module, version (of its records), records (NaN if they were not read), bytes
    (compressed), remark. None for a log without modules.
    """
    rows = [
        (one.name, one.version, _records_read(job, one.name), one.bytes, _module_remark(one)) for one in job.modules
    ]
    return Records.of(["module", "version", "records", "bytes", "remark"], rows) if rows else None


def _records_read(job: Job, module: str) -> float:
    """Returns how many records of a module were read; NaN if they were not."""
    return len(job.records[module]) if module in job.records else float("nan")


def _module_remark(module: ModuleInfo) -> str:
    """Returns the remark on a module, such as why its records were not read."""
    said = "incomplete: the profiler ran out of memory" if module.partial else ""
    return "; ".join(part for part in (said, module.unread and f"not read: {module.unread}", module.note) if part)


@once_per_job
def host_ranks(job: Job) -> list[tuple[str, list[int]]] | None:
    """Returns the hosts, each with the ranks that ran on it. None if the log does not know them."""
    if not job.info.get("hosts") or not job.info.get("rank_host"):
        return None
    ranks: dict[int, list[int]] = {}
    for rank, host in enumerate(job.info["rank_host"]):
        ranks.setdefault(int(host), []).append(rank)
    return [(str(name), ranks.get(i, [])) for i, name in enumerate(job.info["hosts"]) if name]


@once_per_job
def hosts(job: Job) -> Records | None:
    """Returns the ranks of each host, one row per host: host, count, ranks (a list). Returns None if the log does not
    tell.
    """
    found = host_ranks(job)
    if found is None:
        return None
    return Records.of(["host", "count", "ranks"], [(host, len(ranks), ranks) for host, ranks in found])


@once_per_job
def programs(job: Job) -> Records | None:
    """Returns the ranks of each program, one row per program: program, count, ranks (a list). Returns None if all ranks
    ran the same program.
    """
    rows = [(name, len(ranks), list(ranks)) for name, ranks in job.programs.items()]
    return Records.of(["program", "count", "ranks"], rows) if rows else None


@once_per_job
def one_client(job: Job) -> bool:
    """Returns True if all ranks are known to reach the file system through one node, so that no rank waits for locks of
    another node.
    """
    found = host_ranks(job)
    return found is not None and len(found) == 1 and not job.emulated
