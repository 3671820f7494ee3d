"""setup.sh on machines that are played: a package system that is busy, or has not everything."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ["/var/lib/apt/lists/lock", "/var/lib/dpkg/lock-frontend"]

APT = """#!/bin/sh
echo "$*" >>calls
for word in "$@"; do action=$word; [ "$word" = update ] || [ "$word" = install ] && break; done
left=$(cat busy 2>/dev/null || echo 0)
if [ "$left" -gt 0 ] && [ "$action" = "$(cat busy_action)" ]; then
    echo $((left - 1)) >busy
    echo "E: Could not get lock $(cat lock). It is held by process 4711 (unattended-upgr)" >&2
    echo "N: Be aware that removing the lock file is not a solution and may break your system." >&2
    exit 100
fi
case " $* " in *" libpnetcdf-dev "*) echo "E: Unable to locate package libpnetcdf-dev" >&2; exit 100 ;; esac
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder with setup.sh, on whose PATH no package is installed, and where nothing else takes time."""
    for name in ("setup.sh", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    played = {"apt-get": APT, "dpkg-query": "#!/bin/sh\nexit 1\n", "id": "#!/bin/sh\necho 0\n"}
    played |= dict.fromkeys(("sleep", "mpicc", "mpirun"), "#!/bin/sh\n")
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    places = {tmp_path / "bin" / name: text for name, text in played.items()}
    for path, text in (places | {tmp_path / ".venv/bin/python": "#!/bin/sh\n"}).items():
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return tmp_path


def set_up(machine: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **settings, "PATH": f"{machine / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(["./setup.sh"], cwd=machine, env=environment, capture_output=True, text=True, check=False)


def occupy(machine: Path, times: int, lock: str, action: str) -> None:
    for name, text in {"busy": str(times), "lock": lock, "busy_action": action}.items():
        (machine / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("lock", "action"), [(LOCKS[0], "update"), (LOCKS[1], "install")])
def test_it_waits_for_another_that_installs_and_says_so(machine: Path, lock: str, action: str) -> None:
    occupy(machine, 3, lock, action)
    done = set_up(machine)
    assert (done.returncode, done.stderr) == (0, "")
    waited = (
        f"another program is installing packages, waiting for it: E: Could not get lock {lock}. It is held by process"
    )
    assert done.stdout.count(waited) == 1
    assert (machine / "busy").read_text(encoding="utf-8").strip() == "0"
    assert "could not be refreshed" not in done.stdout


def test_its_patience_has_an_end(machine: Path) -> None:
    occupy(machine, 1000, LOCKS[1], "install")
    done = set_up(machine, SETUP_PATIENCE="0")
    assert done.returncode == 1
    assert "run make setup again when it is done: E: Could not get lock /var/lib/dpkg/lock-frontend" in done.stderr
    assert not list((machine / ".venv").glob(".setup-*"))


def test_what_cannot_be_had_is_named_in_the_package_managers_words(machine: Path) -> None:
    done = set_up(machine)
    assert done.returncode == 0, done.stderr
    assert "setup: left out: libpnetcdf-dev: E: Unable to locate package libpnetcdf-dev\n" in done.stdout
    assert done.stdout.count("left out") == 1
