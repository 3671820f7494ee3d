"""Tests counters of single calls of traced functions: compared with the program's knowledge of its functions and its
own measurements, with recursion, jumps, threads, fork and recording that is switched off, and in a process that was
killed.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import profiler_harness as harness
import pytest
from iolens.cli.main import main
from iolens.lab.run.settings.groups import libraries
from iolens.log import Job, read_log
from iolens.metrics.processor.traced.calls import traced_calls, traced_counters

PAGES, CALLS, THREADS, DEEPEST = 50, 20, 100, 64
RECOVER = harness.BUILD / "bin/iolens-recover"


@dataclass
class Found:
    """A log's calls by function, its rows of counters by function and event, and the program's output."""

    log: Path
    job: Job
    calls: dict[str, int]
    counts: dict[tuple[str, str], Any]
    said: dict[str, int]


def read(log: Path, said: str = "") -> Found:
    job = read_log(log)
    functions, counters = traced_calls(job), traced_counters(job)
    assert functions is not None
    calls = {name: round(calls) for name, calls in functions.rows("function", "calls")}
    rows = counters.frame().to_dict("records") if counters is not None else []
    numbers = {name: int(value) for name, value in re.findall(r"^(\w+) (\d+)$", said, re.MULTILINE)}
    return Found(log, job, calls, {(row["function"], row["event"]): row for row in rows}, numbers)


def run(folder: Path, optimize: str, *words: str, **settings: str) -> tuple[list[Path], str]:
    """Returns the logs, the parent's first, and the output of the program."""
    program = folder / "counted"
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-w", "-g", optimize, "-fno-inline", "-finstrument-functions"]
    source = harness.ROOT / "tests/c/traced_counted.c"
    subprocess.run(["gcc", *flags, "-o", program, source, "-lpthread", "-ldl"], check=True)
    preload = ":".join([*map(str, libraries(["functions", "pthreads"])), harness.PRELOAD])
    done = harness.run(program, *words, folder=folder, LD_PRELOAD=preload, **settings)
    if not words:
        assert (done.returncode, done.stderr) == (0, "")
    return sorted(harness.logs(folder), key=lambda log: read_log(log).start), done.stdout


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Found]:
    harness.build_library()
    logs, said = run(tmp_path_factory.mktemp("counted"), request.param, IOLENS_HWPC="0")
    return [read(log, said) for log in logs]


def faults(found: Found, function: str) -> tuple[int, int]:
    """Returns how many calls were counted, and in how many of them the number of page faults equals the number of new
    pages that the call touches.
    """
    row = found.counts[function, "minor-faults"]
    return round(row["calls"]), int(row["total"]) // PAGES


def test_pages_that_a_call_touches_are_its_faults(ran: list[Found]) -> None:
    calls = CALLS + 1 + THREADS + 1
    assert ran[0].calls["touches"] == calls
    assert faults(ran[0], "touches") == (calls, calls)
    assert faults(ran[0], "touches_inside") == (1, 1)
    assert faults(ran[0], "in_thread") == (THREADS, THREADS)
    assert faults(ran[0], "enters") == (1, 1)
    assert 0 <= ran[0].counts["burns", "minor-faults"]["total"] < PAGES


def test_time_and_sleeps_are_what_the_program_measured(ran: list[Found]) -> None:
    """The program measured its counters inside the calls and around all of them, and the log agrees with both."""
    row, said = ran[0].counts["burns", "task-clock"], ran[0].said
    assert said["burned"] <= round(row["total"] * 1e9) <= said["burned_around"]
    assert row["per_call"] * CALLS == pytest.approx(row["total"])
    sleeps = ran[0].counts["sleeps", "voluntary-switches"]
    assert 0 < said["slept"] <= sleeps["total"] <= said["slept_around"]


