"""Reduces a program's messages to its own: drops an MPI library's warnings, and remarks about a busy disk."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iolens.lab.storage.emulated import JobStatus
    from mpi_libraries import MpiLibrary

SILENT = Path(__file__).resolve().parents[1] / "c/mpi_nothing.c"
BUSY = "the machine was slower than the emulated storage"


def own_words(errors: str, its: MpiLibrary) -> str:
    """Returns the standard error of a program of this MPI without the lines that an empty program prints as well."""
    common = warnings(its)
    return "".join(line for line in errors.splitlines(keepends=True) if shape(line) not in common)


@cache
def warnings(its: MpiLibrary) -> frozenset[str]:
    """Returns the lines that the MPI library itself prints on this machine: under mpirun, and without a launcher."""
    environment = {**os.environ, **its.environment("romio321")}
    with tempfile.TemporaryDirectory() as folder:
        program = its.compile(SILENT, Path(folder) / "nothing")
        ways = ([str(its.mpirun), "-np", "2", str(program)], [str(program)])
        said = [subprocess.run(way, env=environment, capture_output=True, text=True, check=True).stderr for way in ways]
    return frozenset(shape(line) for lines in said for line in lines.splitlines())


def shape(line: str) -> str:
    """Replaces the numbers in a line, because process numbers and times differ from run to run."""
    return re.sub(r"\d+", "#", line.strip())


def names_the_best(output: str) -> bool:
    """Returns True if a sweep on emulated storage named the best setting, or printed that its runs are invalid because
    of a busy disk.
    """
    return any(word in output for word in ("Best:", "Confirmed:", "Not confirmed:", BUSY))


def complaints(books: JobStatus) -> list[str]:
    """Returns why a run on emulated storage is invalid. A disk that others kept busy is ignored: it distorts times but
    no counts.
    """
    return [reason for reason in books.reasons if reason != BUSY]
