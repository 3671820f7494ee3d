"""The names of the runtimes of containers, and how a runtime is recognised."""

from __future__ import annotations

import shutil
from pathlib import Path

ANY = "any"
"""A runtime that is to be recognised by its name in the command."""

RUNTIME_NAMES = ("apptainer", "singularity", "docker", "podman")


def runtime_name(program: str) -> str | None:
    """Returns the name of the runtime that a program is, by its name or by that of the file that a link of this name
    leads to; None if it is no runtime.
    """
    found = shutil.which(program)
    names = [Path(found).resolve().name] if found else []
    return next((name for name in (*names, Path(program).name) if name in RUNTIME_NAMES), None)
