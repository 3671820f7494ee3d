"""Tests spools that their processes remove while `iolens run` reads them, and signals to `iolens run`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from iolens.lab.installation import find_library, find_program
from iolens.lab.recovery import recover
from iolens.lab.recovery.places import default_folders
from iolens.lab.run import execute
from iolens.lab.run.preload import Setup
from patience import PATIENCE

KILLED = "exec 3>kept; echo x >&3; kill -9 $$"
"""A program that ends without writing a log, so that its spool remains."""


def surroundings(folder: Path, **more: str) -> dict[str, str]:
    """Returns an environment whose spools are kept in this folder."""
    return {**os.environ, "IOLENS_SPOOL": str(folder), **more}


def vanishing(folder: Path, moment: str) -> str:
    """Makes an installation whose iolens-recover removes all spools before or after the step `moment`; returns its
    folder of libraries.
    """
    library, program = find_library("libiolens.so"), find_program("iolens-recover")
    assert library is not None
    for name in ("lib", "bin"):
        (folder / name).mkdir()
    (folder / "lib/libiolens.so").symlink_to(library)
    when, what = moment.split()
    remove = f'if [ "$1" = {what} ]; then rm -f {folder}/iolens-*/*.spool; fi'
    steps = (remove, f'{program} "$@"') if when == "before" else (f'{program} "$@"', f"code=$?; {remove}; exit $code")
    script = folder / "bin/iolens-recover"
    script.write_text("\n".join(("#!/bin/sh", *steps, "")))
    script.chmod(0o755)
    return str(folder / "lib")


@pytest.mark.parametrize("moment", ["before list", "after list", "before merge", "after merge"])
def test_a_spool_that_vanishes_costs_no_exit_code(moment: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "iolens", "run", "--", "sh", "-c", KILLED],
        cwd=tmp_path,
        env=surroundings(tmp_path, IOLENS_LIB=vanishing(tmp_path, moment)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 128 + signal.SIGKILL, done.stderr
    assert "Traceback" not in done.stderr
    assert "iolens recover" not in done.stderr  # No spool is left, so no message may recommend recovering one.
    assert bool(list(tmp_path.glob("*.darshan"))) == (moment == "after merge")


@pytest.mark.parametrize("moment", ["before merge", "never merge"])
def test_recover_tells_what_became_of_a_spool(moment: str, tmp_path: Path) -> None:
    preload = {"LD_PRELOAD": str(find_library("libiolens.so")), "IOLENS_LOGPATH": str(tmp_path)}
    killed = subprocess.run(["sh", "-c", KILLED], cwd=tmp_path, env=surroundings(tmp_path, **preload), check=False)
    assert killed.returncode == -signal.SIGKILL
    libraries = {} if moment == "never merge" else {"IOLENS_LIB": vanishing(tmp_path, moment)}
    where = tmp_path if libraries else Path("/proc")
    words = [sys.executable, "-m", "iolens", "recover", "--all", "-o", str(where)]
    done = subprocess.run(
        words, cwd=tmp_path, env=surroundings(tmp_path, **libraries), capture_output=True, text=True, check=False
    )
    spools = list(tmp_path.glob("iolens-*/*.spool"))
    said = "its spools have vanished" if libraries else "no log could be written; its spools were kept"
    assert (done.returncode, len(spools)) == ((0, 0) if libraries else (1, 1)), done.stderr
    assert said in done.stdout


@pytest.mark.parametrize("moment", ["write", "create"])
def test_a_process_killed_while_it_writes_its_log_leaves_no_half_of_it(moment: str, tmp_path: Path) -> None:
    """The program installs a filter that kills it when the profiler writes the log, or has created its file."""
    made = tmp_path / "program"
    words = ["gcc", "-std=gnu11", "-w", "-o", made, Path(__file__).parents[1] / "c/killed_at_log.c"]
    subprocess.run(words, check=True)
    program = [made, "create"] if moment == "create" else [made]
    done = subprocess.run(
        [sys.executable, "-m", "iolens", "run", "--output", tmp_path / "out", "--", *program],
        cwd=tmp_path,
        env=surroundings(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 128 + signal.SIGKILL, done.stderr
    assert len(list((tmp_path / "out").glob("*.darshan"))) == 1
    assert not list(tmp_path.rglob("*partial"))


def killed_spool(folder: Path, monkeypatch: pytest.MonkeyPatch) -> recover.Spool:
    """Returns the spool that a killed program leaves in this folder."""
    words = ["-c", "import os; open('kept', 'w').write('x'); os.kill(os.getpid(), 9)"]
    preload = {"LD_PRELOAD": str(find_library("libiolens.so")), "IOLENS_NONMPI": "1"}
    subprocess.run([sys.executable, *words], cwd=folder, env=surroundings(folder, **preload), check=False)
    monkeypatch.setenv("IOLENS_SPOOL", str(folder))
    (spool,), _ = recover.read_spools(default_folders())
    return spool


def test_every_look_at_a_spool_may_find_it_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = killed_spool(tmp_path, monkeypatch)
    gone = replace(spool, spool=str(tmp_path / "gone.spool"))
    unusable = recover.Unusable(gone.spool, "why", "another boot", 0, 0, 0)
    assert recover.is_abandoned(unusable)
    assert recover.is_own(gone)
    assert recover.remaining([spool, gone]) == [spool]
    assert recover.set_aside([gone], tmp_path / "aside")
    assert recover.recover_job([gone]) is None
    assert recover.recover_job([spool, gone], tmp_path) is not None


def test_a_merge_that_fails_since_a_spool_vanished_is_made_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = killed_spool(tmp_path, monkeypatch)
    other = replace(spool, spool=shutil.copy(spool.spool, tmp_path / "other.spool"))
    helper = tmp_path / "helper"
    helper.write_text(
        f'#!/bin/sh\n[ -e "{other.spool}" ] && rm "{other.spool}" && exit 1\nexec {recover.program()} "$@"\n'
    )
    helper.chmod(0o755)
    monkeypatch.setattr(recover, "program", lambda: helper)
    assert recover.recover_job([spool, other], tmp_path) is not None
    assert not Path(other.spool).exists()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM])
@pytest.mark.parametrize("ignored", [False, True])
def test_a_signal_gives_its_exit_code_unless_it_is_ignored(number: int, ignored: bool, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    running = subprocess.Popen(
        [sys.executable, "-m", "iolens", "run", "--", "sh", "-c", "echo x >f; echo >ready; read x <ready"],
        cwd=tmp_path,
        env=surroundings(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL),
    )
    ready.read_text()
    running.send_signal(number)
    if ignored:
        ready.write_text("go on\n")
    _, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == (0 if ignored else 128 + number), said
    assert len(list(tmp_path.glob("*.darshan"))) == 1, said


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM])
def test_a_signal_while_the_program_starts_ends_the_program(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    class Signalled(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **options: Any) -> None:
            super().__init__(*words, **options)
            started.append(self)
            os.kill(os.getpid(), number)

    monkeypatch.setattr(
        execute, "subprocess", SimpleNamespace(Popen=Signalled, TimeoutExpired=subprocess.TimeoutExpired)
    )
    monkeypatch.setenv("IOLENS_SPOOL", str(tmp_path))
    # `execute` leaves alone a signal that nohup or a shell's background job ignores, so first give the signal an
    # effect.
    before = signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    try:
        with execute.interruptible(), pytest.raises(KeyboardInterrupt) as caught:
            execute.execute(["sleep", "600"], Setup(logs=tmp_path))
    finally:
        signal.signal(number, before)
    assert caught.value.args == (number,)
    assert [process.returncode for process in started] == [-signal.SIGTERM]
