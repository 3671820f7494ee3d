"""Compares the numbers of a log with those of the model."""

from __future__ import annotations

from dataclasses import dataclass

from logfile import Log, Record
from meaning import POSIX_DOUBLES, POSIX_INTS, STDIO_DOUBLES, STDIO_INTS, TRACKED_VALUES, CallTimes, Window, most_common
from model_extra import COLUMNS
from model_posix import PosixFile, PosixModel, program_of
from model_stdio import StdioFile, StdioModel
from model_stripes import ModelStripes
from process import ModelProcess

# Largest difference between times in nanoseconds. The times come from two clocks, one of which the kernel adjusts.
TOLERANCE = 20000.0
# Largest shift between log and model, in bins of the heat map. Times are corrected when recording ends; the bytes of a
# bin whose edges then move can only be spread evenly.
EDGE = 1.1
POSIX_INDEX = {name: i for i, name in enumerate(POSIX_INTS)}
STDIO_INDEX = {name: i for i, name in enumerate(STDIO_INTS)}
POSIX_AT = {name: i for i, name in enumerate(POSIX_DOUBLES)}
STDIO_AT = {name: i for i, name in enumerate(STDIO_DOUBLES)}
POSIX_FREE = {"MAX_READ_TIME_SIZE", "MAX_WRITE_TIME_SIZE"} | {
    n for n in POSIX_INTS if n.startswith(("STRIDE", "ACCESS"))
}


@dataclass
class Error:
    """A difference between log and model: a counter of a file whose value does not follow from the calls."""

    program: int
    module: str
    file: str
    counter: str
    want: object
    got: object

    def __str__(self) -> str:
        return f"{self.module} {self.file} {self.counter}: calls say {self.want}, the log says {self.got}"


