"""DXT_POSIX holds every transfer that strace saw, within the limits of memory and files that the settings set."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import darshan
import profiler_harness as harness
import pytest

Traces = dict[str, dict[str, list[tuple[int, int]]]]
CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)")


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def traced(folder: Path, *arguments: str, **settings: str) -> darshan.DarshanReport:
    """Returns the log of dxt_segments with its trace."""
    settings = {"IOLENS_DXT": "1"} | settings
    result = harness.run(harness.build_program("dxt_segments"), *arguments, folder=folder, **settings)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    report = darshan.DarshanReport(str(harness.logs(folder)[0]), read_all=True)
    if "DXT_POSIX" in report.modules:
        report.mod_read_all_dxt_records("DXT_POSIX", dtype="numpy")
    return report


def segments(report: darshan.DarshanReport) -> Traces:
    """Returns file name -> read and write -> offsets and lengths in order."""
    found = {}
    for record in report.records.get("DXT_POSIX", []):
        kinds = {kind: record[f"{kind}_segments"] for kind in ("read", "write")}
        pairs = {kind: [(int(s["offset"]), int(s["length"])) for s in kinds[kind]] for kind in kinds}
        found[Path(report.name_records[record["id"]]).name] = pairs
    return found


@dataclass
class DxtFile:
    """An open file with its name and position."""

    name: str
    at: int = 0


def follow(opened: dict[int, DxtFile], call: str, words: list[str], result: int) -> tuple[DxtFile, int] | None:
    """Follows a call's descriptor and position; returns the file and the offset of the transfer, or None."""
    if call == "openat":
        opened[result] = DxtFile(words[1].strip('"'))
        return None
    this = opened.get(int(words[0]), DxtFile("standard stream"))
    if call in ("dup", "lseek", "close"):
        if call == "dup":
            opened[result] = this
        this.at = result if call == "lseek" else this.at
        return None
    if call.startswith("p"):
        return this, int(words[-1])
    this.at += result
    return this, this.at - result


def as_the_kernel_saw(folder: Path) -> Traces:
    """Runs dxt_segments under strace, and returns its transfers by file from strace's listing."""
    folder.mkdir()
    listing = folder / "calls"
    calls = "openat,dup,read,write,pread64,pwrite64,readv,writev,lseek,close"
    program = harness.build_program("dxt_segments")
    done = subprocess.run(["strace", "-e", f"trace={calls}", "-o", listing, program], cwd=folder, check=False)
    if done.returncode != 0:
        pytest.skip("strace may not trace here")
    files: Traces = {}
    opened: dict[int, DxtFile] = {}
    for match in filter(None, map(CALL.match, listing.read_text().splitlines())):
        call, result = match[1], int(match[3])
        moved = follow(opened, call, match[2].split(", "), result) if result >= 0 else None
        if moved and moved[0].name.endswith(".dat"):
            file = files.setdefault(moved[0].name, {"read": [], "write": []})
            file["read" if "read" in call else "write"].append((moved[1], result))
    return files


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_segments_are_the_calls_of_the_program(tmp_path: Path) -> None:
    witness = as_the_kernel_saw(tmp_path / "witness")
    assert len(witness["many.dat"]["write"]) == 5000
    assert segments(traced(tmp_path)) == witness


def test_times_lie_in_the_run_and_follow_one_another(tmp_path: Path) -> None:
    report = traced(tmp_path)
    run_time = report.metadata["job"]["run_time"]
    for record in report.records["DXT_POSIX"]:
        assert record["rank"] == 0
        assert record["hostname"] == os.uname().nodename[:63]
        for kind in ("read", "write"):
            last = 0.0
            for segment in record[f"{kind}_segments"]:
                assert last <= segment["start_time"] <= segment["end_time"] <= run_time + 1e-3
                last = segment["end_time"]


def test_a_forked_child_may_take_as_much_as_its_parent(tmp_path: Path) -> None:
    script = """
import os
data = os.open("data", os.O_CREAT | os.O_WRONLY)
def write(calls):
    for place in range(calls):
        os.pwrite(data, b"x", place)
write(40000)
if os.fork() == 0:
    write(100)
    os._exit(0)
os.wait()
"""
    done = harness.run(sys.executable, "-c", script, folder=tmp_path, IOLENS_DXT="1", IOLENS_DXT_MEMORY="1")
    assert done.returncode == 0, done.stderr
    kept = []
    for log in harness.logs(tmp_path):
        report = darshan.DarshanReport(str(log), read_all=True)
        report.mod_read_all_dxt_records("DXT_POSIX", dtype="numpy")
        kept.append((len(segments(report)["data"]["write"]), bool(report.modules["DXT_POSIX"]["partial_flag"])))
    small, large = sorted(kept)
    assert small == (100, False)
    assert large[0] > 30000
    assert large[1]


