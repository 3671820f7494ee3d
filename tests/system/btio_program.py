"""Starts build/bin/btio under mpirun and reads its output."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iolens.lab.run.mpi_launch import mpi, openmpi
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
BTIO = ROOT / "build" / "bin" / "btio"
COMPONENTS = 5
NUMBER = re.compile(r"[-+]?\d+\.\d+E[-+]\d+")


@dataclass(frozen=True)
class BtioResult:
    """Result of one run; `status` is the exit status of mpirun, which passes on the program's."""

    status: int
    text: str
    errors: str

    @property
    def messages(self) -> list[str]:
        """Returns the program's own lines on standard error, without the launcher's."""
        return [line for line in self.errors.splitlines() if line.startswith("btio: ")]

    def value(self, name: str) -> str:
        """Returns the right side of the line ` name = value` or ` name : value`."""
        found = re.search(rf"^ +{re.escape(name)} *[=:] *(.+)$", self.text, re.MULTILINE)
        assert found, f"no line '{name}' in:\n{self.text}"
        return found[1].strip()

    def table(self, title: str, column: int = 0) -> list[float]:
        """Returns one column of the five lines below a title: 0 value, 1 reference, 2 relative difference."""
        lines = self.text.split(title + "\n", 1)[1].splitlines()[:COMPONENTS]
        return [float(NUMBER.findall(line)[column]) for line in lines]

    def norms(self, name: str) -> list[list[float]]:
        """Returns the norms that --print-norms prints under this name, as one list for each time."""
        lines = [line for line in self.text.splitlines() if line.startswith(f" Norm of {name} ")]
        return [[float(number) for number in NUMBER.findall(line)] for line in lines]


MPI_SETTINGS = openmpi.openmpi_variables(["as root", "oversubscribed", "yielding"], None)


def launch(where: Path, command: list[str], ranks: int = 1, io: str = "romio321") -> BtioResult:
    """Runs a command under mpirun in the folder `where`, with room for more ranks than cores."""
    done = subprocess.run(
        ["mpirun", "-np", str(ranks), *command],
        cwd=where,
        env=os.environ | MPI_SETTINGS | mpi.environment("openmpi", ranks, io, launcher="mpirun"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return BtioResult(done.returncode, done.stdout, done.stderr)


def btio(where: Path, *arguments: str, ranks: int = 1, io: str = "romio321") -> BtioResult:
    """Runs btio."""
    return launch(where, [str(BTIO), *arguments], ranks, io)


def verified(where: Path, *arguments: str, ranks: int = 1, io: str = "romio321") -> BtioResult:
    """Runs the program, and fails if it did not verify its result."""
    outcome = btio(where, *arguments, ranks=ranks, io=io)
    assert outcome.status == 0, outcome.text + outcome.errors
    assert outcome.value("Verification") == "SUCCESSFUL", outcome.text
    return outcome


def result(path: Path) -> dict[str, Any]:
    """Reads a result JSON."""
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded
