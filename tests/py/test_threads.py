"""Tests the balance among threads, and the time in OpenMP's library: made-up jobs, and a program that says itself how
long it waited in a barrier, with libgomp and with libomp.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import profiler_harness as harness
import pytest
from iolens.cli.main import main
from iolens.log import Job, read_log
from iolens.metrics.processor import time, usage
from iolens.metrics.processor.ask import Ask
from iolens.metrics.processor.sampled import call_chains, groups, samples
from iolens.symbols.chains import Frame
from patience import PATIENCE
from processor_example import RANKS, every_rank, job, resolved, tables, use

SECONDS = 1.0


@pytest.fixture(params=["gcc", "clang"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, float]]:
    """Runs tests/c/openmp_waits.c with sleeping waits and samples; returns the job and the program's output."""
    harness.build_library()
    if not shutil.which(request.param):
        pytest.skip(f"no {request.param} on this machine")
    source, program = harness.ROOT / "tests/c/openmp_waits.c", tmp_path / "openmp_waits"
    built = subprocess.run([request.param, "-g", "-O1", "-w", "-fopenmp", source, "-o", program], check=False)
    if built.returncode:
        pytest.skip(f"{request.param} has no OpenMP on this machine (Debian: libomp-dev)")
    words = ["env", "OMP_WAIT_POLICY=PASSIVE", "OMP_DYNAMIC=FALSE", program, str(SECONDS)]
    command = [sys.executable, "-m", "iolens.cli.main", "run", "--sample", "--output", tmp_path / "out", "--", *words]
    subprocess.run(command, check=True, timeout=PATIENCE, capture_output=True)
    said = (tmp_path / "out/stdout.txt").read_text().split()
    found = max((tmp_path / "out").glob("*.darshan"), key=lambda path: path.stat().st_size)
    return found, {name: float(value) for name, value in zip(said[::2], said[1::2], strict=True)}


