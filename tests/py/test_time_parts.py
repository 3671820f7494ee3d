"""Programs that sleep, poll, or wait for cores, locks and children are named correctly; their parts of time agree with
the program's own output and the kernel.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import profiler_harness as harness
import pytest
from iolens.advise import diagnosis
from iolens.cli.main import main
from iolens.log import Job, read_log
from iolens.metrics.processor import steps, time
from iolens.metrics.processor.ask import Ask, conditions
from iolens.metrics.processor.sampled import groups
from iolens.metrics.processor.sampled.largest import CROWDED, largest_part
from iolens.metrics.processor.sampled.samples import profile
from iolens.metrics.processor.usage import thread_balance
from named_run import assert_outputs_name, largest, largest_of_bar
from patience import PATIENCE

SECONDS = 1.0

WORDS = {
    "blocked": ("asleep or blocked", "Bound by waiting: asleep or blocked outside I/O for"),
    "children": ("asleep or blocked", "Bound by child processes: waiting outside I/O for"),
    "kernel": ("computing", "Bound by system calls outside I/O:"),
    "threads": ("computing", "Bound by one thread while others have less to do:"),
    "compute": ("computing", "Bound by computing:"),
    "cores": ("waiting for a core", "Bound by a lack of cores: ready to run, and waiting for a core, for"),
}
"""For each kind of program, the longest part of the bar and the headline."""

PROGRAMS = {
    "sleeps": ("blocked",),
    "polls": ("blocked",),
    "asks": ("kernel",),
    "convoy": ("blocked",),
    "parent": ("children", "blocked"),
    "openmp": ("threads",),
    "spins": ("compute",),
}
"""Modes of tests/c/time_parts.c, and the kinds that the report may name."""

STRANGERS = 3


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


@pytest.mark.parametrize("options", [(), ("--sample",)], ids=["plain", "sampled"])
@pytest.mark.parametrize("mode", list(PROGRAMS))
def test_each_program_is_named_for_what_it_is(mode: str, options: tuple[str, ...], tmp_path: Path, capsys) -> None:
    """On a busy machine any program may be short of cores, and the report then says so."""
    program = harness.build_program("time_parts", "-fopenmp")
    words = ["-m", "iolens.cli.main", "run", "--apart", *options, "--output", str(tmp_path / "out")]
    subprocess.run(
        [sys.executable, *words, "--", program, mode, str(SECONDS)], check=True, timeout=PATIENCE, capture_output=True
    )
    said = (tmp_path / "out/stdout.txt").read_text().split()
    # Parent and child have a log each; the parent's has the lower process number.
    log = min((tmp_path / "out").glob("*.darshan"), key=lambda path: int(path.name.partition("-")[2].partition("_")[0]))
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
    assert each[groups.COMPUTE][0] <= witness + 0.02 + 0.02 * job.run_time
    if mode in ("sleeps", "parent"):
        assert each[groups.COMPUTE][0] <= 0.1 * job.run_time
    assert_named(log, found.kind, capsys)


def assert_named(log: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Asserts that all outputs, the bar and the recipe name this kind, and that no output begins with an empty table of
    I/O.
    """
    part, headline = WORDS[kind]
    shown = assert_outputs_name(log, (headline,), log.parent, capsys)
    job = read_log(log)
    assert time.efficiencies(job) is None, "POP's efficiencies are those of several ranks"
    assert "crowded-processors" not in {one.id for one in diagnosis(job).findings}, (
        "no other rank shares its processors"
    )
    assert shown.count("Bound by") == 1
    assert "I/O of job" not in shown
    assert "Four gauges" not in shown
    assert shown.index("Parts of the time") < shown.index("Step by step") < len(shown)
    assert "Transferred, and how fast" not in shown.partition("Step by step")[0]
    evidence, share = next(
        told for step, *told in steps.next_steps(job).rows("step", "evidence", "share") if step[0] == "4"
    )
    shares = {name: float(each) for each, name in re.findall(r"([\d.]+) % ([^,;]+)", evidence)}
    # Where the evidence begins with a name, the share of that part is in the step's column `share`.
    if not re.match(r"[\d.]+ % ", evidence):
        shares[re.split("[,;]", evidence)[0]] = share
    assert largest_of_bar(job) == largest(shares) == part


