"""The tables of a job's summary, each declared by its columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from iolens.log.counters import BUCKETS
from iolens.metrics import cost, extra, files, mpiio, operations, shared, timespans
from iolens.metrics.layers import LAYERS
from iolens.pages import words
from iolens.pages.exhibit import Column, Exhibit, exhibit

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


def performance(job: Job) -> Exhibit | None:
    """Traffic and estimated speed per layer."""
    import pandas as pd

    found = cost.all_performance(job)
    if not found:
        return None
    return exhibit(
        "performance",
        "Transferred, and how fast",
        pd.DataFrame([asdict(one) for one in found]),
        [
            ("layer", "module", str),
            ("files", "files", words.count),
            ("read", "bytes_read", words.size),
            ("written", "bytes_written", words.size),
            ("I/O time, s", "seconds", words.seconds),
            ("MiB/s", "mib_per_second", words.ratio),
        ],
        "I/O time: of the slowest rank in its own files, plus that of the slowest rank of each shared file. MiB/s: "
        "all bytes over that time (an estimate; n/a without I/O time). A layer's time contains that of the layers "
        "below it.",
    )


def io_cost(job: Job) -> Exhibit | None:
    """Seconds per process."""
    found = cost.io_cost(job)
    if found.empty:
        return None
    heads: list[Column] = [(name, name, words.seconds) for name in ("read", "write", "meta", "other")]
    return exhibit("io_cost", "Average seconds of a process", found, [("layer", "module", str), *heads])


def operation_counts(job: Job) -> Exhibit | None:
    """Calls per operation."""
    found = operations.operation_counts(job)
    found = found[~(found["count"] == 0)]
    if found.empty:
        return None
    columns: list[Column] = [("layer", "module", str), ("operation", "operation", str), ("calls", "count", words.count)]
    unknown = "n/a: this version of the log does not count it." if found["count"].isna().any() else ""
    return exhibit("operations", "Operations", found, columns, unknown)


def access_sizes(job: Job) -> Exhibit | None:
    """The histograms of all layers."""
    import pandas as pd

    parts = [operations.access_sizes(job, name).assign(module=name) for name in LAYERS if name in sized(job)]
    found = pd.concat([part[part["reads"] + part["writes"] > 0] for part in parts]) if parts else None
    if found is None or found.empty:
        return None
    names = {bucket: bucket.replace("_PLUS", " and more").replace("_", " to ") for bucket in BUCKETS}
    return exhibit(
        "access_sizes",
        "Access sizes",
        found,
        [
            ("layer", "module", str),
            ("bytes", "bucket", lambda bucket: names[bucket]),
            ("reads", "reads", words.count),
            ("writes", "writes", words.count),
        ],
    )


def sized(job: Job) -> list[str]:
    """The layers with access sizes."""
    return [name for name, layer in LAYERS.items() if layer.sized and name in job.frames]


def common_sizes(job: Job) -> Exhibit | None:
    """The most frequent sizes of each layer."""
    import pandas as pd

    parts = [operations.common_sizes(job, name).assign(module=name) for name in sized(job)]
    if not any(len(part) for part in parts):
        return None
    return exhibit(
        "common_sizes",
        "Most common access sizes",
        pd.concat(parts, ignore_index=True),
        [("layer", "module", str), ("size", "size", words.exact_size), ("accesses", "count", words.count)],
        "From the four most frequent sizes of each record, reads and writes together.",
    )


def pattern(job: Job) -> Exhibit | None:
    """Sequential and consecutive accesses."""
    found = operations.access_pattern(job)
    if found is None or not found["total"].any():
        return None
    found = found.assign(
        sequential_share=found["sequential"] / found["total"].where(found["total"] > 0),
        consecutive_share=found["consecutive"] / found["total"].where(found["total"] > 0),
    )
    return exhibit(
        "pattern",
        "Order of POSIX accesses",
        found,
        [
            ("", "kind", lambda kind: f"{kind}s"),
            ("total", "total", words.count),
            ("sequential", "sequential_share", words.share),
            ("consecutive", "consecutive_share", words.share),
        ],
        "Sequential: at a higher offset than the process's last access to the file. Consecutive: where that one ended.",
    )


def alignment(job: Job) -> Exhibit | None:
    """Accesses that are not aligned."""
    found = operations.alignment(job)
    if found is None or not found["accesses"].any():
        return None
    found = found.assign(share=found["count"] / found["accesses"])
    columns: list[Column] = [
        ("POSIX accesses", "what", str),
        ("count", "count", words.count),
        ("of all", "share", words.share),
    ]
    return exhibit("alignment", "Alignment", found, columns)


def file_counts(job: Job) -> Exhibit | None:
    """Files by how they were used."""
    import pandas as pd

    found = files.file_counts(job)
    if not found["files"].any():
        return None
    unknown = pd.DataFrame({"category": ["created"], "files": [None], "average_size": [None], "largest_size": [None]})
    return exhibit(
        "file_counts",
        "Files",
        pd.concat([found.astype({"files": object}), unknown.astype(object)], ignore_index=True),
        [
            ("", "category", str),
            ("files", "files", words.count),
            ("average size", "average_size", words.size),
            ("largest", "largest_size", words.size),
        ],
        "Through POSIX and STDIO. Size: the highest offset that was read or written. Created: n/a, a log does not "
        "tell whether a file existed before.",
    )


def file_systems(job: Job) -> Exhibit | None:
    """Transfer per mount point."""
    found = files.file_systems(job)
    if found.empty:
        return None
    written, read = found["bytes_written"].sum(), found["bytes_read"].sum()
    found = found.assign(
        written_share=found["bytes_written"] / (written or float("nan")),
        read_share=found["bytes_read"] / (read or float("nan")),
    )
    options = files.mount_options(job)
    found = found.assign(options=[options.get(mount, "") for mount in found["mount"]])
    return exhibit(
        "file_systems",
        "Transfer per file system",
        found,
        [
            ("mount point", "mount", str),
            ("type", "type", str),
            ("files", "files", words.count),
            ("written", "bytes_written", words.size),
            ("of all", "written_share", words.share),
            ("read", "bytes_read", words.size),
            ("of all", "read_share", words.share),
            *([("mounted with", "options", str)] if found["options"].any() else []),
        ],
    )


def top_files(by: str, title: str) -> Callable[[Job], Exhibit | None]:
    """A table of the files with the most `by`."""

    def table(job: Job) -> Exhibit | None:
        found = files.top_files(job, by)
        if found.empty:
            return None
        columns: list[Column] = [
            ("file", "path", str),
            ("ranks", "processes", words.count),
            ("read", "bytes_read", words.size),
            ("written", "bytes_written", words.size),
            ("slowest rank, s", "seconds", words.seconds),
            ("all ranks, s", "seconds_sum", words.seconds),
        ]
        return exhibit(f"files_by_{by}", title, found, columns)

    return table


def average_io(job: Job) -> Exhibit | None:
    """Average I/O per process in own and in shared files."""
    found = cost.average_io(job)
    if not found["seconds"].any():
        return None
    return exhibit(
        "average_io",
        "Average I/O of a process",
        found,
        [
            ("files", "kind", str),
            ("", "what", str),
            ("seconds", "seconds", words.seconds),
            ("transferred", "bytes", words.size),
        ],
        "POSIX and STDIO. Shared: files that all ranks opened and the profiler merged into one record.",
    )


def variance(job: Job) -> Exhibit | None:
    """How unevenly ranks used the shared files."""
    found = shared.variance(job)
    if found.empty:
        return None
    return exhibit(
        "shared_files",
        "Files of several ranks: fastest and slowest rank",
        found,
        [
            ("file", "path", str),
            ("layer", "module", str),
            ("ranks", "processes", str),
            ("fastest rank", "fastest_rank", str),
            ("s", "fastest_seconds", words.seconds),
            ("bytes", "fastest_bytes", words.size),
            ("slowest rank", "slowest_rank", str),
            ("s", "slowest_seconds", words.seconds),
            ("bytes", "slowest_bytes", words.size),
            ("σ s", "sigma_seconds", words.seconds),
            ("σ bytes", "sigma_bytes", words.size),
        ],
        "s: read, write and metadata time of that rank in the file; σ: standard deviation over the ranks of the file.",
    )


def other_calls(job: Job) -> Exhibit | None:
    """Calls without a counter in Darshan's records."""
    found = extra.other_calls(job)
    if found.empty:
        return None
    return exhibit(
        "other_calls",
        "Other calls on files and folders",
        found,
        [("calls", "call", str), ("count", "count", words.count), ("files", "files", words.count)],
        "Summed over all ranks; Darshan has no counters for these. Bytes of sendfiles, copies and splices are among "
        "the POSIX reads and writes.",
    )