class LogComparison:
    """Compares a process's log with the model; `zero` is the start of the log's clock in the journal's nanoseconds."""

    def __init__(self, log: Log, process: ModelProcess) -> None:
        self.log = log
        self.process = process
        self.errors: list[Error] = []
        self.measures_all = process.posix.rules.ours("clock")  # Darshan's clock may stand still during a short call.
        self.slack = 1 if self.measures_all else 1000  # Allowed difference of times in nanoseconds.
        self.where = (0, "", "")
        # Seconds that a file's reads and its writes take, by name and direction.
        self.seconds: dict[tuple[str, bool], float] = {}
        self.windows: list[tuple[tuple[int, str, str], str, float, Window]] = []

    def error(self, counter: str, want: object, got: object) -> None:
        self.errors.append(Error(*self.where, counter, want, got))

    def run(self) -> list[Error]:
        posix = {name: file for name, file in self.process.posix.files.items() if file.is_recorded()}
        self.module("POSIX", posix, self.posix)
        self.module("STDIO", self.process.stdio.files, self.stdio)
        self.clock()
        if self.process.posix.rules.ours("heat map"):  # Darshan rounds the bytes of each bin.
            self.heatmap("POSIX", self.process.posix)
            self.heatmap("STDIO", self.process.stdio)
        self.traces()
        self.extra()
        if self.process.layout:
            self.striping(self.process.layout)
        return [e for e in self.errors if e.program not in self.process.posix.mixed_up]

    def module(self, module: str, files, compare) -> None:
        seen = set()
        for record in self.log.records[module]:
            name = self.log.names.get(record.id, str(record.id))
            seen.add(name)
            self.where = (program_of(name), module, name.rsplit("/", 1)[-1])
            if name not in files:
                self.error("record", "none", "one")
            else:
                compare(files[name], record)
        for name in files.keys() - seen:
            self.where = (program_of(name), module, name.rsplit("/", 1)[-1])
            self.error("record", "one", "none")

    def ints(self, want: dict[str, int], got: list[int], index: dict[str, int], free: set[str]) -> None:
        for name, i in index.items():
            if name not in free and want.get(name, 0) != got[i] and not self.below_nothing(name, got[i]):
                self.error(name, want.get(name, 0), got[i])

    def below_nothing(self, name: str, got: int) -> bool:
        """Returns True if Darshan's counter of the highest byte is below 0 because a stream moved no byte at the start
        of a file.
        """
        return name.startswith("MAX_BYTE") and got == -1 and not self.process.posix.rules.ours("empty")

    def posix(self, file: PosixFile, record: Record) -> None:
        model: PosixModel = self.process.posix
        self.ints(model.expected_ints(file), record.ints, POSIX_INDEX, POSIX_FREE)
        exact = not model.rules.ours("values") or max(map(len, file.sizes.values())) <= TRACKED_VALUES
        self.values("ACCESS", model.counted_sizes(file), record.ints, exact)
        exact = not model.rules.ours("values") or len(file.strides) <= TRACKED_VALUES
        self.values("STRIDE", model.counted_strides(file), record.ints, exact)
        for kind, write in (("READ", False), ("WRITE", True)):
            self.times(file.moved[write], kind, record.doubles, POSIX_AT)
            bound = file.moved[write].nanoseconds + (file.synced if write else 0)
            self.duration(f"F_{kind}_TIME", bound, record.doubles, POSIX_AT)
            self.longest(kind, file.moved[write], record)
            self.seconds[file.name, write] = record.doubles[POSIX_AT[f"F_{kind}_TIME"]]
        self.times(file.opened, "OPEN", record.doubles, POSIX_AT)
        self.times(file.closed, "CLOSE", record.doubles, POSIX_AT)
        self.duration("F_META_TIME", file.asked, record.doubles, POSIX_AT)
        self.no_ranks(record.doubles[13:])

    def stdio(self, file: StdioFile, record: Record) -> None:
        free = {"MAX_BYTE_READ", "MAX_BYTE_WRITTEN"} if file.murky else set()
        if file.unsure:
            free.add("BYTES_READ")
        self.ints(file.ints, record.ints, STDIO_INDEX, free)
        for kind, write in (("READ", False), ("WRITE", True)):
            self.times(file.moved[write], kind, record.doubles, STDIO_AT)
            self.duration(f"F_{kind}_TIME", file.moved[write].nanoseconds, record.doubles, STDIO_AT)
        self.times(file.opened, "OPEN", record.doubles, STDIO_AT)
        self.times(file.closed, "CLOSE", record.doubles, STDIO_AT)
        self.duration("F_META_TIME", file.asked, record.doubles, STDIO_AT)
        self.no_ranks(record.doubles[11:])

    def values(self, kind: str, counts: dict[int, int], ints: list[int], exact: bool) -> None:
        """Checks the four most common values; if there are more values than the recorder tracks, checks only those that
        were frequent enough.
        """
        at, count_at = POSIX_INDEX[f"{kind}1_{kind}"], POSIX_INDEX[f"{kind}1_COUNT"]
        got = list(zip(ints[at : at + 4], ints[count_at : count_at + 4], strict=True))
        want = most_common(counts)
        want += [(0, 0)] * (4 - len(want))
        if exact and got != want:
            self.error(f"{kind}1-4", want, got)
        seen = dict(got)
        if not exact and (len(seen) < 4 or any(not 0 < n <= counts.get(value, 0) for value, n in got)):
            self.error(f"{kind}1-4", f"four values, no more often than {[counts.get(v, 0) for v in seen]}", got)

    def times(self, times: CallTimes, kind: str, doubles: list[float], at: dict[str, int]) -> None:
        for edge, window in (("START", times.start), ("END", times.end)):
            counter = f"F_{kind}_{edge}"
            got = doubles[at[counter]]
            if (window is None) != (got == 0.0):
                self.error(counter, window, got)
            elif window is not None:
                self.windows.append((self.where, counter, got, window))

    def duration(self, counter: str, bound: int, doubles: list[float], at: dict[str, int]) -> None:
        got = doubles[at[counter]] * 1e9
        if not 0 <= got <= bound * (1 + 1e-5) + self.slack or (bound > 0 and got == 0 and self.measures_all):
            self.error(counter, f"up to {bound} ns", f"{got} ns")

    def longest(self, kind: str, times: CallTimes, record: Record) -> None:
        got = record.doubles[POSIX_AT[f"F_MAX_{kind}_TIME"]] * 1e9
        size = record.ints[POSIX_INDEX[f"MAX_{kind}_TIME_SIZE"]]
        possible = {s for ns, s in times.longest if got <= ns * (1 + 1e-5) + self.slack}
        if times.longest and (size not in possible or got <= 0) and (got or self.measures_all):
            self.error(f"F_MAX_{kind}_TIME", sorted(times.longest)[-4:], (got, size))
        if not times.longest and (got or size):
            self.error(f"F_MAX_{kind}_TIME", 0, (got, size))

    def no_ranks(self, doubles: list[float]) -> None:
        if any(doubles):
            self.error("F_…_RANK_…", 0, doubles)

    def clock(self) -> None:
        """Checks that every time stamp fits the one moment at which the log's clock began."""
        if not self.windows:
            return
        first = sorted(w.first - got * 1e9 for _, _, got, w in self.windows)
        last = sorted(w.last - got * 1e9 for _, _, got, w in self.windows)
        # Nearly all time stamps are right, so a few wrong ones do not change the median of the limits.
        low, high = first[-1], last[0]
        if low > high + TOLERANCE:
            low, high = first[int(0.98 * (len(first) - 1))], last[int(0.02 * len(last))]
        self.zero = (low + high) / 2
        for where, counter, got, window in self.windows:
            at = got * 1e9 + self.zero
            if not window.first - TOLERANCE <= at <= window.last + TOLERANCE:
                self.where = where
                self.error(counter, f"{window.first - self.zero:.0f} to {window.last - self.zero:.0f} ns", got * 1e9)

    def heatmap(self, kind: str, model: PosixModel | StdioModel) -> None:
        """Checks the bytes up to the end of each bin: at least those of transfers that had ended, at most those of
        transfers that had begun.
        """
        self.where = (-1, "HEATMAP", kind)
        transfers = [t for file in model.files.values() for t in file.transfers]
        maps = self.log.heatmaps.get(kind, [])
        for write in (False, True):
            total = sum(t[2] for t in transfers if t[0] == write)
            unsure = 0 if write else sum(file.unsure for file in model.files.values() if isinstance(file, StdioFile))
            got = [(m.writes if write else m.reads) for m in maps] or [[]]
            if not total - unsure <= sum(got[0]) <= total:
                self.error("writes" if write else "reads", total, sum(got[0]))
            elif total and not unsure:
                self.bins([t for t in transfers if t[0] == write], got[0], maps[0].width * 1e9)

    def bins(self, transfers: list[tuple[bool, int, int, int, int]], got: list[int], width: float) -> None:
        sofar = 0
        for i, n in enumerate(got):
            sofar += n
            edge = self.zero + (i + 1) * width
            least = sum(t[2] for t in transfers if t[4] < edge - width * EDGE)
            most = sum(t[2] for t in transfers if t[3] < edge + width * EDGE)
            if n < 0 or not least <= sofar <= most:
                self.error(f"bytes up to bin {i}", (least, most), sofar)

    def traces(self) -> None:
        if not self.log.traces["DXT_POSIX"]:
            return
        found = {self.log.names.get(t.id, ""): t for t in self.log.traces["DXT_POSIX"]}
        for name, file in self.process.posix.files.items():
            self.where = (program_of(name), "DXT_POSIX", name.rsplit("/", 1)[-1])
            trace = found.pop(name, None)
            for write in (False, True):
                segments = (trace.writes if write else trace.reads) if trace else []
                self.segments([t for t in file.transfers if t[0] == write], segments)
            self.covered(name, write, segments)
        for name in found:
            self.where = (program_of(name), "DXT_POSIX", name)
            self.error("record", "none", "one")

    def segments(self, want: list[tuple[bool, int, int, int, int]], got: list[tuple[int, int, float, float]]) -> None:
        if [t[1:3] for t in want] != [s[:2] for s in got]:
            self.error("segments", [t[1:3] for t in want], [s[:2] for s in got])
            return
        for (_, _, _, begin, end), (_, _, t0, t1) in zip(want, got, strict=True):
            if not begin - TOLERANCE <= t0 * 1e9 + self.zero <= t1 * 1e9 + self.zero <= end + TOLERANCE:
                self.error("segment's times", (begin - self.zero, end - self.zero), (t0, t1))

    def covered(self, name: str, write: bool, segments: list[tuple[int, int, float, float]]) -> None:
        """Checks that the time of all transfers is at least the time that their traces cover together."""
        covered = last = 0.0
        for _, _, begin, end in sorted(segments, key=lambda s: s[2]):
            covered += max(0.0, end - max(begin, last))
            last = max(last, end)
        got = self.seconds.get((name, write), 0.0)
        if got < covered * (1 - 1e-6) - 1e-9 * (1 + len(segments)):
            self.error("F_WRITE_TIME" if write else "F_READ_TIME", f"at least {covered}", got)

    def extra(self) -> None:
        """Checks the calls without a slot in Darshan's record."""
        if not self.log.tables:
            return
        rows = {self.log.names.get(row["file"], ""): row for row in self.log.tables.get("posix_extra", [])}
        wanted = self.process.extra.files
        for name in rows.keys() | wanted.keys():
            self.where = (program_of(name), "posix_extra", name.rsplit("/", 1)[-1])
            for column in COLUMNS:
                want, got = wanted.get(name, {}).get(column, 0), rows.get(name, {}).get(column, 0)
                if want != got:
                    self.error(column, want, got)

    def striping(self, layout: ModelStripes) -> None:
        """Checks the layout of each opened file, and the bytes moved to and from each of its stripes."""
        posix, stdio = self.process.posix.files, self.process.stdio.files
        opened = {name for name, file in posix.items() if file.held}
        opened |= {name for name, file in stdio.items() if file.ints.get("OPENS") and name.startswith("/")}
        found = {self.log.names.get(s.id, ""): s for s in self.log.striping}
        rows = {(self.log.names.get(r["file"], ""), r["stripe"]): r for r in self.log.tables.get("ost_bytes", [])}
        for name in opened | found.keys():
            self.where = (program_of(name), "LUSTRE", name.rsplit("/", 1)[-1])
            got = found.get(name)
            want = ([(layout.size, len(layout.targets))], list(layout.targets)) if name in opened else None
            if want != (got and (got.components, got.targets)):
                self.error("record", want, got)
            if name in stdio and stdio[name].murky:
                continue
            moved = layout.moved(
                [*(posix[name].transfers if name in posix else []), *(stdio[name].placed if name in stdio else [])]
            )
            for stripe, target in enumerate(layout.targets):
                row = rows.pop((name, stripe), {"ost": target, "bytes_read": 0, "bytes_written": 0})
                if (row["ost"], row["bytes_read"], row["bytes_written"]) != (target, *moved.get(stripe, (0, 0))):
                    self.error(f"ost_bytes of stripe {stripe}", (target, *moved.get(stripe, (0, 0))), row)
