"""Where the parts lie that are not Python: this checkout's build folder, or what `make install` made; known here alone.

A checkout has build/lib, build/bin, storage/ost.yaml, slurm and course. Under a prefix, `make install` has
lib/iolens/lib, lib/iolens/bin, share/iolens/{ost.yaml,slurm,course} and this package in the environment
lib/iolens/venv.
`IOLENS_LIB` names a folder of libraries that goes before both; programs are looked for in the bin beside it.
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


BUILD_FOR_LUSTRE = CHECKOUT / "build" / "impi"
"""What is built for the MPI that has ROMIO's Lustre driver, where the usual one has not."""


def folders_of_libraries() -> list[Path]:
    """Folders that may hold libiolens.so, first choice first."""
    named = os.environ.get("IOLENS_LIB")
    usual = [*([Path(named)] if named else []), CHECKOUT / "build" / "lib", INSTALLED / "lib"]
    return [*usual, BUILD_FOR_LUSTRE / "lib"]


def folders_of_programs() -> list[Path]:
    """Folders that may hold the workloads, built for the usual MPI, first choice first."""
    return [folder.parent / "bin" for folder in folders_of_libraries() if folder.parent != BUILD_FOR_LUSTRE]


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
    folders = [CHECKOUT / "storage", INSTALLED.parents[1] / "share" / "iolens"]
    for folder in folders:
        if (folder / "ost.yaml").is_file():
            return folder / "ost.yaml"
    raise IolensError(absent("ost.yaml", folders))


def batch_folder() -> Path:
    """The folder of the templates of batch scripts, and of what those share."""
    folders = [CHECKOUT / "slurm", INSTALLED.parents[1] / "share" / "iolens" / "slurm"]
    for folder in folders:
        if (folder / "job.sh").is_file():
            return folder
    raise IolensError(absent("job.sh", folders))


def course_folder() -> Path:
    """The folder of the course's activities."""
    folders = [CHECKOUT / "course", INSTALLED.parents[1] / "share" / "iolens" / "course"]
    for folder in folders:
        if (folder / "activity-1").is_dir():
            return folder
    raise IolensError(absent("activity-1", folders))


def absent(name: str, folders: list[Path]) -> str:
    """What is said of a part that is in none of the folders."""
    looked = ", ".join(map(str, folders))
    return f"{name} was not found (looked in {looked}); run `make build` in iolens' folder, or set IOLENS_LIB"
