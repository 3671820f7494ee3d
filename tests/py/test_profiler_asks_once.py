"""The profiler makes few system calls in a short process, as strace counts them; facts that change meanwhile are in the
log.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import profiler_harness as harness
import pytest
from patience import PATIENCE

LIBC = tuple(int(part) for part in platform.libc_ver()[1].split(".")[:2] if part)
KERNEL = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2])


@pytest.fixture(scope="module", autouse=True)
def library() -> Path:
    return harness.build_library()


def calls_of_cat(folder: Path) -> list[str]:
    """Returns the system calls of a recorded `cat` of one file, a line each."""
    listing, data = folder / "calls", folder / "data"
    data.write_bytes(b"x")
    environment = [f"{key}={value}" for key, value in harness.environment(folder).items() if key == "LD_PRELOAD"]
    command: list[str | Path] = ["strace", "-o", listing, "env", *environment, "cat", data]
    settings = {key: value for key, value in harness.environment(folder).items() if key != "LD_PRELOAD"}
    done = subprocess.run(command, env=settings, check=False, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    if done.returncode != 0:
        pytest.skip("strace may not trace here")
    (log,) = harness.logs(folder)
    assert harness.read_log(log).records["POSIX"]
    return listing.read_text().splitlines()


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_nothing_is_asked_twice(tmp_path: Path) -> None:
    calls = calls_of_cat(tmp_path)
    if LIBC >= (2, 32):  # Older C libraries do not tell whether the process has a single thread.
        assert not [call for call in calls if '"/proc/self/task' in call], "the only thread has no list to look into"
    stats = [call.split('"')[1] for call in calls if call.startswith(("newfstatat(AT_FDCWD", "stat("))]
    folders = [path for path in stats if path in ("/dev", "/dev/shm")]
    assert len(folders) == len(set(folders)), "only a link is asked for what it leads to"
    assert sum("MAP_STACK" in call for call in calls) <= 1, "the library's own stack is used again"
    if KERNEL >= (6, 2):
        assert sum(call.startswith(("ppoll", "poll(")) for call in calls) <= 1
    listed = [call for call in calls if call.startswith(("listmount(", "syscall_0x1ca("))]
    if listed and not any("= -1" in call for call in listed):  # A container may forbid the system call.
        assert sum('"/proc/self/mountinfo"' in call for call in calls) == 1


MOUNTS = """
import subprocess, sys
open(sys.argv[1] + "/first", "w").close()
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "late", sys.argv[1] + "/late"], check=True)
open(sys.argv[1] + "/late/second", "w").close()
"""


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root may mount")
def test_a_file_system_that_is_mounted_meanwhile_is_in_the_log(tmp_path: Path) -> None:
    (tmp_path / "late").mkdir()
    environment = harness.environment(tmp_path)
    preload = environment.pop("LD_PRELOAD")
    inner: list[str | Path] = ["env", f"LD_PRELOAD={preload}", sys.executable, "-c", MOUNTS, tmp_path]
    done = subprocess.run(["unshare", "-m", *inner], env=environment, check=False, timeout=PATIENCE)
    if done.returncode != 0:
        pytest.skip("this machine lets nobody mount")
    written = [log for log in harness.logs(tmp_path) if "python" in log.name]
    mounts = [harness.private_region(log, "job")["mounts"] for log in written]
    assert [found[str(tmp_path / "late")]["type"] for found in mounts] == ["tmpfs"]


@pytest.mark.parametrize("least", [9, 200, 900])
def test_an_inherited_descriptor_is_found_wherever_it_is(least: int, tmp_path: Path) -> None:
    source = os.open(tmp_path / "data", os.O_RDWR | os.O_CREAT)
    os.write(source, b"x" * 100)
    os.lseek(source, 0, os.SEEK_SET)
    number = fcntl.fcntl(source, fcntl.F_DUPFD, least)
    code = f"import os; os.read({number}, 60); os.read({number}, 60)"
    subprocess.run(
        [sys.executable, "-c", code], pass_fds=[number], env=harness.environment(tmp_path), check=True, timeout=PATIENCE
    )
    os.close(number)
    os.close(source)
    (log,) = harness.logs(tmp_path)
    counts = harness.counters(harness.read_log(log), str(tmp_path / "data"))
    assert (counts["POSIX_BYTES_READ"], counts["POSIX_MAX_BYTE_READ"]) == (100, 99)
