"""Tests the program metadata: every file is created, seen, read and removed, by different ranks, and the output agrees
with the files.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from btio_program import ROOT, BtioResult, launch, result
from iolens.lab.run.mpi_launch import openmpi
from mpi_libraries import library
from own_words import own_words

pytestmark = pytest.mark.mpi
PROGRAM = ROOT / "build" / "bin" / "metadata"
ROW = re.compile(r"^ +([A-Z][a-z ]+?) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$", re.MULTILINE)


MDTEST = """\
SUMMARY rate (in ops/sec): (of 1 iterations)
   Operation                     Max            Min           Mean        Std Dev
   ---------                     ---            ---           ----        -------
   File creation               35395.568      35395.568      35395.568          0.000
"""
"""Output of mdtest 4.1."""


def metadata(where: Path, *arguments: str, ranks: int = 3) -> tuple[BtioResult, dict[str, Any]]:
    """Runs the program, which must succeed; returns its result JSON."""
    outcome = launch(where, [str(PROGRAM), *arguments, "--json", "result.json"], ranks)
    assert outcome.status == 0, outcome.text + outcome.errors
    return outcome, result(where / "result.json")


def alone(where: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs one rank without a launcher, for runs that must fail."""
    as_root = openmpi.openmpi_variables(["as root"], None)
    command, surroundings = [str(PROGRAM), *arguments], os.environ | as_root
    return subprocess.run(command, cwd=where, env=surroundings, capture_output=True, text=True, check=False)


def test_table_and_result(tmp_path: Path) -> None:
    outcome, report = metadata(tmp_path, "-n", "20", "-w", "100", "-e", "60", "-i", "2")
    rows = {row[0]: [float(number) for number in row[1:]] for row in ROW.findall(outcome.text)}
    assert list(rows) == ["File creation", "File stat", "File read", "File removal"]
    rates = report["extra"]["rates"]
    assert [(rate["operation"], rate["items"]) for rate in rates] == [
        ("create", 60),
        ("stat", 60),
        ("read", 60),
        ("remove", 60),
    ]
    for (most, least, mean, deviation), rate in zip(rows.values(), rates, strict=True):
        assert mean == pytest.approx((most + least) / 2, abs=0.002)
        assert deviation == pytest.approx((most - least) / 2, abs=0.002)
        assert rate["items_per_second"] == pytest.approx(mean, abs=0.001)
        printed = min((most, least), key=lambda r: abs(r - 60 / rate["seconds"]))
        assert 60 / rate["seconds"] == pytest.approx(printed, abs=0.001)
    assert [phase["bytes"] for phase in report["phases"]] == [6000, 0, 3600, 0]
    assert report["verification"] == {"status": "successful", "detail": None}
    assert [row["operation"] for row in report["extra"]["latency"]] == list(rows)
    assert not list(tmp_path.glob("items*"))


def test_the_table_is_laid_out_as_mdtests(tmp_path: Path) -> None:
    outcome, _ = metadata(tmp_path, "-n", "2", ranks=1)
    ours, theirs = outcome.text.split("\n\n")[1].splitlines(), MDTEST.splitlines()
    assert ours[:3] == theirs[:3]
    numbers = re.compile(r"[\d.]+$|[\d.]+(?= )")
    assert [match.end() for match in numbers.finditer(ours[3])] == [
        match.end() for match in numbers.finditer(theirs[3])
    ]


