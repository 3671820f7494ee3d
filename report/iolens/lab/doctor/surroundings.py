"""The settings of this shell that affect how a program runs: launchers, other preloaded libraries."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from iolens.lab.doctor.finding import CheckResult
from iolens.lab.run.mpi_launch.mpi import mpi_output


def launchers() -> Iterator[CheckResult]:
    """Yields the check of the MPI launcher: the first mpirun on PATH, and the others that it hides."""
    found: dict[Path, Path] = {}
    for path in (Path(folder) / "mpirun" for folder in os.get_exec_path()):
        if os.access(path, os.X_OK):
            found.setdefault(path.resolve(), path)
    if not found:
        yield CheckResult("mpirun", "not there", None, "for programs with MPI; load your MPI's module")
        return
    first, *others = found.values()
    version = version_said(mpi_output(str(first), "--version"))
    hidden = f"hides {', '.join(map(str, others))}; a program needs the launcher of its own MPI" if others else ""
    yield CheckResult("mpirun", f"{first}, {version}", works=True, remedy=hidden)


def version_said(said: str) -> str:
    """Returns name and version from the output of `mpirun --version`; MPICH's Hydra prints them below a heading."""
    lines = [" ".join(line.split()) for line in said.splitlines() if line.strip()]
    if not lines:
        return "which says no version"
    hydra = re.search(r"^Version: *(\S+)", "\n".join(lines), re.MULTILINE) if lines[0].startswith("HYDRA") else None
    return f"HYDRA of MPICH {hydra[1]}" if hydra else lines[0]


def preloaded() -> Iterator[CheckResult]:
    """Checks for libraries that this shell preloads into every program."""
    given = [name for name in re.split("[ :]+", os.environ.get("LD_PRELOAD", "")) if name]
    missing = [name for name in given if "/" in name and not Path(name).exists()]
    if missing:
        why = "the loader reports this at the start of every program: unset LD_PRELOAD"
        yield CheckResult("LD_PRELOAD", f"{' '.join(missing)} is not there", works=False, remedy=why)
    elif given:
        yield CheckResult(
            "LD_PRELOAD", " ".join(given), None, "is loaded after the libraries that `iolens run` preloads"
        )
