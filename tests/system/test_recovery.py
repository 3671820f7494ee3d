"""Tests that jobs that end without writing a log get one afterwards, and that the exit code stays the program's own."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from iolens.lab.run.mpi_launch import mpi
from iolens.log import Job, read_log
from mpi_library import FLAVOUR
from recovery_program import begin, check_log, children, command, finish, kill_job, recover, start, wait_until

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("how", ["one", "all", "abort", "exit", "segfault"])
def test_a_job_without_an_end_has_a_log(how: str, tmp_path: Path) -> None:
    done = start(tmp_path, how)
    beside = 128 if FLAVOUR == "openmpi" else 0  # Open MPI's launcher adds 128 to the signal's number.
    codes = {"one": 9 + beside, "all": 9 + beside, "segfault": 11 + beside, "abort": 7, "exit": done.returncode}
    assert done.returncode == codes[how], done.stderr
    (log,) = tmp_path.glob("*.darshan")
    assert "3 of 3 ranks kept" in check_log(log)
    assert list(tmp_path.glob("iolens-*/*.spool")) == []


def test_what_wrappers_and_ranks_did_before_an_exec_is_in_logs(tmp_path: Path) -> None:
    """Runs two ranks in a shell script, which on rank 1 reads data before it starts the program. After MPI_Init the
    ranks become another program by exec.
    """
    wrapper = tmp_path / "wrapper.sh"
    (tmp_path / "data").write_text("word\n")
    rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
    wrapper.write_text(f'#!/bin/sh\n[ {rank} = 0 ] || read word <data\nexec "$@"\n')
    wrapper.chmod(0o755)
    done = finish(begin(tmp_path, command("exec", ranks=2, options=[str(wrapper)])))
    (job,) = tmp_path.rglob("*_mpi_killed_*.darshan")
    assert "2 of 2 ranks kept" in check_log(job, ranks=2), done.stderr
    (shell,) = (read_log(log) for log in job.parent.glob("*.darshan") if log != job)
    assert shell.nprocs == 1
    assert shell.partial[0].startswith("The process became another program (exec)")
    assert list(tmp_path.glob("iolens-*/*.spool")) == []


def test_ranks_that_outlive_their_launcher_are_waited_for(tmp_path: Path) -> None:
    """A fake launcher returns before its ranks have ended, as MPICH's does after an abort. Ranks of Open MPI 5 outlive
    a killed launcher, so they are killed as well.
    """
    launcher = tmp_path / "bin" / "mpirun"
    launcher.parent.mkdir()
    real = mpi.find_launcher(FLAVOUR)
    ranks = "$(cat /proc/$!/task/$!/children)" if FLAVOUR == "openmpi" else ""
    launcher.write_text(
        f'#!/bin/sh\n{real} "$@" &\nwhile [ ! -e ready ]; do sleep 0.05; done\n'
        f"(sleep 1; kill -9 $! {ranks}) &\nexit 7\n"
    )
    launcher.chmod(0o755)
    done = start(tmp_path, "wait", str(launcher))
    assert done.returncode == 7, done.stderr
    (log,) = tmp_path.glob("*.darshan")
    assert "mpirun ended with exit code 7" in check_log(log)


def test_a_killed_launcher_costs_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 1 is excluded from recording, so the recovered log must not have it."""
    monkeypatch.setenv("IOLENS_RANK_EXCLUDE", "1")
    running = begin(tmp_path, command("wait"), ("--trace", "mpi,io"))
    wait_until((tmp_path / "ready").exists)
    (launcher,) = children(running.pid)
    kill_job(launcher)
    done = finish(running)
    assert done.returncode == 128 + signal.SIGKILL
    (log,) = tmp_path.glob("*.darshan")
    assert "was killed by signal 9" in check_log(log, found=(0, 2))
    private = read_log(log).private
    ranks = set().union(*(table["rank"] for table in private.values() if "rank" in table))
    assert ranks - {-1} == {0, 2}, "-1 stands for several ranks together"


def test_when_iolens_is_killed_too_recover_makes_the_log(tmp_path: Path) -> None:
    running = begin(tmp_path, command("wait"), ("--trace", "mpi,io", "--timeline"))
    wait_until((tmp_path / "ready").exists)
    (launcher,) = children(running.pid)
    os.kill(running.pid, signal.SIGKILL)
    kill_job(launcher)
    finish(running)
    assert not list(tmp_path.glob("*.darshan"))
    wait_until(lambda: "runs" not in recover(tmp_path, "--list").stdout)
    done = recover(tmp_path)
    (log,) = tmp_path.glob("*.darshan")
    assert (done.returncode, str(log) in done.stdout) == (0, True)
    assert "3 of 3 ranks kept" in check_log(log)
    assert recover(tmp_path).stdout == ""
    check_messages(read_log(log))


def test_a_job_ends_no_earlier_than_what_it_kept(tmp_path: Path) -> None:
    """Ranks kill themselves right after a message. Because a rank notes only now and then that it still runs, the job's
    end must be moved to the end of that message.
    """
    done = finish(begin(tmp_path, command("all"), ("--trace", "mpi,io", "--timeline")))
    (log,) = tmp_path.glob("*.darshan")
    job = read_log(log)
    ends = job.private["mpi_events"]["end"]
    assert (done.returncode != 0, "MPI_Barrier" in set(job.private["mpi_events"]["function"])) == (True, True)
    assert ends.max() <= job.run_time


def check_messages(job: Job) -> None:
    """Checks that the log has the MPI calls of each rank before the kill: single calls, sums by function, and Darshan's
    records.
    """
    events, calls = job.private["mpi_events"], job.private["mpi_calls"]
    for rank in range(3):
        mine = events[events["rank"] == rank].sort_values("start")
        assert list(mine["function"]) == ["MPI_Init", "MPI_Barrier"]
        assert (mine["start"] <= mine["end"]).all()
        assert mine["end"].max() <= job.run_time
        assert list(calls.loc[calls["rank"] == rank, "function"]) == ["MPI_Barrier", "MPI_Init"]
    assert list(job.frames["APMPI"]["rank"]) == [0, 1, 2]
    assert list(job.frames["APMPI"]["time"]) == list(calls.loc[calls["function"] == "MPI_Barrier", "time"])


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_ends_its_ranks_and_has_a_log(how: signal.Signals, tmp_path: Path) -> None:
    running = begin(tmp_path, command("wait"))
    wait_until((tmp_path / "ready").exists)
    running.send_signal(how)
    assert finish(running).returncode == 128 + how
    (log,) = tmp_path.glob("*.darshan")
    assert "was interrupted" in check_log(log)


def test_ranks_end_with_an_interrupted_launcher_that_is_a_script(tmp_path: Path) -> None:
    """Intel's mpirun is a script, and ranks go on when it ends; `iolens run` must end them."""
    launcher = tmp_path / "bin" / "mpirun"
    launcher.parent.mkdir()
    launcher.write_text(f'#!/bin/sh\n{mpi.find_launcher(FLAVOUR)} "$@"\nexit $?\n')
    launcher.chmod(0o755)
    running = begin(tmp_path, command("wait", launcher=str(launcher)))
    wait_until((tmp_path / "ready").exists)
    running.send_signal(signal.SIGTERM)
    # If a rank still ran, it would keep the output open, and `finish` would not return.
    assert finish(running).returncode == 128 + signal.SIGTERM
    (log,) = tmp_path.glob("*.darshan")
    assert "was interrupted" in check_log(log)