def test_threads_lose_no_segment(tmp_path: Path) -> None:
    result = harness.run(harness.build_program("posix_threads"), folder=tmp_path, IOLENS_DXT="1")
    assert result.returncode == 0, result.stderr
    report = darshan.DarshanReport(str(harness.logs(tmp_path)[0]), read_all=True)
    report.mod_read_all_dxt_records("DXT_POSIX", dtype="numpy")
    found = segments(report)
    assert len(found) == 5
    for expected in harness.expectations(result.stdout):
        file = found[Path(expected.path).name]
        assert len(file["write"]) == expected.counters["POSIX_WRITES"]
        assert len(set(file["write"])) == expected.counters.get("POSIX_SEQ_WRITES", 0) + 1


def test_nothing_is_traced_unless_asked_for(tmp_path: Path) -> None:
    assert "DXT_POSIX" not in traced(tmp_path, IOLENS_DXT="0").modules


def test_the_name_that_darshan_gives_the_switch(tmp_path: Path) -> None:
    assert len(segments(traced(tmp_path, IOLENS_DXT="", DXT_ENABLE_IO_TRACE="1"))) == 3


@pytest.mark.parametrize(
    ("setting", "value", "kept"),
    [
        ("IOLENS_DXT_FILES", "*/mixed*,*/app*.dat", {"mixed.dat", "appended.dat"}),
        ("IOLENS_DXT_FILES", "/nowhere/*", set()),
        ("IOLENS_DXT_RANKS", "0", {"mixed.dat", "appended.dat", "many.dat"}),
        ("IOLENS_DXT_RANKS", "1:", set()),
        # In the file mixed.dat 8 of 9 accesses are small, so that it falls below this share.
        ("DARSHAN_DXT_SMALL_IO_TRIGGER", ".95", {"appended.dat", "many.dat"}),
        ("IOLENS_DXT_SMALL_IO_TRIGGER", ".88", {"mixed.dat", "appended.dat", "many.dat"}),
        # In the other files 2 of 3, and 6 of 9, accesses are unaligned.
        ("IOLENS_DXT_UNALIGNED_IO_TRIGGER", ".9", {"many.dat"}),
    ],
)
def test_only_what_is_chosen_is_kept(setting: str, value: str, kept: set[str], tmp_path: Path) -> None:
    assert set(segments(traced(tmp_path, **{setting: value}))) == kept


def test_a_useless_value_is_said_and_left_out(tmp_path: Path) -> None:
    result = harness.run(
        harness.build_program("dxt_segments"),
        folder=tmp_path,
        IOLENS_DXT="1",
        IOLENS_DXT_SMALL_IO_TRIGGER="80%",
        IOLENS_DXT_RANKS="one",
        IOLENS_DXT_MEMORY="much",
    )
    assert result.returncode == 0
    assert len(result.stderr.splitlines()) == 3
    for name in ("IOLENS_DXT_SMALL_IO_TRIGGER=80%", "IOLENS_DXT_RANKS=one", "IOLENS_DXT_MEMORY=much"):
        assert name in result.stderr


def test_beyond_its_memory_the_first_segments_are_kept_and_the_log_says_so(tmp_path: Path) -> None:
    report = traced(tmp_path, "100000", IOLENS_DXT_MEMORY="1")
    kept = segments(report)["many.dat"]["write"]
    assert 2**20 / 32 * 0.95 < len(kept) < 2**20 / 32
    assert kept == [(3 * i, 1 + i % 5) for i in range(len(kept))]
    assert report.modules["DXT_POSIX"]["partial_flag"]
    assert not report.modules["POSIX"]["partial_flag"]
    assert harness.counters(report, str(tmp_path / "many.dat"))["POSIX_WRITES"] == 100000
    (reason,) = harness.private_region(harness.logs(tmp_path)[0], "job")["partial"]
    assert "DXT_POSIX" in reason
    assert "IOLENS_DXT_MEMORY" in reason
