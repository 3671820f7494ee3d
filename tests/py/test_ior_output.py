"""Reads the text output of old and new versions of IOR."""

from __future__ import annotations

from pathlib import Path

import pytest
from iolens.lab.workloads.ior_output import parse_ior, result_of_ior

DATA = Path(__file__).resolve().parents[1] / "data" / "ior"


def read(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


def test_version_4_has_latency_and_three_repetitions() -> None:
    output = parse_ior(read("fmt_v1.out"))
    assert output is not None
    assert (output.version, output.ranks, output.facts["api"]) == ("4.1.0+dev", 4, "POSIX")
    assert [(row.access, row.repetition) for row in output.rows] == [
        (access, repetition) for repetition in range(3) for access in ("write", "read")
    ]
    first = output.rows[0]
    assert (first.bandwidth, first.latency, first.total) == (5750, 0.000313, 0.005565)


def test_version_3_has_neither_iops_nor_latency() -> None:
    output = parse_ior(read("old_3.0.out"))
    assert output is not None
    assert (output.version, output.ranks) == ("3.0.1", 4)
    assert [(row.access, row.bandwidth, row.latency, row.total) for row in output.rows] == [
        ("write", 200.0, None, 2.0),
        ("read", 400.0, None, 1.0),
    ]


def test_a_result_has_the_bytes_that_were_moved() -> None:
    result = result_of_ior(read("old_3.0.out"))
    assert [phase["bytes"] for phase in result["phases"]] == [400 * 2**20, 400 * 2**20]
    stopped = result_of_ior(read("stonewall.out"))
    assert stopped["phases"][0]["bytes"] == pytest.approx(587202560, rel=0.01)


@pytest.mark.parametrize("text", ["", "btio: done\n", "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\n"])
def test_other_output_gives_no_result(text: str) -> None:
    assert result_of_ior(text) == {}
