"""Tests connections whose descriptors are copied, replaced, shared by threads and inherited: the other end is the
witness.
"""

from __future__ import annotations

import itertools
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import Job, read_log
from patience import PATIENCE

GIVEN = 50_000
"""Bytes that the other end sends over each connection."""


class OtherEnd:
    """A server that counts connections and bytes. It sends GIVEN bytes over each connection, and reads to the end."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = int(self.listener.getsockname()[1])
        self.accepted = self.received = 0
        self._change = threading.Lock()
        self._visits: list[threading.Thread] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        for _ in itertools.count():
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            visit = threading.Thread(target=self._serve, args=(link,))
            visit.start()
            self._visits.append(visit)

    def _serve(self, link: socket.socket) -> None:
        with closing(link):
            try:
                link.sendall(bytes(GIVEN))
                while part := link.recv(1 << 16):
                    with self._change:
                        self.received += len(part)
            except ConnectionError:
                return

    def finish(self) -> None:
        """Waits until all connections have ended."""
        for visit in self._visits:
            visit.join()


@pytest.fixture
def other_end() -> Iterator[OtherEnd]:
    end = OtherEnd()
    yield end
    end.listener.close()


def counted(jobs: Iterator[Job], port: int) -> dict[str, int]:
    """Returns the row of the connections to a port."""
    columns = ("address", "connections", "established", "open_at_end", "received", "sent")
    tables = (job.tables["connections"] for job in jobs if "connections" in job.tables)
    ((_, *numbers),) = (row for table in tables for row in table.rows(*columns) if row[0] == f"127.0.0.1:{port}")
    return dict(zip(columns[1:], numbers, strict=True))


@pytest.mark.parametrize(("seed", "threads"), [(1, 1), (2, 1), (3, 4), (4, 4), (5, 8)])
def test_copied_descriptors_are_one_connection(seed: int, threads: int, other_end: OtherEnd, tmp_path: Path) -> None:
    harness.build_library()
    program = harness.build_program("network_copies")
    words = map(str, (other_end.port, seed, threads, 10, GIVEN))
    done = harness.run(program, *words, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    other_end.finish()
    assert counted(map(read_log, harness.logs(tmp_path)), other_end.port) == {
        "connections": other_end.accepted,
        "established": other_end.accepted,
        "open_at_end": 0,
        "received": GIVEN * other_end.accepted,
        "sent": other_end.received,
    }
    assert other_end.accepted == 10 * threads


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_process_killed_amid_connections_leaves_those_that_it_closed(
    seed: int, other_end: OtherEnd, tmp_path: Path
) -> None:
    harness.build_library()
    settings = harness.environment(tmp_path, IOLENS_SPOOL=str(tmp_path))
    command = [str(harness.build_program("network_copies")), *map(str, (other_end.port, seed, 4, 100000, GIVEN))]
    client = subprocess.Popen(command, env=settings, cwd=tmp_path, stdin=subprocess.DEVNULL)
    limit = time.monotonic() + PATIENCE
    while other_end.accepted < 40 * seed and time.monotonic() < limit:
        time.sleep(0.01)
    client.send_signal(signal.SIGKILL)
    assert client.wait(PATIENCE) == -signal.SIGKILL
    other_end.finish()
    spool = next(path for path in tmp_path.glob("iolens-*/*.spool") if f"{client.pid}" in path.name)
    subprocess.run([harness.BUILD / "bin/iolens-recover", "merge", spool], check=True, stdout=subprocess.DEVNULL)
    log = next(path for path in harness.logs(tmp_path) if f"-{client.pid}_" in path.name)
    found = counted(iter([read_log(log)]), other_end.port)
    assert 40 * seed - 8 <= found["established"] <= found["connections"] <= other_end.accepted
    # A thread may be killed after a connection is established and before it has received the bytes.
    assert GIVEN * (found["established"] - 4) <= found["received"] <= GIVEN * found["established"]
    assert 0 < found["sent"] <= other_end.received
    assert found["open_at_end"] == 0


# The script tests/sanitize.sh runs this file as a command, whose arguments start the program under ThreadSanitizer.
if __name__ == "__main__":
    end = OtherEnd()
    subprocess.run([*sys.argv[1:], *map(str, (end.port, 3, 8, 20, GIVEN))], check=True, timeout=PATIENCE)
