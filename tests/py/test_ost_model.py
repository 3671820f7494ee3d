"""Checks properties of the storage model that always hold, by replaying traces with ost-simulate."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SIMULATE = ROOT / "build" / "bin" / "ost-simulate"
CONFIG = ROOT / "storage" / "ost.yaml"
MIB = 2**20
OST = 200e6
LINK = 1250e6


@dataclass(frozen=True)
class ReplayTimes:
    seconds: float
    bytes: list[int]
    busy: list[float]


def replay(trace: Sequence[str], stripes: int, size: int = MIB, config: Path = CONFIG) -> ReplayTimes:
    """Replays `time,client,op,file,offset,bytes` lines on a layout that begins at target 0."""
    done = subprocess.run(
        [SIMULATE, config, str(stripes), str(size), "0"],
        input="\n".join(trace) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    rows = [line.split(",") for line in lines[2:]]
    return ReplayTimes(float(lines[0].split(",")[1]), [int(row[1]) for row in rows], [float(row[2]) for row in rows])


def sequential(client: int, total: int, transfer: int, op: str = "w", file: int = 1, start: int = 0) -> list[str]:
    return [f"0,{client},{op},{file},{start + offset},{transfer}" for offset in range(0, total, transfer)]


@pytest.mark.parametrize("stripes", [1, 2, 3, 4, 12])
def test_work_is_conserved(stripes: int) -> None:
    result = replay(sequential(0, 48 * MIB, MIB), stripes)
    assert sum(result.bytes) == 48 * MIB
    assert [count > 0 for count in result.bytes] == [target < stripes for target in range(12)]


@pytest.mark.parametrize("stripes", [1, 2, 4])
def test_no_target_exceeds_its_bandwidth(stripes: int) -> None:
    result = replay(sequential(0, 64 * MIB, 4 * MIB), stripes)
    for moved, busy in zip(result.bytes, result.busy, strict=True):
        assert busy <= result.seconds + 1e-9
        assert moved / OST <= busy + 1e-9


def test_one_stripe_is_never_faster_than_its_target() -> None:
    result = replay(sequential(0, 200 * MIB, MIB), 1)
    assert result.seconds >= 200 * MIB / OST


def test_stripes_divide_the_time_until_the_link_is_full() -> None:
    seconds = {count: replay(sequential(0, 240 * MIB, MIB), count).seconds for count in (1, 2, 4, 12)}
    assert seconds[2] == pytest.approx(seconds[1] / 2, rel=0.1)
    assert seconds[4] == pytest.approx(seconds[1] / 4, rel=0.1)
    assert seconds[12] >= 240 * MIB / LINK


def test_two_clients_share_a_target_fairly() -> None:
    trace = [f"0,{client},w,{client + 1},{step * MIB},{MIB}" for step in range(64) for client in (0, 1)]
    both, alone = replay(trace, 1), replay(sequential(0, 64 * MIB, MIB), 1)
    assert both.seconds == pytest.approx(2 * alone.seconds, rel=0.05)


def test_writers_of_one_object_pay_for_the_lock() -> None:
    apart = [f"0,{client},w,1,{(client * 64 + step) * MIB},{MIB}" for client in (0, 1) for step in range(32)]
    mixed = [f"0,{client},w,1,{(2 * step + client) * MIB},{MIB}" for step in range(32) for client in (0, 1)]
    assert replay(mixed, 1).seconds > replay(apart, 1).seconds


def test_small_contiguous_writes_share_an_rpc() -> None:
    small, large = replay(sequential(0, 4 * MIB, 4096), 1), replay(sequential(0, 4 * MIB, MIB), 1)
    assert small.seconds == pytest.approx(large.seconds, rel=0.1)


def test_a_read_waits_for_its_data_and_for_dirty_data_of_others() -> None:
    assert replay(sequential(0, 20 * MIB, MIB, "r"), 1).seconds >= 20 * MIB / OST
    write = sequential(0, 20 * MIB, MIB)
    read = [f"0.02,1,r,1,0,{MIB}"]
    assert replay([*write, *read], 1).seconds >= 21 * MIB / OST


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("targets: 0", "line 1: targets must be a number from 1 to 64, not '0'"),
        ("targts: 3", "line 1: unknown key 'targts'"),
        ("targets: 3", "the key 'ost_mb_per_s' is missing"),
        ("rpc_size: 4Q", "line 1: rpc_size must be a number"),
    ],
)
def test_a_wrong_configuration_names_line_and_key(tmp_path: Path, line: str, problem: str) -> None:
    config = tmp_path / "ost.yaml"
    config.write_text(line + "\n", encoding="utf-8")
    done = subprocess.run([SIMULATE, config, "1", "4096", "0"], input="", capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert problem in done.stderr


def test_a_wrong_trace_names_its_line() -> None:
    done = subprocess.run(
        [SIMULATE, CONFIG, "1", "4096", "0"],
        input="0,0,w,1,0,1\nnonsense\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "line 2" in done.stderr


WRONG = {
    ("two", "1", "0"): "STRIPE_COUNT two: a number from 1 to 12 is needed",
    ("13", "1", "0"): "STRIPE_COUNT 13: a number from 1 to 12 is needed",
    ("2", "1M", "0"): "STRIPE_SIZE 1M: a number of bytes above 0 is needed",
    ("2", "99999999999999999999", "0"): "STRIPE_SIZE 99999999999999999999: a number of bytes above 0 is needed",
    ("2", "1048576", "-1"): "START -1: a target from 0 to 11 is needed",
    ("2", "1048576", ""): "START : a target from 0 to 11 is needed",
}
"""Layouts that are refused (stripe count, stripe size, first target), with the message for each."""


@pytest.mark.parametrize("layout", WRONG)
def test_a_layout_that_is_none_is_refused(layout: tuple[str, ...]) -> None:
    done = subprocess.run([SIMULATE, CONFIG, *layout], input="", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"ost-simulate: {WRONG[layout]}\n")


@pytest.mark.parametrize(
    "row", ["0,0,w,1,0,1M", "nan,0,w,1,0,1", "-1,0,w,1,0,1", f"0,0,w,1,{2**63 - 1},1", "0,0,w,1,0"]
)
def test_a_row_that_is_no_transfer_is_refused(row: str) -> None:
    command = [SIMULATE, CONFIG, "1", "1048576", "0"]
    done = subprocess.run(command, input=f"0,0,w,1,0,1\r\n{row}\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "ost-simulate: line 2 is not time,client,r|w,file,offset,bytes\n"


@pytest.mark.parametrize("seed", ["1x", "-1", ""])
def test_a_seed_that_is_no_number_is_refused(seed: str) -> None:
    command = [SIMULATE.with_name("ost-replay"), CONFIG, seed]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"ost-replay: SEED {seed}: a whole number from 0 on is needed\n")
