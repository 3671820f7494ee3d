"""Tests counters of the kernel and the processor: those that every machine has equal getrusage, and missing ones have a
reason. Includes regions, threads, and a killed process.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import profiler_harness as harness
import pytest
from iolens.log import read_log
from iolens.metrics.processor.regions import region_paths

RECOVER = harness.BUILD / "bin/iolens-recover"
COUNTERS = harness.ROOT / "profiler/src/modules/counters"
PAGES = 2000


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def counts(log: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Maps region (run: the whole run) and event to a row of the table `counters`."""
    job = read_log(log)
    table = job.private["counters"]
    paths = ["run" if path == "(several)" else path for path in region_paths(job, table["region"])]
    return {(path, row["event"]): row for path, row in zip(paths, table.to_dict("records"), strict=True)}


def run(folder: Path, *words: str, **settings: str) -> tuple[dict[tuple[str, str], dict[str, Any]], dict[str, float]]:
    """Returns the counters of the program, and its own output."""
    done = harness.run(harness.build_program("counters_busy"), *words, folder=folder, **settings)
    said = {name: float(value) for name, value in re.findall(r"^(\S+) (\d+)$", done.stdout, re.MULTILINE)}
    logs = sorted(harness.logs(folder), key=lambda log: read_log(log).start)
    return counts(logs[0]), said


def test_the_kernels_counts_agree_with_getrusage(tmp_path: Path) -> None:
    """Page faults do not count while recording is off; getrusage also counts those of loading the program."""
    found, said = run(tmp_path, IOLENS_LOGFILE=str(tmp_path / "logs/a.darshan"))
    value = {event: row["value"] for (region, event), row in found.items() if region == "run"}
    assert 2 * PAGES < value["minor-faults"] < said["minor-faults"] - PAGES
    assert 0 < said["slept"] <= value["voluntary-switches"] <= said["voluntary-switches"] + 50
    assert value["peak-memory"] >= said["peak-memory"] > PAGES * 4096
    assert 0 < value["task-clock"] < said["task-clock"] + 1e8
    assert value["cpu-migrations"] == -1
    assert found["run", "cpu-migrations"]["unavailable"].startswith("the program switched recording off for a time")
    assert found["touch", "cpu-migrations"]["unavailable"].startswith("counted only with --hwpc (IOLENS_HWPC)")


