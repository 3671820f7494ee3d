"""Builds the bundled workloads with the MPI of this machine, from the source in a wheel or a checkout."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import iolens
from iolens.errors import IolensError
from iolens.lab.installation import own_workloads, source_of_workloads
from iolens.lab.workloads.recipe import USUAL, Recipe

_PARTS = ("workloads", "profiler/include")
"""The parts of the source that a build needs."""


def build_workload(
    compiler: str, target: Path | None = None, recipe: Recipe = USUAL, program: str | None = None
) -> Path:
    """Compiles all workloads or one, with an MPI's compiler command, into `target`/bin (default: this user's folder);
    returns this folder. Raises IolensError if source, make or compiler is missing or compiling fails; a failed attempt
    leaves no files.
    """
    source = _source_here()
    for tool, remedy in (("make", "install make"), (compiler, "load your MPI's module, or name it with --mpicc")):
        if shutil.which(tool) is None:
            raise IolensError(f"{tool} was not found; {remedy}")
    target = (target or own_workloads()).absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".workloads-") as folder:
        copy, made = Path(folder) / "source", Path(folder) / "build"
        for name in _PARTS:
            shutil.copytree(source / name, copy / name)
        words = [
            "make",
            "-s",
            f"-j{os.cpu_count() or 1}",
            "-C",
            str(copy / "workloads"),
            f"BUILD={made}",
            f"VERSION={iolens.__version__}",
            *build_settings(compiler, recipe, program),
        ]
        surroundings = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run(
            [*words, "all"], capture_output=True, text=True, env={**surroundings, **recipe.variables}, check=False
        )
        what = "the workloads" if recipe.is_usual else f"{program} with {recipe.text}"
        if done.returncode != 0:
            raise IolensError(f"{compiler} could not build {what}: {build_complaint(done.stderr)}")
        if program and not os.access(made / "bin" / program, os.X_OK):
            raise IolensError(f"{compiler} built no program of {what}")
        (target / "bin").mkdir(parents=True, exist_ok=True)
        for path in sorted((made / "bin").iterdir()):
            path.replace(target / "bin" / path.name)
    return target / "bin"


_TROUBLE = ("error", "undefined reference", "/ld: ")
"""Texts that identify the line with the cause of a failure, the most certain first; the linker prints the place in a
separate line.
"""


def build_complaint(said: str) -> str:
    """Returns the first cause of a failed build: an error of the compiler or the linker, else the last line of make."""
    lines = [line for line in said.splitlines() if line.strip()]
    own = [line for line in lines if not line.startswith(("make", "collect2"))]
    found = [line for word in _TROUBLE for line in own if word in line.lower()]
    return (found or lines[-1:] or ["make failed"])[0]


def build_settings(compiler: str, recipe: Recipe, program: str | None) -> list[str]:
    """Returns the variables for the workloads' Makefile."""
    words = [f"MPICC={compiler}"]
    words += [f"CODE_FLAGS={recipe.flags}"] if recipe.flags else []
    return words + ([f"PROGRAMS={program}"] if program else [])


def _source_here() -> Path:
    """Returns the folder above the workloads' source; raises IolensError if there is none."""
    source = source_of_workloads()
    if source is None:
        raise IolensError(
            "`make install` has built the workloads already, and this installation has no sources of them"
        )
    return source


def source_digest() -> str:
    """Returns the SHA-256 of all source files that a build reads."""
    source, digest = _source_here(), hashlib.sha256()
    for path in sorted(path for part in _PARTS for path in (source / part).rglob("*") if path.is_file()):
        digest.update(str(path.relative_to(source)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
