"""Where the built libraries and workloads lie: `IOLENS_LIB`, this checkout's build folder, or an installed prefix."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import iolens
from iolens.errors import IolensError

CHECKOUT = Path(iolens.__file__).resolve().parents[2]
"""The folder above report/iolens, when the package runs from a checkout."""


def folders_of_libraries() -> list[Path]:
    """Folders that may hold libiolens.so, first choice first."""
    named = os.environ.get("IOLENS_LIB")
    # An installed environment is PREFIX/lib/iolens/venv.
    return [*([Path(named)] if named else []), CHECKOUT / "build" / "lib", Path(sys.prefix).parent]


def find_library(name: str) -> Path | None:
    """The full path of one of the project's libraries, or None when it was not built."""
    return next((folder / name for folder in folders_of_libraries() if (folder / name).is_file()), None)


def need_library(name: str) -> Path:
    """Like `find_library`, but raises when the library is absent."""
    path = find_library(name)
    if path is None:
        looked = ", ".join(str(folder) for folder in folders_of_libraries())
        raise IolensError(f"{name} was not found (looked in {looked}); run `make build`, or set IOLENS_LIB")
    return path


def find_workload(name: str) -> Path:
    """The program `name`: a path as it stands, else one of the bundled workloads; raises when it is absent."""
    candidates = [CHECKOUT / "build" / "bin" / name, Path(sys.prefix).parents[2] / "bin" / name]
    if "/" in name:
        candidates = [Path(name)]
    for path in candidates:
        if path.is_file() and os.access(path, os.X_OK):
            return path.resolve()
    raise IolensError(f"the program {name} was not found at {candidates[0]}; run `make build`, or give its path")


def storage_config() -> Path:
    """The configuration of the emulated storage that is used unless another one is given."""
    candidates = [
        CHECKOUT / "storage" / "ost.yaml",
        Path(sys.prefix).parents[2] / "share" / "iolens" / "ost.yaml",
    ]
    for path in candidates:
        if path.is_file():
            return path
    raise IolensError(f"ost.yaml was not found at {candidates[0]}")
