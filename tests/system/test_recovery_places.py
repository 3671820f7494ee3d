"""No room, no folder, several nodes: the log is made all the same, or it is said where the records lie."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from recovery_program import begin, check_log, command, finish, recover, wait_until

pytestmark = pytest.mark.mpi


def fill(folder: Path) -> None:
    """Leave no room at all."""
    with (folder / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


def forbid(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)


PLACES: dict[str, tuple[Callable[[Path], None], str]] = {
    "full": (fill, "No space left on device"),
    "read-only": (forbid, "Read-only file system"),
    "vanished": (lambda folder: shutil.rmtree(folder / "logs"), "No such file or directory"),
}


@pytest.mark.parametrize("place", PLACES)
def test_without_a_place_for_the_log_the_records_stay_and_it_is_said(
    place: str, tmp_path: Path, small_disk: Path
) -> None:
    spoil, why = PLACES[place]
    logs = small_disk / "logs"
    logs.mkdir()
    running = begin(tmp_path, command("wait", options=["-wdir", str(tmp_path)]), logs=logs)
    wait_until((tmp_path / "ready").exists)
    spoil(small_disk)
    (tmp_path / "go").touch()
    done = finish(running)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert f"cannot write the log {logs}/" in done.stderr
    assert why in done.stderr
    assert f"`iolens recover -o FOLDER {tmp_path}/iolens-" in done.stderr
    assert not list(small_disk.rglob("*.darshan*"))
    assert recover(tmp_path, "-o", tmp_path).returncode == 0
    (log,) = tmp_path.glob("*.darshan")
    assert "3 of 3 ranks kept" in check_log(log)


def test_a_full_disk_under_the_output_harms_no_exit_code(tmp_path: Path, small_disk: Path) -> None:
    running = begin(tmp_path, command("wait"), ["--output", str(small_disk)])
    wait_until((tmp_path / "ready").exists)
    fill(small_disk)
    (tmp_path / "go").touch()
    done = finish(running)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "run.json cannot be written: No space left on device" in done.stderr
    assert recover(tmp_path, "-o", tmp_path).returncode == 0
    assert len(list(tmp_path.glob("*.darshan"))) == 1
