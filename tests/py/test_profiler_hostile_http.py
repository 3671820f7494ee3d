"""Answers of object stores that lie or break the protocol: no wrong number is recorded, and nothing crashes."""

from __future__ import annotations

import itertools
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.advise.limits import DEFAULTS
from iolens.advise.rules import needless_rules
from iolens.log import Job, read_log
from test_profiler_network import requests_program

BODY = b"x" * 100
PART = "HTTP/1.1 206 Partial Content\r\nContent-Length: 100\r\nConnection: close\r\n"
WHOLE = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n"

CONTRADICTING = (
    "bytes 0-9/1000",
    "bytes 50-20/1000",
    "bytes -5-94/1000",
    "bytes 0-99/50",
    "bytes 0-99/0",
    "bytes 9223372036854775800-9223372036854775807/*",
    "bytes 99999999999999999999999999-99999999999999999999999999999/*",
    "bytes 0-18446744073709551615/18446744073709551616",
    "bytes */1000",
    "bytes",
    "bytes a-b/c",
    "0-99/1000",
    "%n%n%s%s",
    "bytes 0-99/1000\r\nContent-Range: bytes 0-99/1000",
    "-" * 60_000,
)
"""Values of Content-Range that contradict themselves or the 100 bytes that follow them, so that these bytes have no
place in the object.
"""

BROKEN = (
    "HTTP/1.1 206\r\n\r\n",
    "HTTP/1.1 -206 x\r\n\r\n",
    "HTTP/1.1 99999999999 x\r\n\r\n",
    "HTTP/9.9 206 x\r\n\r\n",
    "HTTP/1.1 206 x\r\nContent-Length: -1\r\n\r\n",
    "HTTP/1.1 206 x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "HTTP/1.1 206 x\r\nContent-Length: 5000000000000000000\r\nContent-Range: bytes 0-5/6\r\n\r\n",
    "HTTP/1.1 206 x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    "HTTP/1.1 302 x\r\nLocation: \r\n\r\n",
    "HTTP/1.1 206 x\r\nContent-Range\r\n: \r\n\0\0\r\n\r\n",
    "",
    "\0" * 1000,
    "garbage\r\n" * 100,
)
"""Answers that end without a body, whatever they promise."""


class _Server(socketserver.ThreadingTCPServer):
    """Answers each request with the next of a list of answers, over and over, and adds the body if the answer's header
    is complete.
    """

    daemon_threads = True
    answers: Iterator[bytes] = iter(())


class _Answer(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while self.rfile.readline().strip():
            pass
        self.wfile.write(next(self.server.answers))  # type: ignore[attr-defined]


def asked(folder: Path, answers: list[bytes], *paths: str, parts: int = 0) -> Job:
    """Returns the log of a program that asks three times for the first path, then for `parts` parts of it and for these
    parts together, and once for each further path.
    """
    program = requests_program()
    folder.mkdir(exist_ok=True)
    with _Server(("127.0.0.1", 0), _Answer) as server:
        server.answers = itertools.cycle(answers)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        first, *others = (f"http://127.0.0.1:{server.server_address[1]}/{path}" for path in paths)
        done = harness.run(program, first, str(parts), *others, folder=folder)
        server.shutdown()
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = harness.logs(folder)
    return read_log(log)


def counts(job: Job, *columns: str) -> tuple[int, ...]:
    """Returns the given columns of the only address in the log."""
    (row,) = job.tables["http_requests"].rows(*columns)
    return tuple(map(int, row))


@pytest.mark.parametrize("text", CONTRADICTING, ids=range(len(CONTRADICTING)))
def test_bytes_of_a_contradicting_range_have_no_place(text: str, tmp_path: Path) -> None:
    answer = f"{PART}Content-Range: {text}\r\n\r\n".encode() + BODY
    job = asked(tmp_path, [answer], "data")
    assert counts(job, "received", "unplaced", "distinct", "object") == (300, 300, 0, 0)
    assert needless_rules.FETCHED_IN_VAIN.check(job, DEFAULTS) is None


@pytest.mark.parametrize("answer", BROKEN, ids=range(len(BROKEN)))
def test_broken_answers_move_nothing(answer: str, tmp_path: Path) -> None:
    job = asked(tmp_path, [answer.encode()], "data")
    requests, failed, received, unplaced, distinct, size = counts(
        job, "requests", "failed", "received", "unplaced", "distinct", "object"
    )
    assert requests == 3
    assert 0 <= failed <= requests
    assert 0 <= distinct <= received <= 3 * len(answer)
    assert received == unplaced + distinct
    assert size in (0, 6), "the size that one of the answers tells"


@pytest.mark.parametrize("told", ['ETag: "{n}"\r\nContent-Range: bytes 0-99/1000', "Content-Range: bytes 0-99/{n}000"])
def test_objects_that_take_turns_are_not_the_same_bytes(told: str, tmp_path: Path) -> None:
    """A server changes the object at an address; its tag or its size says so."""
    answers = [f"{PART}{told.format(n=n)}\r\n\r\n".encode() + BODY for n in (1, 2)]
    job = asked(tmp_path, answers, "data", parts=20)
    assert counts(job, "received", "distinct") == (2400, 2400)
    again = [f"{PART}{told.format(n=1)}\r\n\r\n".encode() + BODY]
    assert counts(asked(tmp_path / "again", again, "data", parts=20), "received", "distinct") == (2400, 100)


def test_the_ends_of_long_addresses_tell_them_apart(tmp_path: Path) -> None:
    start = "deep/" * 10_000
    paths = [f"{start}{end}?key=secret" for end in ("one", "other")]
    job = asked(tmp_path, [f"{WHOLE}\r\n".encode() + BODY], *paths)
    table = job.tables["http_requests"]
    rows = list(table.rows("requests", "received", "distinct"))
    assert sorted(rows) == [(1, 100, 100), (3, 300, 100)]
    urls = [str(url) for url in table["url"].tolist()]
    assert len(set(urls)) == 2
    assert all(len(url) < 256 and "secret" not in url for url in urls)


def test_addresses_that_differ_in_what_is_not_recorded_are_different_objects(tmp_path: Path) -> None:
    """Without a tag from the server, `?part=1` and `?part=2` may be two different objects."""
    answer = f"{WHOLE}\r\n".encode() + BODY
    paths = [f"data?part={number}" for number in range(10)]
    assert counts(asked(tmp_path, [answer], *paths), "requests", "received", "distinct") == (12, 1200, 1000)


def test_addresses_without_a_row_of_their_own_share_no_bytes(tmp_path: Path) -> None:
    answer = f"{WHOLE}\r\n".encode() + BODY
    job = asked(tmp_path, [answer], *(f"chunk/{number}" for number in range(1200)))
    table = job.tables["http_requests"]
    rows = {str(row[0]): row[1:] for row in table.rows("url", "received", "distinct", "unplaced", "object")}
    received, distinct, unplaced, size = rows.pop("other")
    assert (distinct, unplaced, size) == (0, received, 0)
    assert sum(row[0] for row in rows.values()) + received == 1202 * 100
    assert all(row[1:] == (100, 0, 100) for row in rows.values())
