"""Tests that `iolens run` starts quickly: that it starts few processes besides the program, and imports few modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.lab.run.mpi_launch import mpi

_HEAVY = ("numpy", "pandas", "ctypes", "hashlib", "importlib.abc", "tempfile", "uuid")
_NOT_NEEDED = ("dataclasses", "inspect", "json", "datetime", "platform", "iolens.lab.recovery.recover")
"""Modules that `iolens run` without options must not import; they once took a third of its own time."""


def run(folder: Path, *words: str, python: tuple[str, ...] = (), path: str = "") -> subprocess.CompletedProcess[str]:
    """Starts a command under `iolens run`."""
    return subprocess.run(
        [sys.executable, *python, "-m", "iolens", "run", "--", *words],
        cwd=folder,
        env={**os.environ, "IOLENS_SPOOL": str(folder), "PATH": f"{path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )


def test_the_program_is_started_once(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\necho "called:$*" >>calls\n')
    program.chmod(0o755)
    run(tmp_path, str(program), "a", "b")
    assert (tmp_path / "calls").read_text() == "called:a b\n"


def test_nothing_heavy_is_imported(tmp_path: Path) -> None:
    said = run(tmp_path, "sh", "-c", "echo x >f", python=("-X", "importtime")).stderr
    imported = {line.rpartition("|")[2].strip() for line in said.splitlines() if line.startswith("import time:")}
    assert "iolens.lab.run.execute" in imported
    assert not imported & {*_HEAVY, *_NOT_NEEDED}
    assert not [name for name in imported if name.startswith(("iolens.log", "iolens.metrics", "iolens.lab.storage"))]


def test_the_loader_is_asked_and_not_ldd(tmp_path: Path) -> None:
    ldd = tmp_path / "bin/ldd"
    ldd.parent.mkdir()
    ldd.write_text("#!/bin/sh\necho asked >>ldd-asked\n")
    ldd.chmod(0o755)
    run(tmp_path, "/bin/sh", "-c", "echo x >f", path=str(ldd.parent))
    assert not (tmp_path / "ldd-asked").exists()


@pytest.mark.parametrize("program", ["/bin/sh", sys.executable])
def test_the_loader_says_what_ldd_says(program: str) -> None:
    def libraries(listed: str) -> set[str]:
        return {line.split(" (0x")[0].strip() for line in listed.splitlines() if "=> /" in line}

    ours = libraries(mpi.listed_libraries(Path(program)))
    assert ours
    assert ours == libraries(mpi.mpi_output("ldd", program))
    assert not mpi.is_static(Path(program))
