"""The calls of a traced run as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from iolens.log import Job

if TYPE_CHECKING:
    from iolens.log.records import Records


class CallKind(IntEnum):
    """A call that the mini-app makes, by the name that it has in the C program."""

    LOOP = 0
    PAUSE = 1
    OPEN = 2
    DUP = 3
    FILENO = 4
    CLOSE = 5
    WRITE = 6
    READ = 7
    FSYNC = 8
    FDATASYNC = 9
    SEEK = 10
    STAT = 11
    MAP = 12
    UNLINK = 13
    RENAME = 14
    MAKE_FOLDER = 15
    REMOVE_FOLDER = 16
    TRUNCATE = 17
    STREAM_OPEN = 18
    STREAM_WRITE = 19
    STREAM_READ = 20
    STREAM_SEEK = 21
    STREAM_FLUSH = 22
    STREAM_CLOSE = 23
    MPI_OPEN = 24
    MPI_CLOSE = 25
    MPI_SYNC = 26
    MPI_VIEW = 27
    MPI_WRITE = 28
    MPI_READ = 29
    MPI_WRITE_ALL = 30
    MPI_READ_ALL = 31
    MPI_WRITE_SPLIT = 32
    MPI_READ_SPLIT = 33
    MPI_WRITE_LATER = 34
    MPI_READ_LATER = 35
    MPI_GET_SIZE = 36
    MPI_SET_SIZE = 37
    BARRIER = 38
    BCAST = 39
    REDUCE = 40
    ALLREDUCE = 41
    GATHER = 42
    ALLGATHER = 43
    SCATTER = 44
    ALLTOALL = 45


TRANSFERS = (CallKind.WRITE, CallKind.READ)
"""The kinds of POSIX calls that move bytes, which MPI-IO makes too."""

STREAM_CALLS = (
    CallKind.STREAM_OPEN,
    CallKind.STREAM_WRITE,
    CallKind.STREAM_READ,
    CallKind.STREAM_SEEK,
    CallKind.STREAM_FLUSH,
    CallKind.STREAM_CLOSE,
)
"""The kinds of calls on streams; POSIX records do not contain them."""

NO_FILE = -1
"""File number of a call that uses no file."""


@dataclass(frozen=True, eq=False)
class Calls:
    """Calls, as arrays that have one value for each call. `file` is NO_FILE for a call without a file. `offset` and
    `length` are bytes; for exchanges `offset` is the other rank or the root. `detail` is the number of the view, of the
    communicator or of the opening; for a POSIX open, 1 means that it gave no permissions. `start` and `end` are seconds
    of the job.
    """

    rank: np.ndarray
    kind: np.ndarray
    file: np.ndarray
    offset: np.ndarray
    length: np.ndarray
    detail: np.ndarray
    start: np.ndarray
    end: np.ndarray

    def __len__(self) -> int:
        return len(self.rank)

    def __getitem__(self, places: np.ndarray | slice) -> Calls:
        return Calls(*(getattr(self, column.name)[places] for column in fields(self)))

    def changed(self, **columns: np.ndarray) -> Calls:
        """Returns the calls with other arrays in these columns."""
        return replace(self, **columns)


_TYPES = {"kind": np.int8, "offset": np.int64, "length": np.int64, "start": np.float64, "end": np.float64}
"""Types of the columns of calls, of which there may be millions; the others are numbers of 32 bits."""


def calls_of(size: int, **columns: np.ndarray | int | float) -> Calls:
    """Returns `size` calls; a column that is not given is 0, and NO_FILE for the file."""
    given: dict[str, np.ndarray | int | float] = {"file": NO_FILE, **columns}
    return Calls(
        *(
            np.broadcast_to(np.asarray(given.get(column.name, 0), _TYPES.get(column.name, np.int32)), (size,)).copy()
            for column in fields(Calls)
        )
    )


def joined(parts: Sequence[Calls]) -> Calls:
    """Returns the calls of all parts, one part after the other."""
    return Calls(*(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(Calls)))


def in_order(calls: Calls) -> Calls:
    """Returns the calls by rank, and for each rank in the order in which they ended, because a counter changes when its
    call ends.
    """
    return calls[np.lexsort((calls.start, calls.end, calls.rank))]


def numbers_of(ids: Mapping[int, int], keys: np.ndarray) -> np.ndarray:
    """Returns the number of each record id; -1 for an id without a number."""
    distinct, places = np.unique(keys, return_inverse=True)
    numbers: np.ndarray = np.array([ids.get(int(key), -1) for key in distinct], np.int64)[places.ravel()]
    return numbers


@dataclass(frozen=True)
class View:
    """A file view: displacement and extent, then rows of pieces as in the table `mpiio_views`: offset, length, and
    count and stride at three levels (bytes). No rows: the view could not be described.
    """

    displacement: int
    extent: int
    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Opening:
    """The arguments of an MPI_File_open: number of the communicator, access mode, whether hints are given."""

    communicator: int
    mode: int
    hints: bool


@dataclass(frozen=True)
class FileFacts:
    """A file: its name in the log, the permissions at creation (0: never given), bytes that it held before the run
    (None: it did not exist), its MPI-IO hints, and whether all transfers used aligned memory.
    """

    name: str
    mode: int
    before: int | None
    hints: Mapping[str, str]
    aligned: bool


@dataclass(frozen=True, eq=False)
class Trace:
    """A run: its calls in order, and the tables that they refer to by number.

    `misaligned` has the number of transfers from memory that is not aligned by file and rank, `begins` the end of
    MPI_Init by rank. `notes` are sentences on what the mini-app does not keep.
    """

    nprocs: int
    run_time: float
    command: str
    component: str
    calls: Calls
    files: tuple[FileFacts, ...]
    views: tuple[View, ...]
    openings: tuple[Opening, ...]
    communicators: tuple[tuple[int, ...], ...]
    misaligned: Mapping[tuple[int, int], int]
    begins: np.ndarray
    notes: tuple[str, ...]


def transfers_of(job: Job, ids: Mapping[int, int], module: str, write: CallKind, read: CallKind) -> Calls:
    """Returns the transfers in a module's traces, as calls of these two kinds; `ids` numbers the files."""
    table = job.records.get(module)
    if table is None:
        return calls_of(0)
    columns = {name: table[name] for name in ("rank", "offset", "length", "start", "end")}
    kinds = np.where(table["op"] == table.coded["op"].index("write"), write, read)
    return calls_of(len(table), kind=kinds, file=numbers_of(ids, table["id"]), **columns)


def event_names(table: Records) -> np.ndarray:
    """Returns the column `event` of a table as text."""
    words: np.ndarray = table["event"]
    return np.char.decode(words, "ascii") if words.dtype.kind == "S" else words.astype(str)


def events_of(
    job: Job, ids: Mapping[int, int], kinds: Mapping[str, CallKind], views: Mapping[tuple[int, int], int] | None = None
) -> Calls:
    """Returns the traced events that `kinds` names, as calls. `views` maps a rank, and the rank's own number of a view,
    to the number of that view among all; this number becomes `detail`, or -1 if there is none.
    """
    table = job.tables["traced_events"]
    words = event_names(table)
    found = np.full(len(words), -1, np.int64)
    for word, kind in kinds.items():
        found[words == word] = kind
    mine = found >= 0
    columns = {name: table[name][mine] for name in ("rank", "start", "end")}
    if views is not None:
        pairs = zip(columns["rank"].tolist(), table["view"][mine].tolist(), strict=True)
        columns["detail"] = np.array([views.get(pair, -1) for pair in pairs], np.int64)
    return calls_of(int(mine.sum()), kind=found[mine], file=numbers_of(ids, table["file"][mine]), **columns)
