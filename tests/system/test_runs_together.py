"""Runs at the same time in one folder: each has its own logs and sums, and takes nothing of another."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from iolens.lab.run.own_logs import run_of_log
from iolens.log import read_log
from patience import PATIENCE
from recovery_program import wait_until

IOLENS = str(Path(sys.executable).parent / "iolens")
SCRIPT = "for i in 1 2 3; do cat data >/dev/null; cp data copy-$NAME-$i; done"
"""Starts six processes that open files."""


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
            words = (*options, "--", "sh", "-c", f": >began-$NAME-$$; kill -STOP $$; {script}")
            own = settings[number] if settings else {}
            runs.append(stack.enter_context(started(*words, cwd=cwd, NAME=f"run{number}", **own)))
        wait_until(lambda: len(stopped(cwd)) == len(runs))
        for pid in stopped(cwd):
            os.kill(pid, signal.SIGCONT)
        said = [process.communicate(timeout=PATIENCE)[1] for process in runs]
        assert [process.returncode for process in runs] == [0] * len(runs), said
        return said


def stopped(cwd: Path) -> list[int]:
    """Returns the shells in this folder that have stopped themselves."""
    pids = [int(path.name.rpartition("-")[2]) for path in cwd.glob("began-*")]
    return [pid for pid in pids if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"]


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
    said = together([[SCRIPT]] * 10, folder)
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
    said = together([["--output", "out", f"echo $NAME; {SCRIPT}"]] * 3, folder)
    places = [merged_folder(one) for one in said]
    assert sorted(place.name for place in places) == ["out", "out-2", "out-3"]
    for number, place in enumerate(places):
        run = check_own(folder / place, f"run{number}", len(list((folder / place).glob("*.darshan"))))
        assert (folder / place / "stdout.txt").read_text() == f"run{number}\n"
        assert json.loads((folder / place / "run.json").read_text())["run"] == run


def test_places_of_all_kinds_at_once(folder: Path) -> None:
    options = [[SCRIPT], ["--output", "out", SCRIPT], [SCRIPT], [SCRIPT], [SCRIPT], [SCRIPT]]
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
    with started("--output", "out", "--", "sh", "-c", inner, cwd=folder) as process:
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
