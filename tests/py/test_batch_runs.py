"""Tests a run in a batch job: its hosts, the cause of a lost job, and a job that Slurm starts a second time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.cli.main import main
from iolens.lab.launchers import slurm
from iolens.lab.launchers.launcher import RunSpec
from iolens.lab.launchers.slurm import Handed
from iolens.lab.launchers.slurm_queue import QueuedJob
from iolens.lab.launchers.task_file import read_outcome, write_task
from iolens.lab.run.hosts import hosts_of
from iolens.lab.run.preload import Setup

ROOT = Path(__file__).resolve().parents[2]


def task_of(folder: Path, words: tuple[str, ...]) -> RunSpec:
    """Returns a run of one rank that is started by `env` in place of an mpirun, without the profiler."""
    folder.mkdir(exist_ok=True)
    script = folder / "start"
    script.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    script.chmod(0o755)
    return RunSpec(starter=(str(script),), ranks=1, words=words, folder=folder, setup=Setup(logs=folder))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("NODE_FAIL", "Slurm job 7 ended (NODE_FAIL: a node of the job failed) before this run ended"),
        ("TIMEOUT", "Slurm job 7 ended (TIMEOUT: it reached its time limit) before this run ended"),
        ("CANCELLED", "Slurm job 7 ended (CANCELLED) before this run ended"),
    ],
)
def test_the_cause_of_a_lost_job_is_said(tmp_path: Path, state: str, words: str) -> None:
    handed = Handed(task_of(tmp_path / "run", ("true",)), 7, 0.0, "job.out")
    assert str(slurm.without_outcome(handed, QueuedJob(state)).reason).startswith(words)


def test_the_submitting_host_is_none_of_a_runs_hosts() -> None:
    assert hosts_of((), 1) != []
    assert hosts_of((), None) == [], "without a log nobody on this machine knows the nodes of a batch job"


def test_a_job_that_is_started_again_leaves_out_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Slurm runs the whole script of a requeued job again; a program that counts its starts shows whether finished runs
    are repeated.
    """
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    folder, starts = tmp_path / "run", tmp_path / "starts"
    program = (sys.executable, "-c", f"open({str(starts)!r}, 'a').write('x'); raise SystemExit(3)")
    write_task(task_of(folder, program))
    assert main(["perform", str(folder)]) == 3
    outcome = read_outcome(folder)
    assert outcome is not None
    assert outcome.hosts == (os.uname().nodename,), "the node of the job"
    assert main(["perform", str(folder)]) == 3
    assert "finished before this job was started again" in capsys.readouterr().out
    assert starts.read_text() == "x"


def test_scripts_leave_the_data_until_its_stripes_are_listed() -> None:
    """IOR and btio remove their files unless they are told not to."""
    assert " -k " in (ROOT / "slurm/run_ior_romio.sh").read_text()
    assert " --keep " in (ROOT / "slurm/common.sh").read_text()


def test_an_interruption_between_two_jobs_names_the_one_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [subprocess.CompletedProcess([], 0, "7\n", "")]

    def sbatch(words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        if not answers:
            raise KeyboardInterrupt
        return answers.pop()

    monkeypatch.setattr(slurm.subprocess, "run", sbatch)
    tasks = [task_of(tmp_path / name, ("true",)) for name in ("one", "two")]
    with pytest.raises(KeyboardInterrupt):
        next(slurm.run(tasks))
    assert "The jobs 7 continue in Slurm" in capsys.readouterr().err
