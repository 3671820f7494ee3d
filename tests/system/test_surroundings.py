"""`iolens run` changes nothing that a program does in the background, under a terminal, make, xargs and the like; `make
harm SURROUNDINGS=N` runs many kinds of programs so.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from mpi_libraries import ROOT

sys.path.insert(0, str(ROOT / "tests/harm"))
from kind import ProgramKind
from surroundings import SURROUNDINGS, difference

SCRIPT = "cat /proc/self/cgroup >copy; test -t 0; echo $?; echo said; echo wrong >&2; exit 3"


@pytest.mark.parametrize("surrounding", list(SURROUNDINGS))
def test_nothing_differs(surrounding: str, tmp_path: Path) -> None:
    tool = surrounding if surrounding == "make" else SURROUNDINGS[surrounding].split()[0]
    if surrounding != "background" and not shutil.which(tool):
        pytest.skip(f"there is no {tool}")
    assert difference(ProgramKind("a script", SCRIPT), surrounding, tmp_path) == ""


def test_a_difference_is_found(tmp_path: Path) -> None:
    assert difference(ProgramKind("preloaded", 'test -z "$LD_PRELOAD"'), "pipe", tmp_path) == "code"
