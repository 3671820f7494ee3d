"""Each effect of the storage model, switched on alone, costs the expected time, and is off without its key."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
STORAGE = ROOT / "storage"
REPLAY = ROOT / "build" / "bin" / "ost-replay"
MIB = 2**20
BASE = {
    "targets": 8,
    "ost_mb_per_s": 1000,
    "ost_rpc_us": 50,
    "rpc_size": 4 * MIB,
    "rpcs_in_flight": 8,
    "network_us": 100,
    "dirty_per_target": 32 * MIB,
    "link_mb_per_s": 10000,
    "memory_mb_per_s": 10000,
    "lock_us": 200,
    "read_ahead": 0,
    "flush_on_close": 1,
    "ranks_per_client": 1,
    "stripe_count": 1,
    "stripe_size": MIB,
}


def config(folder: Path, effects: Mapping[str, float]) -> Path:
    path = folder / "ost.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in {**BASE, **effects}.items()))
    return path


def play(folder: Path, effects: Mapping[str, float], steps: Sequence[str], *seeds: int, stripes: int = 1) -> float:
    """Returns the seconds after which the last rank has finished."""
    files = [f"file,{number},{stripes},{MIB},{number % 8}" for number in range(4)]
    command = [str(REPLAY), str(config(folder, effects)), *map(str, seeds)]
    done = subprocess.run(command, input="\n".join([*files, *steps]) + "\n", capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1].split(",")[2])


def writes(rank: int, file: int, count: int, step: int = 1, first: int = 0, size: int = MIB) -> list[str]:
    lines = [f"w,{rank},{file},{(first + step * i) * size},{size}" for i in range(count)]
    return [*lines, f"f,{rank},{file}"]


FOUR_FILES = [line for rank in range(4) for line in writes(rank, rank, 32)]
ONE_NODE = {"ranks_per_client": 4}


@pytest.mark.parametrize(
    ("effects", "steps", "stripes", "least", "most"),
    [
        # The expected time is that of 32 or 128 MiB at the limit of the effect; the targets alone would take an eighth
        # or a quarter of it.
        ({"client_file_mb_per_s": 200}, writes(0, 0, 32), 8, 32 * MIB / 200e6, 1.1 * 32 * MIB / 200e6),
        ({"client_mb_per_s": 400, **ONE_NODE}, FOUR_FILES, 1, 128 * MIB / 400e6, 1.1 * 128 * MIB / 400e6),
        (
            {"targets_per_server": 8, "server_mb_per_s": 500},
            FOUR_FILES,
            1,
            128 * MIB / 500e6,
            1.1 * 128 * MIB / 500e6,
        ),
        ({"fill": 1}, writes(0, 0, 32), 1, 32 * MIB / 660e6, 1.1 * 32 * MIB / 660e6),
    ],
)
def test_a_bound_holds(
    tmp_path: Path, effects: Mapping[str, float], steps: Sequence[str], stripes: int, least: float, most: float
) -> None:
    others = ONE_NODE if "ranks_per_client" in effects else {}
    without = play(tmp_path, others, steps, stripes=stripes)
    assert without < least <= play(tmp_path, effects, steps, stripes=stripes) <= most


def test_the_metadata_server_is_a_queue(tmp_path: Path) -> None:
    """100 creates of 8 objects by each of four ranks, on two threads: 400 / 2 times 1.08 ms."""
    steps = [f"c,{rank},0" for rank in range(4) for _ in range(100)]
    costs = {"metadata_threads": 2, "create_us": 1000, "create_object_us": 10}
    assert play(tmp_path, {}, steps, stripes=8) == 0
    assert play(tmp_path, costs, steps, stripes=8) == pytest.approx(0.216, rel=0.01)
    assert play(tmp_path, costs, steps, stripes=1) == pytest.approx(0.202, rel=0.01)
    one = {"metadata_threads": 2, "open_us": 300, "stat_us": 200, "unlink_us": 500}
    assert play(tmp_path, one, ["o,0,0"]) == pytest.approx(400e-6)
    assert play(tmp_path, one, ["s,0,0"]) == pytest.approx(400e-6), "the targets are asked for the size"
    assert play(tmp_path, one, ["u,0,0"]) == pytest.approx(600e-6)


def test_growth_stops_where_others_wait(tmp_path: Path) -> None:
    """Four clients write neighbouring pieces at the same time. With the server's rules a lock does not grow over pieces
    that others wait for, so each client keeps its own lock.
    """
    steps = [f"m,{rank},0,4" for rank in range(4)]
    steps += [line for rank in range(4) for line in writes(rank, 0, 4, size=4096, first=4 * rank)]
    ruled, greedy = (play(tmp_path, {"lock_growth": on}, steps) for on in (1, 0))
    assert ruled < 0.6 * greedy


@pytest.mark.parametrize(("budget", "waits"), [(32 * MIB, False), (16 * 4096, True)])
def test_dirty_data_is_limited_in_bytes(tmp_path: Path, budget: int, waits: bool) -> None:
    """1000 scattered pages fit into 32 MiB, however many requests they are; each takes the target 50 us."""
    steps = [f"w,0,0,{2 * 4096 * number},4096" for number in range(1000)]
    took = play(tmp_path, {"dirty_per_target": budget, "lock_us": 0}, steps)
    at_memory_speed = 1000 * 4096 / 10000e6
    assert took == pytest.approx(at_memory_speed + (984 * 54e-6 if waits else 0), rel=0.05)


_TARGETS_OF_THE_PAGE = {"ost_mb_per_s": 200, "link_mb_per_s": 1250}


@pytest.mark.parametrize(
    ("effects", "size", "factor"),
    [
        ({**_TARGETS_OF_THE_PAGE, "lock_growth": 1}, MIB, 1.04),
        ({**_TARGETS_OF_THE_PAGE, "lock_growth": 1}, 4096, 10.3),
        ({"lock_growth": 1}, MIB, 1.17),
        ({"lock_growth": 1}, 4096, 41.1),
        ({"lock_growth": 0}, MIB, 1.31),
    ],
)
def test_pieces_in_turn_cost_what_the_page_says(
    tmp_path: Path, effects: Mapping[str, float], size: int, factor: float
) -> None:
    """Compares the time of two clients that write one object in turns with that of one client that writes all of it."""
    count = 40 if size == MIB else 200
    both = [line for rank in (0, 1) for line in writes(rank, 0, count, 2, rank, size)]
    alone = writes(0, 0, 2 * count, size=size)
    assert play(tmp_path, effects, both) / play(tmp_path, effects, alone) == pytest.approx(factor, rel=0.005)


def test_locks_asked_for_ahead_never_change_hands(tmp_path: Path) -> None:
    steps = [line for rank in (0, 1) for line in writes(rank, 0, 40, 2, rank)]
    assert play(tmp_path, {"lock_ahead": 1, "lock_growth": 1}, steps) < play(tmp_path, {"lock_growth": 1}, steps)


def test_a_client_reads_what_it_has_until_others_write(tmp_path: Path) -> None:
    cached = {"client_cache": 64 * MIB}
    steps = [*writes(0, 0, 8), "m,0,0,2", "m,1,0,2"]
    again = [f"r,0,0,{i * MIB},{MIB}" for i in range(8)]
    writer = [*writes(1, 0, 8), "p,1,1"]
    base, kept = (play(tmp_path, effects, [*steps, *again]) for effects in ({}, cached))
    written = play(tmp_path, {}, steps)
    assert kept - written < 0.2 * (base - written)
    lost, fresh = (play(tmp_path, effects, [*steps, *writer, "b,0,1,1", *again]) for effects in (cached, {}))
    assert lost == fresh


def test_an_rpc_that_was_answered_takes_no_more_data(tmp_path: Path) -> None:
    steps = [line for i in range(20) for line in ("t,0,0.01", f"w,0,0,{i * 4096},4096")]
    whole, shrunk = (play(tmp_path, {"rpc_departs": on}, [*steps, "f,0,0"]) for on in (0, 1))
    assert whole < shrunk < whole + 20 * 250e-6


def test_threads_of_a_server_work_while_data_moves(tmp_path: Path) -> None:
    steps = [line for rank in range(4) for line in writes(rank, 0, 100, 4, rank, 4096)]
    slow = {"ost_rpc_us": 1000, "lock_ahead": 1}
    assert play(tmp_path, {**slow, "service_threads": 16}, steps) < 0.5 * play(tmp_path, slow, steps)


def test_streams_cost_a_disk(tmp_path: Path) -> None:
    alone = writes(0, 0, 800)
    several = [line for rank in range(4) for line in writes(rank, 0, 200, first=1000 * rank)]
    costly = {"stream_loss": 0.1}
    assert play(tmp_path, costly, alone) == play(tmp_path, {}, alone)
    assert play(tmp_path, costly, several) > 1.15 * play(tmp_path, {}, several)


@pytest.mark.parametrize("key", ["target_spread", "stalled_runs", "hour_spread", "slow_targets", "other_users"])
def test_speeds_vary_by_run_and_hour(tmp_path: Path, key: str) -> None:
    """Runs with another seed or hour take another time, and runs with the same ones the same time. Without the effect
    all take the same time.
    """
    steps, value = writes(0, 0, 100), {"target_spread": 0.2, "hour_spread": 0.2, "other_users": 0.4}.get(key, 0.5)
    by_run = key in ("target_spread", "stalled_runs")
    pairs = [(n, 0) if by_run else (1, n) for n in range(1, 13)]
    times = [play(tmp_path, {key: value}, steps, *pair, stripes=8) for pair in pairs]
    assert len(set(times)) > 1
    assert times == [play(tmp_path, {key: value}, steps, *pair, stripes=8) for pair in pairs]
    assert len({play(tmp_path, {}, steps, *pair, stripes=8) for pair in pairs}) == 1


def test_wide_files_meet_slow_targets(tmp_path: Path) -> None:
    """If one target in eight runs at half speed on average, files with eight stripes are slow in more hours than files
    with one stripe.
    """
    effects = {"slow_targets": 0.125}
    hit = {}
    for stripes in (1, 8):
        usual = play(tmp_path, {}, writes(0, 0, 64), stripes=stripes)
        times = [play(tmp_path, effects, writes(0, 0, 64), 1, hour, stripes=stripes) for hour in range(24)]
        hit[stripes] = sum(time > 1.3 * usual for time in times)
    assert hit[1] < 9 < hit[8]


def test_a_server_needs_its_link_and_targets(tmp_path: Path) -> None:
    command = [str(REPLAY), str(config(tmp_path, {"server_mb_per_s": 100}))]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "targets_per_server and server_mb_per_s must be set together" in done.stderr


def keys(kind: str) -> list[str]:
    return re.findall(rf'^{kind}\("(\w+)"', (STORAGE / "src/params.def").read_text(), re.MULTILINE)


def test_every_key_is_in_the_default_file_and_in_the_document() -> None:
    from iolens.lab.predict.model import model_effects, read_model

    shipped = yaml.safe_load((STORAGE / "ost.yaml").read_text())
    assert list(shipped) == keys("PARAM") + keys("EFFECT")
    assert {key for key in keys("EFFECT") if shipped[key]} == {"lock_growth"}
    assert model_effects(read_model()) == keys("EFFECT")
    named = " ".join(line for line in (STORAGE / "README.md").read_text().splitlines() if line.startswith("| `"))
    assert not [key for key in shipped if f"`{key}`" not in named]
