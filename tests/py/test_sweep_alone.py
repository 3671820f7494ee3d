"""Only one sweep may use a folder at a time, even if a run of a killed sweep still goes on."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from iolens.errors import IolensError
from iolens.lab.sweep.plan.alone import alone

SWEEP = """
import sys
from pathlib import Path
from iolens.lab.run.execute import execute
from iolens.lab.run.preload import Setup
from iolens.lab.sweep.plan.alone import alone
folder = Path(sys.argv[1])
with alone(folder):
    execute(["sh", "-c", sys.argv[2]], Setup(profiler="none", logs=folder))
print("over", flush=True)
sys.stdin.read()
"""


def sweep(folder: Path, script: str) -> subprocess.Popen[bytes]:
    """Starts a process that runs the script with the folder locked, then releases the lock and lives until its input
    ends.
    """
    words = [sys.executable, "-c", SWEEP, str(folder), script]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def taken(folder: Path) -> bool:
    try:
        with alone(folder):
            pass
    except IolensError as error:
        return "in use by another sweep, or by the last run of a killed sweep" in str(error)
    return False


def wait_until(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def test_a_folder_stays_taken_until_the_run_of_a_killed_sweep_has_ended(tmp_path: Path) -> None:
    script = f"echo $$ > {tmp_path}/pid; touch {tmp_path}/begun; until [ -e {tmp_path}/stop ]; do sleep 0.01; done"
    with sweep(tmp_path / "results", script) as process:
        wait_until(tmp_path / "begun")
        assert taken(tmp_path / "results")
        process.kill()
    assert taken(tmp_path / "results"), "the run writes there on its own"
    (tmp_path / "stop").touch()
    while Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists():
        time.sleep(0.01)
    assert not taken(tmp_path / "results")


def test_what_a_run_left_in_the_background_keeps_nobody_off(tmp_path: Path) -> None:
    script = f"(touch {tmp_path}/begun; until [ -e {tmp_path}/stop ]; do sleep 0.01; done) > /dev/null & "
    with sweep(tmp_path / "results", script) as process:
        wait_until(tmp_path / "begun")
        assert process.stdout is not None
        assert process.stdout.readline() == b"over\n"
        assert not taken(tmp_path / "results")
        (tmp_path / "stop").touch()


def test_two_folders_are_taken_together_or_not_at_all(tmp_path: Path) -> None:
    with alone(tmp_path / "a"):
        with pytest.raises(IolensError), alone(tmp_path / "b", tmp_path / "a"):
            pass
        assert not taken(tmp_path / "b")
