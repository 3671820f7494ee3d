"""Tests `iolens export`: the files for other viewers, read by these viewers if they are installed."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import profiler_harness as harness
import pytest
from iolens.cli.main import main
from iolens.exports import chrome
from iolens.exports.pprof import pprof
from iolens.exports.sampled_stacks import Stack, hatchet
from iolens.log import read_log
from iolens.log.samples import held_samples
from iolens.symbols.chains import Frame

HZ = 500

PROGRAM = """
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile double sum;
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
static __attribute__((noinline)) void inner(double s) { double e = now() + s; while (now() < e) sum += 1; }
static __attribute__((noinline)) void outer(double s) { inner(s); inner(s); }
static void *asleep(void *unused) { usleep(200000); return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, asleep, NULL);
    outer(0.1);
    int fd = open("data", O_CREAT | O_RDWR, 0600);
    for (int i = 0; i < 5; i++) if (write(fd, "0123456789", 10) != 10) return 1;
    close(fd);
    pthread_join(thread, NULL);
    return 0;
}
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes the log of a program that computes, writes, and has a sleeping thread."""
    folder = tmp_path_factory.mktemp("exports")
    harness.build_library()
    (folder / "program.c").write_text(PROGRAM)
    gcc = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g", "-o", "program", "program.c", "-lpthread"]
    subprocess.run(gcc, cwd=folder, check=True)
    settings = {"IOLENS_SAMPLE": str(HZ), "IOLENS_TIMELINE": "10000", "IOLENS_DXT": "1"}
    assert harness.run(folder / "program", folder=folder, **settings).returncode == 0
    (found,) = harness.logs(folder)
    return found


def exported(log: Path, kind: str, folder: Path, *options: str) -> bytes:
    target = folder / "exported"
    assert main(["export", str(log), "--format", kind, "-o", str(target), *options]) == 0
    return target.read_bytes()


def periods(log: Path) -> int:
    return int(read_log(log).private["samples"]["count"].sum())


def test_an_event_on_the_time_line_ends_where_the_next_one_begins() -> None:
    """In Chrome's viewers, events of a row must follow or contain one another, to the nanosecond."""
    times = [0.1 + 3.7123e-7 * number * number for number in range(2000)]
    events = [chrome.event(0, 0, "I/O", "write", begin, end) for begin, end in pairwise(times)]
    begins = [round(1000 * one["ts"]) for one in events]
    ends = [round(1000 * one["ts"]) + round(1000 * one["dur"]) for one in events]
    assert ends[:-1] == begins[1:]


def test_collapsed_stacks_hold_every_period(log: Path, tmp_path: Path) -> None:
    lines = [line.rpartition(" ") for line in exported(log, "collapsed", tmp_path).decode().splitlines()]
    counts = {chain: int(count) for chain, _, count in lines}
    assert sum(counts.values()) == periods(log)
    busy = sum(count for chain, count in counts.items() if "main;outer;inner" in chain)
    assert busy > 0.16 * HZ
    assert all(chain.startswith("rank 0;thread ") for chain in counts)
    assert [chain for chain in counts if chain.startswith("rank 0;thread 1;") and "asleep;usleep" in chain]


def test_samples_that_waited_can_be_left_out(log: Path, tmp_path: Path) -> None:
    """A sample may be taken just before the thread waits, or just after, so a few samples in usleep count as
    running.
    """
    every, running = (exported(log, "collapsed", tmp_path, *options).decode() for options in ((), ("--running",)))
    assert in_function("inner", running) > 0
    assert in_function("usleep", running) < 0.1 * in_function("usleep", every)


def in_function(name: str, text: str) -> int:
    """Returns the number of timer periods in the collapsed chains that contain a function."""
    lines = [line.rpartition(" ") for line in text.splitlines()]
    return sum(int(count) for chain, _, count in lines if name in chain.split(";"))


def test_speedscope_has_a_profile_per_rank(log: Path, tmp_path: Path) -> None:
    """Checks a file against the format's description; SPEEDSCOPE_SCHEMA may name the schema itself."""
    document = json.loads(exported(log, "speedscope", tmp_path))
    frames, (profile,) = document["shared"]["frames"], document["profiles"]
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert (profile["type"], profile["name"], profile["unit"]) == ("sampled", "rank 0", "seconds")
    assert len(profile["samples"]) == len(profile["weights"])
    assert profile["endValue"] == pytest.approx(sum(profile["weights"])) == pytest.approx(periods(log) / HZ)
    assert all(0 <= at < len(frames) for sample in profile["samples"] for at in sample)
    assert {"inner", "outer", "main"} <= {frame["name"] for frame in frames}
    assert all(set(frame) <= {"name", "file", "line", "col"} for frame in frames)
    schema = os.environ.get("SPEEDSCOPE_SCHEMA")
    if schema:
        pytest.importorskip("jsonschema").validate(document, json.loads(Path(schema).read_text()))


