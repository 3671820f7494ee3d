"""Tests the bundled ior: the place of every byte, its output, and its messages."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from btio_program import ROOT, BtioResult, launch
from iolens.lab.storage.mounts import file_system
from iolens.lab.workloads.ior_output import IorOutput, parse_ior

IOR = ROOT / "build" / "bin" / "ior"
LIBRARIES = (ROOT / "build" / "obj" / "workloads" / "libraries.mk").read_text(encoding="utf-8")
OPTIONAL = {"HDF5": "HAVE_HDF5", "NCMPI": "HAVE_PNETCDF"}

pytestmark = pytest.mark.mpi


def ior(where: Path, *arguments: str, ranks: int = 4) -> BtioResult:
    return launch(where, [str(IOR), *arguments], ranks)


def messages(outcome: BtioResult) -> list[str]:
    return [line for line in outcome.errors.splitlines() if line.startswith("ior: ")]


def parsed(outcome: BtioResult) -> IorOutput:
    assert outcome.status == 0, outcome.errors
    output = parse_ior(outcome.text)
    assert output is not None
    return output


@pytest.mark.parametrize(
    "options",
    [
        "-a POSIX",
        "-a POSIX -F -z",
        "-a POSIX -Z -X 3",
        "-a MMAP",
        "-a MPIIO -c",
        "-a MPIIO -c --mpiio-driver lustre-like",
        "-a MPIIO -c --mpiio-driver lustre-like -F -e",
        "-a MPIIO -V",
        "-a MPIIO -V -S -c -b 64k",
        "-a HDF5 -c",
        "-a HDF5 -n -J 1m",
        "-a NCMPI -c",
        "-a NCMPI",
    ],
)
def test_what_is_written_is_read_back_right(tmp_path: Path, options: str) -> None:
    api = options.split()[1]
    if api in OPTIONAL and OPTIONAL[api] not in LIBRARIES:
        pytest.skip(f"ior was built without {api}")
    words = ["-b", "128k", "-t", "64k", "-s", "2", "-w", "-r", "-W", "-R", "-o", "data", *options.split()]
    output = parsed(ior(tmp_path, *words))
    assert [row.access for row in output.rows] == ["write", "read"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options", ["-a MPIIO", "-F -C -i 2"])
def test_a_cold_read_says_how_much_was_still_in_memory(tmp_path: Path, options: str) -> None:
    words = ["-w", "-r", "-R", "-b", "64k", "-t", "64k", "-o", "data", "--cold-read", *options.split()]
    parsed(ior(tmp_path, *words, "--json", "result.json", ranks=2))
    held = json.loads((tmp_path / "result.json").read_text())["extra"]["cached_before_read"]
    assert held == 1 if file_system(tmp_path)[0] == "tmpfs" else 0 <= held <= 1
    refused = ior(tmp_path, "-w", "--cold-read", ranks=1)
    assert (refused.status, messages(refused)) == (2, ["ior: --cold-read works only with a timed read: -r"])


def writers(path: Path) -> list[int]:
    """Returns the writing rank of each KiB of a file, from a word that is no stamp."""
    words = np.fromfile(path, dtype="<u8").reshape(-1, 128)
    return [int(word >> 32) for word in words[:, 1]]


def test_blocks_lie_where_the_formula_says(tmp_path: Path) -> None:
    parsed(ior(tmp_path, "-w", "-k", "-b", "2k", "-t", "1k", "-s", "2", "-o", "data", ranks=3))
    assert writers(tmp_path / "data") == [0, 0, 1, 1, 2, 2] * 2


def test_files_per_process_and_folders(tmp_path: Path) -> None:
    parsed(ior(tmp_path, "-w", "-k", "-F", "-u", "-m", "-i", "2", "-b", "2k", "-t", "1k", "-o", "data", ranks=2))
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("data*"))
    assert found == [f"{rank}/data.{rank:08d}.{repetition}" for rank in (0, 1) for repetition in (0, 1)]
    assert writers(tmp_path / "1" / "data.00000001.0") == [1, 1]


@pytest.mark.parametrize(("options", "at"), [((), 70000), (("-l", "timestamp"), 70000), (("-l", "random"), 123456)])
def test_a_wrong_byte_is_found(tmp_path: Path, options: tuple[str, ...], at: int) -> None:
    common = ["-b", "64k", "-t", "32k", "-G", "7", "-k", "-o", "data", *options]
    parsed(ior(tmp_path, "-w", *common, ranks=2))
    with (tmp_path / "data").open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))
    found = ior(tmp_path, "-R", *common, ranks=2)
    assert found.status == 1
    assert f"first at {at // 8 * 8}" in found.errors
    # The message may come from any rank, because ranks print in any order.
    assert "ior: 1 transfers hold wrong data" in messages(found)


def test_swapped_transfers_are_found(tmp_path: Path) -> None:
    common = ["-b", "8k", "-t", "4k", "-G", "7", "-k", "-o", "data"]
    parsed(ior(tmp_path, "-w", *common, ranks=1))
    data = (tmp_path / "data").read_bytes()
    (tmp_path / "data").write_bytes(data[4096:] + data[:4096])
    assert ior(tmp_path, "-R", *common, ranks=1).status == 1


def test_script_files_hold_several_tests(tmp_path: Path) -> None:
    script = "IOR START\n  api=POSIX  # first\n  blockSize=8k\n  transferSize=4k\nRUN\n  filePerProc=1\nRUN\nIOR STOP\n"
    (tmp_path / "s.ior").write_text(script, encoding="utf-8")
    done = ior(tmp_path, "-f", "s.ior", ranks=2)
    assert done.text.count("TestID") == 2
    assert done.text.count("file-per-process") == 1
    (tmp_path / "s.ior").write_text(script.replace("blockSize", "blokSize"), encoding="utf-8")
    wrong = ior(tmp_path, "-f", "s.ior", ranks=2)
    assert (wrong.status, wrong.errors.count("s.ior:3: unknown option 'blokSize'")) == (2, 1)


def test_summaries_are_json_and_csv(tmp_path: Path) -> None:
    common = ["-b", "8k", "-t", "4k", "-i", "6", "-o", "data"]
    ior(tmp_path, *common, "-O", "summaryFormat=JSON,summaryFile=out.json", ranks=2)
    content = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    write = content["summary"][0]
    assert (write["operation"], write["transferSize"], write["repetitions"]) == ("write", 4096, 6)
    bandwidths = [row["bwMiB"] for row in content["tests"][0]["Results"] if row["access"] == "write"]
    assert write["bwMeanMIB"] == pytest.approx(np.mean(bandwidths))
    assert write["bwStdMIB"] == pytest.approx(np.std(bandwidths))
    assert write["bwMedianMIB"] == pytest.approx(np.median(bandwidths))
    assert write["bwMedianLowMIB"] == pytest.approx(min(bandwidths))
    table = ior(tmp_path, *common, "-O", "summaryFormat=CSV", ranks=2).text
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["access"] for row in rows] == ["write", "read"] * 6
    assert rows[0]["numTasks"] == "2"


def test_bandwidth_is_bytes_over_first_open_to_last_close(tmp_path: Path) -> None:
    done = ior(tmp_path, "-b", "1m", "-t", "256k", "-w", "-o", "data", "--json", "r.json", ranks=2)
    row = parsed(done).rows[0]
    phase = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["phases"][0]
    assert phase["bytes"] == 2 * 2**20
    assert row.total is not None
    assert row.bandwidth == pytest.approx(2 / phase["seconds"]["max"], rel=1e-3, abs=0.01)


def test_a_deadline_with_wear_out_lets_all_ranks_catch_up(tmp_path: Path) -> None:
    common = ["-b", "2g", "-t", "256", "-o", "data", "-O", "stoneWallingStatusFile=transfers"]
    wrote = ior(tmp_path, *common, "-w", "-k", "-Y", "-D", "1", "-O", "stoneWallingWearOut=1", ranks=2)
    (write,) = parsed(wrote).rows
    (read,) = parsed(ior(tmp_path, *common, "-r", ranks=2)).rows
    transfers = int((tmp_path / "transfers").read_text())
    assert 0 < transfers < 2**31 / 256
    assert (tmp_path / "data").stat().st_size == 2**31 + 256 * transfers
    for row in (write, read):
        assert row.bandwidth * (row.total or 0) == pytest.approx(2 * 256 * transfers / 2**20, rel=0.02)


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["-b", "1500", "-t", "1000"], 2, "-b 1500 is not a multiple of -t 1000"),
        (["-z", "-c", "-a", "MPIIO"], 2, "-z works neither with -c nor with -V"),
        (["-a", "NOSUCH"], 2, "-a NOSUCH: this ior knows POSIX, MPIIO, MMAP"),
        (["--blok", "3"], 2, "unknown argument '--blok'"),
        (["-w", "-o", "missing/data"], 1, "cannot open missing/data: No such file or directory"),
        (["-r", "-o", "absent"], 1, "cannot open absent: No such file or directory"),
        (["-O", "verbose=much"], 2, "--verbose much: the value must be a whole number"),
        (["-O", f"testFile={'x' * 4096}"], 2, "longer than the 4095 bytes for which a list has room"),
        (["-w", "-F", "-m", "-o", "x" * 4090], 2, "a path has at most 4048 bytes"),
        (["-w", "--saveRankPerformanceDetailsCSV", "/dev/full"], 1, "cannot write /dev/full: No space left on device"),
    ],
)
def test_errors_are_said_once(tmp_path: Path, options: list[str], status: int, message: str) -> None:
    done = ior(tmp_path, *options, ranks=2)
    assert done.status == status
    said = messages(done)
    assert len(said) == 1
    assert message in said[0]


def test_reading_past_the_end_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(4096))
    for api in ("POSIX", "MPIIO", "MMAP"):
        done = ior(tmp_path, "-r", "-k", "-a", api, "-b", "8k", "-t", "4k", "-o", "data", ranks=1)
        assert done.status == 1, api
        assert len(messages(done)) == 1


def test_a_full_disk_is_an_error_and_leaves_no_file(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs root")
    try:
        done = ior(tmp_path, "-w", "-b", "1m", "-t", "32k", "-o", "disk/data", ranks=2)
        assert done.status == 1
        assert "No space left on device" in messages(done)[0]
        assert not list(disk.iterdir())
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)
