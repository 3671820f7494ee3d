"""Programs that do unusual things print the same and end in the same way with and without the recorder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.lab.run.settings.groups import libraries
from iolens.log.reader import read_log

HOW = (
    "no_descriptors closed little_stack small_files no_address_space no_processes handler handler_threads fork_threads "
    "threads cancel cancel_asynchronous cancelled_before clone_memory clone_vfork spawn execveat dlmopen "
    "descriptors_gone at_exit small_stack small_stack_link small_stack_stream"
).split()

CANCELLATION_POINTS = (
    "accept aio_suspend clock_nanosleep close connect creat fcntl fdatasync fsync getmsg lockf mq_receive "
    "mq_send mq_timedreceive mq_timedsend msgrcv msgsnd msync nanosleep open openat pause poll pread pselect "
    "pthread_cond_timedwait pthread_cond_wait pthread_join pthread_testcancel putmsg pwrite read readv recv "
    "recvfrom recvmsg select sem_timedwait sem_wait send sendmsg sendto sigpause sigsuspend sigtimedwait "
    "sigwait sigwaitinfo sleep system tcdrain usleep wait waitid waitpid write writev"
).split()
"""Functions at which POSIX guarantees that a cancelled thread ends."""


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


@pytest.mark.parametrize("before", [[], ["before"]], ids=["first", "recorded"])
@pytest.mark.parametrize("how", HOW)
def test_the_program_does_not_notice(how: str, before: list[str], tmp_path: Path) -> None:
    """`recorded`: the recorder has a file and a spool before the test happens. `first`: it opens them during the test,
    or never.
    """
    program = harness.build_program("harm_odd")
    (tmp_path / "alone").mkdir()
    alone = subprocess.run([program, how, *before], cwd=tmp_path / "alone", capture_output=True, text=True, check=False)
    done = harness.run(program, how, *before, folder=tmp_path)
    assert (done.stdout, done.returncode) == (alone.stdout, alone.returncode)
    # The disk has room for neither the spool nor the log, so that there are two messages.
    sentences = 2 if how == "small_files" else 1
    assert done.stderr.count("\n") <= sentences, done.stderr


def test_functions_of_the_programs_own(tmp_path: Path) -> None:
    program = harness.build_program("harm_own", "-rdynamic")
    (tmp_path / "alone").mkdir()
    alone = subprocess.run([program], cwd=tmp_path / "alone", capture_output=True, text=True, check=False)
    done = harness.run(program, folder=tmp_path)
    assert (done.stdout, done.returncode, done.stderr) == (alone.stdout, 3, "")
    assert len(harness.logs(tmp_path)) == 1


def test_a_program_that_has_all_keys_of_threads(tmp_path: Path) -> None:
    """With this setting regions, their counters and callers each use a thread-specific key."""
    program = harness.build_program("harm_keys")
    done = harness.run(program, folder=tmp_path, IOLENS_HWPC="0", IOLENS_TRACE="io", IOLENS_IO_CALLERS="4")
    assert (done.stdout, done.returncode, done.stderr) == ("", 0, "")
    (log,) = harness.logs(tmp_path)
    assert next(iter(read_log(log).private["regions"]["calls"])) == 1


def test_a_handler_that_jumps_out_of_the_recorder(tmp_path: Path) -> None:
    done = harness.run(harness.build_program("harm_jump", "-rdynamic"), "jumps", folder=tmp_path)
    assert (done.stdout, done.returncode, done.stderr) == ("", 3, "")
    (log,) = harness.logs(tmp_path)
    report = harness.read_log(log)
    assert report.records["POSIX"].to_df()["counters"]["POSIX_BYTES_WRITTEN"].tolist() == [5]


def test_a_handler_that_ends_the_program_inside_the_recorder(tmp_path: Path) -> None:
    program = harness.build_program("harm_jump", "-rdynamic")
    done = harness.run(program, "ends", folder=tmp_path, IOLENS_SPOOL=str(tmp_path))
    assert (done.stdout, done.returncode, done.stderr) == ("", 3, "")
    (log,) = harness.logs(tmp_path)
    assert harness.read_log(log).records["STDIO"].to_df()["counters"]["STDIO_OPENS"].tolist() == [1]
    assert not list(tmp_path.rglob("*.spool"))


@pytest.mark.parametrize("groups", ["", "heap"])
def test_a_handler_that_ends_the_program_at_any_moment(groups: str, tmp_path: Path) -> None:
    """A timer's handler frees and writes, so that it often meets the recorder in the middle of a call."""
    program = harness.build_program("harm_exit", "-O1")
    traced = [str(path) for path in libraries(groups.split(","))] if groups else []
    preload = ":".join([*traced, harness.PRELOAD])
    for turn in range(40):
        done = harness.run(program, str(turn), folder=tmp_path, LD_PRELOAD=preload, IOLENS_SPOOL=str(tmp_path))
        assert (done.stdout, done.returncode, done.stderr) == ("", 3, "")
    assert len(harness.logs(tmp_path)) == 40
    for log in harness.logs(tmp_path):
        assert harness.read_log(log).records["POSIX"].to_df()["counters"]["POSIX_WRITES"].sum() > 0
    assert not list(tmp_path.rglob("*.spool"))


def test_the_library_itself_is_no_place_where_a_cancelled_thread_ends() -> None:
    """A thread that ended inside the recorder would leave the recorder's locks held, so the recorder calls no function
    at which a cancelled thread may end.
    """
    command = ["nm", "-D", "--undefined-only", harness.LIBRARY]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    needed = {line.split()[-1].partition("@")[0].removesuffix("64") for line in listing.splitlines()}
    assert "sigaddset" in needed
    assert needed.isdisjoint(CANCELLATION_POINTS)


@pytest.mark.parametrize("how", ["end", "flush", "all", "record", "leave"])
def test_streams_that_were_closed_unseen_are_not_looked_at(how: str, tmp_path: Path) -> None:
    """Bytes that wait in a buffer are counted at the end, at a flush of all streams, and when recording resumes; those
    of a stream that is still open count for its file. (The place of bytes that an unseen flush wrote is unknown.)
    """
    done = harness.run(harness.build_program("harm_streams"), how, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "")
    (log,) = harness.logs(tmp_path)
    job = read_log(log)
    frame = job.frames["STDIO"]
    kept = frame[frame["id"].map(job.names).str.endswith("/kept.txt")].iloc[0]
    assert how == "all" or kept["STDIO_MAX_BYTE_WRITTEN"] == 3
    assert frame["STDIO_BYTES_WRITTEN"].sum() == 4 * 9


def test_an_adapter_of_another_version_is_named(tmp_path: Path) -> None:
    attach = "import ctypes; raise SystemExit(ctypes.CDLL(None).iolens_adapter_attach(1) != -1)"
    done = harness.run(sys.executable, "-c", attach, folder=tmp_path)
    assert (done.returncode, done.stderr.count("the MPI adapter and libiolens.so are of different versions")) == (0, 1)
