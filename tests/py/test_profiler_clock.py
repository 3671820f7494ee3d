"""Time stamps come from the processor's counter and are compared with the system's clock at the start and at the
end.
"""

from __future__ import annotations

import subprocess

import profiler_harness as harness


def test_an_interruption_between_both_clocks() -> None:
    # Forces a rebuild, because the program contains the library's sources.
    (harness.PROGRAMS / "clock_units").unlink(missing_ok=True)
    done = subprocess.run([harness.build_program("clock_units")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
