"""Bytes over the network: of TCP connections that end in different ways, and of requests through libcurl."""

from __future__ import annotations

import http.server
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from math import isnan
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import read_log
from iolens.metrics.job.network import connections
from iolens.pages.exhibits.network import CONNECTIONS, HTTP_REQUESTS

WHOLE = 100_000
TALK = """
import socket, sys
link = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30)
link.sendall(b"GET /data HTTP/1.0\\r\\n\\r\\n")
print(sum(map(len, iter(lambda: link.recv(65536), b""))))
link.close()
"""


class _Answers(http.server.BaseHTTPRequestHandler):
    """Answers every request with the same bytes, or with the range that was asked for."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body, asked = bytes(WHOLE), self.headers.get("Range")
        if asked:
            first, last = map(int, re.findall(r"\d+", asked))
            body = body[first : last + 1]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Prints nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_bytes_of_connections_are_counted_however_they_end(tmp_path: Path) -> None:
    harness.build_library()
    done = harness.run(harness.build_program("network_connections"), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = harness.logs(tmp_path)
    job = read_log(log)
    assert set(job.tables["connections"]["connections"].tolist()) == {1}
    columns = ("address", "established", "open_at_end", "received", "sent")
    found = {address.split(":")[1]: numbers for address, *numbers in job.tables["connections"].rows(*columns)}
    expected = {words[1]: [int(word) for word in words[2:]] for words in map(str.split, done.stdout.splitlines())}
    assert found == expected
    refused = [moved for accepted, moved in connections(job).rows("established", "received") if not accepted]
    assert refused
    assert all(isnan(moved) for moved in refused), "bytes that nobody counted are not 0"
    shown = CONNECTIONS.table(job)
    assert shown is not None
    assert len(shown.rows) == len(expected)


def test_a_connection_that_does_not_block_is_counted_once(tmp_path: Path, port: int) -> None:
    harness.build_library()
    done = harness.run(sys.executable, "-c", TALK, str(port), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    tables = (read_log(log).tables for log in harness.logs(tmp_path))
    (table,) = (table["connections"] for table in tables if "connections" in table)
    assert list(table.rows("connections", "established", "received")) == [(1, 1, int(done.stdout))]


def test_requests_through_libcurl_are_counted_by_address(tmp_path: Path, port: int) -> None:
    harness.build_library()
    try:
        program = harness.build_program("network_requests", "-Wl,--no-as-needed", "-lcurl")
    except subprocess.CalledProcessError:
        pytest.skip("libcurl and its headers are not installed")
    address = f"http://joe:secret@127.0.0.1:{port}/store/data.h5?key=secret"
    done = harness.run(program, address, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = harness.logs(tmp_path)
    job = read_log(log)
    columns = ("url", "requests", "partial", "failed", "received")
    assert int(done.stdout) == WHOLE + 20
    assert list(job.tables["http_requests"].rows(*columns)) == [
        (f"http://127.0.0.1:{port}/store/data.h5", 3, 2, 0, WHOLE + 20)
    ]
    assert "secret" not in repr(list(job.tables["http_requests"].rows("url")))
    shown = HTTP_REQUESTS.table(job)
    assert shown is not None
    assert len(shown.rows) == 1


def test_a_url_that_is_none_gives_away_no_password(tmp_path: Path) -> None:
    harness.build_library()
    try:
        program = harness.build_program("network_requests", "-Wl,--no-as-needed", "-lcurl")
    except subprocess.CalledProcessError:
        pytest.skip("libcurl and its headers are not installed")
    harness.run(program, "joe:secret@127.0.0.1:99999999/data?at=http://store", folder=tmp_path)
    (log,) = harness.logs(tmp_path)
    (url,) = {*read_log(log).tables["http_requests"]["url"].tolist()}
    assert str(url) == "127.0.0.1:99999999/data"
