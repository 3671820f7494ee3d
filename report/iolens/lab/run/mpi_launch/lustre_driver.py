"""Find ROMIO's Lustre driver: in the MPI that a program is linked with, or in Intel MPI's packages.

The packages go into `.venv/impi` of a clone at first use, and the programs built for them into `build/impi`; `make
lustre-driver` does both. The packages are Intel's (Intel Simplified Software License), run on x86-64, and have MPICH's
ABI.
"""

from __future__ import annotations

import mmap
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.installation import find_program, folders_of_programs
from iolens.lab.run.command_line import take_apart
from iolens.lab.run.mpi_launch import mpi
from iolens.places import BUILD_FOR_LUSTRE, CHECKOUT

OF_THE_DRIVER = b"ADIOI_LUSTRE_WriteStridedColl"
"""A name of ROMIO's that only a library with the driver contains."""

INTEL_MPI = CHECKOUT / ".venv" / "impi"

_RECOGNISE = {"I_MPI_EXTRA_FILESYSTEM": "1"}
"""Variable that makes Intel MPI detect the file system, as other libraries always do."""

_REPLACED = ("mpirun", "mpiexec", "mpiexec.hydra")
"""Launchers that Intel MPI's launcher replaces. Intel's script mpirun needs the folder on PATH, its mpiexec.hydra does
not.
"""

_ONE_NODE = {"I_MPI_FABRICS": "shm", "I_MPI_PIN": "0", "I_MPI_SPIN_COUNT": "1"}
"""Settings for ranks that share one node, and perhaps its cores: a waiting rank leaves its core to the others."""


@dataclass(frozen=True)
class Build:
    """A program as built for one MPI: the MPI that it links, the starter of its ranks, and variables for it. `made`
    names the compiler, its version and the flags if the program was built anew.
    """

    program: Path
    flavour: mpi.Flavour | None
    starter: str
    settings: Mapping[str, str] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)


def _libraries_of(program: Path) -> list[Path]:
    """Returns the MPI libraries that a dynamic program loads."""
    return [Path(path) for path in re.findall(r"\blibmpi\w*\.so\S* => (\S.*) \(", mpi.listed_libraries(program))]


def holds_driver(library: Path) -> bool:
    """Returns whether an MPI library was built with the driver. The driver's functions are not among the symbols, but
    their names are in the library's messages.
    """
    try:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(OF_THE_DRIVER) >= 0
    except (OSError, ValueError):
        return False


def build_with_driver(name: str, starter: Callable[[mpi.Flavour | None], str]) -> Build:
    """Returns the program `name` (one of the project's own, or a path) with an MPI that has the driver: the MPI that it
    is linked with, if that has the driver, or else Intel MPI, which is installed at first use.

    `starter` finds the command that starts ranks of an MPI. Raises IolensError if there is none, UsageError for a
    program that cannot run with any MPI that has the driver.
    """
    program = find_program(name)
    flavour = mpi.flavour_of_program(program)
    if any(map(holds_driver, _libraries_of(program))):
        return Build(program, flavour, starter(flavour), _RECOGNISE)
    own = program.resolve().parent in [folder.resolve() for folder in folders_of_programs()]
    if not own and flavour != "mpich":
        raise UsageError(
            f"{program} is linked with {flavour or 'no MPI'}; the Lustre driver needs an MPI that has it: build the "
            f"program with {INTEL_MPI / 'bin' / 'iolens-mpicc'} (`make lustre-driver` installs it), or with MPICH"
        )
    install()
    if own:
        program = find_program(program.name, [BUILD_FOR_LUSTRE / "bin"])
    return Build(program, "mpich", str(INTEL_MPI / "bin" / "mpiexec.hydra"), intel_settings())


def under_driver(words: Sequence[str]) -> tuple[list[str], Mapping[str, str]]:
    """Returns a command line whose programs run with the driver, and variables for its launcher. Raises as
    `build_with_driver` does, and if the programs' MPI would need another launcher than a plain mpirun.
    """
    command, changed = take_apart(words), list(words)
    settings: Mapping[str, str] = {}
    for index in command.applications:
        path = shutil.which(words[index])
        if path is None:
            raise UsageError(f"{words[index]}: no such program")
        build = build_with_driver(str(Path(path).absolute()), lambda flavour: words[0])
        changed[index], settings = str(build.program), build.settings
        if command.launcher and build.starter != words[0]:
            if command.launcher not in _REPLACED:
                raise UsageError(f"under {command.launcher} the program's own MPI must have the Lustre driver")
            changed[0] = build.starter
    return changed, settings


def intel_settings() -> dict[str, str]:
    """Returns the variables for Intel's launcher; with them, a program linked with another MPICH finds Intel's
    library.
    """
    before = os.environ.get("LD_LIBRARY_PATH")
    path = os.pathsep.join([str(INTEL_MPI / "lib"), *([before] if before else [])])
    return {**_RECOGNISE, **_ONE_NODE, "LD_LIBRARY_PATH": path}


@cache
def install() -> None:
    """Installs Intel MPI and builds for it, if that is still to be done; first prints its size and licence. Raises
    IolensError with the reason on failure, and in an installed tree, which cannot build.
    """
    if not (CHECKOUT / "packaging/setup.sh").is_file():
        raise IolensError(
            "the MPI that iolens was installed with has no Lustre driver; install iolens with an MPI that has it, or "
            "work in a clone and run `make lustre-driver` there"
        )
    surroundings = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    said = ""
    command = ["make", "--no-print-directory", "-C", str(CHECKOUT), "lustre-driver"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=surroundings
    ) as making:
        for line in making.stdout or ():
            print(line, end="", flush=True)
            said = line.strip() if line.startswith("setup: ") or not said else said
    if making.returncode != 0:
        raise IolensError(said.removeprefix("setup: ") or "`make lustre-driver` failed")
