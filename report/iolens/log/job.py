"""The contents of a log: one job, the records of its modules as frames, and all other parts of the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from iolens.foreign import printable_text
from iolens.lazy import pd
from iolens.log.records import Records, tables_of

EMULATED = "emulated"
"""The name, in a job's environment and in run.json, of storage whose times come from a model."""


_RING_GAPS = {
    "unseen": (
        "unseen",
        "io_uring: {requests:,} requests were submitted by inlined system calls or to a thread of the kernel, which "
        "the profiler does not see; the log lacks their bytes, at most 2,147,479,552 of each (Linux's limit).",
    ),
    "silent": (
        "silent_bytes",
        "io_uring: {requests:,} requests asked for no completion; the log lacks their bytes, at most {bytes:,}.",
    ),
    "open": (
        "open_bytes",
        "io_uring: {requests:,} requests had no completion when their ring or the program ended; the log lacks their "
        "bytes, at most {bytes:,}.",
    ),
}
"""The columns of the region io_uring that count requests whose bytes are not in the log. Each has a second column,
which must not be 0 if the requests are to be mentioned, and the sentence that mentions them.
"""


@dataclass(frozen=True)
class Mount:
    """A mounted file system: its type (`lustre`, `ost`, `ext4` …) and where it is mounted."""

    kind: str
    point: str


_ESCAPED = re.compile(r"\\([0-3][0-7]{2})")


def mount_point(text: str) -> str:
    r"""Returns a mount point as a path in printable characters; the kernel's mount table, which earlier logs copied,
    writes a blank as \040.
    """
    return printable_text(_ESCAPED.sub(lambda found: chr(int(found[1], 8)), text))


@dataclass(frozen=True)
class ModuleInfo:
    """A module of the log: record version, compressed size in bytes, whether its records are incomplete.

    `unread` is the reason for having no frame, or empty; `note` is a remark for the readers of the frame. `cut`: the
    file ends before its records do.
    """

    name: str
    version: int
    bytes: int
    partial: bool
    unread: str = ""
    note: str = ""
    cut: bool = False


_UNFOLLOWED = {
    "deep_libraries": "A library that dlopen loaded with RTLD_DEEPBIND",
    "namespaces": "A library in a namespace of its own (dlmopen)",
}
"""Names of what the table `unfollowed` counts, where the column's own name does not say it."""

_BESIDE_COUNTERS = ("DXT", "IOLENS_WHY", "HEATMAP", "LUSTRE")
"""Names of parts of a log whose loss leaves the counters and times of all calls complete."""

_COARSE = 10.0
"""Minimum run time in seconds for which a clock of whole seconds is accurate enough to compute shares."""


def on_counters(reasons: Iterable[str]) -> tuple[str, ...]:
    """Returns those of the sentences of `Job.partial` that are about counters and times, not about traces, heat maps or
    layouts.
    """
    return tuple(reason for reason in reasons if not any(part in reason for part in _BESIDE_COUNTERS))


