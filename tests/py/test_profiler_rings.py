"""Tests requests through rings of io_uring: the log agrees with the program's own counts, and with the submissions that
strace saw.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import Job, read_log
from iolens.pages.exhibits.files import RINGS

COUNTED = ("POSIX_READS", "POSIX_BYTES_READ", "POSIX_WRITES", "POSIX_BYTES_WRITTEN", "POSIX_FSYNCS")


@pytest.fixture(scope="module", autouse=True)
def library() -> Path:
    return harness.build_library()


def recorded(program: Path, *arguments: str, folder: Path, **settings: str) -> tuple[Job, str]:
    """Runs a program that uses a ring; returns its log and its output."""
    done = harness.run(program, *arguments, folder=folder, **settings)
    if "Cannot allocate memory" in done.stderr and os.geteuid() != 0:
        pytest.skip("all rings of this user together lock more memory than the user may (ulimit -l)")
    assert (done.returncode, done.stderr) == (0, "")
    if done.stdout.startswith("none: "):
        pytest.skip(f"this kernel makes no rings ({done.stdout[6:].strip()})")
    return read_log(max(harness.logs(folder), key=lambda path: path.stat().st_mtime_ns)), done.stdout


def of_library(name: str) -> Path:
    """Returns a program that is linked with liburing."""
    declared = subprocess.run(
        ["gcc", "-E", "-x", "c", "-"], input="#include <liburing.h>", capture_output=True, text=True, check=False
    )
    if declared.returncode != 0 or "io_uring_submit_and_get_events" not in declared.stdout:
        pytest.skip("liburing.h of 2.3 or later is not installed")
    return harness.build_program(name, "-Wl,--no-as-needed", "-luring")


def counts(job: Job) -> dict[str, int]:
    """Returns the counts of the region io_uring that are not 0."""
    found = RINGS.metric(job)
    return {name: int(total) for name, total in found.rows("name", "total")} if len(found) else {}


def records(job: Job) -> dict[str, list[int]]:
    """Returns the counters in COUNTED for each file by its name."""
    frame = job.frames["POSIX"]
    names = [Path(job.names[int(record)]).name for record in frame["id"]]
    rows = [[int(number) for number in row] for row in frame[list(COUNTED)].to_numpy()]
    return dict(zip(names, rows, strict=True))


@pytest.mark.parametrize("depth", [1, 2, 8, 64, 256])
@pytest.mark.parametrize("seed", [1, 2])
def test_random_requests_are_those_that_the_program_counted(depth: int, seed: int, tmp_path: Path) -> None:
    """The program makes requests with vectors, fixed buffers and fixed files, in chains, on bad descriptors, at
    positions of their own; some calls submit a part of the prepared requests only.
    """
    job, said = recorded(harness.build_program("ring_fuzz"), str(depth), str(seed), folder=tmp_path)
    lines = [line.split() for line in said.splitlines()]
    assert {name: [int(number) for number in numbers] for name, *numbers in lines} == records(job)
    found = counts(job)
    assert found["requests"] == found["completions"]
    assert found["bytes"] == sum(numbers[1] + numbers[3] for numbers in records(job).values())
    assert not {"unseen", "missed", "silent", "open", "ambiguous"} & set(found)
    assert job.unfollowed == ()


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_requests_are_those_that_strace_saw_submitted(tmp_path: Path) -> None:
    settings = harness.environment(tmp_path)
    ours = [f"-E{name}={value}" for name, value in settings.items() if name.startswith(("IOLENS_", "LD_PRELOAD"))]
    program = harness.build_program("ring_fuzz")
    command = ["strace", *ours, "-o", "trace", "-e", "trace=io_uring_enter", program, "16", "5"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    if done.stdout.startswith("none: "):
        pytest.skip("this kernel makes no rings")
    taken = re.findall(r"^io_uring_enter\(.*\) += (\d+)$", (tmp_path / "trace").read_text(), re.M)
    (log,) = harness.logs(tmp_path)
    assert counts(read_log(log))["requests"] == sum(map(int, taken)) > 100


def test_calls_by_liburing_are_in_the_records_of_their_files(tmp_path: Path) -> None:
    job, said = recorded(of_library("ring_library"), folder=tmp_path)
    report = harness.read_log(job.path)
    for expectation in harness.expectations(said):
        found = harness.counters(report, expectation.path)
        wrong = {name: (n, found[name]) for name, n in expectation.counters.items() if found[name] != n}
        assert wrong == {}, expectation.path
    extra = job.private["posix_extra"]
    names = ("unlinks", "links", "mkdirs", "rmdirs", "splices", "allocates")
    assert [int(extra[name].sum()) for name in names] == [1] * len(names)
    failed = job.private["failed_calls"]
    answers = [(row["operation"], row["error"], row["calls"]) for row in failed.to_dict("records")]
    assert sorted(answers) == [("open", 2, 1), ("open", 14, 1), ("read", 14, 1), ("stat", 2, 1)]
    found = counts(job)
    assert (found["silent"], found["silent_bytes"], found["unnamed_bytes"]) == (2, 100, 1000)
    (sentence,) = job.unfollowed
    assert "at most 100." in sentence


@pytest.mark.parametrize("way", ["threads", "key", "table", "kernel"])
def test_uses_that_are_hard_to_follow(way: str, tmp_path: Path) -> None:
    """`threads`: another thread takes the completions; `key`: all requests have one key; `table`: the table of files
    changes after a completion; `kernel`: a thread of the kernel takes the requests.
    """
    job, said = recorded(harness.build_program("ring_cases"), way, folder=tmp_path)
    moved, reads = map(int, said.split())
    assert records(job)["case.dat"][:2] == [reads, moved]
    assert not {"ambiguous", "unseen", "open"} & set(counts(job)), (
        "all requests with the same key are for the same file"
    )
    assert counts(job).get("polled", 0) == (way == "kernel")


@pytest.mark.parametrize("way", ["shared", *["held"] * 3])
def test_threads_that_enter_at_once_lose_no_request(way: str, tmp_path: Path) -> None:
    """Completions are found while another thread still reads the arguments of a request, however long it is held. A
    thread may be interrupted between preparing a request and its own call; if the call of another thread submits the
    request in that moment, it counts as unseen.
    """
    job, said = recorded(harness.build_program("ring_cases"), way, folder=tmp_path)
    moved, reads = map(int, said.split())
    found, unseen = records(job)["case.dat"][:2], counts(job).get("unseen", 0)
    assert found == [reads, moved] or (found[0] == reads - unseen and found[1] < moved)
    assert counts(job)["requests"] + unseen == reads
    assert not {"ambiguous", "missed", "open"} & set(counts(job))


def test_requests_to_the_kernels_thread_between_calls_are_counted_and_bounded(tmp_path: Path) -> None:
    """The ring has room for 8 requests, and the program calls once in 20: 12 are overwritten, 8 are seen."""
    job, said = recorded(harness.build_program("ring_cases"), "kernel_unnoticed", folder=tmp_path)
    moved, reads = map(int, said.split())
    found = counts(job)
    assert (found["polled"], found["requests"], found["unseen"]) == (1, reads * 8 // 20, reads * 12 // 20)
    seen, seen_bytes = records(job)["case.dat"][:2]
    assert (seen, found["transfers"], found["bytes"]) == (found["requests"], seen, seen_bytes)
    (sentence,) = job.unfollowed
    most = int(re.findall(r"at most ([\d,]+) of each", sentence)[0].replace(",", ""))
    assert f"{found['unseen']:,} requests" in sentence
    assert seen_bytes < moved <= seen_bytes + most * found["unseen"]


@pytest.mark.parametrize("milliseconds", [5, 10, 20, 40])
def test_a_process_killed_amid_requests_leaves_those_that_were_seen(milliseconds: int, tmp_path: Path) -> None:
    settings = harness.environment(tmp_path, IOLENS_SPOOL=str(tmp_path))
    for seed in range(1, 6):
        command = [harness.build_program("ring_fuzz"), "64", str(seed)]
        program = subprocess.Popen(command, cwd=tmp_path, env=settings, stdout=subprocess.PIPE, text=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(milliseconds / 1000)
        program.kill()
        said = program.communicate()[0]
        if said.startswith("none: "):
            pytest.skip("this kernel makes no rings")
    for spool in tmp_path.glob("iolens-*/*.spool"):
        command = [harness.BUILD / "bin/iolens-recover", "merge", str(spool)]
        merged = subprocess.run(command, check=False, capture_output=True, text=True)
        assert merged.returncode == 0 or "before it began to record" in merged.stderr
    # A process that is killed while it writes its log leaves a file with another ending beside the logs.
    for log in (tmp_path / "logs").glob("*.darshan"):
        job = read_log(log)
        found = counts(job)
        if found:
            assert 0 <= found.get("completions", 0) <= found.get("requests", 0)
            of_files = records(job).values() if "POSIX" in job.records else ()
            recorded_bytes = sum(numbers[1] + numbers[3] for numbers in of_files)
            assert 0 <= found.get("bytes", 0) - recorded_bytes <= 4096, "one request may be counted and not recorded"


def test_a_ring_used_by_a_copy_of_its_descriptor_is_said_to_be_unfollowed(tmp_path: Path) -> None:
    job, _ = recorded(harness.build_program("harm_rings"), "copied", folder=tmp_path)
    (sentence,) = job.unfollowed
    assert sentence.startswith("io_uring was used")


def test_requests_past_the_profiler_are_counted(tmp_path: Path) -> None:
    job, said = recorded(harness.build_program("ring_cases"), "unseen", folder=tmp_path)
    reads = int(said.split()[1])
    if reads == 0:
        pytest.skip("the program knows the instruction of another processor")
    assert counts(job)["unseen"] == reads
    assert records(job)["case.dat"][0] == 0
    (sentence,) = job.unfollowed
    assert f"{reads} requests" in sentence


def test_a_child_follows_its_own_ring(tmp_path: Path) -> None:
    recorded(harness.build_program("ring_cases"), "child", folder=tmp_path)
    found = [counts(read_log(path)) for path in harness.logs(tmp_path)]
    assert sorted(one["completions"] for one in found) == [1, 2]
    assert all(one["rings"] == 1 and "open" not in one for one in found)


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_the_requests_of_fio_are_counted(tmp_path: Path) -> None:
    """fio enters the kernel by an instruction of its own on x86-64, and by the C library elsewhere."""
    command = ["fio", "--name=x", "--ioengine=io_uring", "--rw=randread", "--bs=4k", "--size=1m", "--iodepth=16"]
    done = harness.run("fio", *command[1:], "--thread", "--filename=fio.dat", folder=tmp_path)
    if done.returncode != 0:
        pytest.skip(f"fio makes no ring here: {done.stderr[-200:]}")
    (total,) = re.findall(r"issued rwts: total=(\d+)", done.stdout)
    found = counts(read_log(max(harness.logs(tmp_path), key=lambda path: path.stat().st_size)))
    assert found.get("unseen", 0) + found.get("requests", 0) == int(total)


def test_rings_of_every_making_are_noticed(tmp_path: Path) -> None:
    job, _ = recorded(of_library("posix_liburing"), folder=tmp_path)
    assert counts(job)["rings"] == 3
    job, _ = recorded(harness.build_program("posix_uring"), folder=tmp_path)
    assert counts(job)["rings"] == 1


def test_a_program_without_rings_has_no_table(tmp_path: Path) -> None:
    job, _ = recorded(harness.build_program("posix_pattern"), folder=tmp_path)
    assert "io_uring" not in job.private
    assert "unfollowed" not in job.private
    assert len(RINGS.metric(job)) == 0
