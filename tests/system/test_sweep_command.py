"""Tests `iolens sweep`: one real sweep of class S that is interrupted and resumed, and the files that it leaves."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from iolens.lab.run.record import read_record
from own_words import BUSY, names_the_best
from patience import PATIENCE

IOLENS = [sys.executable, "-m", "iolens.cli.main"]
SWEEP = [
    "sweep",
    "--class",
    "S",
    "--driver",
    "generic",
    "--stripes",
    "1 2",
    "--aggregators",
    "1 2",
    "--cb-buffer",
    "1M",
    "--repeat",
    "2",
]


def started(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*IOLENS, *SWEEP, "--results", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def records(folder: Path) -> dict[str, dict[str, object]]:
    paths = sorted((folder / "class-S" / "points").glob("*/rep-*/run.json"))
    found = {str(path.parent.relative_to(folder / "class-S" / "points")): read_record(path.parent) for path in paths}
    return {
        name: vars(record) for name, record in found.items() if record
    }  # A record is None if the sweep has moved an invalid run aside since the folder was listed.


def good(folder: Path) -> dict[str, str]:
    """Returns the start times of the runs that are complete and valid."""
    return {name: str(record["started"]) for name, record in records(folder).items() if record["status"] == "ok"}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str], str]:
    """Returns the result of a sweep that was interrupted after two runs and then finished: its folder, the start times
    of the runs before the interruption, and the output of the second call.
    """
    folder = tmp_path_factory.mktemp("sweep")
    first = started(folder)
    deadline = time.monotonic() + PATIENCE
    while len(good(folder)) < 2 and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    first.send_signal(signal.SIGINT)
    output, _ = first.communicate(timeout=PATIENCE)
    if first.returncode == 0 and BUSY in output:
        pytest.skip(BUSY)
    assert first.returncode == 130, output
    assert "the same command goes on where this one stopped" in output
    before = good(folder)
    second = started(folder)
    output, _ = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0, output
    if any(record["reason"] == BUSY for record in records(folder).values()):
        pytest.skip(BUSY)
    return folder, before, output


@pytest.mark.mpi
def test_every_run_is_there_and_none_was_repeated(swept: tuple[Path, dict[str, str], str]) -> None:
    folder, before, _ = swept
    after = records(folder)
    assert len(after) == 8
    assert 2 <= len(before) < 8
    for name, moment in before.items():
        assert after[name]["started"] == moment


@pytest.mark.mpi
def test_each_run_says_what_was_asked_in_force_and_seen(swept: tuple[Path, dict[str, str], str]) -> None:
    for name, record in records(swept[0]).items():
        assert record["requested"]["cb_nodes"] == record["effective"]["cb_nodes"], name
        assert record["took_effect"]["stripe_count"] is True, name
        assert record["observed"]["aggregators"] <= record["requested"]["cb_nodes"], name
        assert record["storage"]["kind"] == "emulated", name


@pytest.mark.mpi
def test_the_best_setting_was_confirmed_by_fresh_runs(swept: tuple[Path, dict[str, str], str]) -> None:
    folder, _, output = swept
    fresh = sorted((folder / "class-S" / "confirm").glob("*/rep-*/run.json"))
    if "this is the baseline" in " ".join(output.split()):
        assert fresh == []
        return
    assert len(fresh) == 4
    assert all(json.loads(path.read_text())["id"].startswith("confirm/") for path in fresh)
    assert re.search(r"(C|Not c)onfirmed: .* gives", " ".join(output.split())) or BUSY in output


@pytest.mark.mpi
def test_the_data_is_gone_and_the_reports_are_there(swept: tuple[Path, dict[str, str], str]) -> None:
    folder, _, output = swept
    results = folder / "class-S"
    assert not (results / "data").exists()
    told = re.search(r"\(data in (.+?)\)", output)
    assert told
    assert not [place for place in told[1].split(" and ") if Path(place).exists()]
    for name in ("first.pdf", "comparison.pdf"):
        assert (results / name).read_bytes().startswith(b"%PDF")
        assert str(results / name) in output
    assert names_the_best(output)


@pytest.mark.mpi
def test_a_third_call_runs_nothing(swept: tuple[Path, dict[str, str], str]) -> None:
    folder = swept[0]
    before = {name: record["started"] for name, record in records(folder).items()}
    done = subprocess.run([*IOLENS, *SWEEP, "--results", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "0 of 8 runs to do" in done.stdout
    assert {name: record["started"] for name, record in records(folder).items()} == before


@pytest.mark.mpi
def test_the_complete_run_alone_leaves_the_sweep_as_it_is(swept: tuple[Path, dict[str, str], str]) -> None:
    folder = swept[0]
    before = records(folder)
    done = subprocess.run(
        [*IOLENS, *SWEEP, "--no-sweep", "--results", str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "nothing to do" in done.stdout
    assert "comparison:" not in done.stdout
    assert records(folder) == before


def test_options_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [*IOLENS, "sweep", "--default", "--class", "A"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "give one of" in done.stderr


def test_a_failed_run_stays_until_another_try_is_asked_for(tmp_path: Path) -> None:
    script, mended = tmp_path / "fails.sh", tmp_path / "mended"
    script.write_text(f"#!/bin/sh\n[ -e {mended} ] && exit\necho cannot >&2\nexit 3\n", encoding="utf-8")
    script.chmod(0o755)
    experiment, points = tmp_path / "experiment.yaml", tmp_path / "results" / "bad" / "points"
    experiment.write_text(
        f"name: bad\nworkload: {{program: {script}, ranks: 1}}\nstorage: {{kind: directory}}\n"
        "matrix: {way: {one: {}, another: {}}}\nrepetitions: 1\n",
        encoding="utf-8",
    )

    def swept(*options: str) -> tuple[int, str]:
        line = [*IOLENS, "sweep", str(experiment), "--results", str(tmp_path / "results"), "--no-report", *options]
        alone = {name: value for name, value in os.environ.items() if name != "MAKELEVEL"}
        done = subprocess.run(line, capture_output=True, text=True, check=False, env=alone)
        return done.returncode, done.stdout

    status, said = swept()
    assert (status, said.count("for this reason: exit code 3: cannot")) == (1, 1), "the rest of the block goes on"
    assert "[2/2]" in said
    assert "2 failed; `--retry` does them again" in said
    mended.touch()
    status, said = swept()
    assert (status, said.count("exit code 3: cannot")) == (1, 1), "failed runs are not repeated"
    assert "0 of 2 runs to do" in said
    status, said = swept("--retry")
    assert (status, "2 of 2 runs to do" in said, "exit code" in said) == (0, True, False), said
    record = json.loads((points / "way-one" / "rep-1" / "run.json").read_text())
    assert record["status"] == "ok"
    assert record["failed_before"][0]["reason"].startswith("exit code 3: cannot (full output: ")
    kept = points / "way-one" / record["failed_before"][0]["folder"]
    assert (kept / "stderr.txt").read_text().strip().startswith("cannot")
    assert "exit code 3: cannot" in (tmp_path / "results" / "bad" / "runs.csv").read_text()
    assert "0 of 2 runs to do" in swept("--retry")[1]
