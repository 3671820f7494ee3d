"""Tests random programs of MPI calls: the log must equal a plain count of the calls and, for messages by peer, Open
MPI's own monitoring.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from iolens.log import read_log
from mpi_libraries import ROOT, library
from patience import PATIENCE

RANKS = int(os.environ.get("MPI_RANKS", "4"))
"""Number of ranks, which must be even; 64 programs take half a minute on two cores."""
CALLS = 600
MESSAGES = ("Send", "Ssend", "Isend", "Start", "Sendrecv")
COLLECTIVES = ("Bcast", "Reduce", "Allreduce", "Gather", "Scatter", "Allgather", "Alltoall", "Barrier")
BINS = (16, 256, 4096, 65536, 1 << 20, 1 << 24)
SEED = 20
MONITORING = ["--mca", "pml_monitoring_enable", "2", "--mca", "pml_monitoring_enable_output", "3"]

pytestmark = pytest.mark.mpi


@dataclass(frozen=True)
class RandomCall:
    """One call of the program; for a collective call `a` is the communicator and `b` the root."""

    name: str
    a: int
    b: int
    bytes: int


def program(seed: int) -> list[RandomCall]:
    rng = random.Random(seed)
    sizes = [0, 1, 15, 16, 255, 256, 4095, 4096, 4097, 65535, 65536, 100_000]
    found = []
    for _ in range(CALLS):
        size = rng.choice([*sizes, rng.randrange(70_000)])
        if rng.random() < 0.7:
            found.append(RandomCall(rng.choice(MESSAGES), rng.randrange(RANKS), rng.randrange(RANKS), size))
        else:
            world = rng.random() < 0.5
            name = rng.choice(COLLECTIVES)
            # Open MPI's monitoring counts the parts of a large Alltoall as messages of the program.
            size = min(size, 256) if name == "Alltoall" else size
            found.append(RandomCall(name, int(not world), rng.randrange(RANKS if world else 2), size))
    return found


class Count:
    """Returns the expected counts by rank and function: calls, bytes sent and received, messages, and
    messages by size.
    """

    def __init__(self) -> None:
        self.calls: Counter[tuple[int, str, str]] = Counter()
        self.peers: Counter[tuple[int, int, str]] = Counter()

    def call(self, rank: int, name: str, sent: int | None = None, received: int = 0) -> None:
        function = f"MPI_{name}"
        self.calls[rank, function, "calls"] += 1
        self.calls[rank, function, "bytes_received"] += received
        if sent is not None:
            self.calls[rank, function, "bytes_sent"] += sent
            self.calls[rank, function, "messages"] += 1
            self.calls[rank, function, f"size_{sum(sent >= edge for edge in BINS)}"] += 1

    def peer(self, sender: int, receiver: int, size: int) -> None:
        self.peers[sender, receiver, "messages"] += 1
        self.peers[sender, receiver, "bytes"] += size

    def message(self, call: RandomCall) -> None:
        if call.name == "Sendrecv":
            for one, other in {(call.a, call.b), (call.b, call.a)}:
                self.call(one, "Sendrecv", call.bytes, call.bytes)
                self.peer(one, other, call.bytes)
            return
        self.peer(call.a, call.b, call.bytes)
        self.call(call.b, "Irecv")
        self.call(call.b, "Wait", received=call.bytes)
        self.call(call.a, call.name, call.bytes)
        if call.name in ("Isend", "Start"):
            self.call(call.a, "Wait")
        if call.name == "Start":
            self.call(call.a, "Send_init")
            self.call(call.a, "Request_free")

    def collective(self, call: RandomCall) -> None:
        for rank in range(RANKS):
            ranks, own = (RANKS, rank) if call.a == 0 else (RANKS // 2, rank // 2)
            root, n = own == call.b, call.bytes
            sent, received = {
                "Bcast": (n * root, n * (not root)),
                "Reduce": (n, n * root),
                "Allreduce": (n, n),
                "Gather": (n, ranks * n * root),
                "Scatter": (ranks * n * root, n),
                "Allgather": (n, ranks * n),
                "Alltoall": (ranks * n, ranks * n),
                "Barrier": (0, 0),
            }[call.name]
            self.call(rank, call.name, sent or None, received)


def expected(calls: list[RandomCall]) -> Count:
    count = Count()
    for rank in range(RANKS):
        for name in ("Init", "Comm_split", "Finalize"):
            count.call(rank, name)
    for call in calls:
        (count.message if call.name in MESSAGES else count.collective)(call)
    return count


def of_table(table: pd.DataFrame, keys: list[str], columns: list[str]) -> Counter[tuple[int, object, str]]:
    found: Counter[tuple[int, object, str]] = Counter()
    for row in table.to_dict("records"):
        for name in columns:
            found[row[keys[0]], row[keys[1]], name] += row[name]
    return found


def monitored(folder: Path) -> Counter[tuple[int, int, str]]:
    """Returns the messages that Open MPI counts, without those that the library sends for itself."""
    found: Counter[tuple[int, int, str]] = Counter()
    for line in (line.split() for path in folder.glob("seen.*.prof") for line in path.read_text().splitlines()):
        if line[0] == "E":
            found[int(line[1]), int(line[2]), "messages"] += int(line[5])
            found[int(line[1]), int(line[2]), "bytes"] += int(line[3])
    return found


def test_a_random_program_is_counted_as_by_hand_and_as_by_open_mpi(tmp_path: Path) -> None:
    mpi = library("usual")
    player = mpi.compile(ROOT / "tests/c/mpi_player.c", tmp_path / "player", "-O1")
    calls = program(SEED)
    (tmp_path / "list").write_text("".join(f"{one.name} {one.a} {one.b} {one.bytes}\n" for one in calls))
    version = subprocess.run([mpi.mpirun, "--version"], capture_output=True, text=True, check=True).stdout
    watch = [*MONITORING, "--mca", "pml_monitoring_filename", "seen"] if "Open MPI) 4" in version else []
    # Call chains are off, because ranks would exchange them at the end in messages that Open MPI counts.
    recorded = {"LD_PRELOAD": mpi.preload, "IOLENS_LOGPATH": tmp_path, "IOLENS_TRACE": "mpi", "IOLENS_CALLERS": "0"}
    inner = ["env", *(f"{name}={value}" for name, value in recorded.items())]
    command = [mpi.mpirun, *watch, "-np", str(RANKS), *inner, player, "list"]
    surroundings = {**os.environ, **mpi.environment(None)}
    subprocess.run(command, cwd=tmp_path, env=surroundings, check=True, timeout=PATIENCE)
    private = read_log(next(tmp_path.glob("*.darshan"))).private
    hand = expected(calls)
    columns = ["calls", "bytes_sent", "bytes_received", "messages", *(f"size_{number}" for number in range(7))]
    assert +of_table(private["mpi_calls"], ["rank", "function"], columns) == +hand.calls
    sent = of_table(private["mpi_peers"], ["rank", "peer"], ["messages", "bytes"])
    assert +sent == +hand.peers
    if watch:
        # Open MPI's monitoring does not count started persistent sends.
        seen = expected([call for call in calls if call.name != "Start"])
        assert +monitored(tmp_path) == +seen.peers
