"""The build backend that pyproject.toml names: setuptools, and for a wheel the profiler as well.

Without it, `pip install .` would give a package that can read logs but cannot record a run. IOLENS_PARTS=separate
leaves the parts out that are not Python, for packages that put them into a folder of their own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import setuptools
from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)
from wheel_parts import ROOT, command, parts, rows_of, write

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_TOOLS = ("make", "cc")


def _accept_licence_expressions() -> None:
    """Lets setuptools before version 77, which Debian 12 and Ubuntu have, read the licence as pyproject.toml has it.
    Newer versions will refuse the table that these versions demand.
    """
    from setuptools.config import pyprojecttoml

    load_file = pyprojecttoml.load_file

    def load_with_table(path: Any) -> Any:
        document = load_file(path)
        project = document.get("project", {})
        if isinstance(project.get("license"), str):
            project["license"] = {"text": project["license"]}
        return document

    pyprojecttoml.load_file = load_with_table


if int(setuptools.__version__.partition(".")[0]) < 77:
    _accept_licence_expressions()


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Returns what the build needs beside setuptools: pip downloads the headers of the MPI libraries."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), *([] if _separate() else ["pip"])]


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Builds the wheel, with the libraries of the profiler compiled for this machine, and returns its file name."""
    if _separate():
        return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    lacking = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if lacking:
        sys.exit(
            f"iolens: the profiler cannot be compiled without {' and '.join(lacking)}; install gcc and make, or "
            "install a wheel of iolens, which contains the profiler"
        )
    with tempfile.TemporaryDirectory() as folder:
        # Without uPlot, figures in HTML reports are still; the reports say so, and the script says why.
        subprocess.run(["bash", "packaging/plotting.sh"], cwd=ROOT, env=_with_python(), check=False)
        plain = Path(folder) / build_meta.build_wheel(folder, config_settings, metadata_directory)
        builds = _compiled(Path(folder))
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        target = Path(wheel_directory) / plain.name.replace("-none-any", f"-none-{platform}")
        write(target, [*rows_of(plain, platform), command(plain, builds[0]), *parts(builds)])
    return target.name


def _separate() -> bool:
    """Returns True if whoever builds this package adds the compiled parts himself."""
    return os.environ.get("IOLENS_PARTS") == "separate"


def _compiled(folder: Path) -> list[Path]:
    """Compiles the profiler and the emulated storage below the folder; returns the build trees."""
    build, adapters = folder / "build", folder / "adapters"
    jobs = f"-j{os.cpu_count() or 1}"
    for part in ("storage", "profiler"):
        _run("make", "-s", jobs, "-C", part, f"BUILD={build}", "all")
    _run("bash", "packaging/adapters.sh", str(build / "lib"), str(adapters), MPI_HEADERS=str(folder / "headers"))
    return [build, adapters]


def _with_python(**settings: str) -> dict[str, str]:
    """Returns the environment for scripts, which install packages with this interpreter."""
    return {**os.environ, "PYTHON": sys.executable, **settings}


def _run(*words: str, **settings: str) -> None:
    """Runs a command in the project's folder, and ends the build with a sentence if the command fails."""
    done = subprocess.run(words, cwd=ROOT, env=_with_python(**settings), check=False)
    if done.returncode:
        sys.exit(f"iolens: the profiler was not compiled, because `{' '.join(words)}` failed, as its output shows")
