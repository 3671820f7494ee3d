"""Runs at the same time in one folder: each has its own logs and sums, and takes nothing of another."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from pathlib import Path

import pytest
from iolens.lab.recovery.choice import JobSelection
from iolens.lab.recovery.recover import Spool
from iolens.lab.run import processes
from iolens.lab.run.own_logs import run_of_log
from iolens.log import read_log
from patience import PATIENCE
from recovery_program import wait_until
from stopped_shells import HOLD, let_go

IOLENS = str(Path(sys.executable).parent / "iolens")
SCRIPT = "for i in 1 2 3; do cat data >/dev/null; cp data copy-$NAME-$i; done"
"""Starts six processes that open files."""
FALSE_CLOCK = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with a file to read, and with a log that belongs to no run."""
    (tmp_path / "data").write_bytes(b"x" * 5000)
    return tmp_path


@contextmanager
def started(*words: str, cwd: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Starts `iolens run` with these words, and ends it at the end of the block if it still runs."""
    surroundings = {key: value for key, value in os.environ.items() if not key.startswith(("IOLENS_", "DARSHAN_"))}
    process = subprocess.Popen(
        [IOLENS, "run", *words],
        cwd=cwd,
        env={**surroundings, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def together(commands: Sequence[Sequence[str]], cwd: Path, settings: Sequence[Mapping[str, str]] = ()) -> list[str]:
    """Runs the commands so that each begins before any goes on: their shells stop themselves until all have begun.
    Returns what each run said.
    """
    with ExitStack() as stack:
        runs = []
        for number, (*options, script) in enumerate(commands):
            words = (*options, "--", "sh", "-c", HOLD + script)
            own = settings[number] if settings else {}
            runs.append(stack.enter_context(started(*words, cwd=cwd, NAME=f"run{number}", **own)))
        let_go(cwd, len(runs))
        said = [process.communicate(timeout=PATIENCE)[1] for process in runs]
        assert [process.returncode for process in runs] == [0] * len(runs), said
        return said


def merged_folder(said: str) -> Path:
    found = re.search(r"iolens: \d+ logs in (.*?): ", said)
    assert found, said
    return Path(found[1])


def check_own(place: Path, name: str, count: int) -> str:
    """Checks that a folder has `count` logs of one run, which all belong to the run with this name in its files, and
    that the tables have those logs and no other; returns the run.
    """
    logs = sorted(place.glob("*.darshan"))
    runs = {run_of_log(log) for log in logs}
    assert len(logs) == count
    assert len(runs) == 1
    with (place / "processes.csv").open() as table:
        assert sorted(row["log"] for row in csv.DictReader(table)) == [log.name for log in logs]
    with (place / "files.csv").open() as table:
        rows = list(csv.DictReader(table))
    copies = {Path(row["path"]).name for row in rows if "/copy-" in row["path"]}
    assert copies == {f"copy-{name}-{number}" for number in (1, 2, 3)}
    assert sum(int(row["bytes_written"]) for row in rows if "/copy-" in row["path"]) == 3 * 5000
    (run,) = runs
    assert run
    return run


def test_ten_scripts_in_one_folder_keep_their_logs_apart(folder: Path) -> None:
    said = together([["--apart", SCRIPT]] * 10, folder)
    places = [merged_folder(one) for one in said]
    assert len(set(places)) == 10
    counts = {len(list(place.glob("*.darshan"))) for place in places}
    assert len(counts) == 1
    runs = {check_own(place, f"run{number}", *counts) for number, place in enumerate(places)}
    assert len(runs) == 10
    assert not list(folder.glob("*.darshan"))


def test_single_logs_stay_where_they_were_said_to_be(folder: Path) -> None:
    said = together([["exec cat data >/dev/null"]] * 10, folder)
    logs = [re.search(r"log: (.*)", one) for one in said]
    assert len({log[1] for log in logs if log}) == 10
    assert {Path(log[1]) for log in logs if log} == set(folder.glob("*.darshan"))


def test_runs_with_one_output_folder_write_beside_each_other(folder: Path) -> None:
    said = together([["--apart", "--output", "out", f"echo $NAME; {SCRIPT}"]] * 3, folder)
    places = [merged_folder(one) for one in said]
    assert sorted(place.name for place in places) == ["out", "out-2", "out-3"]
    for number, place in enumerate(places):
        run = check_own(folder / place, f"run{number}", len(list((folder / place).glob("*.darshan"))))
        assert (folder / place / "stdout.txt").read_text() == f"run{number}\n"
        assert json.loads((folder / place / "run.json").read_text())["run"] == run


def test_places_of_all_kinds_at_once(folder: Path) -> None:
    options = [["--apart", SCRIPT]] * 6
    options[1] = ["--apart", "--output", "out", SCRIPT]
    settings = [
        {},
        {"IOLENS_LOGPATH": "elsewhere"},
        {"IOLENS_LOGPATH": "elsewhere"},
        {"DARSHAN_LOGPATH": "elsewhere", "IOLENS_LOG_BY_DATE": "1"},
        {"IOLENS_LOGFILE": "named.darshan"},
        {"IOLENS_LOGPATH_HIERARCHY": "1"},
    ]
    said = together(options, folder, settings)
    places = [merged_folder(one) for one in said]
    above = [(folder / place).parent.relative_to(folder) for place in places]
    assert [str(path) for path in above] == [".", ".", "elsewhere", "elsewhere", ".", "."]
    count = len(list(places[0].glob("*.darshan")))
    for number, place in enumerate(places):
        check_own(folder / place, f"run{number}", count)
    assert run_of_log(folder / "named.darshan") == run_of_log(next(places[4].glob("*.darshan")))


def test_one_name_for_the_logs_of_several_runs_loses_none(folder: Path) -> None:
    settings = [{"IOLENS_LOGFILE": "named.darshan"}] * 5
    together([["exec cat data >/dev/null"]] * 5, folder, settings)
    logs = list(folder.glob("*.darshan"))
    assert len({run_of_log(log) for log in logs}) == len(logs) == 5
    assert folder / "named.darshan" in logs
    # A later run replaces what it found.
    with started("--", "cat", "data", cwd=folder, IOLENS_LOGFILE="named.darshan") as process:
        process.communicate(timeout=PATIENCE)
    assert len(list(folder.glob("*.darshan"))) == 5
    assert read_log(folder / "named.darshan").command == "cat data"


def test_a_run_inside_a_run_has_its_own_logs(folder: Path) -> None:
    inner = (
        f"cat data >/dev/null; mkdir inner; cd inner; cp ../data .; NAME=inner '{IOLENS}' run -- cat data >/dev/null"
    )
    with started("--apart", "--output", "out", "--", "sh", "-c", inner, cwd=folder) as process:
        said = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == 0, said
    (log,) = (folder / "inner").glob("*.darshan")
    assert f"log: {log}" in (folder / "out" / "stderr.txt").read_text()
    (run,) = {run_of_log(path) for path in (folder / "out").glob("*.darshan")}
    assert run
    assert run_of_log(log) not in (None, run)
    with (folder / "out" / "processes.csv").open() as table:
        assert "cat data" in [row["command"] for row in csv.DictReader(table)]


def test_an_inner_run_uses_the_place_of_its_user(folder: Path) -> None:
    with started(
        *("--output", "out", "--", IOLENS, "run", "--", "cat", "data"), cwd=folder, IOLENS_LOGPATH="mine"
    ) as process:
        assert process.communicate(timeout=PATIENCE)[1] is not None
    (log,) = (folder / "mine").glob("*.darshan")
    assert read_log(log).command == "cat data"


@pytest.mark.parametrize("profiler", ["none", "iolens"])
def test_a_run_without_the_profiler_inside_a_run_belongs_to_the_outer_one(profiler: str, folder: Path) -> None:
    words = ("--apart", "--output", "out", "--", IOLENS, "run", "--profiler", profiler, "--", "cat", "data")
    with started(*words, cwd=folder) as process:
        process.communicate(timeout=PATIENCE)
    places = [log.parent.name for log in folder.rglob("*.darshan") if read_log(log).command == "cat data"]
    assert places == ["out" if profiler == "none" else folder.name]


def test_a_killed_program_is_recovered_by_its_own_run(folder: Path) -> None:
    program = "import os, time; open('data').read(); open('began', 'w').write(str(os.getpid())); time.sleep(1000)"
    with started("--", sys.executable, "-c", program, cwd=folder) as first:
        wait_until(lambda: (folder / "began").exists() and (folder / "began").read_text() != "")
        with started("--", "cat", "data", cwd=folder) as second:
            said = second.communicate(timeout=PATIENCE)[1]
        (log,) = folder.glob("*.darshan")
        assert f"log: {log}" in said
        os.kill(int((folder / "began").read_text()), signal.SIGKILL)
        said = first.communicate(timeout=PATIENCE)[1]
        assert first.returncode == 128 + signal.SIGKILL
    (recovered,) = {*folder.glob("*.darshan")} - {log}
    assert f"log: {recovered}" in said
    assert read_log(recovered).metadata["partial"]
    assert None not in (run_of_log(recovered), run_of_log(log))
    assert run_of_log(recovered) != run_of_log(log)


MPI_PROGRAM = """
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words)
{
    char name[64];
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s-%d", words[1], rank);
    int file = open(name, O_CREAT | O_WRONLY, 0600);
    if (write(file, name, 1000) != 1000)
        return 1;
    close(file);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="module")
