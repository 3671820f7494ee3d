"""Build the bundled workloads with the MPI that is here, from the source that a wheel carries or a checkout has."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import iolens
from iolens.errors import IolensError
from iolens.lab.installation import own_workloads, source_of_workloads


def build(compiler: str, target: Path | None = None) -> Path:
    """Compile all with an MPI's compiler command, into `target`/bin (default: this user's own folder); returns it.

    Raises IolensError when the source, make or the compiler is not there, or the compiler fails; nothing is left of an
    attempt that fails.
    """
    source = source_of_workloads()
    if source is None:
        raise IolensError("`make install` has built the workloads already, and this tree has no source of them")
    for tool, remedy in (("make", "install make"), (compiler, "load your MPI's module, or name it with --mpicc")):
        if shutil.which(tool) is None:
            raise IolensError(f"{tool} was not found; {remedy}")
    target = target or own_workloads()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".workloads-") as folder:
        copy, made = Path(folder) / "source", Path(folder) / "build"
        for name in ("workloads", "profiler/include"):
            shutil.copytree(source / name, copy / name)
        words = [
            "make",
            "-s",
            f"-j{os.cpu_count() or 1}",
            "-C",
            str(copy / "workloads"),
            f"BUILD={made}",
            f"VERSION={iolens.__version__}",
            f"MPICC={compiler}",
        ]
        surroundings = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run([*words, "all"], capture_output=True, text=True, env=surroundings, check=False)
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if line.strip()]
            first = next((line for line in said if "error" in line.lower()), said[-1] if said else "make failed")
            raise IolensError(f"{compiler} could not build the workloads: {first}")
        (target / "bin").mkdir(parents=True, exist_ok=True)
        for program in sorted((made / "bin").iterdir()):
            program.replace(target / "bin" / program.name)
    return target / "bin"
