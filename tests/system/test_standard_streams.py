"""Tests every command with closed or full standard streams: no traceback, the same exit code, and no output in another
file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.cli.main import COMMANDS

LOG = Path(__file__).resolve().parents[1] / "data" / "logs"

CALLS: dict[str, tuple[str, ...]] = {
    "run": ("run", "--", "sh", "-c", "echo x >f; exit 3"),
    "table": ("table", "--list"),
    "advise": ("advise", "--rules"),
    "completion": ("completion", "bash"),
    "workloads": ("workloads",),
    "sweep": ("sweep", "--schema"),
    "recover": ("recover", "--list", "."),
    "live": ("live", "1"),
}
"""Arguments of a short call that does real work, by command. Commands that are not listed are called with `--help`."""

NO_LOG = ("report", "show", "export", "anonymize", "diff", "predict", "listing", "rank-order", "apa")
"""Commands that must refuse a missing log."""

STREAMS = {0: "stdin", 1: "stdout", 2: "stderr"}


def call_of(command: str) -> tuple[str, ...]:
    """Returns the command line of a short call of a command."""
    if command in NO_LOG:
        return (command, "absent.darshan", *(("--format", "pprof") if command == "export" else ()))
    return CALLS.get(command, (command, "--help"))


def called(words: tuple[str, ...], folder: Path, redirection: str) -> tuple[int, str, str]:
    """Runs a command with a shell's redirection; returns exit code, standard output and standard error."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "iolens", *words],
        cwd=folder,
        env={**os.environ, "IOLENS_SPOOL": str(folder), "PYTHONUNBUFFERED": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_closed_and_full_streams_change_no_exit_code_and_hide_no_failure(command: str, tmp_path: Path) -> None:
    words = call_of(command)
    usual, output, _ = called(words, tmp_path, "")
    assert usual == {"run": 3}.get(command, usual)
    for number, name in STREAMS.items():
        for state, redirection in (("closed", f"{number}>&-"), ("full", f"{number}<>/dev/full")):
            case = f"{' '.join(words)} with {state} {name}"
            code, written, error = called(words, tmp_path, redirection)
            assert code == (1 if name == "stdout" and output and not usual else usual), (case, error)
            assert "Traceback" not in error + written, (case, error, written)
            assert "Exception ignored" not in error + written, (case, error, written)
            if name == "stderr":
                assert written == output or command in ("run", "doctor"), case
                assert "iolens: " not in written, case
            if name == "stdout" and output and not usual:
                assert f"iolens {command}: standard output: " in error, (case, error)


def test_a_program_finds_closed_descriptors_closed(tmp_path: Path) -> None:
    look = "import os, sys; sys.exit(sum(1 << n for n in range(3) if os.path.exists(f'/proc/self/fd/{n}')))"
    for number in STREAMS:
        words = ("run", "--profiler", "none", "--", sys.executable, "-c", look)
        open_ones = sum(1 << n for n in STREAMS if n != number)
        assert called(words, tmp_path, f"{number}>&-")[0] == open_ones


def test_messages_do_not_go_into_the_files_of_a_program_without_standard_error(tmp_path: Path) -> None:
    code, written, _ = called(("run", "--", "sh", "-c", "echo mine >f; cat f"), tmp_path, "2>&-")
    assert (code, written) == (0, "mine\n")