def test_the_threads_of_openmp_have_the_work_that_the_program_gives_them(tmp_path: Path, capsys) -> None:
    """The first thread works for 0.2 s, the second for 1.5 s: 0.85 s on average, 0.65 s less than the busiest."""
    program = harness.build_program("time_parts", "-fopenmp")
    passive = os.environ | {"OMP_WAIT_POLICY": "PASSIVE", "OMP_DYNAMIC": "FALSE"}
    words = ["-m", "iolens.cli.main", "run", "--sample", "--output", str(tmp_path / "out"), "--", program, "openmp"]
    subprocess.run([sys.executable, *words, "1"], check=True, timeout=PATIENCE, capture_output=True, env=passive)
    (log,) = (tmp_path / "out").glob("*.darshan")
    (balance,) = thread_balance(read_log(log)).frame().to_dict("records")
    assert (balance["threads"], balance["busiest_thread"]) == (2, 1)
    assert [balance[name] for name in ("busiest", "on_core", "imbalance")] == pytest.approx([1.5, 0.85, 0.65], abs=0.05)
    assert balance["imbalance_percent"] == pytest.approx(100 * 0.65 / 1.5 * 2, abs=5)
    assert balance["openmp"] > 0.5 * (1.5 - 0.2) / 2, "the first thread waits for the second"
    assert main(["table", "profile", str(log), "--by", "thread", "--json"]) == 0
    worked = {row["name"]: row["on_core"] for row in json.loads(capsys.readouterr().out)}
    assert [worked[f"thread {n}"] for n in (0, 1)] == pytest.approx([0.2, 1.5], abs=0.05)


@contextmanager
def crowded_core() -> Iterator[None]:
    """Binds this process to one core, on which three programs spin meanwhile."""
    spins = [harness.build_program("time_parts", "-fopenmp"), "spins", str(int(PATIENCE))]
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    strangers = [subprocess.Popen(spins) for _ in range(STRANGERS)]
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
        for each in strangers:
            each.kill()
            each.wait()


def job_with_waits_for_cores(log: Path) -> Job:
    """Returns the job of a log; skips the test where the kernel counts no waiting for cores."""
    job = read_log(log)
    if not np.isfinite(job.private["process"]["first_runnable"]).all():
        pytest.skip("this kernel does not count waiting for a core (/proc/self/schedstat)")
    return job


def test_strangers_on_the_only_core_are_named_as_a_lack_of_cores(tmp_path: Path, capsys) -> None:
    program = harness.build_program("time_parts", "-fopenmp")
    with crowded_core():
        iolens = [sys.executable, "-m", "iolens.cli.main", "run", "--output", tmp_path / "out", "--"]
        subprocess.run([*iolens, program, "spins", "3"], check=True, timeout=PATIENCE, capture_output=True)
    (log,) = (tmp_path / "out").glob("*.darshan")
    assert largest_part(job_with_waits_for_cores(log)).kind == "cores"
    assert_named(log, "cores", capsys)


def test_samples_attribute_computing_on_a_crowded_core(tmp_path: Path, capsys) -> None:
    """The program computes and copies in turns, all in user mode, and prints the processor time of computing."""
    program = harness.build_program("time_parts", "-fopenmp")
    with crowded_core():
        done = harness.run(program, "copies", str(SECONDS), folder=tmp_path, IOLENS_SAMPLE="1000")
    said = done.stdout.split()
    computed = float(said[said.index("computed") + 1])
    (log,) = harness.logs(tmp_path)
    job = job_with_waits_for_cores(log)
    (each,) = time.rank_time(job).frame().to_dict("records")
    assert each[groups.COMPUTE] == pytest.approx(computed, rel=0.1)
    outside = sum(each[part] for part in groups.OUTSIDE)
    assert each[groups.COMPUTE] + each[groups.RUNNABLE] == pytest.approx(outside, rel=0.1), "the rest is not attributed"
    own = profile(job, Ask(by=("state",), where=conditions("group=USER"), threshold=0)).frame().set_index("name")
    assert own["samples"]["running"] / 1000 == pytest.approx(computed, rel=0.15)
    assert own["on_core"]["running"] == pytest.approx(computed, rel=0.1)
    assert main(["export", str(log), "--format", "collapsed", "--running", "-o", "-"]) == 0
    lines = [line.rpartition(" ") for line in capsys.readouterr().out.splitlines()]
    states = profile(job, Ask(by=("state",), threshold=0)).frame().set_index("name")
    assert sum(int(count) for _, _, count in lines) == states["samples"]["running"]
