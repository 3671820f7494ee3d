"""Tests setup.sh on simulated machines: the package system is busy or lacks packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from mpi_libraries import library
from patience import PATIENCE

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
    """Makes a folder with setup.sh; no package on its PATH is installed, and nothing else takes time."""
    folder = tmp_path / "a machine"
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "packaging").mkdir()
    for name in ("packaging/setup.sh", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "packaging/plotting.sh").touch()
    played = {"apt-get": APT, "dpkg-query": "#!/bin/sh\nexit 1\n", "id": "#!/bin/sh\necho 0\n"}
    played |= dict.fromkeys(("sleep", "mpicc", "mpirun"), "#!/bin/sh\n")
    places = {folder / "bin" / name: text for name, text in played.items()}
    for path, text in (places | {folder / ".venv/bin/python": "#!/bin/sh\n"}).items():
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return folder


def set_up(machine: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **settings, "PATH": f"{machine / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(
        ["packaging/setup.sh", *words], cwd=machine, env=environment, capture_output=True, text=True, check=False
    )


def occupy(machine: Path, times: int, lock: str, action: str) -> None:
    for name, text in {"busy": str(times), "lock": lock, "busy_action": action}.items():
        (machine / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("lock", "action"), [(LOCKS[0], "update"), (LOCKS[1], "install")])
def test_it_waits_for_another_that_installs_and_says_so(machine: Path, lock: str, action: str) -> None:
    occupy(machine, 3, lock, action)
    done = set_up(machine)
    assert (done.returncode, done.stderr) == (0, "")
    waited = (
        f"another program is installing packages; setup waits until it ends: E: Could not get lock {lock}. "
        "It is held by process"
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
    assert (
        "setup: the system package libpnetcdf-dev could not be installed: E: Unable to locate package libpnetcdf-dev\n"
        in done.stdout
    )
    assert done.stdout.count("could not be installed") == 1


def test_an_mpich_of_its_own_compiles_in_a_folder_with_a_space(machine: Path) -> None:
    mpich, venv = library("mpich").mpicc.parents[1], machine / ".venv"
    shutil.copy(mpich / "bin/mpicc", venv / "bin")
    for part in ("include", "lib"):
        (venv / part).symlink_to(mpich / part)
    assert set_up(machine).returncode == 0
    program = machine / "nothing"
    subprocess.run([venv / "bin/mpicc", "-o", program, ROOT / "tests/c/mpi_nothing.c"], check=True)
    assert subprocess.run([program], check=False).returncode == 0


def play_pip(place: Path, install: str) -> None:
    """Replaces the Python of the virtual environment by a script whose pip runs the line of shell `install`."""
    replace(place / ".venv/bin/python", f'case "$*" in *" --version"*) exit 0 ;; esac\n{install}')


def test_a_full_disk_is_named(machine: Path) -> None:
    said = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
    play_pip(machine, f"echo '{said}' >&2; exit 1")
    done = set_up(machine)
    assert done.returncode == 1
    named = r"^setup: no space was left on a disk \(\d+ MB are free on /\S* now\); make room and run the"
    assert re.search(named, done.stderr), done.stderr


def test_a_disk_without_room_is_named_with_what_is_left(machine: Path, small_disk: Path) -> None:
    """pip fails without a message about the disk; the script itself must see that the disk is full."""
    place = small_disk / "clone"
    shutil.copytree(machine, place, symlinks=True)
    play_pip(place, "exit 1")
    done = set_up(place)
    assert done.returncode == 1
    assert f"setup: the disk of {place} is full: " in done.stderr
    assert f" MB are free on {small_disk}; make room" in done.stderr


def test_pips_own_words_are_given_for_any_other_failure(machine: Path) -> None:
    play_pip(machine, "echo 'ERROR: No matching distribution found for numpy' >&2; exit 1")
    done = set_up(machine)
    assert done.returncode == 1
    assert "pip could not install the Python packages: ERROR: No matching distribution found for numpy" in done.stderr


def test_what_takes_long_is_said_to_be_under_way(machine: Path) -> None:
    """The fake pip ends only when setup.sh has printed a line of progress."""
    out, wait = machine / "out", "/bin/sleep 0.2"
    play_pip(machine, f"until grep -q 'still installing Python packages' '{out}'; do {wait}; done")
    environment = {**os.environ, "SETUP_PERIOD": "1", "PATH": f"{machine / 'bin'}:{os.environ['PATH']}"}
    with out.open("w") as file:
        words = ["packaging/setup.sh"]
        done = subprocess.run(words, cwd=machine, env=environment, stdout=file, check=False, timeout=PATIENCE)
    assert done.returncode == 0
    assert re.search(r"^setup: still installing Python packages, for \d+ s$", out.read_text(), re.MULTILINE)


def test_a_part_that_takes_long_to_build_says_how_far_it_is(tmp_path: Path) -> None:
    script, out = ROOT / "packaging/build-part.sh", tmp_path / "out"
    wait = f"touch {tmp_path}/a.o; until grep -q 'still compiling core, 1 files done' {out}; do sleep 0.2; done; exit 3"
    with out.open("w") as file:
        command = ["bash", script, "core", tmp_path, "sh", "-c", wait]
        surroundings = {**os.environ, "BUILD_PERIOD": "1"}
        done = subprocess.run(command, stdout=file, env=surroundings, check=False, timeout=PATIENCE)
    assert done.returncode == 3
    assert out.read_text().startswith("build: compiling core\n")


def test_set_up_for_tests_covers_set_up_to_run(machine: Path) -> None:
    """After `make setup-test`, `make build` installs nothing again."""
    replace(machine / ".venv/bin/python", 'echo "$*" >>calls')
    replace(machine / ".venv/bin/iolens", "")
    assert set_up(machine, "test").returncode == 0
    calls = (machine / "calls").read_text(encoding="utf-8")
    assert set_up(machine).stdout == ""
    assert (machine / "calls").read_text(encoding="utf-8") == calls


def test_the_commands_of_contributing_can_be_run_in_their_order() -> None:
    """Checks that `make setup-test` comes first, that it installs every tool of the later commands, and that the
    targets, scripts and tests named in them exist.
    """
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    commands = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    assert commands[0] == "make setup-test"
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?<!\S)make ([a-z-]+)(?=[ `$\n]|$)", " ; ".join(commands)))
    assert {"build", "check", "test"} <= named - {"-C"} <= targets | {"-"}
    tools = set(re.findall(r"python -m (\w+)", " ".join(commands)))
    extra = re.search(r"^test = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.MULTILINE | re.DOTALL)
    assert extra
    assert tools | {"mypy", "ruff"} <= set(re.findall(r'"([\w-]+)', extra[1]))
    assert all((ROOT / path).exists() for path in re.findall(r"tests/\S+\.py", " ".join(commands)))


def replace(program: Path, text: str) -> None:
    program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    program.chmod(0o755)


PIP = 'echo "$*" >>calls\nfor word in "$@"; do [ "$before" = --prefix ] && mkdir -p "$word/bin"; before=$word; done'


def test_intel_mpi_is_announced_with_its_licence_and_taken_once(machine: Path) -> None:
    replace(machine / "bin/uname", "echo x86_64")
    replace(machine / ".venv/bin/python", PIP)
    first, second = set_up(machine, "lustre"), set_up(machine, "lustre")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr
    assert "a download of 130 MB" in first.stderr
    assert "Intel Simplified Software License" in first.stderr
    assert second.stdout + second.stderr == ""
    assert (machine / "calls").read_text(encoding="utf-8").count("impi-rt") == 1
    assert os.access(machine / ".venv/impi/bin/iolens-mpicc", os.X_OK)


@pytest.mark.parametrize(
    ("hardware", "pip", "why"),
    [
        ("aarch64", PIP, "Intel MPI exists for x86-64 only, and this machine is aarch64"),
        ("x86_64", "echo ERROR: No matching distribution found for impi-rt >&2; exit 1", "ERROR: No matching dist"),
    ],
)
def test_why_the_lustre_driver_cannot_be_had_is_said(machine: Path, hardware: str, pip: str, why: str) -> None:
    replace(machine / "bin/uname", f"echo {hardware}")
    replace(machine / ".venv/bin/python", pip)
    done = set_up(machine, "lustre")
    assert done.returncode == 1
    assert f"setup: ROMIO's Lustre driver could not be installed: {why}" in done.stderr
    assert not (machine / ".venv/impi/.setup").exists()
