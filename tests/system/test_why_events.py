"""`iolens run --why` joins the messages and collective calls of real programs, under each MPI library of this
machine.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from iolens.log import read_log
from iolens.metrics.why.answers import all_waits, path_by_activity, replays, waits_by_cause, why
from iolens.metrics.why.calls.matching import EARLY_WAIT, LATE_POST
from mpi_libraries import ROOT, library
from patience import PATIENCE

RANKS = 4

pytestmark = pytest.mark.mpi


def recorded(
    name: str, folder: Path, source: str = "mpi_why", *words: str, ranks: int = RANKS
) -> tuple[Path, dict[str, int]]:
    """Runs the program under a library; returns the log and the program's output."""
    its = library(name)
    program = its.compile(ROOT / f"tests/c/{source}.c", folder / source, "-O1", "-g")
    settings = [f"LD_PRELOAD={its.preload}", f"IOLENS_LOGPATH={folder}", "IOLENS_TRACE=mpi", "IOLENS_WHY=16"]
    done = subprocess.run(
        [its.mpirun, "-np", str(ranks), "env", *settings, program, *words],
        cwd=folder,
        env={**os.environ, **its.environment(None)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert "iolens:" not in done.stderr
    (log,) = folder.glob("*.darshan*")
    said = (line.split() for line in done.stdout.splitlines())
    return log, {word: int(number) for word, number in said}


@pytest.mark.parametrize("name", ["usual", "mpich", "openmpi5", "mpiabi"])
def test_all_parts_are_joined(tmp_path: Path, name: str) -> None:
    assert_joined(*recorded(name, tmp_path))


def test_all_parts_of_many_ranks_are_joined(tmp_path: Path) -> None:
    """16 ranks share a few cores, so that each waits for a core far longer than for messages."""
    assert_joined(*recorded("mpich", tmp_path, ranks=16))


def assert_joined(log: Path, said: dict[str, int]) -> None:
    """Fails unless each message, collective call and RMA epoch of the program is matched with those of its partners,
    and the replay has exactly the recorded times.
    """
    job = read_log(log)
    found = why(job)
    assert found is not None
    assert len(found.joins.send) == said["MESSAGES"]
    assert (found.joins.send_done >= 0).all()
    assert (found.joins.receive_done >= 0).all()
    assert int(found.joins.group.max()) + 1 == said["COLLECTIVES"]
    assert found.joins.not_joined == 0
    for why_waiting in (LATE_POST, EARLY_WAIT):
        assert (found.joins.windows.why == why_waiting).sum() == said["EPOCHS"]
    assert found.graph.broken == 0
    assert not found.waits.violations
    times = replays(job)
    assert times is not None
    assert times["run_time"][0] == pytest.approx(found.program.run_time, abs=1e-6)


@pytest.mark.parametrize("name", ["usual", "mpich"])
def test_a_loop_of_polls_takes_few_events(tmp_path: Path, name: str) -> None:
    log, said = recorded(name, tmp_path, "why_polling")
    job = read_log(log)
    events = job.tables["why_events"]
    polls = events.where((events["function"] == "MPI_Test") & (events["kind"] == "call"))
    assert polls["size"].sum() == said["CALLS"]
    assert len(polls) < said["CALLS"] / 4
    found = why(job)
    assert found is not None
    functions = np.array(found.program.functions)[found.program.function[found.waits.call]]
    longest = found.waits.waited[functions == "MPI_Test, repeated"].max()
    assert 0.15 < longest < found.program.run_time


@pytest.mark.parametrize(("cause", "kind", "function"), [("lock", "lock", "fcntl"), ("computing", "computing", "")])
def test_the_reason_of_a_late_rank_is_named(tmp_path: Path, cause: str, kind: str, function: str) -> None:
    log, _ = recorded("usual", tmp_path, "why_causes", cause)
    rows = waits_by_cause(read_log(log))
    assert rows is not None
    late = rows.where((rows["rank"] == 2) & (rows["kind"] == kind))
    assert late["function"][0] == function
    assert late["seconds"][0] > 0.2 * (RANKS - 1)
    path = path_by_activity(read_log(log))
    assert path is not None
    there = path.where((path["rank"] == 2) & (path["kind"] == kind) & (path["region"] == "program/late"))
    assert there["seconds"].sum() > 0.2
    assert "program" in path["region"]


def test_a_wait_has_the_place_in_the_source(tmp_path: Path) -> None:
    log, _ = recorded("usual", tmp_path, "why_causes", "lock")
    job = read_log(log)
    rows = all_waits(job)
    assert rows is not None
    place = rows["place"][(rows["rank"] == 2) & (rows["kind"] == "lock")][0]
    assert place.startswith("lock_whole (why_causes.c:")
    events = job.tables["why_events"]
    assert ((events["node"] >= 0) <= (events["end"] - events["start"] >= 0.99e-3)).all()


@pytest.mark.parametrize("name", ["usual", "mpich"])
def test_half_of_all_calls_take_one_event(tmp_path: Path, name: str) -> None:
    """An event takes 32 bytes, so a call gets more than one event only if it has several messages or partners."""
    log, _ = recorded(name, tmp_path)
    events = read_log(log).tables["why_events"]
    mpi = events.where(np.char.startswith(events["function"].astype(str), "MPI_"))
    calls: dict[tuple[float, ...], int] = {}
    for call in mpi.rows("rank", "thread", "start", "end"):
        calls[call] = calls.get(call, 0) + 1
    assert np.median(list(calls.values())) == 1


@pytest.mark.parametrize(
    ("cause", "kind", "question"), [("core", "core", "no core shared"), ("fault", "fault", "page faults take no time")]
)
@pytest.mark.parametrize("name", ["usual", "mpich"])
def test_time_off_the_core_is_as_long_as_the_clocks_say(
    tmp_path: Path, name: str, cause: str, kind: str, question: str
) -> None:
    log, said = recorded(name, tmp_path, "why_causes", cause)
    job = read_log(log)
    events, off = job.tables["why_events"], 1e-6 * said["OFF_CORE"]
    held = events.where((events["rank"] == 2) & ((events["kind"] == "core") | (events["kind"] == "fault")))
    if not (held["kind"] == kind).any():
        pytest.skip(f"{off} s off the core, none of them of this kind: the file system has its files in memory")
    barriers = events["end"][(events["rank"] == 2) & (events["function"] == "MPI_Barrier")]
    between = held.where(held["start"] >= barriers[-2])
    assert (between["end"] - between["start"]).sum() == pytest.approx(off, rel=0.1, abs=0.01)
    rows, answers = waits_by_cause(job), replays(job)
    assert rows is not None
    assert kind in rows.where(rows["rank"] == 2)["kind"]
    assert answers is not None
    assert dict(zip(answers["question"], answers["saved"], strict=True))[question] > 0
