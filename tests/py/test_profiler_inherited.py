"""Tests descriptors that a program inherits from the program that started it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import profiler_harness as harness
import pytest
from patience import PATIENCE


@pytest.fixture(scope="module", autouse=True)
def library() -> Path:
    return harness.build_library()


def found(folder: Path) -> dict[str, dict[str, int]]:
    """Returns, for each file below the folder, its integer counters that are not 0, from the only log."""
    (path,) = harness.logs(folder)
    report = harness.read_log(path)
    below = [name for name in report.name_records.values() if name.startswith(f"{folder}/")]
    counts = {name[len(str(folder)) + 1 :]: harness.counters(report, name) for name in below}
    return {name: {key: value for key, value in one.items() if value} for name, one in counts.items()}


def run_cat(folder: Path, *arguments: str, **redirections: int) -> None:
    subprocess.run(
        ["/bin/cat", *arguments],
        cwd=folder,
        env=harness.environment(folder),
        check=True,
        timeout=PATIENCE,
        **redirections,
    )


def test_redirected_streams_are_counted_under_their_path(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"x" * 5000)
    (tmp_path / "out").write_bytes(b"y" * 100)
    source = os.open(tmp_path / "in", os.O_RDONLY)
    target = os.open(tmp_path / "out", os.O_WRONLY | os.O_APPEND)
    os.lseek(source, 1000, os.SEEK_SET)
    run_cat(tmp_path, "-", stdin=source, stdout=target)
    os.close(source)
    os.close(target)
    assert (tmp_path / "out").stat().st_size == 4100
    counts = found(tmp_path)
    assert set(counts) == {"in", "out"}
    assert counts["in"]["POSIX_BYTES_READ"] == counts["out"]["POSIX_BYTES_WRITTEN"] == 4000
    assert counts["in"]["POSIX_MAX_BYTE_READ"] == 4999
    assert counts["out"]["POSIX_MAX_BYTE_WRITTEN"] == 4099
    assert "POSIX_OPENS" not in counts["in"]
    assert "POSIX_OPENS" not in counts["out"]


def test_a_standard_output_that_is_opened_again_to_append(tmp_path: Path) -> None:
    """The C library writes the last three bytes when the program has ended."""
    code = """
import ctypes
libc = ctypes.CDLL(None)
stdout = ctypes.c_void_p.in_dll(libc, "stdout")
libc.fputs(b"0123456789", stdout)
libc.freopen(None, b"a", stdout)
libc.fputs(b"abc", stdout)
"""
    with (tmp_path / "out").open("w") as out:
        surroundings = harness.environment(tmp_path)
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=surroundings, stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "0123456789abc"
    counts = harness.counters(harness.read_log(harness.logs(tmp_path)[0]), "<STDOUT>")
    assert (counts["STDIO_OPENS"], counts["STDIO_MAX_BYTE_WRITTEN"]) == (2, 12)


def test_a_flush_of_all_streams_that_fails_for_one(tmp_path: Path) -> None:
    """The C library goes on to the next stream, so the ten bytes are in their file when the program ends at once. It
    throws away the bytes that it could not write: those of a closed descriptor, and those beyond a limit of the size.
    """
    code = """
import ctypes, os, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
os.truncate("full", 100)
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
kept, lost, full = (ctypes.c_void_p(libc.fopen(name, b"a")) for name in (b"kept", b"lost", b"full"))
libc.fputs(b"0123456789", kept)
libc.fputs(b"abc", lost)
libc.fputs(b"abc", full)
libc.close(libc.fileno(lost))
resource.setrlimit(resource.RLIMIT_FSIZE, (100, -1))
assert libc.fflush(None) == -1
libc.fputs(b"abc", full)
assert libc.fflush(full) == -1
resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
libc._exit(0)
"""
    (tmp_path / "full").touch()
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=harness.environment(tmp_path), check=True)
    assert (tmp_path / "kept").read_text() == "0123456789"
    assert (tmp_path / "lost").read_text() == ""
    counts = found(tmp_path)
    assert counts["kept"]["STDIO_MAX_BYTE_WRITTEN"] == 9
    assert (tmp_path / "full").stat().st_size == 100
    assert not any("STDIO_MAX_BYTE_WRITTEN" in counts[name] for name in ("lost", "full"))


def test_pipes_and_files_without_a_name_are_not_files(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"x" * 5000)
    gone = os.open(tmp_path / "gone", os.O_CREAT | os.O_RDWR)
    os.unlink(tmp_path / "gone")
    run_cat(tmp_path, "in", stdin=subprocess.DEVNULL, stdout=gone)
    os.close(gone)
    assert set(found(tmp_path)) == {"in"}


def test_other_descriptors_are_followed(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"x" * 5000)
    handle = os.open(tmp_path / "given", os.O_CREAT | os.O_WRONLY)
    code = f"import os; os.write({handle}, b'123'); os.ftruncate({handle}, 2)"
    subprocess.run(
        [sys.executable, "-IS", "-c", code],
        cwd=tmp_path,
        env=harness.environment(tmp_path),
        check=True,
        pass_fds=[handle],
        timeout=PATIENCE,
    )
    os.close(handle)
    assert found(tmp_path)["given"]["POSIX_BYTES_WRITTEN"] == 3


@pytest.mark.parametrize("number", [63, 64, 127, 1000])
def test_high_descriptors_are_followed(number: int, tmp_path: Path) -> None:
    """An inherited file may have any number; busy servers use hundreds."""
    with (tmp_path / "given").open("wb", buffering=0) as target:
        given = fcntl.fcntl(target.fileno(), fcntl.F_DUPFD, number)
        try:
            code = f"import os; os.lseek({given}, 0, 1); os.write({given}, b'123')"
            subprocess.run(
                [sys.executable, "-IS", "-c", code],
                cwd=tmp_path,
                env=harness.environment(tmp_path),
                check=True,
                pass_fds=[given],
                timeout=PATIENCE,
            )
        finally:
            os.close(given)
    assert found(tmp_path)["given"]["POSIX_MAX_BYTE_WRITTEN"] == 2


def test_few_allowed_descriptors_are_followed(tmp_path: Path) -> None:
    """With a low limit of descriptors, the kernel refuses to report 64 of them at once."""
    (tmp_path / "in").write_bytes(b"x" * 5000)
    with (tmp_path / "in").open("rb") as source:
        subprocess.run(
            ["/bin/sh", "-c", "ulimit -n 20; exec /bin/cat"],
            cwd=tmp_path,
            env=harness.environment(tmp_path),
            check=True,
            stdin=source,
            stdout=subprocess.DEVNULL,
            timeout=PATIENCE,
        )
    assert found(tmp_path)["in"]["POSIX_BYTES_READ"] == 5000


IN_BUFFERS = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    FILE *stream = fopen("out", "a");
    fputs("0123456789", stream);
    if (fork() == 0) {
        fputs("xyz", stream);
        if (argc > 1)
            fclose(stream);
        exit(0);
    }
    wait(NULL);
    return 0;
}
"""


