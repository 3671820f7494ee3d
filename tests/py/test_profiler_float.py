"""The floating-point environment is the program's: no call, handler, thread, child or end of a process changes its
flags, traps, rounding or handling of denormal numbers. The witness is the program itself.
"""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest

MODES = {
    "usual": {},
    "without a spool": {"IOLENS_SPOOL": "none"},
    "dxt": {"IOLENS_DXT": "1"},
    "sample": {"IOLENS_SAMPLE": "1000", "IOLENS_SAMPLE_TIMER": "wall"},
    "sample on the core": {"IOLENS_SAMPLE": "1000", "IOLENS_SAMPLE_TIMER": "cpu"},
    "why": {"IOLENS_WHY": "8"},
    "heap": {"LD_PRELOAD": f"{harness.BUILD}/lib/libiolens-trace-heap.so:{harness.PRELOAD}"},
    "under iolens run": {"IOLENS_RUN": "1"},
}
WAYS = ("plain", "trap", "up", "down", "zero")

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the program reads the registers of x86-64")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", WAYS)
def test_the_environment_stays(way: str, mode: str, tmp_path: Path) -> None:
    harness.build_library()
    done = harness.run(harness.build_program("float_state"), way, folder=tmp_path, **MODES[mode])
    assert (done.returncode, done.stderr) == (0, "")
    assert harness.logs(tmp_path)


def test_the_witness_sees_a_change(tmp_path: Path) -> None:
    """A library that sets a flag at its start is told by the program."""
    (tmp_path / "shim.c").write_text(
        "#include <xmmintrin.h>\n__attribute__((constructor)) static void f(void) { _mm_setcsr(_mm_getcsr() | 0x20); }"
    )
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "shim.so", tmp_path / "shim.c"], check=True)
    done = harness.run(harness.build_program("float_state"), "plain", folder=tmp_path, LD_PRELOAD=f"{tmp_path}/shim.so")
    assert done.returncode == 1
    assert "the start of main" in done.stderr
