"""Tests sampling of code that a program generates, as interpreters and compilers of scripts do: its callers and
names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pandas as pd
import profiler_harness as harness
import pytest
from iolens.exports.sampled_stacks import stacks
from iolens.log.reader import read_log
from iolens.metrics.processor.sampled.samples import own_functions, sample_rows
from iolens.symbols.chains import Frame
from iolens.symbols.function_names import SourceLine, generated_line, generated_names

SAMPLED = {"IOLENS_SAMPLE": "1000", "IOLENS_SAMPLE_TIMER": "cpu"}

SHARE_OFF = 0.25
"""Largest error that is accepted in a function's share, with some hundred samples on a busy machine; the true shares
are 0.7 and 0.3.
"""


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def forget_names(pid: int) -> None:
    """Removes the file of names that a process wrote for its generated code; files of other processes stay."""
    for left in Path("/tmp").glob(f"perf-{pid}.map*"):
        left.unlink()


def generated(folder: Path, how: str, seconds: float, **settings: str) -> tuple[list[float], str]:
    """Returns the seconds of both functions, and standard error."""
    done = harness.run(
        harness.build_program("sampling_generated"), how, str(seconds), folder=folder, **SAMPLED, **settings
    )
    pid, *took = done.stdout.split()
    forget_names(int(pid))
    return [float(each) for each in took], done.stderr


def met(log: Path) -> Counter[Frame]:
    """Returns the number of samples whose chain contains each function."""
    found: Counter[Frame] = Counter()
    for stack in stacks(read_log(log)):
        for frame in set(stack.frames):
            found[frame] += stack.periods
    return found


def has_both(log: Path, took: list[float]) -> None:
    """Asserts that both generated functions are in the log and that their shares of the samples are their shares of the
    time.
    """
    found = {frame.function: (frame, count) for frame, count in met(log).items()}
    seventy, thirty = "Solver.seventy", "JS:*thirty " + 245 * "0"
    assert found[seventy][0].source == "/some where/app.py"
    assert found[thirty][0].object == "[generated]"
    share = found[seventy][1] / (found[seventy][1] + found[thirty][1])
    assert share == pytest.approx(took[0] / sum(took), abs=SHARE_OFF)
    assert found["main"][1] >= found[seventy][1] + found[thirty][1] > 0.5 * found["busy"][1]
    assert not any("unknown" in name or name == "earlier" for name in found)


def test_generated_functions_are_found_and_named(tmp_path: Path) -> None:
    """The file of names also has lines that are damaged, cut off or too long, and lines of older code at the same
    addresses.
    """
    took, said = generated(tmp_path, "kept", 0.6)
    (log,) = harness.logs(tmp_path)
    assert said == ""
    has_both(log, took)
    rows = read_log(log).private["generated_code"]
    assert rows["bytes"].nunique() == 1
    assert len(rows) == 2
    own = own_functions(read_log(log))
    assert own is not None
    # Names of the program's functions that could be traced.
    assert "busy" in set(own["symbol"]) <= {"busy", "now", "name", "main"}


def test_a_child_of_fork_has_what_its_parent_generated(tmp_path: Path) -> None:
    took, said = generated(tmp_path, "child", 0.3)
    assert said == ""
    sampled = [log for log in harness.logs(tmp_path) if len(read_log(log).tables.get("samples", ()))]
    (child,) = (log for log in sampled if "busy" in {frame.function for frame in met(log)})
    has_both(child, took)


def test_a_killed_process_leaves_the_names(tmp_path: Path) -> None:
    program = harness.build_program("sampling_generated")
    done = harness.run(program, "killed", "0.3", folder=tmp_path, **SAMPLED, IOLENS_SPOOL=str(tmp_path))
    pid, *took = done.stdout.split()
    (spool,) = tmp_path.glob("iolens-*/*.spool")
    merge = [harness.BUILD / "bin/iolens-recover", "merge", spool]
    subprocess.run(merge, check=True, stdout=subprocess.DEVNULL)
    forget_names(int(pid))
    has_both(harness.logs(tmp_path)[0], [float(each) for each in took])


@pytest.mark.parametrize("how", ["link", "pipe", "older", "other"])
def test_a_file_that_need_not_be_the_processs_own_names_nothing(how: str, tmp_path: Path) -> None:
    if how == "other" and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    _, said = generated(tmp_path, how, 0.3)  # On a busy machine 0.05 s passed without a sample.
    private = read_log(harness.logs(tmp_path)[0]).private
    assert said == ""
    assert "call_nodes" in private
    assert "generated_code" not in private


TRIAL = "import sys; sys.activate_stack_trampoline('perf')"


@cache
def python_with_trampolines() -> str:
    """Returns a Python that names its functions for profilers (3.12 or later, on Linux for x86-64 and aarch64); else
    "".
    """
    names = [f"python3.{minor}" for minor in range(12, 20)]
    installed = Path.home().glob(".pyenv/versions/3.*/bin/python")
    for path in filter(None, (sys.executable, *map(shutil.which, names), *map(str, sorted(installed)))):
        trial = subprocess.Popen([path, "-c", TRIAL], stderr=subprocess.DEVNULL)
        code = trial.wait()
        forget_names(trial.pid)
        if code == 0:
            return path
    return ""


@pytest.fixture
def python() -> str:
    return python_with_trampolines() or pytest.skip("needs CPython 3.12 or later with perf trampolines")


def test_functions_of_a_threaded_python_program_have_their_shares(python: str, tmp_path: Path) -> None:
    """The profile counts the interpreter's work for a function as time of the function."""
    program = str(harness.ROOT / "tests/c/sampling_python.py")
    done = harness.run(python, program, "0.4", folder=tmp_path, IOLENS_SAMPLE="1000", PYTHONPERFSUPPORT="1")
    for each in harness.logs(tmp_path):
        forget_names(harness.private_region(each, "job")["pid"])
    log = max(harness.logs(tmp_path), key=lambda path: path.stat().st_size)
    took = {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}
    found = {frame.function: count for frame, count in met(log).items() if frame.source == program}
    share = found["seventy"] / (found["seventy"] + found["thirty"])
    assert found["seventy"] + found["thirty"] > 500
    assert share == pytest.approx(took["seventy"] / sum(took.values()), abs=SHARE_OFF)
    assert found["count"] >= 0.9 * (found["seventy"] + found["thirty"])
    sampling = read_log(log).private["sampling"]
    assert sampling["cut"].sum() < 10 + 0.01 * sampling["stacks"].sum()
    rows = sample_rows(read_log(log))
    assert rows is not None
    running = rows[rows["state"] == "running"].groupby("function")["samples"].sum()
    assert running.idxmax() == "count"


