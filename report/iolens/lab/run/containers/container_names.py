"""The names of the runtimes of containers, and how a runtime is recognised."""

from __future__ import annotations

import shutil
from pathlib import Path

ANY = "any"
"""Value of --container for a runtime that is recognised by its name in the command."""

RUNTIME_NAMES = ("apptainer", "singularity", "docker", "podman")


def runtime_name(program: str) -> str | None:
    """Returns the name of the container runtime that a program is, by its own name or by the name of the file to which
    a link leads; None if it is not a runtime.
    """
    found = shutil.which(program)
    names = [Path(found).resolve().name] if found else []
    return next((name for name in (*names, Path(program).name) if name in RUNTIME_NAMES), None)