def mpi_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns an MPI program whose ranks each write a file."""
    for tool in ("mpicc", "mpirun"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    folder = tmp_path_factory.mktemp("mpi")
    (folder / "program.c").write_text(MPI_PROGRAM)
    subprocess.run(["mpicc", "-w", "-o", folder / "program", folder / "program.c"], check=True)
    return folder / "program"


@pytest.mark.mpi
def test_mpi_jobs_and_serial_programs_in_one_folder(mpi_program: Path, folder: Path) -> None:
    commands = [
        [f"exec mpirun -np 2 '{mpi_program}' $NAME"] if number % 2 else ["exec cat data"] for number in range(6)
    ]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    settings = [{"OMPI_MCA_rmaps_base_oversubscribe": "1", **root}] * 6
    said = together(commands, folder, settings)
    logs = [Path(found[1]) for found in (re.search(r"iolens: log: (.*)", one) for one in said) if found]
    assert len(set(logs)) == 6
    assert {*logs} == {*folder.glob("*.darshan")}
    for number, log in enumerate(logs):
        job = read_log(log)
        names = {Path(name).name for name in job.names.values()}
        assert job.nprocs == (2 if number % 2 else 1)
        assert names >= ({f"run{number}-0", f"run{number}-1"} if number % 2 else {"data"})
        assert not {name for name in names if name.startswith("run") and not name.startswith(f"run{number}-")}


def test_a_log_is_known_by_its_name_of_a_run_and_not_by_a_clock(folder: Path) -> None:
    """A log that a node with another clock wrote is older, or newer, than everything of this node."""
    script = "cp data copy-old; cp data copy-new; touch -d 1990-01-01 out/*_cp_*; cp data copy-last"
    with started("--apart", "--output", "out", "--", "sh", "-c", script, cwd=folder) as process:
        said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0
    logs = {*(folder / "out").glob("*.darshan")}
    assert len({run_of_log(log) for log in logs}) == 1
    with (folder / "out" / "processes.csv").open() as table:
        assert {row["log"] for row in csv.DictReader(table)} == {log.name for log in logs}
    assert f"{len(logs)} logs in out" in said


@pytest.mark.skipif(FALSE_CLOCK is None, reason="libfaketime, which gives a program a false clock, is not installed")
def test_runs_whose_clocks_differ_keep_their_logs_apart(folder: Path) -> None:
    clocks = [{}, *({"LD_PRELOAD": str(FALSE_CLOCK), "FAKETIME": by} for by in ("-3d", "+2h", "-40"))]
    said = together([["--apart", SCRIPT]] * len(clocks), folder, clocks)
    places = [merged_folder(one) for one in said]
    (count,) = {len(list(place.glob("*.darshan"))) for place in places}
    runs = {check_own(place, f"run{number}", count) for number, place in enumerate(places)}
    assert len(runs) == len(clocks)
    days = {read_log(next(place.glob("*.darshan"))).start // 86400 for place in places}
    assert max(days) - min(days) >= 3, "the clocks did not differ"


def test_logs_of_two_machines_with_the_same_numbers_are_gathered_apart(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Containers and machines that share a folder may give two runs the same process number."""
    together([["exec cat data"]] * 4, folder)
    logs = sorted(folder.glob("*.darshan"))
    monkeypatch.setattr(processes.os, "getpid", lambda: 7)
    for pair in (logs[:2], logs[2:]):
        processes.collect_processes(pair, None, "a program/name")
    places = sorted(folder.glob("iolens-*"))
    assert [place.name for place in places] == ["iolens-name-7", "iolens-name-7-2"]
    assert [len(list(place.glob("*.darshan"))) for place in places] == [2, 2]