@pytest.mark.parametrize(("preset", "files", "size"), [("easy", "items.{0}/file.{0}.{1}", 0), ("hard", None, 3901)])
def test_presets_and_single_phases(tmp_path: Path, preset: str, files: str | None, size: int) -> None:
    metadata(tmp_path, "--preset", preset, "-n", "4", "-C")
    pattern = files or "items/file.{0}.{1}"
    expected = sorted(pattern.format(rank, item) for rank in range(3) for item in range(4))
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("items*/*"))
    assert found == expected
    contents = [(tmp_path / path).read_bytes() for path in found]
    assert {len(content) for content in contents} == {size}
    assert size == 0 or len(set(contents)) == 12
    metadata(tmp_path, "--preset", preset, "-n", "4", "-T", "-E", "-r")
    assert not list(tmp_path.glob("items*"))


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_no_rank_looks_at_what_it_created(tmp_path: Path) -> None:
    """With -N 1 rank r calls stat on the files of r + 1, reads those of r + 2 and removes those of r + 3."""
    script = tmp_path / "traced.sh"
    calls = "openat,stat,newfstatat,unlink,unlinkat"
    script.write_text(f'exec strace -f -o trace.${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} -e trace={calls} "$@"\n')
    command = ["sh", str(script), str(PROGRAM), "-n", "2", "-N", "1", "-u"]
    done = launch(tmp_path, command, ranks=4)
    assert done.status == 0, done.errors
    for rank in range(4):
        seen = re.findall(r"(\w+)\(.*/file\.(\d)\.\d\".*\) += \d", (tmp_path / f"trace.{rank}").read_text())
        owners = [int(owner) for _, owner in seen]
        assert owners == [owner for shift in range(4) for owner in [(rank + shift) % 4] * 2]


def test_find_finds_what_find_finds(tmp_path: Path) -> None:
    metadata(tmp_path, "--preset", "hard", "-n", "120", "-C")
    stamp = tmp_path / "stamp"
    stamp.write_text("")
    os.utime(stamp, (1, 1))
    old = tmp_path / "items" / "old.01"
    old.write_bytes(bytes(3901))
    os.utime(old, (0, 0))
    words = ["find", ".", "-type", "f", "-name", "*01*", "-size", "3901c", "-newer", "stamp"]
    lines = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    outcome, report = metadata(tmp_path, "--find", "--newer", "stamp")
    assert report["extra"]["found"] == len(lines) == 3
    # The count includes the files of the run, two other files, and the result of the first run; the second result is
    # written later.
    assert report["extra"]["rates"][0]["items"] == 360 + 3
    assert "Found: 3 of 363 files" in outcome.text


def test_wrong_content_is_named(tmp_path: Path) -> None:
    assert alone(tmp_path, "-C", "-n", "3", "-w", "50").returncode == 0
    file = tmp_path / "items" / "file.0.1"
    file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    done = alone(tmp_path, "-E", "-n", "3", "-w", "50", "-e", "50")
    assert done.returncode == 1
    said = own_words(done.stderr, library("usual"))
    assert said == "metadata: ./items/file.0.1 has wrong content in its first 50 bytes\n"
    file.write_bytes(b"short")
    done = alone(tmp_path, "-T", "-n", "3", "-w", "50")
    assert done.returncode == 1
    assert own_words(done.stderr, library("usual")) == "metadata: ./items/file.0.1 has 5 bytes, not 50\n"
    file.unlink()
    done = alone(tmp_path, "-T", "-n", "3", "-w", "50")
    assert done.returncode == 1
    said = own_words(done.stderr, library("usual"))
    assert said == "metadata: cannot look at ./items/file.0.1: No such file or directory\n"


def test_a_full_disk_leaves_nothing(small_disk: Path) -> None:
    done = launch(small_disk, [str(PROGRAM), "-n", "3", "-w", "20000000"])
    assert done.status == 1
    assert "metadata: cannot write ./items/file.0.0: No space left on device" in done.errors
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-n", "0"], "--items 0: at least 1 is needed"),
        (["--preset", "soft"], "--preset soft: unknown; the presets are easy and hard"),
        (["--preset", "hard", "-u"], "--preset sets -u, -w and -e: leave them out"),
        (["-i", "2", "-C"], "-i 2 needs both -C and -r, or neither: an item is created and removed once"),
        (["-w", "10", "-e", "11"], "-e 11: the files have 10 bytes (-w)"),
        (["-d", "missing"], "--directory: cannot write into missing: No such file or directory"),
    ],
)
def test_bad_usage(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = alone(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert own_words(done.stderr, library("usual")) == f"metadata: {message}\n"
