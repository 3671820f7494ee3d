"""Tests that workloads which verify their data notice one bit that changes while the data is read back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from btio_program import BTIO, ROOT, launch

pytestmark = pytest.mark.mpi

DUMP_BYTES, SIDE, COMPONENTS = 12**3 * 5 * 8, 12, 5
LEAST_BITS = 3
"""The byte of a double whose bits change it by less than a part in 10^7: the norms of all dumps stay right."""


@pytest.fixture(scope="session")
def damaging(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a library that flips a bit in what is read of a file."""
    library = tmp_path_factory.mktemp("damage") / "damaged_reads.so"
    source = ROOT / "tests/c/damaged_reads.c"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def run_damaged(where: Path, library: Path, file: str, byte: int, *arguments: str) -> tuple[int, str]:
    """Returns exit status and output of BT-IO on one rank that reads a byte of a file with another lowest bit."""
    place = [f"DAMAGED_FILE={file}", f"DAMAGED_BYTE={byte}", "DAMAGED_BIT=1"]
    command = ["env", f"LD_PRELOAD={library}", *place, str(BTIO), *arguments]
    done = launch(where, command)
    return done.status, done.text


def place_of(dump: int, component: int) -> int:
    """Returns the offset of a byte of the middle point in a dump of class S."""
    point = 5 + SIDE * (5 + SIDE * 5)
    return (dump - 1) * DUMP_BYTES + 8 * (component + COMPONENTS * point) + LEAST_BITS


@pytest.mark.parametrize("component", range(COMPONENTS))
def test_each_component_of_a_dump_is_compared_with_memory(tmp_path: Path, damaging: Path, component: int) -> None:
    """No norms are published for this write interval, so that the norms in memory alone notice the bit."""
    arguments = ("--class", "S", "--write-interval", "7")
    status, text = run_damaged(tmp_path, damaging, "btio.full.out", place_of(3, component), *arguments)
    assert status == 1
    assert "dump 3 differs from the data that was written" in text
    assert "Verification failed" in text


def test_the_first_dump_with_a_wrong_value_is_named(tmp_path: Path, damaging: Path) -> None:
    arguments = ("--class", "S", "--io-only", "--write-interval", "20")
    status, text = run_damaged(tmp_path, damaging, "btio.full.out", place_of(2, 1), *arguments)
    assert status == 1
    assert "1 values differ from the written ones, first in dump 2" in text


def test_other_bytes_than_those_of_the_file_change_nothing(tmp_path: Path, damaging: Path) -> None:
    arguments = ("--class", "S", "--write-interval", "7")
    status, text = run_damaged(tmp_path, damaging, "btio.other.out", place_of(3, 0), *arguments)
    assert (status, "Verification Successful" in text) == (0, True)
