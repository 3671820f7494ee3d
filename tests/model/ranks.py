"""Compares the log of an MPI job with the models of its ranks: records of one rank, and records that all ranks
share.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, replace
from statistics import pvariance
from typing import Any

from compare import POSIX_AT, STDIO_AT, Error, LogComparison, program_of
from logfile import Log, Record
from meaning import MPIIO_INTS, POSIX_INTS, STDIO_INTS, TRACKED_VALUES, CallTimes, Window
from process import ModelProcess

MPI_FILE = re.compile(r"\.mpi\b")
"""Matches files that a program opens through MPI-IO; no journal has the POSIX calls that the library makes on them."""

BARRIER = 0.3e9  # Largest difference in nanoseconds between the times at which ranks leave a barrier.
MPIIO_INDEX = {name: i for i, name in enumerate(MPIIO_INTS)}
MPIIO_FREE = {"MAX_READ_TIME_SIZE", "MAX_WRITE_TIME_SIZE"} | {n for n in MPIIO_INTS if n.startswith("ACCESS")}
RANK_INTS = "FASTEST_RANK FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES".split()
LARGEST = {"MAX_BYTE_READ", "MAX_BYTE_WRITTEN"}
FIRST = {"MODE", "RENAMED_FROM"}  # Counters whose merged value is that of the lowest rank that has a value.
INTS = {"POSIX": POSIX_INTS, "STDIO": STDIO_INTS, "MPI-IO": MPIIO_INTS}
RANK_TIMES = {
    "POSIX": 13,
    "MPI-IO": 13,
    "STDIO": 11,
}  # Index of each counter of the fastest and slowest rank and of each variance.


@dataclass
class Share:
    """Activity of one rank in a file: its bytes, and the longest time in nanoseconds that it can have taken."""

    bytes: int
    nanoseconds: int


def share_of(file: Any) -> Share:
    moved = sum(t.nanoseconds for t in file.moved.values())
    return Share(
        file.ints.get("BYTES_READ", 0) + file.ints.get("BYTES_WRITTEN", 0),
        moved + file.asked + getattr(file, "synced", 0),
    )


def shifted(times: CallTimes, by: float) -> CallTimes:
    move = lambda w: w and Window(int(w.first + by), int(w.last + by))  # noqa: E731
    return replace(times, start=move(times.start), end=move(times.end))


def merged_times(parts: list[CallTimes]) -> CallTimes:
    starts, ends = ([getattr(t, edge) for t in parts if getattr(t, edge)] for edge in ("start", "end"))
    return CallTimes(
        Window(min(w.first for w in starts), min(w.last for w in starts)) if starts else None,
        Window(max(w.first for w in ends), max(w.last for w in ends)) if ends else None,
        sum(t.nanoseconds for t in parts),
        [one for t in parts for one in t.longest],
    )


def summed(parts: list[dict[int, int]]) -> dict[int, int]:
    total: dict[int, int] = {}
    for part in parts:
        for value, n in part.items():
            total[value] = total.get(value, 0) + n
    return total


def merged(files: list[Any], zeros: list[float]) -> Any:
    """Returns the merged record of one file that all ranks used: sums of counters, first and last times."""
    one = copy.copy(files[0])
    one.ints = {}
    for file in files:
        for name, n in file.ints.items():
            if name in LARGEST:
                one.ints[name] = max(one.ints.get(name, 0), n)
            elif name in FIRST:
                one.ints[name] = one.ints.get(name) or n
            else:
                one.ints[name] = one.ints.get(name, 0) + n
    late = [zeros[0] - zero for zero in zeros]
    for times in ("opened", "closed"):
        moments = [shifted(getattr(f, times), by) for f, by in zip(files, late, strict=True)]
        setattr(one, times, merged_times(moments))
    one.moved = {
        write: merged_times([shifted(f.moved[write], by) for f, by in zip(files, late, strict=True)])
        for write in (False, True)
    }
    one.asked = sum(f.asked for f in files)
    if hasattr(one, "murky"):
        # Nobody knows the place of bytes that several ranks append at the same time.
        one.murky = any(f.murky for f in files) or (len(files) > 1 and any(f.appended for f in files))
        one.unsure = sum(f.unsure for f in files)
    if hasattr(one, "synced"):
        one.synced = sum(f.synced for f in files)
    if hasattr(one, "strides"):
        one.strides = summed([f.strides for f in files])
        one.sizes = {write: summed([f.sizes[write] for f in files]) for write in (False, True)}
    elif hasattr(one, "sizes"):
        one.sizes = summed([f.sizes for f in files])
    return one


class RankComparison(LogComparison):
    """Compares the records of one rank's own files, or the records that all ranks share (`rank` -1), with the model."""

    def __init__(self, log: Log, process: ModelProcess, rank: int, files: dict[str, dict[str, Any]]) -> None:
        super().__init__(log, process)
        self.rank = rank
        self.files = files
        self.shares: dict[tuple[str, str], list[Share]] = {}
        self.slack = 0.0

    def run(self) -> list[Error]:
        for module, compare in (("POSIX", self.posix), ("STDIO", self.stdio), ("MPI-IO", self.mpiio)):
            self.records(module, compare)
        self.clock()
        return self.errors

    def records(self, module: str, compare: Any) -> None:
        files, seen = self.files[module], set()
        for record in self.log.records[module]:
            name = self.log.names.get(record.id, str(record.id))
            if record.rank != self.rank or (module == "POSIX" and MPI_FILE.search(name)) or "<STD" in name:
                continue
            seen.add(name)
            self.where = (program_of(name), module, self.short(name))
            if name not in files:
                self.error("record", "none", "one")
                continue
            self.shared = self.shares.get((module, name))
            compare(files[name], record)
            if self.shared:
                self.ranks(module, record)
        for name in files.keys() - seen:
            self.where = (program_of(name), module, self.short(name))
            self.error("record", "one", "none")

    def short(self, name: str) -> str:
        return f"{name.rsplit('/', 1)[-1]} ({'all ranks' if self.rank < 0 else f'rank {self.rank}'})"

    def ints(self, want: dict[str, int], got: list[int], index: dict[str, int], free: set[str]) -> None:
        super().ints(want, got, index, free | (set(RANK_INTS) if self.rank < 0 else set()))

    def no_ranks(self, doubles: list[float]) -> None:
        if self.rank >= 0:
            super().no_ranks(doubles)

    def mpiio(self, file: Any, record: Record) -> None:
        model = self.process.mpiio
        self.ints(file.ints, record.ints, MPIIO_INDEX, MPIIO_FREE)
        self.common(model.common_sizes(file), record.ints, len(file.sizes) <= TRACKED_VALUES)
        for kind, write in (("READ", False), ("WRITE", True)):
            self.times(file.moved[write], kind, record.doubles, POSIX_AT)
            bound = file.moved[write].nanoseconds + (file.synced if write else 0)
            self.duration(f"F_{kind}_TIME", bound, record.doubles, POSIX_AT)
        self.times(file.opened, "OPEN", record.doubles, POSIX_AT)
        self.times(file.closed, "CLOSE", record.doubles, POSIX_AT)
        self.duration("F_META_TIME", file.asked, record.doubles, POSIX_AT)
        self.no_ranks(record.doubles[13:])

    def common(self, want: list[tuple[int, int]], ints: list[int], exact: bool) -> None:
        at, count_at = MPIIO_INDEX["ACCESS1_ACCESS"], MPIIO_INDEX["ACCESS1_COUNT"]
        got = list(zip(ints[at : at + 4], ints[count_at : count_at + 4], strict=True))
        want = want + [(0, 0)] * (4 - len(want))
        if exact and got != want:
            self.error("ACCESS1-4", want, got)

    def ranks(self, module: str, record: Record) -> None:
        """Checks the fastest and slowest rank, and the variances over ranks."""
        names, at = INTS[module], RANK_TIMES[module]
        fastest, fastest_bytes, slowest, slowest_bytes = (record.ints[names.index(name)] for name in RANK_INTS)
        fast, slow, time_variance, byte_variance = record.doubles[at : at + 4]
        times_at = STDIO_AT if module == "STDIO" else POSIX_AT
        total = sum(record.doubles[times_at[name]] for name in ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"))
        bytes_ = [share.bytes for share in self.shared]
        for word, rank, moved, seconds in (
            ("FASTEST", fastest, fastest_bytes, fast),
            ("SLOWEST", slowest, slowest_bytes, slow),
        ):
            if not 0 <= rank < len(bytes_):
                self.error(f"{word}_RANK", f"0 to {len(bytes_) - 1}", rank)
            elif moved != bytes_[rank]:
                self.error(f"{word}_RANK_BYTES", f"rank {rank}: {bytes_[rank]}", moved)
            elif seconds * 1e9 > self.shared[rank].nanoseconds * (1 + 1e-5) + 1:
                self.error(f"F_{word}_RANK_TIME", f"up to {self.shared[rank].nanoseconds} ns", seconds * 1e9)
        mean = total / len(bytes_)
        if not fast <= mean * (1 + 1e-9) + 1e-12 or not mean <= slow * (1 + 1e-9) + 1e-12:
            self.error("F_FASTEST_RANK_TIME", f"mean {mean} between", (fast, slow))
        if abs(byte_variance - pvariance(bytes_)) > 1e-9 * max(1.0, pvariance(bytes_)):
            self.error("F_VARIANCE_RANK_BYTES", pvariance(bytes_), byte_variance)
        # The variance of values between `fast` and `slow` with this mean is at most `most`, and at least `least`.
        most = (slow - mean) * (mean - fast)
        least = ((slow - mean) ** 2 + (fast - mean) ** 2) / len(bytes_) if fastest != slowest else 0.0
        if not least * (1 - 1e-6) - 1e-15 <= time_variance <= most * (1 + 1e-6) + 1e-15:
            self.error("F_VARIANCE_RANK_TIME", (least, most), time_variance)

    def clock(self) -> None:
        if self.rank >= 0:
            super().clock()
            return
        for where, counter, got, window in self.windows:
            at = got * 1e9 + self.zero
            if not window.first - self.slack <= at <= window.last + self.slack:
                self.where = where
                self.error(counter, f"{window.first - self.zero:.0f} to {window.last - self.zero:.0f} ns", got * 1e9)


def compare_job(log: Log, processes: list[ModelProcess]) -> list[Error]:
    """Returns all errors in the log of a job whose ranks made the calls in `processes`."""
    models = [{"POSIX": p.posix.files, "STDIO": p.stdio.files, "MPI-IO": p.mpiio.files} for p in processes]
    for module in models:
        module["POSIX"] = {n: f for n, f in module["POSIX"].items() if not MPI_FILE.search(n)}
    common = {module: set.intersection(*(set(m[module]) for m in models)) for module in INTS}
    errors: list[Error] = []
    zeros: list[float] = []
    known = True
    for rank, (process, files) in enumerate(zip(processes, models, strict=True)):
        own = {module: {n: f for n, f in files[module].items() if n not in common[module]} for module in INTS}
        comparison = RankComparison(log, process, rank, own)
        errors += comparison.run()
        known = known and bool(comparison.windows)
        zeros.append(getattr(comparison, "zero", 0.0))
    if not known:
        zeros = [0.0] * len(zeros)
    shared = {module: {n: merged([m[module][n] for m in models], zeros) for n in common[module]} for module in INTS}
    together = RankComparison(log, processes[0], -1, shared)
    together.shares = {(module, n): [share_of(m[module][n]) for m in models] for module in INTS for n in common[module]}
    together.zero, together.slack = zeros[0], BARRIER if known else float("inf")
    errors += together.run()
    return errors + spread(zeros) + file_ranks(log, models) + heatmaps(log, models)


def spread(zeros: list[float]) -> list[Error]:
    """Checks that the time stamps of all ranks fit one clock."""
    if max(zeros) - min(zeros) > BARRIER:
        return [Error(-1, "job", "", "clocks of ranks", f"the same within {BARRIER} ns", zeros)]
    return []


def file_ranks(log: Log, models: list[dict[str, Any]]) -> list[Error]:
    """Compares the table `file_ranks`, each rank's activity in files that several ranks used, with the model."""
    errors = []
    rows = {(log.names.get(row["file"], ""), row["rank"]): row for row in log.tables.get("file_ranks", [])}
    for rank, model in enumerate(models):
        for name, file in model["POSIX"].items():
            if sum(name in other["POSIX"] for other in models) < 2:
                continue
            row = rows.get((name, rank))
            want = {
                counter.lower(): file.ints.get(counter, 0)
                for counter in ("READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN")
            }
            want["largest_read"] = max(file.sizes[False], default=0)
            want["largest_write"] = max(file.sizes[True], default=0)
            got = {key: row[key] for key in want} if row else None
            if got != want:
                errors.append(Error(program_of(name), "file_ranks", name.rsplit("/", 1)[-1], f"rank {rank}", want, got))
    return errors


def heatmaps(log: Log, models: list[dict[str, Any]]) -> list[Error]:
    """Checks the bytes of each rank: all bytes for MPI-IO and stdio, for POSIX at least those of the calls in the
    list.
    """
    errors = []
    for kind, module in (("STDIO", "STDIO"), ("MPIIO", "MPI-IO"), ("POSIX", "POSIX")):
        found = {m.rank: m for m in log.heatmaps.get(kind, [])}
        for rank, model in enumerate(models):
            for write in (False, True):
                want = sum(t[2] for f in model[module].values() for t in f.transfers if t[0] == write)
                got = sum(found[rank].writes if write else found[rank].reads) if rank in found else 0
                if got < want or (kind != "POSIX" and got != want):
                    errors.append(
                        Error(-1, "HEATMAP", kind, f"rank {rank} {'writes' if write else 'reads'}", want, got)
                    )
    return errors
