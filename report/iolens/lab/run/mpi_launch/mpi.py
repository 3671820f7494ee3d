"""Find the MPI of a program or a launcher, and the environment that its run on this job's nodes needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from iolens.errors import IolensError
from iolens.lab.run.mpi_launch.single_copy import single_copy_works

if TYPE_CHECKING:
    from iolens.lab.run.mpi_launch.allocation import Allocation

Flavour = Literal["openmpi", "mpich", "mpiabi"]
"""An MPI ABI: Open MPI's, that of MPICH and its relatives, or the standard one of MPI 5, which any library may offer.
"""

FLAVOURS: tuple[Flavour, ...] = get_args(Flavour)

_SONAMES: tuple[tuple[re.Pattern[str], Flavour], ...] = (
    (re.compile(r"\blibmpi\.so\.[48]0\b"), "openmpi"),
    # The names of Cray MPICH's libraries end in _ and the name of a compiler.
    (re.compile(r"\blibmpi(ch|_(cray|gnu|intel|amd|aocc|nvidia)\w*)?\.so\.12\b"), "mpich"),
    (re.compile(r"\blibmpi_abi\.so\.\d"), "mpiabi"),
)

HEAD = 4096
"""Number of bytes at the start of an ELF file that hold its header and the name of its loader."""

_LOADER = re.compile(rb"(/[\w./+-]*/ld(?:-linux[\w.-]*|64)\.so\.\d)\0")
"""The path of a loader of glibc."""


def mpi_output(*words: str) -> str:
    """Returns the output of a command (standard output and error); empty if it cannot be run."""
    from iolens.lab.run.mpi_launch import openmpi

    surroundings = {**os.environ, **openmpi.openmpi_variables(["as root"], None)}
    try:
        done = subprocess.run(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=surroundings,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def listed_libraries(path: Path) -> str:
    """Returns what ldd prints of an executable."""
    info = path.stat() if path.exists() else None
    return _asked_loader(path, info and (info.st_ino, info.st_mtime_ns, info.st_size))


@cache
def _asked_loader(path: Path, _stamp: object) -> str:
    """Returns the libraries of an executable as ldd prints them, kept as long as the file is unchanged (`_stamp`). The
    executable's own loader is run, which is one process; the script ldd, which starts eight processes, is used only if
    the executable names no loader of glibc.
    """
    loader = _LOADER.search(head_of(path, HEAD)) if path.is_file() else None
    listed = mpi_output(loader[1].decode(), "--list", str(path.absolute())) if loader else ""
    return listed if "=>" in listed else mpi_output("ldd", str(path))


def flavour_of_program(path: Path) -> Flavour | None:
    """Returns the MPI that a dynamic executable links, directly or through its libraries; None if it links none."""
    return flavour_of_libraries(listed_libraries(path))


def flavour_of_libraries(listed: str) -> Flavour | None:
    """Returns the MPI whose library is among those that the loader listed."""
    return next((flavour for pattern, flavour in _SONAMES if pattern.search(listed)), None)


def libraries_of(path: Path) -> list[Path]:
    """Returns the libraries that the loader finds for a dynamic executable, in its order."""
    return [Path(found) for found in re.findall(r"=> (/.+?) \(0x", listed_libraries(path))]


def head_of(program: Path, size: int) -> bytes:
    """Returns the first bytes of a program; empty if the file is executable but not readable."""
    try:
        with program.open("rb") as file:
            return file.read(size)
    except PermissionError:
        return b""


def is_static(path: Path) -> bool:
    """Returns True for an executable that no preload library can reach; False if it cannot be read."""
    head = head_of(path, HEAD)
    return (
        head[:4] == b"\x7fELF"
        and _LOADER.search(head) is None
        and bool(re.search(r"not a dynamic executable|statically linked", listed_libraries(path)))
    )


@cache
def flavour_of_launcher(launcher: str) -> Flavour | None:
    """Returns the MPI of a launcher, by its answer to `--version`."""
    return flavour_of_version(mpi_output(launcher, "--version"))


def flavour_of_version(version: str) -> Flavour | None:
    """Returns the MPI that prints this version text."""
    if re.search(r"Open ?MPI|OpenRTE|PRRTE|prte", version, re.IGNORECASE):
        return "openmpi"
    return "mpich" if re.search(r"HYDRA|MPICH|Intel", version, re.IGNORECASE) else None


def find_launcher(flavour: Flavour | None) -> str:
    """Returns a launcher of that MPI, on PATH or beside this Python; any launcher, if the program links no MPI or the
    standard ABI.
    """
    anyone = (None, "mpiabi")
    beside = Path(sys.executable).parent
    candidates = [
        shutil.which("mpirun"),
        shutil.which("mpiexec"),
        str(beside / "mpirun"),
        str(beside / "mpiexec"),
    ]
    for candidate in candidates:
        if candidate and Path(candidate).exists() and flavour in (*anyone, flavour_of_launcher(candidate)):
            return candidate
    raise IolensError(f"no mpirun of {flavour or 'any MPI'} was found; run `make setup`, or load the MPI's module")


@cache
def version_of_launcher(launcher: str) -> int | None:
    """Returns the major version of the Open MPI that this launcher belongs to; None for any other launcher."""
    from iolens.lab.run.mpi_launch import openmpi

    return openmpi.major_version(mpi_output(launcher, "--version"))


def has_romio_of_5(launcher: str | None) -> bool:
    """Returns True if the ROMIO is that of Open MPI 5 or newer. The mpirun on PATH is asked if the launcher is unknown
    or a batch system's.
    """
    version = version_of_launcher(launcher) if launcher else None
    return (version or version_of_launcher("mpirun") or 0) >= 5


def _component_of(launcher: str | None, component: str) -> str:
    """Returns the MPI-IO component by the name that this launcher's Open MPI uses: ROMIO's name changed with Open MPI
    5.
    """
    return "romio341" if component == "romio321" and has_romio_of_5(launcher) else component


def environment(
    flavour: Flavour | None,
    ranks: int,
    io_component: str | None,
    nodes: Allocation | None = None,
    given: Mapping[str, str] = os.environ,
    launcher: str | None = None,
) -> Mapping[str, str]:
    """Returns the variables for a launcher of `ranks` on `nodes` (those of this job if None): what the nodes need, and
    the MPI-IO component.

    Ranks that share a core must yield when idle and must not be bound, or they wait for each other's time slices.
    Variables that the user has set (`given`) stay, except for the MPI-IO component of an experiment. If the version of
    Open MPI is unknown, since `launcher` is None or a batch system's, the variables of all versions are set.
    """
    if flavour != "openmpi":
        return {}
    from iolens.lab.run.mpi_launch import openmpi
    from iolens.lab.run.mpi_launch.allocation import allocation

    nodes = nodes or allocation(given)
    needs: list[openmpi.Need] = [] if single_copy_works() else ["no single copy"]
    if ranks > nodes.slots:
        needs.append("oversubscribed")
    if nodes.is_crowded(ranks):
        needs += ["yielding", "unbound"]
    if ranks > 1 and len(nodes.hosts(ranks)) == 1:
        needs.append("one node")
    if os.geteuid() == 0:
        needs.append("as root")
    settings = openmpi.openmpi_variables(needs, version_of_launcher(launcher) if launcher and needs else None)
    chosen = {"OMPI_MCA_io": _component_of(launcher, io_component)} if io_component else {}
    return {key: value for key, value in settings.items() if key not in given} | chosen