def fields(data: bytes) -> list[tuple[int, Any]]:
    """Returns the fields of a protobuf message: number, and an integer or bytes."""
    at, found = 0, []

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte, at = data[at], at + 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        assert key & 7 in (0, 2)
        if key & 7 == 0:
            found.append((key >> 3, varint()))
        else:
            size = varint()
            found.append((key >> 3, data[at : at + size]))
            at += size
    return found


def test_pprof_holds_samples_places_and_functions(log: Path, tmp_path: Path) -> None:
    message = fields(gzip.decompress(exported(log, "pprof", tmp_path)))
    parts = Counter(number for number, _ in message)
    texts = [value.decode() for number, value in message if number == 6]
    assert texts[0] == ""
    assert {"inner", "outer", "main", "samples", "count", "nanoseconds"} <= set(texts)
    assert parts[1] == 2
    assert parts[2] == np.count_nonzero(held_samples(read_log(log))["count"])
    assert dict(message)[12] == 1_000_000_000 // HZ


@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
def test_go_reads_what_is_exported_for_it(log: Path, tmp_path: Path) -> None:
    target = tmp_path / "profile.pb.gz"
    target.write_bytes(exported(log, "pprof", tmp_path))
    command = [
        "go",
        "tool",
        "pprof",
        "-top",
        "-nodefraction=0",
        "-symbolize=none",
        "-sample_index=samples",
        str(target),
    ]
    environment = {**os.environ, "PPROF_TMPDIR": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = {words[-1]: words for words in map(str.split, done.stdout.splitlines()) if len(words) == 6}
    assert f"{periods(log)} total" in done.stdout
    assert int(rows["inner"][3]) == int(rows["outer"][3]) > 0.16 * HZ


def test_hatchet_has_trees_of_seconds(log: Path, tmp_path: Path) -> None:
    trees = json.loads(exported(log, "hatchet", tmp_path))
    total = sum(tree["metrics"]["time (inc)"] for tree in trees)
    assert total == pytest.approx(periods(log) / HZ)


@pytest.mark.skipif("HATCHET_PYTHON" not in os.environ, reason="HATCHET_PYTHON names no Python with hatchet")
def test_hatchet_reads_what_is_exported_for_it(log: Path, tmp_path: Path) -> None:
    exported(log, "hatchet", tmp_path)
    code = (
        "import hatchet, json; frame = hatchet.GraphFrame.from_literal(json.load(open('exported')));"
        "print(frame.dataframe.groupby('name')['time (inc)'].sum()['inner'])"
    )
    python = os.environ["HATCHET_PYTHON"]
    done = subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert float(done.stdout.splitlines()[-1]) > 0.05


def test_a_time_line_has_samples_and_transfers(log: Path, tmp_path: Path) -> None:
    """The time line has samples and transfers, and the events of a row are properly nested."""
    events = json.loads(exported(log, "chrome", tmp_path))["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert set(names.values()) == {"thread 0, samples", "thread 0, I/O", "thread 1, samples"}
    writes = [event for event in slices if event["name"] == "POSIX write"]
    assert [event["args"]["offset"] for event in writes] == [0, 10, 20, 30, 40]
    by_row: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for event in slices:
        by_row.setdefault((event["pid"], event["tid"]), []).append(event)
    for row in by_row.values():
        ends: list[float] = []
        for event in row:
            while ends and event["ts"] >= ends[-1] - 0.01:
                ends.pop()
            assert not ends or event["ts"] + event["dur"] <= ends[-1] + 0.01
            ends.append(event["ts"] + event["dur"])
    inner = sum(event["dur"] for event in slices if event["name"] == "inner")
    assert inner > 150_000


def test_chains_deeper_than_a_damaged_log_may_have_can_be_exported() -> None:
    frames = tuple(Frame(f"f{depth}", "", 0, "x") for depth in range(2 * 1024))
    stacks = [Stack(0, 0, False, 3, 0.03, frames)]
    assert pprof(stacks, "x", 0, 1)
    assert hatchet(stacks).count('"children"') == len(frames)


def test_a_log_without_samples_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    foreign = next((harness.ROOT / "tests/data").rglob("mpi-io-test-x86_64-3.5.0.darshan"))
    target = tmp_path / "x"
    assert main(["export", str(foreign), "--format", "collapsed", "-o", str(target)]) == 1
    assert "iolens run" in capsys.readouterr().err
    assert not target.exists()
    assert main(["export", str(foreign), "--format", "chrome", "-o", str(target)]) == 0
    assert "only bytes over time are exported" in capsys.readouterr().err
    assert {event["ph"] for event in json.loads(target.read_bytes())["traceEvents"]} == {"C", "M"}
