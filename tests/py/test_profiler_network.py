"""Tests bytes over the network: of TCP connections that end in different ways, and of requests through libcurl."""

from __future__ import annotations

import ctypes
import http.server
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from math import isnan
from pathlib import Path
from typing import ClassVar

import numpy as np
import profiler_harness as harness
import pytest
from iolens.advise.limits import DEFAULTS
from iolens.advise.rules import needless_rules
from iolens.log import read_log
from iolens.metrics.job.interfaces.private_counts import connections, http_requests
from iolens.pages.exhibits.files import CONNECTIONS, HTTP_REQUESTS

WHOLE = 100_000
KEPT = 256
"""Number of separate parts of one object that the profiler can remember."""

TALK = """
import socket, sys
link = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30)
link.sendall(b"GET /data HTTP/1.0\\r\\n\\r\\n")
print(sum(map(len, iter(lambda: link.recv(65536), b""))))
link.close()
"""


class _Answers(http.server.BaseHTTPRequestHandler):
    """Answers every request with the same bytes, or with the range of these that was asked for, and records what it
    sent.
    """

    protocol_version = "HTTP/1.1"
    # Otherwise the body of each answer would wait 40 ms until the client confirms that it has the header.
    disable_nagle_algorithm = True
    content = bytes(WHOLE)
    answered: ClassVar[list[range]] = []

    def _answer(self) -> range:
        first, last = map(int, re.findall(r"\d+", self.headers.get("Range", f"0-{len(self.content)}")))
        part = range(len(self.content))[first : last + 1]
        self.send_response(206 if "Range" in self.headers else 200)
        self.send_header("Content-Length", str(len(part)))
        if "Range" in self.headers:
            self.send_header("Content-Range", f"bytes {part.start}-{part.stop - 1}/{len(self.content)}")
        self.end_headers()
        return part

    def do_GET(self) -> None:
        part = self._answer()
        self.answered.append(part)  # The client may end the test as soon as it has the bytes.
        self.wfile.write(self.content[part.start : part.stop])

    def do_HEAD(self) -> None:
        self._answer()

    def log_message(self, *words: object) -> None:
        """Prints nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
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


def requests_program() -> Path:
    """Builds the program that makes requests; skips the test without libcurl."""
    harness.build_library()
    try:
        program = harness.build_program("network_requests", "-Wl,--no-as-needed", "-lcurl")
    except subprocess.CalledProcessError:
        pytest.skip("libcurl and its headers are not installed")
    skip_without_headers()
    return program


def skip_without_headers() -> None:
    """Skips the test if libcurl does not tell the headers of an answer, which say where in a file a part lies."""
    if not hasattr(ctypes.CDLL("libcurl.so.4"), "curl_easy_header"):
        pytest.skip("libcurl before 7.84 does not tell headers")


def test_requests_through_libcurl_are_counted_by_address(tmp_path: Path, port: int) -> None:
    address = f"http://joe:secret@127.0.0.1:{port}/store/data.h5?key=secret"
    done = harness.run(requests_program(), address, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = harness.logs(tmp_path)
    job = read_log(log)
    columns = ("url", "requests", "partial", "failed", "received", "distinct", "unplaced", "object")
    assert int(done.stdout) == WHOLE + 20
    assert list(job.tables["http_requests"].rows(*columns)) == [
        (f"http://127.0.0.1:{port}/store/data.h5", 3, 2, 0, WHOLE + 20, WHOLE, 0, WHOLE)
    ]
    assert "secret" not in repr(list(job.tables["http_requests"].rows("url")))
    shown = HTTP_REQUESTS.table(job)
    assert shown is not None
    assert len(shown.rows) == 1
    assert "given by HDF5" not in shown.columns
    assert needless_rules.FETCHED_IN_VAIN.check(job, DEFAULTS) is None


@pytest.mark.parametrize("parts", [1, 200, 300])
def test_bytes_that_come_again_are_told_from_new_ones(parts: int, tmp_path: Path, port: int) -> None:
    """The server counts the ranges independently. If there are more parts than the profiler keeps, some count as new
    each time.
    """
    _Answers.answered.clear()
    done = harness.run(requests_program(), f"http://127.0.0.1:{port}/data", str(parts), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    behind_first = _Answers.answered[1:]  # These are the answers after the first one, which sent the whole object.
    assert len(behind_first) == 2 + parts + 1
    (log,) = harness.logs(tmp_path)
    ((received, again),) = http_requests(read_log(log)).rows("received", "again")
    assert received == WHOLE + sum(map(len, behind_first))
    assert again == sum(map(len, behind_first))


@pytest.mark.parametrize("separate", [200, 300])
def test_separate_parts_are_kept_up_to_a_limit(separate: int, tmp_path: Path, port: int) -> None:
    """Without the first request for the whole object, each part is new, and the last request joins them all."""
    _Answers.answered.clear()
    done = harness.run(requests_program(), f"http://127.0.0.1:{port}/data", str(-separate), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    places = [place for part in _Answers.answered for place in part]
    (log,) = harness.logs(tmp_path)
    ((received, again),) = http_requests(read_log(log)).rows("received", "again")
    assert received == len(places)
    exact = len(places) - len(set(places))
    assert again == exact if separate <= KEPT else 10 * (KEPT - 1) < again < exact


@pytest.mark.parametrize("times", [0, 1, 2, 4])
def test_bytes_that_hdf5_fetched_are_held_against_those_it_gave(
    times: int, tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading once, or looking at metadata alone, is no fault; half of the bytes of two readings are needless."""
    h5py = pytest.importorskip("h5py")
    harness.build_library()
    try:
        program = harness.build_program("network_hdf5", "-Wl,--no-as-needed", "-l:libhdf5_serial.so.103")
    except subprocess.CalledProcessError:
        pytest.skip("no serial HDF5 1.10 that has the driver ros3")
    skip_without_headers()
    size = 2 << 20
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["unused"] = np.arange(1000)
        file["numbers"] = np.zeros(size, "u1")
    monkeypatch.setattr(_Answers, "content", (tmp_path / "data.h5").read_bytes())
    _Answers.answered.clear()
    address = f"http://127.0.0.1:{port}/data.h5"
    done = harness.run(program, address, str(times), folder=tmp_path, IOLENS_INCLUDE="http")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{times * size}\n", "")
    (log,) = harness.logs(tmp_path)
    job = read_log(log)
    received, seen_once = sum(map(len, _Answers.answered)), np.zeros(len(_Answers.content), bool)
    for part in _Answers.answered:
        seen_once[part.start : part.stop] = True
    distinct = int(seen_once.sum())
    ((*found, used),) = http_requests(job).rows("url", "received", "again", "used")
    assert found == [address, received, received - distinct]
    assert used == (times * size)
    seen = needless_rules.FETCHED_IN_VAIN.check(job, DEFAULTS)
    assert (seen is not None) == (times > 1)
    shown = HTTP_REQUESTS.table(job)
    assert shown is not None
    if seen is not None:
        assert f"HDF5 gave the program {times * size >> 20} MiB of this file" in seen.evidence
        assert "given by HDF5" in shown.columns


def test_a_url_that_is_none_gives_away_no_password(tmp_path: Path) -> None:
    harness.run(requests_program(), "joe:secret@127.0.0.1:99999999/data?at=http://store", folder=tmp_path)
    (log,) = harness.logs(tmp_path)
    (url,) = {*read_log(log).tables["http_requests"]["url"].tolist()}
    assert str(url) == "127.0.0.1:99999999/data"
