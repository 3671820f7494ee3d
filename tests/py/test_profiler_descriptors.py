"""Descriptors that are closed and given out again, by calls that the profiler sees and by others that it does not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections import defaultdict
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log.reader import read_log
from patience import PATIENCE

CLOSED = ("close", "number", "range", "range_number", "from", "assembly")
GIVEN = (
    "pipe pipe2 pipe_number socketpair accept accept4 memfd openpty eventfd epoll timerfd popen rights open "
    "open_number dup dup_number fopen epoll_create inotify inotify1 fanotify signalfd socket openpt getpt forkpty "
    "opendir shm handle"
).split()
TRANSFERS = ("read", "pread64", "readv", "write", "pwrite64", "writev", "sendfile", "copy_file_range")


@pytest.fixture(scope="module", autouse=True)
def library() -> Path:
    return harness.build_library()


def written(folder: Path) -> dict[str, int]:
    """Returns the bytes that POSIX calls wrote to each file below the folder, from the only log."""
    (path,) = harness.logs(folder)
    report = harness.read_log(path)
    below = [name for name in report.name_records.values() if name.startswith(f"{folder}/")]
    return {
        name[len(str(folder)) + 1 :]: harness.counters(report, name).get("POSIX_BYTES_WRITTEN", 0) for name in below
    }


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("closed", CLOSED)
def test_a_number_that_comes_back_is_no_longer_the_file(closed: str, given: str, tmp_path: Path) -> None:
    program = harness.build_program("descriptors_recycled", "-lutil")
    done = harness.run(program, closed, given, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    _, config, other = (int(word) for word in done.stdout.split())
    found = written(tmp_path)
    assert (found["config"], found.get("other", 0)) == (config, other)


def test_standard_descriptors_that_the_c_library_replaces(tmp_path: Path) -> None:
    """The program goes on in a child, whose standard descriptors are /dev/null, and then a terminal."""
    done = harness.run(harness.build_program("descriptors_recycled", "-lutil"), "close", "daemon", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    end = time.monotonic() + PATIENCE
    while not list((tmp_path / "logs").glob("*.darshan")) and time.monotonic() < end:
        time.sleep(0.02)
    assert written(tmp_path) == {"config": 0}, "the parent wrote the file's bytes"


def traced_bytes(folder: Path) -> dict[str, tuple[int, int]]:
    """Returns the bytes written and read for each file below the folder, from the listing of strace."""
    moved: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for line in (folder / "calls").read_text().splitlines():
        result = re.search(r"= (\d+)$", line)
        call = line.partition("(")[0]
        files = re.findall(rf"\d+<{re.escape(str(folder))}/(program[^>]*)>", line)
        if not result or not files:
            continue
        if call == "sendfile":
            files.reverse()
        moved[files[0]]["write" in call] += int(result[1])
        if call in ("sendfile", "copy_file_range"):
            moved[files[1]][True] += int(result[1])
    return {name: (wrote, read) for name, (read, wrote) in moved.items() if wrote + read > 0}


def test_random_programs_that_use_numbers_again(tmp_path: Path) -> None:
    """The programs' own account is the truth, and strace has seen the same."""
    program = harness.build_program("descriptors_random")
    environment = harness.environment(tmp_path)
    command: list[str | Path] = [program, "1", "200"]
    if shutil.which("strace"):
        traced: list[str | Path] = ["strace", "-y", "-o", tmp_path / "calls", "-e", f"trace={','.join(TRANSFERS)}"]
        command = [*traced, "-E", f"LD_PRELOAD={environment.pop('LD_PRELOAD')}", *command]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    if "PTRACE" in done.stderr or "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    told = {name: (int(wrote), int(read)) for name, wrote, read in (line.split() for line in done.stdout.splitlines())}
    assert len(told) > 500
    if (tmp_path / "calls").exists():
        assert traced_bytes(tmp_path) == told
    (log,) = harness.logs(tmp_path)
    frame = read_log(log).frames["POSIX"]
    names = read_log(log).names
    found = {
        os.path.relpath(names[int(record)], tmp_path): (int(wrote), int(read))
        for record, wrote, read in zip(
            frame["id"], frame["POSIX_BYTES_WRITTEN"], frame["POSIX_BYTES_READ"], strict=True
        )
        if wrote + read > 0
    }
    assert {name: (told.get(name), found.get(name)) for name in told | found if told.get(name) != found.get(name)} == {}


SCRIPT = """
for i in {0..51}; do
    echo line $i >$i.a
    printf '%0*d' $((100 + i)) 7 >$i.b
    for k in 1 2 3; do echo more $k; done >>$i.c
done
exec 3>kept; echo three >&3; echo four >&3; exec 3>&-
echo end
"""


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
@pytest.mark.parametrize("redirected", [False, True])
def test_output_of_a_shells_own_commands_is_that_of_their_file(redirected: bool, tmp_path: Path) -> None:
    """`echo` and `printf` write through the stream stdout, whose descriptor bash replaces by a copy of the file's."""
    (tmp_path / "script.sh").write_text(SCRIPT)
    with (tmp_path / "printed").open("w") as out:
        subprocess.run(
            ["bash", "script.sh"],
            cwd=tmp_path,
            env=harness.environment(tmp_path, IOLENS_LOGFILE=str(tmp_path / "logs/bash.darshan")),
            stdout=out if redirected else subprocess.DEVNULL,
            check=True,
            timeout=PATIENCE,
        )
    job = read_log(tmp_path / "logs/bash.darshan")
    found: dict[str, int] = defaultdict(int)
    for module in ("POSIX", "STDIO"):
        frame = job.frames[module]
        for record, wrote in zip(frame["id"], frame[f"{module}_BYTES_WRITTEN"], strict=True):
            found[job.names[int(record)]] += int(wrote)
    files = [path for path in tmp_path.iterdir() if path.suffix in (".a", ".b", ".c") or path.name == "kept"]
    assert len(files) == 157
    assert {path.name: found[str(path)] for path in files} == {path.name: path.stat().st_size for path in files}
    assert found["<STDOUT>"] == len("end\n")


NODE = """
const fs = require('fs'), net = require('net')
fs.writeFileSync('config', 'x'.repeat(1000))
fs.readFileSync('config')
fs.writeFileSync('big', Buffer.alloc(3 << 20))
fs.copyFileSync('big', 'copy')
const server = net.createServer(c => { c.resume(); c.on('end', () => { c.end(); server.close() }) })
server.listen('./socket', () => {
    const client = net.connect('./socket')
    for (let i = 0; i < 100; i++) client.write(Buffer.alloc(65536))
    client.end()
})
"""


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_node_copies_by_numbers_of_system_calls(tmp_path: Path) -> None:
    """libuv closes and copies by syscall(); its sockets are no files."""
    (tmp_path / "program.js").write_text(NODE)
    done = harness.run("node", "program.js", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (log,) = harness.logs(tmp_path)
    report = harness.read_log(log)
    moved = {
        name: [
            harness.counters(report, str(tmp_path / name)).get(f"POSIX_BYTES_{way}", 0) for way in ("WRITTEN", "READ")
        ]
        for name in ("config", "big", "copy")
    }
    assert moved == {"config": [1000, 1000], "big": [3 << 20, 3 << 20], "copy": [3 << 20, 0]}