@pytest.mark.parametrize("end", ["exit", "close"])
def test_bytes_of_the_parent_lie_before_those_of_a_child_in_its_buffers(end: str, tmp_path: Path) -> None:
    """The child writes the ten bytes that it found in the buffer, too; the parent writes the same bytes after those of
    the child.
    """
    (tmp_path / "p.c").write_text(IN_BUFFERS)
    subprocess.run(["gcc", "-w", "-o", "p", "p.c"], cwd=tmp_path, check=True)
    assert harness.run(tmp_path / "p", *([end] if end == "close" else []), folder=tmp_path).returncode == 0
    assert (tmp_path / "out").read_text() == "0123456789xyz0123456789"
    reports = [harness.read_log(log) for log in harness.logs(tmp_path)]
    counts = [harness.counters(report, f"{tmp_path}/out") for report in reports]
    found = {one["STDIO_BYTES_WRITTEN"]: one["STDIO_MAX_BYTE_WRITTEN"] for one in counts}
    assert found == {3: 12, 10: 22}


MOVES = {
    "plain": "os.read(a, 600); os.read(a, 9); os.write(b, b'x' * 600); os.write(b, b'y' * 9)",
    "parts": "os.readv(a, [bytearray(600), bytearray(9)]); os.writev(b, [b'x' * 600, b'y' * 9])",
    "within the kernel": "os.sendfile(b, a, None, 609)",
    "positional first": "os.pread(a, 100, 7); os.pwrite(b, b'z', 3); os.read(a, 609); os.write(b, b'x' * 609)",
    "asked before": "os.fstat(a); os.fstat(b); os.read(a, 609); os.write(b, b'x' * 609)",
    "moved before": "os.lseek(a, 0, 1); os.lseek(b, 0, 1); os.read(a, 609); os.write(b, b'x' * 609)",
}


def test_a_stream_on_a_second_descriptor_moves_the_first_one(tmp_path: Path) -> None:
    """After `>out 2>&1` both descriptors share one position, and what is printed to standard error moves it."""
    (tmp_path / "p.c").write_text(
        "#include <stdio.h>\n#include <unistd.h>\n"
        'int main(void) { write(1, "0123456789", 10); fputs("abcde", stderr); write(1, "0123456789", 10); return 0; }\n'
    )
    subprocess.run(["gcc", "-w", "-o", "p", "p.c"], cwd=tmp_path, check=True)
    with (tmp_path / "out").open("wb") as out:
        surroundings = harness.environment(tmp_path)
        subprocess.run(["./p"], cwd=tmp_path, env=surroundings, check=True, stdout=out, stderr=subprocess.STDOUT)
    assert (tmp_path / "out").read_text() == "0123456789abcde0123456789"
    assert found(tmp_path)["out"]["POSIX_MAX_BYTE_WRITTEN"] == 24


@pytest.mark.parametrize("start", [0, 1000])
@pytest.mark.parametrize("moves", MOVES.values(), ids=MOVES.keys())
def test_the_first_transfer_lies_where_the_descriptor_stood(moves: str, start: int, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"x" * (start + 609))
    with (tmp_path / "in").open("rb", buffering=0) as source, (tmp_path / "out").open("wb", buffering=0) as target:
        source.seek(start)
        target.seek(start)
        code = f"import os; a, b = {source.fileno()}, {target.fileno()}; {moves}"
        subprocess.run(
            [sys.executable, "-IS", "-c", code],
            cwd=tmp_path,
            env=harness.environment(tmp_path),
            check=True,
            pass_fds=[source.fileno(), target.fileno()],
            timeout=PATIENCE,
        )
    counts = found(tmp_path)
    assert counts["in"]["POSIX_MAX_BYTE_READ"] == start + 608
    assert counts["out"]["POSIX_MAX_BYTE_WRITTEN"] == (tmp_path / "out").stat().st_size - 1 == start + 608
