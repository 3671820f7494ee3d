"""Tests that darshan-parser, if the machine has it, reads logs of iolens without a complaint, and has the same numbers
as iolens.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from iolens.log import read_log

LOGS = sorted((Path(__file__).parents[1] / "data/iolens").rglob("*.darshan"))
PARSER = os.environ.get("DARSHAN_PARSER") or shutil.which("darshan-parser")
SKIPPED = "no log utility handlers defined for module APMPI"
"""Message of a darshan-parser that was built without AutoPerf, which it prints for Darshan's own logs too."""

pytestmark = pytest.mark.skipif(PARSER is None, reason="no darshan-parser on the path, and DARSHAN_PARSER names none")


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_every_number_is_darshan_parsers(path: Path) -> None:
    done = subprocess.run([str(PARSER), "--base", str(path)], capture_output=True, text=True, check=True)
    assert [line for line in done.stderr.splitlines() if SKIPPED not in line] == []
    frames = read_log(path).frames
    seen = 0
    for line in done.stdout.splitlines():
        module, *words = line.split("\t")
        if line.startswith("#") or len(words) < 4 or module not in frames or words[2] not in frames[module]:
            continue
        rank, record, name, value = int(words[0]), int(words[1]), words[2], float(words[3])
        frame = frames[module]
        (ours,) = frame.loc[(frame["id"] == record) & (frame["rank"] == rank), name]
        assert math.isclose(ours, value, rel_tol=1e-9, abs_tol=1e-6), (module, record, rank, name)
        seen += 1
    assert seen > 100