def test_calls_that_are_too_deep_have_no_counters(ran: list[Found]) -> None:
    row = ran[0].counts["recursive", "minor-faults"]
    counted = DEEPEST - 1  # The first of the DEEPEST nested calls is main.
    assert ran[0].calls["recursive"] == 100
    assert row["calls"] == counted
    assert 0 <= row["total"] - sum(range(100 - counted + 1, 101)) < PAGES
    (remark,) = (text for text in ran[0].job.private["job"]["remarks"] if "traced functions" in text)
    deep, cut = 100 - counted, 2  # Recording was switched in the calls of is_cut and main.
    assert (
        f"{deep} call(s) that were nested more than {DEEPEST} deep, and {cut} call(s) in which recording was" in remark
    )


def test_a_call_that_was_left_by_a_jump_is_none_and_hides_none(ran: list[Found]) -> None:
    """Calls after a longjmp are counted, and an outermost call is not taken for a nested one."""
    assert "jumps" not in ran[0].calls
    assert ran[0].calls["jumps_to_itself"] == 1
    assert 30 <= ran[0].counts["jumps_to_itself", "minor-faults"]["total"] < 30 + PAGES
    assert ran[0].calls["tiny"] == 30000


def test_nothing_is_counted_across_a_switch_of_recording(ran: list[Found]) -> None:
    assert ran[0].calls["is_cut"] == 1
    counted = {function for function, _ in ran[0].counts}
    assert counted.isdisjoint({"is_cut", "ends_off", "main"})


def test_a_child_of_fork_has_its_own_calls_alone(ran: list[Found]) -> None:
    parent, child = ran
    assert faults(parent, "forks")[0] == 1
    assert faults(child, "after_fork") == faults(parent, "after_fork") == (1, 1)
    assert set(child.calls) == {"after_fork"}


def test_reading_ends_where_it_takes_too_much(ran: list[Found]) -> None:
    row = ran[0].counts["tiny", "task-clock"]
    assert row["calls"] % 10000 == 0
    assert row["calls"] <= 30000
    assert row["first"] == 1
    assert ran[0].counts["burns", "task-clock"]["first"] == 0


def test_functions_of_groups_have_counters_too(ran: list[Found]) -> None:
    """An event of the processor has a count, or the reason why this machine cannot count it."""
    assert ran[0].counts["pthread_join", "task-clock"]["calls"] == ran[0].calls["pthread_join"] == THREADS
    events = {event for _, event in ran[0].counts}
    assert {"PAPI_TOT_CYC", "PAPI_TOT_INS", "cpu-migrations"} <= events
    assert "peak-memory" not in events
    for (_, _), row in ran[0].counts.items():
        assert (row["per_call"] >= 0) == (row["unavailable"] == "")


def test_the_tables_show_them(
    ran: list[Found], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    log = str(ran[0].log)
    assert main(["table", "traced", log, "--filter", "function=touches"]) == 0
    assert re.search(r"\n +functions \| touches .*\| +50(\.0)? \|", capsys.readouterr().out)
    assert main(["table", "traced_counters", log, "--csv", "--filter", "region=inner,event=minor-faults"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[:3] for line in lines[1:]] == [
        ["functions", name, "minor-faults"] for name in ("enters", "touches")
    ]


def test_without_counters_there_is_no_table(tmp_path: Path) -> None:
    logs, _ = run(tmp_path, "-O0")
    found = read(logs[0])
    assert found.calls["touches"] == CALLS + 1 + THREADS + 1
    assert "traced_counters" not in found.job.private


def test_a_killed_process_leaves_them(tmp_path: Path) -> None:
    run(tmp_path, "-O0", "kill", IOLENS_HWPC="0", IOLENS_SPOOL=str(tmp_path))
    (spool,) = tmp_path.glob("iolens-*/*.spool")
    subprocess.run([RECOVER, "merge", spool], check=True, stdout=subprocess.DEVNULL)
    found = read(harness.logs(tmp_path)[0])
    assert faults(found, "touches") == (CALLS + 1 + THREADS + 1,) * 2
    assert found.counts["tiny", "task-clock"]["first"] == 1