def other_mpiio_calls(job: Job) -> Exhibit | None:
    """MPI-IO calls without a counter in Darshan's records."""
    found = extra.other_mpiio_calls(job)
    if found.empty:
        return None
    return exhibit(
        "other_mpiio_calls",
        "Other MPI-IO calls",
        found,
        [
            ("calls", "call", str),
            ("count", "count", words.count),
            ("files", "files", words.count),
            ("all ranks, s", "seconds", words.seconds),
        ],
        "Summed over all ranks; Darshan has no counters for these. Split ends: the second halves of split collectives, "
        "in which they may do all of their work.",
    )


def modules(job: Job) -> Exhibit | None:
    """What is in the log."""
    import pandas as pd

    rows = [
        (module.name, module.version, len(job.frames.get(module.name, ())), module.bytes, remark(module))
        for module in job.modules
    ]
    if not rows:
        return None
    found = pd.DataFrame(rows, columns=["module", "version", "records", "bytes", "remark"])
    found["records"] = found["records"].where(found["module"].isin(list(job.frames)))
    return exhibit(
        "modules",
        "Modules of this log",
        found,
        [
            ("module", "module", str),
            ("record version", "version", str),
            ("rows", "records", words.count),
            ("compressed", "bytes", words.size),
            ("remark", "remark", str),
        ],
    )