def test_commands_in_messages_can_be_pasted(folder: Path) -> None:
    place = folder / "a folder; with $signs"
    with started("--apart", "--output", str(place), "--", "sh", "-c", SCRIPT, cwd=folder, NAME="x") as process:
        said = process.communicate(timeout=PATIENCE)[1]
    (command,) = re.findall(r"iolens report .*", said)
    assert shlex.split(command) == ["iolens", "report", str(place)]


@pytest.mark.parametrize(("mode", "expected"), [(None, 0o600), ("0440", 0o640), ("nonsense", 0o600)])
def test_files_with_command_lines_have_the_permissions_of_logs(mode: str | None, expected: int, folder: Path) -> None:
    settings = {"IOLENS_LOG_MODE": mode} if mode else {}
    words = ("--apart", "--output", "out", "--", "sh", "-c", "umask 0; " + SCRIPT)
    with started(*words, cwd=folder, NAME="x", **settings) as process:
        process.communicate(timeout=PATIENCE)
    for name in ("run.json", "processes.csv", "files.csv"):
        assert (folder / "out" / name).stat().st_mode & 0o777 == expected
    for log in (folder / "out").glob("*.darshan"):
        assert log.stat().st_mode & 0o777 == expected & ~0o200


def test_without_a_log_only_known_reasons_are_given(folder: Path) -> None:
    spool = folder / "spool"
    kill = f"cat data >/dev/null; rm -r '{spool}'; kill -KILL $$"
    for settings, script, reason in (
        ({"IOLENS_SPOOL": "none"}, "read x <data; kill -KILL $$", "with IOLENS_SPOOL=none a killed process"),
        (
            {"IOLENS_SPOOL": str(spool), "IOLENS_APP_EXCLUDE": "cat,rm"},
            kill,
            f"but {spool}/iolens-{os.geteuid()} did not",
        ),
        (
            {"IOLENS_SPOOL": str(spool), "IOLENS_APP_EXCLUDE": "rm"},
            f"read x <data; rm '{spool}'/*/*; kill -KILL $$",
            "or its spool was removed from",
        ),
        ({}, "exit 3", "either no process loaded the profiler, or none of those that did opened a file"),
    ):
        spool.mkdir(exist_ok=True)
        with started("--", "sh", "-c", script, cwd=folder, **settings) as process:
            said = process.communicate(timeout=PATIENCE)[1]
        assert "no log was written: " in said
        assert reason in said


def test_a_failure_after_the_program_keeps_its_exit_code(folder: Path) -> None:
    """The tables cannot be written because their names are taken by folders."""
    script = "mkdir out/processes.csv out/run.json; cp data a; cp data b; exit 7"
    with started("--apart", "--output", "out", "--", "sh", "-c", script, cwd=folder) as process:
        said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 7
    assert "Traceback" not in said
    assert "processes.csv" in said


def test_a_spool_is_of_a_batch_job_only_if_the_batch_system_gave_its_number() -> None:
    spool = Spool(**{field.name: 0 for field in fields(Spool)} | {"jobid": 4711, "pid": 4711})  # type: ignore[arg-type]
    assert not JobSelection(batch_job=4711).takes([spool])
    assert JobSelection(batch_job=4711).takes([replace(spool, pid=1)])
    assert not JobSelection(batch_job=4712).takes([replace(spool, pid=4712)])
