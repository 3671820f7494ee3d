"""Tells from the log of a trial which kinds of calls can be recorded on this machine, and why others cannot."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Iterator

from iolens.lab.doctor.finding import CheckResult
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.special_uses import mapped_files

BYTES = 65536
FILES = 9
"""Number of files whose names differ only in a number."""

PROGRAM = f"""
import sys
name = sys.argv[1]
with open(name, "wb") as file:
    file.write(bytes({BYTES}))
for number in range({FILES}):
    open(name + ".part" + str(number), "wb").close()
def lock():
    import fcntl
    with open(name, "r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
def read_mapped():
    import mmap
    with open(name, "r+b") as file, mmap.mmap(file.fileno(), 0) as pages:
        pages[:]
def miss():
    open(name + ".missing")
def talk():
    import _socket
    server, client = _socket.socket(), _socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    client.connect(server.getsockname())
    client.send(bytes(100))
    client.close()
def make_ring():
    import ctypes
    if ctypes.CDLL(None, use_errno=True).syscall(425, 4, ctypes.create_string_buffer(120)) < 0:
        print(ctypes.get_errno())
for attempt in lock, read_mapped, miss, talk, make_ring:
    try:
        attempt()
    except (ImportError, OSError):
        pass
"""
"""A Python program that writes a file, named by its argument, makes several empty ones with numbered names, and tries
each kind of call once. It prints the number of the error with which the kernel refuses a ring of io_uring.
"""


def kinds_of_calls(job: Job, said: str) -> Iterator[CheckResult]:
    """Yields a result for each kind of call that the program tried; `said` is the program's standard output."""
    yield _mapped(mapped_files(job))
    yield _counted_calls("file locks", _column_sum(job, "file_locks", "locks"), "counted and timed per file")
    yield _counted_calls("failed calls", _column_sum(job, "failed_calls", "calls"), "counted by error")
    seconds = _column_sum(job, "start_up", "seconds")
    known = f"{seconds:.2f} s before the trial was recorded" if seconds is not None and math.isfinite(seconds) else ""
    yield CheckResult("start-up", known or "the time before recording is not known", True if known else None)
    yield _counted_calls(
        "TCP_INFO", _column_sum(job, "connections", "established"), "the kernel counts bytes by connection"
    )
    yield _ring(_column_sum(job, "io_uring", "rings"), said.strip())


def _column_sum(job: Job, table: str, column: str) -> float | None:
    """Returns the sum of a column; None if the log does not have the table, or if the table is empty."""
    rows = job.tables.get(table, Records({}))
    return float(rows[column].sum()) if len(rows) else None


def _counted_calls(name: str, count: float | None, found: str) -> CheckResult:
    """Returns the result for a kind of call that the trial must have made."""
    return CheckResult(name, found if count else "the trial's calls are not in its log", True if count else None)


def _mapped(rows: Records) -> CheckResult:
    """Checks whether the kernel reports the pages of a mapped file."""
    told, lacks = next(rows.rows("told", "lacks")) if len(rows) else (0, "the trial's mapping is not in its log")
    found = "the kernel reports the bytes that storage delivered" if told else f"bytes from storage are n/a: {lacks}"
    return CheckResult("mapped files", found, True if told else None)


def _ring(rings: float | None, refusal: str) -> CheckResult:
    """Checks whether the kernel allows rings of io_uring, and whether the profiler followed the ring of the trial."""
    if refusal.isdecimal():
        number = int(refusal)
        why = "see /proc/sys/kernel/io_uring_disabled and the container's seccomp filter" * (number == errno.EPERM)
        return CheckResult("io_uring", f"the kernel refuses it: {os.strerror(number)}", None, why)
    return _counted_calls("io_uring", rings, "allowed, and requests are followed")
