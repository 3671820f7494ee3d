"""`iolens run --why` names the rank and the file of a planted delay, under each MPI library here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from mpi_libraries import ROOT, library

sys.path.insert(0, str(ROOT / "tests/bench"))
from why_planted import CULPRITS, measured

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("name", ["usual", "mpich"])
@pytest.mark.parametrize("pattern", ["early_root", "chain", "late_receiver", "workers"])
def test_the_planted_delay_is_the_first_cause(tmp_path: Path, name: str, pattern: str) -> None:
    its, source = library(name), ROOT / "tests/c"
    program = its.compile(source / "why_delays.c", tmp_path / "program", str(source / "why_delay.c"), "-O1")
    found = measured(its, [str(program)], pattern, 10, tmp_path / "run")
    assert (found.rank in CULPRITS[pattern], found.is_planted) == (True, True), found
    assert found.said > 0
