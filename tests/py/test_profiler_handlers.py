"""No function is looked up in a signal handler, where the dynamic linker may hold its lock."""

from __future__ import annotations

from pathlib import Path

import profiler_harness as harness
import pytest

FUNCTIONS = ("pread", "lseek", "fsync", "poll", "connect")
"""Functions that tests/c/signal_handlers.c calls in its signal handler and nowhere else."""


def lookups(way: str, folder: Path) -> tuple[str, str]:
    """Returns what the dynamic linker looks up from our constructors to the signal, and while the handler runs."""
    harness.build_library()
    program = harness.build_program("signal_handlers", "-Wl,-z,now", "-Wno-deprecated-declarations")
    done = harness.run(program, way, folder=folder, LD_DEBUG="symbols")
    assert done.returncode == 0, done.stderr[-2000:]
    before, found, behind = done.stderr.partition("begin\n")
    assert found
    return before.partition(f"calling init: {harness.LIBRARY}")[2], behind.partition("end\n")[0]


@pytest.mark.parametrize(
    "way", "sigaction __sigaction signal bsd_signal ssignal sysv_signal __sysv_signal sigset".split()
)
def test_functions_are_looked_up_before_a_handler_may_call_them(way: str, tmp_path: Path) -> None:
    before, meanwhile = lookups(way, tmp_path)
    assert "symbol=" not in meanwhile
    for function in FUNCTIONS:
        assert f"symbol={function};" in before


def test_a_program_without_handlers_looks_up_what_it_calls_alone(tmp_path: Path) -> None:
    before, _ = lookups("none", tmp_path)
    assert [function for function in FUNCTIONS if f"symbol={function};" in before] == []
