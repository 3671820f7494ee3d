"""The places of the parts that are not Python: in a checkout, below a prefix, or in a wheel. Only this file knows
them; `iolens.places` has those of the libraries.

A checkout has build/lib, build/bin, storage/ost.yaml, slurm and course. Below a prefix, `make install` creates
lib/iolens/lib, lib/iolens/bin, share/iolens/{ost.yaml,slurm,course} and this package in the environment
lib/iolens/venv. A wheel has lib, bin, share and the workloads' source in the package's own folder `parts`; `iolens
workloads build` puts the built workloads into a folder of the user. A system's package has the same in /usr/lib/iolens,
to which `parts` is a link. `IOLENS_LIB` names a folder of libraries that takes precedence; programs are then searched
in the bin beside it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import iolens
from iolens.errors import IolensError
from iolens.places import BUILD_FOR_LUSTRE, CHECKOUT, IN_WHEEL, INSTALLED, folders_of_libraries

_SHARED = INSTALLED.parent.parent / "share" / "iolens"
"""PREFIX/share/iolens: the folder in which `make install` put the files that are neither programs nor libraries."""

MACHINES = ("thin-links", "balanced-links", "fat-links")
"""Names of the configurations of emulated storage that come with iolens, in the order of the number of targets that a
client's link can feed.
"""


def folders_of_programs() -> list[Path]:
    """Returns the folders that may hold the workloads built for the usual MPI, the preferred one first."""
    usual = [folder.parent / "bin" for folder in folders_of_libraries() if folder.parent != BUILD_FOR_LUSTRE]
    return [*usual, own_workloads() / "bin"]


def own_workloads() -> Path:
    """Returns the folder of the workloads that `iolens workloads build` made from this version's source."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "iolens" / iolens.__version__


def source_of_workloads() -> Path | None:
    """Returns the folder above the workloads' source, in a checkout or a wheel; None after `make install`, which does
    not copy the source.
    """
    return next(
        (folder for folder in (CHECKOUT, IN_WHEEL / "source") if (folder / "workloads/Makefile").is_file()), None
    )


def kind_of_installation() -> str:
    """Returns in words how this package was installed."""
    if (CHECKOUT / "packaging/setup.sh").is_file():
        return f"a clone, {CHECKOUT}"
    if IN_WHEEL.is_symlink():
        return f"the system's package, {IN_WHEEL.resolve()}"
    return f"a wheel, {IN_WHEEL.parent}" if IN_WHEEL.is_dir() else f"make install, {INSTALLED}"


def find_library(name: str) -> Path | None:
    """Returns the full path of one of the project's libraries, or None if it was not built."""
    paths = (folder / name for folder in folders_of_libraries())
    return next((path for path in paths if os.access(path, os.R_OK) and path.is_file()), None)


def need_library(name: str) -> Path:
    """Returns the full path of a library as `find_library` does, but raises if it is absent."""
    path = find_library(name)
    if path is None:
        raise IolensError(_absent_part(name, folders_of_libraries()))
    return path


def find_program(name: str, folders: Sequence[Path] | None = None) -> Path:
    """Returns the path of a program. If `name` is a path, it is the program's own; otherwise one of the project's
    programs with this name, from `folders` or the usual folders. Raises if there is no such program. Links in a given
    path are kept, because `bin/python` of a virtual environment is a link.
    """
    candidates = [Path(name)] if "/" in name else [folder / name for folder in folders or folders_of_programs()]
    for path in candidates:
        # os.access is asked first, because is_file raises in folders that this user may not enter.
        if os.access(path, os.X_OK) and path.is_file():
            return path.absolute() if "/" in name else path.resolve()
    raise IolensError(_absent_part(name, [path.parent for path in candidates]))


def storage_config(machine: str = "ost") -> Path:
    """Returns the configuration of the emulated storage: the default one, or one of MACHINES."""
    name = f"{machine}.yaml"
    return _folder_with(name, [CHECKOUT / "storage", _SHARED, IN_WHEEL / "share"]) / name


def storage_config_of(text: str) -> Path:
    """Returns the configuration that a user names: a file, or the one of MACHINES with this name."""
    return storage_config(text) if text in MACHINES else Path(text)


def batch_folder() -> Path:
    """Returns the folder of the batch script templates and their shared parts."""
    return _folder_with("job.sh", [parent / "slurm" for parent in (CHECKOUT, _SHARED, IN_WHEEL / "share")])


def course_folder() -> Path:
    """Returns the folder of the course's activities."""
    return _folder_with("activity-1", [parent / "course" for parent in (CHECKOUT, _SHARED, IN_WHEEL / "share")])


def _folder_with(name: str, folders: list[Path]) -> Path:
    """Returns the first of the folders that has a file or folder of this name; raises if there is none."""
    found = next((folder for folder in folders if (folder / name).exists()), None)
    if found is None:
        raise IolensError(_absent_part(name, folders))
    return found


def _absent_part(name: str, folders: list[Path]) -> str:
    """Returns the error for a part that is in none of the folders."""
    looked = ", ".join(map(str, folders))
    return f"{name} was not found (looked in {looked}); {_how_to_build()}, or set IOLENS_LIB"


def _how_to_build() -> str:
    """Returns the advice for a missing part: the command that builds it, in an installation by wheel or in a
    checkout.
    """
    return "run `iolens workloads build`" if IN_WHEEL.is_dir() else "run `make build` in iolens' folder"


def how_to_get_libraries() -> str:
    """Returns advice for missing libraries of the profiler, which an installed package contains."""
    if (CHECKOUT / "packaging/setup.sh").is_file():
        return "run `make build`"
    return "install iolens again, because the package contains it"