@dataclass(frozen=True, eq=False)
class Job:
    """One job. Times are seconds: `start` and `end` since 1970, all others since `start`.

    `frames` has a frame per module: `id` (record id, a key of `names`), `rank` (-1: all ranks) and Darshan's counters;
    LUSTRE, DXT_POSIX, DXT_MPIIO and HEATMAP as the module `variable` describes. `private` has the regions that only
    this profiler writes, by name: a frame or a dict. `records` and `tables` have the frames of `frames` and `private`
    as arrays. `missing` lists the parts that are missing because the file was cut short, `regions` names all private
    regions of the file.
    """

    path: Path
    version: str
    byte_order: str
    compression: str
    exe: str
    command: str
    uid: int
    jobid: int
    start: float
    end: float
    run_time: float
    nprocs: int
    metadata: Mapping[str, str]
    mounts: tuple[Mount, ...]
    names: Mapping[int, str]
    modules: tuple[ModuleInfo, ...]
    frames: Mapping[str, pd.DataFrame]
    private: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()

    @property
    def log_name(self) -> str:
        """Returns the name of the log's file, or LOG/NUMBER of a process in it, with only printable characters."""
        inside = self.path.name.isdecimal() and self.path.parent.is_file()
        return printable_text("/".join(self.path.parts[-2:]) if inside else self.path.name)

    @cached_property
    def records(self) -> Mapping[str, Records]:
        """Returns the tables of `frames` as arrays."""
        return tables_of(self.frames)

    @cached_property
    def tables(self) -> Mapping[str, Records]:
        """Returns the frames of `private`, as arrays."""
        return {name: found for name, found in tables_of(self.private).items() if isinstance(found, Records)}

    @cached_property
    def info(self) -> Mapping[str, Any]:
        """Returns the private region `job`, which describes the job's processes; empty in another profiler's log."""
        found = self.private.get("job")
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def file_systems(self) -> Mapping[str, str]:
        """Returns the type of the file system at each mount point. The header has room for some; where the log also has
        the private list of them, that list is added, and the header's first row for a mount point counts.
        """
        told = self.info.get("mounts", {})
        listed = {mount_point(key): str(one.get("type", "")) for key, one in told.items() if isinstance(one, dict)}
        rows = reversed(self.mounts) if listed else self.mounts
        return listed | {mount.point: mount.kind for mount in rows}

    @property
    def partial(self) -> tuple[str, ...]:
        """Returns sentences on why the log is incomplete; none if it is complete. A log of iolens has them itself."""
        own = map(str, self.info.get("partial", ()))
        reasons = [
            f"The profiler ran out of memory for {module.name}: some of its records are missing."
            for module in self.modules
            if module.partial
        ]
        return (*self.missing, *(own if self.is_recovered else reasons))

    @property
    def is_recovered(self) -> bool:
        """Returns whether the log was made from the records of processes that did not write it themselves."""
        return bool(self.info.get("partial"))

    @property
    def hosts(self) -> list[str]:
        """Returns the names of the hosts; that of a rank whose records are lost is not among them."""
        return [name for name in self.info.get("hosts") or () if name]

    @property
    def unfollowed(self) -> tuple[str, ...]:
        """Returns sentences on the ways in which the program moved bytes that the profiler does not see."""
        table = self.tables.get("unfollowed", Records({}))
        said = [
            f"{_UNFOLLOWED.get(means, means)} was used on {int((counts > 0).sum())} rank(s); the log does not contain "
            "the bytes that it moved."
            for means, counts in table.single.items()
            if means != "rank" and counts.any()
        ]
        rings = self.tables.get("io_uring", Records({})).single
        for name, (bound, sentence) in _RING_GAPS.items():
            if bound in rings and rings[bound].any():
                said.append(sentence.format(requests=int(rings[name].sum()), bytes=int(rings[bound].sum())))
        return tuple(said)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Returns sentences about how records were read or why they could not be, and about the program's marks."""
        said = [(module.name, module.note) for module in self.modules if module.note]
        unread = [(module.name, f"{module.unread}.") for module in self.modules if module.unread]
        return (*(f"{name}: {text}" for name, text in [*said, *unread]), *map(str, self.info.get("remarks", ())))

    @property
    def coarse(self) -> bool:
        """Returns whether shares of the run time are rough, because the clock counts whole seconds and the run was
        short.
        """
        return self.whole_seconds and self.run_time < _COARSE

    @property
    def whole_seconds(self) -> bool:
        """Returns whether the log knows begin and end in whole seconds only, so that the run time may be too long by up
        to one second.
        """
        return tuple(int(part) for part in self.version.split(".")) < (3, 41)

    @property
    def storage(self) -> str | None:
        """Returns the kind of storage that an environment variable told the job's processes, such as "emulated"; None
        if there was none.
        """
        return str(self.info["storage"]) if self.info.get("storage") else None

    @property
    def emulated(self) -> bool:
        """Returns whether the storage below the job's files was a model of time."""
        return self.storage == EMULATED

    @cached_property
    def programs(self) -> Mapping[str, tuple[int, ...]]:
        """Returns the ranks of each program if ranks ran different programs (programs in the order of their first
        ranks); else empty.

        A rank whose program is unknown or not listed belongs to none of them.
        """
        found: dict[str, list[int]] = {str(name): [] for name in self.info.get("programs", []) if name}
        for rank, place in enumerate(self.info.get("rank_program", [])):
            name = str(self.info["programs"][place]) if place >= 0 else ""
            if name:
                found[name].append(rank)
        return {name: tuple(ranks) for name, ranks in found.items()} if len(found) > 1 else {}

    @property
    def anonymized(self) -> bool:
        """Returns whether names were replaced by pseudonyms."""
        return self.metadata.get("anonymized") == "yes"
