"""The command as a module, and what it says where the system refuses it something."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from iolens import __version__


def iolens(*words: str, output: str = "/dev/null", **surroundings: str) -> tuple[int, str]:
    """Exit code and what stood on standard error."""
    with Path(output).open("w") as file:
        done = subprocess.run(
            [sys.executable, "-m", "iolens", *words],
            env={**os.environ, **surroundings},
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    return done.returncode, done.stderr


def test_the_package_is_a_command(tmp_path: Path) -> None:
    assert iolens("--version", output=str(tmp_path / "said")) == (0, "")
    assert (tmp_path / "said").read_text() == f"iolens {__version__}\n"


def test_a_full_disk_behind_the_output_is_one_sentence() -> None:
    assert iolens("workloads", output="/dev/full") == (1, "iolens workloads: No space left on device\n")


def test_a_home_that_cannot_be_written_to_is_one_sentence() -> None:
    code, said = iolens("workloads", "build", "--mpicc", "true", HOME="/proc/nowhere", XDG_DATA_HOME="")
    assert code == 1
    assert said == "iolens workloads: /proc/nowhere: No such file or directory\n"
