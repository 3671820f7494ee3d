"""Where the parts lie that are not Python: in a checkout, below a prefix, or in a wheel; known here alone.

A checkout has build/lib, build/bin, storage/ost.yaml, slurm and course. Under a prefix, `make install` has
lib/iolens/lib, lib/iolens/bin, share/iolens/{ost.yaml,slurm,course} and this package in the environment
lib/iolens/venv. A wheel has lib, bin, share and the workloads' source in the package's own folder `parts`; what `iolens
workloads build` makes of that lies in a folder of the user. A system's package has the same in /usr/lib/iolens, where
`parts` leads to. `IOLENS_LIB` names a folder of libraries that goes before all; programs are looked for in the bin
beside it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import iolens
from iolens.errors import IolensError

CHECKOUT = Path(iolens.__file__).resolve().parents[2]
"""The folder above report/iolens, when the package runs from a checkout."""

INSTALLED = Path(sys.prefix).parent
"""PREFIX/lib/iolens, when the package runs from what `make install` made."""


SHARED = INSTALLED.parent.parent / "share" / "iolens"
"""Beside lib/iolens. Where a system's own Python runs the package, both are nobody's."""

IN_WHEEL = Path(iolens.__file__).resolve().parent / "parts"
"""What the wheel carries beside the package."""

BUILD_FOR_LUSTRE = CHECKOUT / "build" / "impi"
"""What is built for the MPI that has ROMIO's Lustre driver, where the usual one has not."""


def folders_of_libraries() -> list[Path]:
    """Folders that may hold libiolens.so, first choice first."""
    named = os.environ.get("IOLENS_LIB")
    usual = [*([Path(named)] if named else []), CHECKOUT / "build" / "lib", INSTALLED / "lib"]
    return [*usual, IN_WHEEL / "lib", BUILD_FOR_LUSTRE / "lib"]


def folders_of_programs() -> list[Path]:
    """Folders that may hold the workloads, built for the usual MPI, first choice first."""
    usual = [folder.parent / "bin" for folder in folders_of_libraries() if folder.parent != BUILD_FOR_LUSTRE]
    return [*usual, own_workloads() / "bin"]


def own_workloads() -> Path:
    """The folder of the workloads that `iolens workloads build` made of this version's source."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "iolens" / iolens.__version__


def source_of_workloads() -> Path | None:
    """The folder above the workloads' source, in a checkout or a wheel; None where there is none, below a prefix."""
    return next(
        (folder for folder in (CHECKOUT, IN_WHEEL / "source") if (folder / "workloads/Makefile").is_file()), None
    )


def kind_of_installation() -> str:
    """Which way this package was installed, in words."""
    if (CHECKOUT / "setup.sh").is_file():
        return f"a clone, {CHECKOUT}"
    if IN_WHEEL.is_symlink():
        return f"the system's package, {IN_WHEEL.resolve()}"
    return f"a wheel, {IN_WHEEL.parent}" if IN_WHEEL.is_dir() else f"make install, {INSTALLED}"


def find_library(name: str) -> Path | None:
    """The full path of one of the project's libraries, or None when it was not built."""
    return next((folder / name for folder in folders_of_libraries() if (folder / name).is_file()), None)


def need_library(name: str) -> Path:
    """Like `find_library`, but raises when the library is absent."""
    path = find_library(name)
    if path is None:
        raise IolensError(absent(name, folders_of_libraries()))
    return path


def find_program(name: str, folders: Sequence[Path] | None = None) -> Path:
    """The program `name`: a path as it stands, else one of the project's own, in `folders` or the usual ones; raises
    when it is absent."""
    candidates = [Path(name)] if "/" in name else [folder / name for folder in folders or folders_of_programs()]
    for path in candidates:
        if path.is_file() and os.access(path, os.X_OK):
            return path.resolve()
    raise IolensError(absent(name, [path.parent for path in candidates]))


def storage_config() -> Path:
    """The configuration of the emulated storage that is used unless another one is given."""
    folders = [CHECKOUT / "storage", SHARED, IN_WHEEL / "share"]
    for folder in folders:
        if (folder / "ost.yaml").is_file():
            return folder / "ost.yaml"
    raise IolensError(absent("ost.yaml", folders))


def batch_folder() -> Path:
    """The folder of the templates of batch scripts, and of what those share."""
    folders = [CHECKOUT / "slurm", SHARED / "slurm", IN_WHEEL / "share" / "slurm"]
    for folder in folders:
        if (folder / "job.sh").is_file():
            return folder
    raise IolensError(absent("job.sh", folders))


def course_folder() -> Path:
    """The folder of the course's activities."""
    folders = [CHECKOUT / "course", SHARED / "course", IN_WHEEL / "share" / "course"]
    for folder in folders:
        if (folder / "activity-1").is_dir():
            return folder
    raise IolensError(absent("activity-1", folders))


def absent(name: str, folders: list[Path]) -> str:
    """What is said of a part that is in none of the folders."""
    looked = ", ".join(map(str, folders))
    return f"{name} was not found (looked in {looked}); {how_to_build()}, or set IOLENS_LIB"


def how_to_build() -> str:
    """What to do where a part is missing: a checkout builds its parts, a package has them or is broken."""
    return "run `iolens workloads build`" if IN_WHEEL.is_dir() else "run `make build` in iolens' folder"


def how_to_get_libraries() -> str:
    """What to do where the profiler's libraries are missing, which an installed package brings along."""
    if (CHECKOUT / "setup.sh").is_file():
        return "run `make build`"
    return "install iolens again, for what was installed brings it along"
