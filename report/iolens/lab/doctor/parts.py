"""The toolkit's own parts, and the Python packages that some commands need."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import get_args

import iolens
from iolens.errors import IolensError
from iolens.extras import installation_command
from iolens.lab.doctor.finding import CheckResult
from iolens.lab.installation import find_library, find_program, kind_of_installation
from iolens.lab.run.mpi_launch.mpi import Flavour
from iolens.lab.workloads.workloads import WORKLOADS

_PACKAGES = {
    "pyarrow": ("parquet", "Parquet files"),
    "darshan": ("darshan", "reading logs with Darshan's own library, to check iolens in the tests"),
}
"""Optional packages, each with the extra that has it and the features that need it."""


def versions() -> Iterator[CheckResult]:
    """Checks the package and the Python that runs it."""
    yield CheckResult("iolens", f"{iolens.__version__}, {kind_of_installation()}")
    yield CheckResult("Python", f"{platform.python_version()}, {sys.executable}")


def check_libraries() -> Iterator[CheckResult]:
    """Checks the libraries that are preloaded."""
    needed = {"libiolens.so": "nothing is recorded", "libost.so": "no emulated storage targets"}
    needed |= {
        f"libiolens-{flavour}.so": f"programs with this MPI ABI ({flavour}) write one log per process, without MPI-IO "
        f"records"
        for flavour in get_args(Flavour)
    }
    for name, without in needed.items():
        path = find_library(name)
        works = True if path else None if "-" in name else False
        yield CheckResult(name, str(path or "not there"), works, "" if path else f"without it {without}")


def check_programs() -> Iterator[CheckResult]:
    """Yields the checks of the programs for recovery and replay, and of the bundled workloads."""
    for name, without in {"iolens-recover": "no logs of killed jobs", "ost-simulate": "no replay of traces"}.items():
        try:
            yield CheckResult(name, str(find_program(name)), works=True)
        except IolensError:
            yield CheckResult(name, "not there", works=False, remedy=f"without it {without}")
    built = []
    for name in WORKLOADS:
        try:
            built.append(find_program(name))
        except IolensError:
            continue
    where = f" in {built[0].parent}" if built else ""
    yield CheckResult(
        "workloads",
        f"{len(built)} of {len(WORKLOADS)}{where}",
        len(built) == len(WORKLOADS),
        ""
        if len(built) == len(WORKLOADS)
        else "build them with `iolens workloads build`, which needs an MPI compiler such as mpicc",
    )


def packages() -> Iterator[CheckResult]:
    """Checks the Python packages that some commands need."""
    for name, (extra, what) in _PACKAGES.items():
        try:
            yield CheckResult(name, version(name), works=True)
        except PackageNotFoundError:
            yield CheckResult(name, "not there", None, f"for {what}: {installation_command(extra)}")