def remark(module: Any) -> str:
    """What to know about a module."""
    said = "incomplete: the profiler ran out of room" if module.partial else ""
    return "; ".join(part for part in (said, module.unread and f"not read: {module.unread}", module.note) if part)


def hosts(job: Job) -> Exhibit | None:
    """Which ranks ran where."""
    import pandas as pd

    info = job.private.get("job")
    if not isinstance(info, dict) or not info.get("hosts") or not info.get("rank_host"):
        return None
    ranks: dict[int, list[int]] = {}
    for rank, host in enumerate(info["rank_host"]):
        ranks.setdefault(int(host), []).append(rank)
    rows = [(str(name), len(ranks.get(i, [])), ranks.get(i, [])) for i, name in enumerate(info["hosts"])]
    found: pd.DataFrame = pd.DataFrame(rows, columns=["host", "count", "ranks"])
    columns: list[Column] = [
        ("host", "host", str),
        ("ranks", "count", words.count),
        ("which", "ranks", mpiio.rank_list),
    ]
    return exhibit("hosts", "Hosts", found, columns)


def spans(job: Job) -> Exhibit | None:
    """First and last access of each rank in its own files."""
    found = timespans.rank_spans(job)
    if found.empty:
        return None
    return exhibit(
        "rank_spans",
        "First and last access of each rank in its own files",
        found,
        [
            ("", "kind", str),
            ("rank", "rank", str),
            ("first, s", "start", words.seconds),
            ("last, s", "end", words.seconds),
        ],
    )