def test_barriers_and_idle_workers_are_named_and_their_time_is_what_the_program_says(
    log: tuple[Path, dict[str, float]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, said = log
    job = read_log(path)
    rows = samples.sample_rows(job)
    inside = rows[rows["group"] == "OMP"]
    assert not inside["function"].str.startswith("0x").any(), set(inside["function"])
    idle = inside["function"].str.startswith("idle worker (lib")
    assert set(inside.loc[idle, "thread"]) == {"thread 1"}
    waited = inside.loc[inside["function"].str.contains("barrier") & (inside["thread"] == "thread 0"), "samples"].sum()
    whole = rows.loc[rows["thread"] == "thread 0", "samples"].sum()
    assert waited / whole == pytest.approx(said["barrier"] / job.run_time, abs=0.1)
    (balance,) = usage.thread_balance(job).frame().to_dict("records")
    worked = said["first"], said["second"]
    assert balance["threads"] == 2
    assert balance["busiest"] == pytest.approx(max(worked), abs=0.1)
    assert balance["imbalance"] == pytest.approx(max(worked) - sum(worked) / 2, abs=0.1)
    assert balance["openmp_share"] > 0
    assert main(["table", "profile", str(path), "--by", "function,thread", "--json"]) == 0
    work = next(row for row in json.loads(capsys.readouterr().out) if row["name"] == "work")
    assert work["imbalance"] is not None, "one rank, but two threads"


def sampled(*rows: tuple[int, str, int]) -> pd.DataFrame:
    """Returns samples as `sample_rows` has them: thread, function, samples; the same for each rank."""
    columns = {"state": "running", "blocked": False, "group": "USER", "region": "", "on_core": float("nan")}
    made = [
        {"rank": rank, "thread": f"thread {thread}", "function": name, "samples": count, **columns}
        for rank in range(RANKS)
        for thread, name, count in rows
    ]
    return pd.DataFrame(made)


def test_imbalance_by_thread_is_among_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of four ranks has two threads, with 30 and 10 samples in `solve`: 40 samples for each rank, and 20 for a
    thread on average.
    """
    rows = sampled((0, "solve", 30), (1, "solve", 10), (0, "main", 8))
    monkeypatch.setattr(samples, "sample_rows", lambda job, every_thread=False: rows)
    asked = samples.profile.__wrapped__(job(), Ask(("function", "thread")))
    by_name = {row["name"]: row for row in asked.frame().to_dict("records")}
    assert (by_name["solve"]["samples"], by_name["solve"]["imbalance"]) == (40.0, 10.0)
    assert by_name["solve"]["imbalance_percent"] == pytest.approx(100 * (30 - 20) / 30 * 8 / 7)
    assert by_name["main"]["imbalance"] == 8.0 - 4.0, "threads without a sample count as 0"
    assert by_name["thread 1"]["imbalance"] == 0.0, "a thread of each rank, among ranks"
    asked = samples.profile.__wrapped__(job(), Ask(("function",)))
    assert set(asked.frame()["imbalance"].dropna()) == {0.0}


def test_frames_of_an_openmp_library_without_symbols() -> None:
    library = Frame("0x1cc40 (libgomp.so.1)", "", 0, "/usr/lib/libgomp.so.1")
    start, work = Frame("start_thread", "", 0, "/lib/libc.so.6"), Frame("work", "", 0, "/home/me/app", "work")
    assert samples.place_of((start, library), True).function == "idle worker (libgomp.so.1)"
    busy = samples.place_of((start, library, work), False)
    assert (busy.function, busy.path[1]) == ("work", "worker thread (libgomp.so.1)")
    inner = Frame("0x1f780 (libgomp.so.1)", "", 0, "/usr/lib/libgomp.so.1")
    assert samples.place_of((work, inner), True).function == "barrier or lock (libgomp.so.1)"
    begin = Frame("GOMP_parallel", "", 0, "/usr/lib/libgomp.so.1", "GOMP_parallel")
    assert samples.place_of((work, begin, inner), True).function == "GOMP_parallel"


def test_openmp_is_a_part_of_the_time_where_mpi_was_traced_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of the samples of each rank's busiest thread is in the library: 2 of 10 s, which are not computing."""
    monkeypatch.setattr(call_chains, "resolve", resolved)
    plain = time.rank_time(job(**tables()))
    rows = sampled((0, "solve", 80), (0, "GOMP_barrier", 20), (1, "GOMP_barrier", 100))
    rows.loc[rows["function"] == "GOMP_barrier", "group"] = "OMP"
    monkeypatch.setattr(time, "sample_rows", lambda job: rows)
    found = time.rank_time(job(**tables()))
    assert found[groups.OPENMP].tolist() == pytest.approx([2.0] * RANKS)
    assert found[groups.COMPUTE].tolist() == pytest.approx([one - 2.0 for one in plain[groups.COMPUTE]])
    assert time.whole_time(found).tolist() == pytest.approx([10.0] * RANKS)


def with_threads(*on_core: float) -> Job:
    """Returns a job of 10 s whose ranks have a first thread with 10 s on a core, and further threads with these
    seconds.
    """
    rows: list[tuple[Any, ...]] = [(n + 1, 1, 0.0, 10.0, spent, 0.5) for n, spent in enumerate(on_core)]
    return job(process=use(10.0), threads=every_rank(rows, "thread threads begin seconds on_core runnable"))


def test_threads_that_spin_in_openmp_do_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both threads of each rank are on a core for 10 s; the second one waits there in a barrier for 4 s of them."""
    rows = [
        {"rank": rank, "thread": f"thread {thread}", "group": group, "samples": count, "blocked": False}
        for rank in range(RANKS)
        for thread, group, count in ((0, "USER", 100), (1, "USER", 60), (1, "OMP", 40))
    ]
    rows.append({"rank": 0, "thread": "thread 0", "group": "OMP", "samples": 100, "blocked": True})
    monkeypatch.setattr(usage, "sample_rows", lambda job: pd.DataFrame(rows))
    monkeypatch.setattr(usage, "is_sampled", lambda job: True)
    first = usage.thread_balance(with_threads(10.0)).frame().iloc[0]
    assert (first["on_core"], first["working"], first["busiest"], first["busiest_thread"]) == (10.0, 8.0, 10.0, 0)
    assert first["imbalance"] == pytest.approx(2.0)


def test_the_balance_among_threads_leaves_helpers_out() -> None:
    found = usage.thread_balance(with_threads(4.0, 0.1)).frame()
    assert found["rank"].tolist() == list(range(RANKS))
    first = found.iloc[0]
    assert (first["threads"], first["on_core"], first["imbalance"], first["busiest_thread"]) == (2, 7.0, 3.0, 0)
    assert first["imbalance_percent"] == pytest.approx(100 * 3 / 10 * 2)
    assert (first["runnable"], first["asleep"]) == (0.25, pytest.approx(5.5 / 2))
    assert found["openmp"].isna().all(), "nothing was sampled"
    assert usage.thread_balance(with_threads(0.1)) is None
