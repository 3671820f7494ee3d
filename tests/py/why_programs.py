"""Made-up events of ranks, as the table `why_events` has them."""

from __future__ import annotations

from typing import Any

import numpy as np
from iolens.log.records import Records

WORLD = 7
"""The number of the communicator of all ranks."""


class RankLine:
    """One rank's events, given one after the other with begin and end; returns itself, so that calls can be chained."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, kind: str, function: str, start: float, end: float, **fields: Any) -> RankLine:
        """Adds an event; fields that are not given get the values that mean "none"."""
        request = len(self.rows) if kind in ("isend", "irecv", "iall") else -1
        least = {"communicator": 0, "peer": -1, "tag": -1, "size": 0, "request": request, "bytes": 0, "file": 0}
        least |= {"node": -1, "region": 0}
        self.rows.append({"kind": kind, "function": function, "start": start, "end": end, **least, **fields})
        return self

    def file(self, start: float, end: float, file: int = 1, function: str = "write") -> RankLine:
        """Adds a call of the file system."""
        return self.add("file", function, start, end, file=file)

    def lock(self, start: float, end: float, file: int = 1) -> RankLine:
        """Adds a call that waits for a file's lock."""
        return self.add("lock", "fcntl", start, end, file=file)

    def held(self, start: float, end: float, kind: str = "core") -> RankLine:
        """Adds a time without a core (`core`), of page faults (`fault`) or asleep (`sleep`), between two calls."""
        names = {"core": "waiting for a core", "fault": "page faults", "sleep": "asleep"}
        return self.add(kind, names[kind], start, end)

    def region(self, start: float, end: float, number: int) -> RankLine:
        """Adds a visit of a region that the program marks."""
        return self.add("region", "region", start, end, region=number)

    def send(self, start: float, end: float, peer: int, tag: int = 0, size: int = 8) -> RankLine:
        """Adds a blocking send."""
        return self.add("send", "MPI_Send", start, end, communicator=WORLD, peer=peer, tag=tag, bytes=size)

    def receive(self, start: float, end: float, peer: int, tag: int = 0, size: int = 8) -> RankLine:
        """Adds a blocking receive."""
        return self.add("recv", "MPI_Recv", start, end, communicator=WORLD, peer=peer, tag=tag, bytes=size)

    def post(self, start: float, end: float, peer: int, tag: int = 0, *, receives: bool = True) -> int:
        """Adds a posted receive or send; returns its number."""
        kind, function = ("irecv", "MPI_Irecv") if receives else ("isend", "MPI_Isend")
        self.add(kind, function, start, end, communicator=WORLD, peer=peer, tag=tag, bytes=8)
        return len(self.rows) - 1

    def wait(self, start: float, end: float, *posts: int, function: str = "MPI_Waitall") -> RankLine:
        """Adds a call that completes posted operations."""
        for post in posts:
            other = self.rows[post]
            self.add("done", function, start, end, request=post, peer=other["peer"], tag=other["tag"])
        return self

    def together(self, function: str, start: float, end: float, size: int, root: int = -1) -> RankLine:
        """Adds a collective call."""
        return self.add("all", function, start, end, communicator=WORLD, size=size, peer=root, bytes=8)

    def epoch(self, function: str, start: float, end: float, *peers: int, exclusive: bool = False) -> RankLine:
        """Adds a call that begins or ends an epoch of one-sided communication with these partners, or with all."""
        for peer in peers or (-1,):
            self.add("win", f"MPI_Win_{function}", start, end, communicator=WORLD, peer=peer, tag=int(exclusive))
        return self


def events_of(*lines: RankLine) -> Records:
    """Returns the rows of all ranks."""
    names = (
        *("kind", "function", "start", "end", "communicator", "peer", "tag", "size", "request", "bytes", "file"),
        *("node", "region"),
    )
    rows = [(rank, row) for rank, line in enumerate(lines) for row in line.rows]
    columns: dict[str, np.ndarray] = {
        "rank": np.array([rank for rank, _ in rows], np.int32),
        "thread": np.zeros(len(rows), np.int32),
    }
    for name in names:
        values = [row[name] for _, row in rows]
        columns[name] = np.array(values, object if name in ("kind", "function") else None)
    return Records({**columns, "file": columns["file"].astype(np.uint64)})