MOVED = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
static void *nothing(void *argument) { return argument; }
int main(int count, char **words)
{
    cpu_set_t all, one;
    pthread_t thread;
    int moves = 0;
    sched_getaffinity(0, sizeof all, &all);
    for (int round = 0; round < 100; round++)
        for (int cpu = 0; cpu < CPU_SETSIZE && moves < 100; cpu++)
            if (CPU_ISSET(cpu, &all)) {
                CPU_ZERO(&one);
                CPU_SET(cpu, &one);
                moves += cpu != sched_getcpu();
                sched_setaffinity(0, sizeof one, &one);
            }
    if (count > 1) {
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
    return moves;
}
"""


def test_migrations_are_known_without_a_counter_of_their_own(tmp_path: Path) -> None:
    """The kernel drops the number of moves of a thread that has ended, and some kernels report no number at all."""
    (tmp_path / "main.c").write_text(MOVED)
    subprocess.run(["gcc", "-o", "main", "main.c", "-lpthread"], cwd=tmp_path, check=True)
    rows, moves = [], []
    for name, words in (("alone", []), ("thread", ["thread"])):
        log = tmp_path / f"logs/{name}.darshan"
        done = harness.run(tmp_path / "main", *words, folder=tmp_path, IOLENS_LOGFILE=str(log))
        rows.append(counts(log)["run", "cpu-migrations"])
        moves.append(done.returncode)
    tells = "se.nr_migrations" in read_if_there(Path("/proc/self/sched"))
    assert rows[0]["value"] >= moves[0] if tells else rows[0]["unavailable"].startswith("this kernel does not tell")
    assert rows[1]["value"] == -1
    assert rows[1]["unavailable"].startswith("threads have ended" if tells else "this kernel does not tell")


def read_if_there(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_each_region_has_its_own_counts(tmp_path: Path) -> None:
    found, said = run(tmp_path)
    assert PAGES <= found["touch", "minor-faults"]["value"] < PAGES + 100
    assert PAGES <= found["thread", "minor-faults"]["value"] < PAGES + 100
    assert found["sleep", "minor-faults"]["value"] < 100
    assert found["sleep", "voluntary-switches"]["value"] >= said["slept"] > 0
    assert ("touch", "peak-memory") not in found
    row = found["sleep", "task-clock"]
    assert row["value"] < row["time_running"] * 1e9, "it slept"


def test_counts_of_regions_can_be_switched_off(tmp_path: Path) -> None:
    found, _ = run(tmp_path, IOLENS_HWPC="none")
    assert {region for region, _ in found} == {"run"}


def test_events_are_counted_or_say_why_not(tmp_path: Path) -> None:
    found, _ = run(tmp_path, IOLENS_HWPC="tlb,PAPI_BR_MSP,3")
    asked = {event for region, event in found if region == "touch" and (event.startswith(("PAPI_", "LLC_")))}
    assert asked == set(
        "PAPI_TOT_CYC PAPI_FP_OPS PAPI_L1_DCA PAPI_L1_DCM PAPI_TLB_DM PAPI_BR_MSP "
        "LLC_LOADS LLC_LOAD_MISSES LLC_STORES LLC_STORE_MISSES".split()
    )
    for (_, event), row in found.items():
        if event in asked:
            assert (row["value"] >= 0) == (row["unavailable"] == "")
    row = found["run", "cpu-migrations"]
    assert (row["value"] >= 0) == (row["unavailable"] == "")


def test_counters_that_were_asked_for_are_worth_a_log_without_any_file(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-O0", "-o", "main", "main.c"], cwd=tmp_path, check=True)
    assert harness.run(tmp_path / "main", folder=tmp_path, IOLENS_HWPC="0").returncode == 0
    (log,) = harness.logs(tmp_path)
    job = read_log(log)
    assert ("run", "PAPI_TOT_CYC") in counts(log)
    assert job.private["job"]["processor"]["peak"] >= 0


def test_what_is_no_group_is_named(tmp_path: Path) -> None:
    done = harness.run(harness.build_program("counters_busy"), folder=tmp_path, IOLENS_HWPC="0,nonsense")
    assert done.returncode == 0
    said = "nonsense is neither a group (0 to 19, or a name) nor an event; `iolens run --list-hwpc` lists both"
    assert done.stderr == f"iolens: IOLENS_HWPC: {said}\n"


def test_a_child_counts_for_itself(tmp_path: Path) -> None:
    found, _ = run(tmp_path, "fork", IOLENS_HWPC="0")
    assert found["run", "minor-faults"]["value"] < 4 * PAGES


def killed(folder: Path, **settings: str) -> dict[tuple[str, str], dict[str, Any]]:
    harness.run(harness.build_program("counters_busy"), "kill", folder=folder, IOLENS_SPOOL=str(folder), **settings)
    (spool,) = folder.glob("iolens-*/*.spool")
    subprocess.run([RECOVER, "merge", spool], check=True, stdout=subprocess.DEVNULL)
    return counts(harness.logs(folder)[0])


def test_a_killed_process_has_no_migrations_without_a_counter(tmp_path: Path) -> None:
    """Without --hwpc, migrations are read only when a process ends."""
    row = killed(tmp_path)["run", "cpu-migrations"]
    reason = "the log was made before the process ended; --hwpc counts migrations for such logs too"
    assert (row["value"], row["unavailable"]) == (-1, reason)


def test_a_killed_process_leaves_its_counts(tmp_path: Path) -> None:
    found = killed(tmp_path, IOLENS_HWPC="0")
    assert found["run", "minor-faults"]["value"] > 2 * PAGES
    assert found["touch", "minor-faults"]["value"] >= PAGES
    assert ("run", "PAPI_TOT_INS") in found


def test_what_many_threads_count_one_after_the_other_is_kept(tmp_path: Path) -> None:
    """100 threads, each in 170 regions, would make more rows than the table has room for."""
    done = harness.run(harness.build_program("counters_threads"), folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (log,) = harness.logs(tmp_path)
    counters = read_log(log).private["counters"]
    faults = counters[(counters["event"] == "minor-faults") & (counters["region"] != 0xFFFFFFFF)]
    assert faults["value"].sum() >= 100 * 170
    missing = counters[counters["unavailable"] != ""]
    assert "cpu-migrations" in set(missing["event"])
    assert set(missing["value"]) == {-1}


def test_the_program_finds_the_numbers_of_its_descriptors_free(tmp_path: Path) -> None:
    """Counters are open files, but must not disturb a program that expects low descriptors, or closes all
    descriptors.
    """
    (tmp_path / "main.c").write_text(
        '#include <fcntl.h>\n#include <unistd.h>\nint main(void) { int fd = open("a.txt", O_CREAT | O_WRONLY, 0600);\n'
        "for (int i = 3; i < 4096; i++) close(i); return fd - 3; }\n"
    )
    subprocess.run(["gcc", "-o", "main", "main.c"], cwd=tmp_path, check=True)
    done = harness.run(tmp_path / "main", folder=tmp_path, IOLENS_HWPC="0")
    assert (done.returncode, done.stderr) == (0, "")
    row = counts(harness.logs(tmp_path)[0])["run", "cpu-migrations"]
    assert row["value"] == -1


def test_all_groups_of_craypat_are_there() -> None:
    """The groups 0 to 19, each by number and by name, contain only events of the table of events."""
    groups = re.findall(
        r'^GROUP\((\d+), +"(\w+)", +"([^"]+)", +"([^"]+)"\)', (COUNTERS / "counter_groups.def").read_text(), re.M
    )
    events = set(re.findall(r"^EVENT\((\w+),", (COUNTERS / "counter_events.def").read_text(), re.M))
    assert [int(number) for number, *_ in groups] == list(range(20))
    assert len({name for _, name, _, _ in groups}) == 20
    assert all(set(text.split()) <= events and "PAPI_TOT_CYC" in text for *_, text in groups)
