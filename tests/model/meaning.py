"""Names of the counters, and the rules that several modules share (Darshan's log format, section 3.4 on)."""

from __future__ import annotations

from dataclasses import dataclass, field

BUCKET_TOPS = (100, 1024, 10240, 102400, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30)
BUCKETS = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")
TOP = range(1, 5)
TRACKED_VALUES = 32  # Largest number of different sizes or strides that the recorder counts exactly.


def histogram(prefix: str) -> list[str]:
    return [f"{prefix}_{bucket}" for bucket in BUCKETS]


POSIX_INTS = (
    "OPENS FILENOS DUPS READS WRITES SEEKS STATS MMAPS FSYNCS FDSYNCS RENAME_SOURCES RENAME_TARGETS RENAMED_FROM MODE "
    "BYTES_READ BYTES_WRITTEN MAX_BYTE_READ MAX_BYTE_WRITTEN CONSEC_READS CONSEC_WRITES SEQ_READS SEQ_WRITES "
    "RW_SWITCHES MEM_NOT_ALIGNED MEM_ALIGNMENT FILE_NOT_ALIGNED FILE_ALIGNMENT MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE"
).split()
POSIX_INTS += histogram("SIZE_READ") + histogram("SIZE_WRITE")
POSIX_INTS += [f"STRIDE{i}_STRIDE" for i in TOP] + [f"STRIDE{i}_COUNT" for i in TOP]
POSIX_INTS += [f"ACCESS{i}_ACCESS" for i in TOP] + [f"ACCESS{i}_COUNT" for i in TOP]
POSIX_INTS += "FASTEST_RANK FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES".split()
POSIX_DOUBLES = (
    "F_OPEN_START F_READ_START F_WRITE_START F_CLOSE_START F_OPEN_END F_READ_END F_WRITE_END F_CLOSE_END "
    "F_READ_TIME F_WRITE_TIME F_META_TIME F_MAX_READ_TIME F_MAX_WRITE_TIME "
    "F_FASTEST_RANK_TIME F_SLOWEST_RANK_TIME F_VARIANCE_RANK_TIME F_VARIANCE_RANK_BYTES"
).split()

MPIIO_INTS = (
    "INDEP_OPENS COLL_OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES SPLIT_READS SPLIT_WRITES NB_READS "
    "NB_WRITES SYNCS HINTS VIEWS MODE BYTES_READ BYTES_WRITTEN RW_SWITCHES MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE"
).split()
MPIIO_INTS += histogram("SIZE_READ_AGG") + histogram("SIZE_WRITE_AGG")
MPIIO_INTS += [f"ACCESS{i}_ACCESS" for i in TOP] + [f"ACCESS{i}_COUNT" for i in TOP]
MPIIO_INTS += "FASTEST_RANK FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES".split()
MPIIO_DOUBLES = POSIX_DOUBLES

STDIO_INTS = (
    "OPENS FDOPENS READS WRITES SEEKS FLUSHES BYTES_WRITTEN BYTES_READ MAX_BYTE_READ MAX_BYTE_WRITTEN "
    "FASTEST_RANK FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES"
).split()
STDIO_DOUBLES = (
    "F_META_TIME F_WRITE_TIME F_READ_TIME F_OPEN_START F_CLOSE_START F_WRITE_START F_READ_START "
    "F_OPEN_END F_CLOSE_END F_WRITE_END F_READ_END "
    "F_FASTEST_RANK_TIME F_SLOWEST_RANK_TIME F_VARIANCE_RANK_TIME F_VARIANCE_RANK_BYTES"
).split()


def bucket(size: int) -> int:
    """Returns the bucket of the histogram that holds `size`; an upper edge belongs to the bucket below it."""
    for i, top in enumerate(BUCKET_TOPS):
        if size <= top:
            return i
    return len(BUCKET_TOPS)


def most_common(counts: dict[int, int]) -> list[tuple[int, int]]:
    """Returns the four most frequent values with their counts, the larger of equally frequent ones first; 0 stands for
    no value.
    """
    ranked = sorted((-n, -value) for value, n in counts.items() if value)
    return [(-value, -n) for n, value in ranked[:4]]


@dataclass
class Window:
    """The interval of nanoseconds in which an event happened, as far as the journal shows it."""

    first: int
    last: int


@dataclass
class CallTimes:
    """Times of one kind of call on a file: first begin, last end, largest possible sum, and the calls that may have
    been the longest.
    """

    start: Window | None = None
    end: Window | None = None
    nanoseconds: int = 0
    longest: list[tuple[int, int]] = field(
        default_factory=list
    )  # For each access, the longest time in ns that it can have taken, and its bytes.

    def add(self, begin: int, end: int, size: int | None = None) -> None:
        window = Window(begin, end)
        if self.start is None:
            self.start = window
        self.end = window
        self.nanoseconds += end - begin
        if size is not None:
            self.longest.append((end - begin, size))


def record_id(name: str) -> int:
    """Returns Bob Jenkins' 64-bit hash of a name (lookup8, level 0)."""
    mask = (1 << 64) - 1
    a = b = 0
    c = 0x9E3779B97F4A7C13
    data = name.encode()
    shifts = ((43, 9, 8), (38, 23, 5), (35, 49, 11), (12, 18, 22))

    def mix(a: int, b: int, c: int) -> tuple[int, int, int]:
        for down, up, again in shifts:
            a = ((a - b - c) ^ (c >> down)) & mask
            b = ((b - c - a) ^ (a << up)) & mask
            c = ((c - a - b) ^ (b >> again)) & mask
        return a, b, c

    at = 0
    while len(data) - at >= 24:
        a = (a + int.from_bytes(data[at : at + 8], "little")) & mask
        b = (b + int.from_bytes(data[at + 8 : at + 16], "little")) & mask
        c = (c + int.from_bytes(data[at + 16 : at + 24], "little")) & mask
        a, b, c = mix(a, b, c)
        at += 24
    rest = data[at:]
    c = (c + len(data)) & mask
    a = (a + int.from_bytes(rest[:8], "little")) & mask
    b = (b + int.from_bytes(rest[8:16], "little")) & mask
    c = (c + (int.from_bytes(rest[16:], "little") << 8)) & mask
    return mix(a, b, c)[2]
