"""Programs that sleep, poll, wait for cores, locks and children: each is named for what it is, and its parts agree with
what the program itself and the kernel say of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.advise.judge import LARGEST
from iolens.cli.main import main
from iolens.log import read_log
from iolens.metrics.processor import parts, time
from iolens.metrics.processor.largest import CROWDED, largest_part
from patience import PATIENCE

SECONDS = 1.0

PROGRAMS = {
    "sleeps": ("blocked",),
    "polls": ("blocked",),
    "asks": ("kernel",),
    "convoy": ("blocked",),
    "parent": ("children", "blocked"),
    "openmp": ("threads",),
    "spins": ("compute",),
}
"""Modes of tests/c/time_parts.c and the kinds that name them."""


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


@pytest.mark.parametrize("options", [(), ("--sample",)], ids=["plain", "sampled"])
@pytest.mark.parametrize("mode", list(PROGRAMS))
def test_each_program_is_named_for_what_it_is(mode: str, options: tuple[str, ...], tmp_path: Path, capsys) -> None:
    """On a machine that has no core to spare, any of them that wants one may be short of cores, and is then said to
    be."""
    program = harness.build_program("time_parts", "-fopenmp")
    words = ["-m", "iolens.cli.main", "run", *options, "--output", str(tmp_path / "out"), "--", program, mode]
    subprocess.run([sys.executable, *words, str(SECONDS)], check=True, timeout=PATIENCE, capture_output=True)
    said = (tmp_path / "out/stdout.txt").read_text().split()
    log = min((tmp_path / "out").glob("*.darshan"))  # of a parent and its child the parent's
    job = read_log(log)
    each = time.rank_time(job)
    assert time.whole_time(each).tolist() == pytest.approx([job.run_time])
    found, used = largest_part(job), job.private["process"].iloc[0]
    waited = float(used["first_runnable"] + job.private["threads"]["runnable"].sum() if "threads" in job.private else 0)
    waited = max(waited, float(used["first_runnable"]))
    assert found.kind in PROGRAMS[mode] or (found.kind == "cores" and waited >= CROWDED * job.run_time)
    witness = float(said[said.index("user") + 1]) + float(said[said.index("system") + 1])
    own = sum(float(used[name]) for name in ("user_time", "system_time"))
    assert own == pytest.approx(witness, abs=0.05)
    assert each[parts.COMPUTE][0] <= witness + 0.02 + 0.02 * job.run_time
    if mode in ("sleeps", "parent"):
        assert each[parts.COMPUTE][0] <= 0.1 * job.run_time
    capsys.readouterr()
    assert main(["show", str(log)]) == 0
    assert LARGEST[found.kind][1].split("{")[0].split(":")[0] in " ".join(capsys.readouterr().out.split())