def test_an_address_has_the_name_of_the_function_that_it_lies_in() -> None:
    rows = [(0, 100, 10, "a"), (0, 120, 10, "b"), (1, 105, 10, "c"), (0, 1 << 63, 10, "high")]
    known = pd.DataFrame(rows, columns=["rank", "begin", "bytes", "name"])
    wanted = {(0, 99): "", (0, 100): "a", (0, 109): "a", (0, 110): "", (0, 125): "b", (1, 100): "", (1, 114): "c"}
    wanted |= {(2, 105): "", (0, (1 << 63) + 1): "high"}
    ranks, addresses = zip(*wanted, strict=True)
    assert generated_names(known, ranks, addresses) == list(wanted.values())
    assert generated_names(None, ranks, addresses) == generated_names(known[:0], ranks, addresses) == [""] * len(wanted)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("py::C.work:/a/b:c.py", SourceLine("C.work", "/a/b:c.py")),
        ("py::<module>:/a/b.py", SourceLine("<module> of b.py", "/a/b.py")),
        ("py::<module>:<frozen os>", SourceLine("<module> of <frozen os>", "<frozen os>")),
        ("py::cut", SourceLine("cut")),
        ("py::", SourceLine("py::")),
        ("py:::/a.py", SourceLine("py:::/a.py", "/a.py")),
        ("LazyCompile:*f /a/b.js:1:2", SourceLine("LazyCompile:*f /a/b.js:1:2")),
    ],
)
def test_names_of_generated_functions_are_taken_apart(name: str, line: SourceLine) -> None:
    assert generated_line(name) == line
