"""Computes MPI-IO records, call by call, from the meaning of the counters."""

from __future__ import annotations

from dataclasses import dataclass, field

from calllist import ListedCall
from meaning import BUCKETS, CallTimes, bucket, most_common
from model_posix import PosixModel, count_first
from rules import Rules

AMODES = {  # Values from Open MPI's mpi.h.
    "MPI_MODE_CREATE": 1,
    "MPI_MODE_RDONLY": 2,
    "MPI_MODE_WRONLY": 4,
    "MPI_MODE_RDWR": 8,
    "MPI_MODE_DELETE_ON_CLOSE": 16,
    "MPI_MODE_UNIQUE_OPEN": 32,
    "MPI_MODE_EXCL": 64,
    "MPI_MODE_APPEND": 128,
}


def transfers() -> dict[str, tuple[bool, str]]:
    """Maps each call to a pair: True for a write, and its counter."""
    found = {}
    for verb, write in (("read", False), ("write", True)):
        kind = "WRITES" if write else "READS"
        for at in ("", "_at"):
            found[f"mpi_{verb}{at}"] = (write, f"INDEP_{kind}")
            found[f"mpi_{verb}{at}_all"] = (write, f"COLL_{kind}")
            found[f"mpi_{verb}{at}_all_split"] = (write, f"SPLIT_{kind}")
            found[f"mpi_i{verb}{at}"] = (write, f"NB_{kind}")
    return found


TRANSFERS = transfers()


@dataclass
class MpiioFile:
    """The values that the record of a file must have."""

    name: str
    ints: dict[str, int] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    first_sizes: dict[int, int] = field(default_factory=dict)
    opened: CallTimes = field(default_factory=CallTimes)
    closed: CallTimes = field(default_factory=CallTimes)
    moved: dict[bool, CallTimes] = field(default_factory=lambda: {False: CallTimes(), True: CallTimes()})
    synced: int = 0
    asked: int = 0
    last_was_write: bool | None = None
    transfers: list[tuple[bool, int, int, int, int]] = field(default_factory=list)

    def add(self, counter: str, n: int = 1) -> None:
        self.ints[counter] = self.ints.get(counter, 0) + n


class MpiioModel:
    """The MPI files of one rank; names are those of the POSIX model."""

    def __init__(self, posix: PosixModel, rules: Rules, ranks: int) -> None:
        self.posix = posix
        self.rules = rules
        self.ranks = ranks
        self.files: dict[str, MpiioFile] = {}
        self.handles: dict[tuple[int, int], MpiioFile] = {}

    def see(self, call: ListedCall) -> None:
        if not call.name.startswith("mpi_") or call.result != 0:
            return
        if call.name == "mpi_open":
            self.open(call)
            return
        file = self.handles.get((call.program, call.slot))
        if file is None:
            return
        if call.name == "mpi_close":
            del self.handles[call.program, call.slot]
            file.closed.add(call.begin, call.end)
            file.asked += call.end - call.begin
        elif call.name == "mpi_set_view":
            file.add("VIEWS")
            file.add("HINTS", call.args[3] != "0")
            file.asked += call.end - call.begin
        elif call.name == "mpi_sync":
            file.add("SYNCS")
            file.synced += call.end - call.begin
        elif call.name in TRANSFERS:
            self.transfer(call, file)

    def open(self, call: ListedCall) -> None:
        name = self.posix.canonical(self.posix.path(call.program, call.args[2]))
        file = self.files.setdefault(name, MpiioFile(name))
        self.handles[call.program, int(call.args[0])] = file
        alone = call.args[1] == "self" or self.ranks == 1
        file.add("INDEP_OPENS" if alone else "COLL_OPENS")
        file.add("HINTS", call.args[4] != "0")
        file.ints["MODE"] = sum(AMODES[word] for word in call.args[3].split("|"))
        file.opened.add(call.begin, call.end)
        file.asked += call.end - call.begin

    def transfer(self, call: ListedCall, file: MpiioFile) -> None:
        write, counter = TRANSFERS[call.name]
        kind = "WRITE" if write else "READ"
        asked = int(call.args[1]) * int(call.args[2])
        moved = call.extra[0] if self.rules.ours("status") else asked
        size = asked if call.name.startswith("mpi_i") or call.name.endswith("_split") else moved
        file.add(counter)
        file.add("BYTES_WRITTEN" if write else "BYTES_READ", moved)
        file.add(f"SIZE_{kind}_AGG_{BUCKETS[bucket(moved)]}")
        file.sizes[size] = file.sizes.get(size, 0) + 1
        count_first(file.first_sizes, size)
        file.add("RW_SWITCHES", file.last_was_write is not None and file.last_was_write != write)
        file.last_was_write = write
        file.moved[write].add(call.begin, call.end, size)
        file.transfers.append((write, -1, size, call.begin, call.end))

    def common_sizes(self, file: MpiioFile) -> list[tuple[int, int]]:
        return most_common(file.sizes if self.rules.ours("values") else file.first_sizes)
