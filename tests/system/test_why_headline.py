"""The first sentence of a job says what faster storage would save, for bundled and foreign programs.

Its numbers are those that `iolens table` prints.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from btio_program import ROOT
from iolens.cli.main import main
from iolens.lab.run.mpi_launch import mpi
from iolens.pages.base import words
from mimic_runs import record
from test_foreign_drivers import _hdf5, _mpi4py, _ncmpigen

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(
        mpi.flavour_of_launcher("mpirun") != "openmpi", reason="the programs are started by Open MPI's mpirun"
    ),
]

BUILD = ROOT / "build" / "bin"
FACES = ["--nx", 1, "--ny", 1, "--im_world", 24, "--lm", 6, "--ntrials", 1]
BUNDLED: dict[str, tuple[int, list[object]]] = {
    "btio": (4, [BUILD / "btio", "--class", "S", "--io-only"]),
    "ior": (2, [BUILD / "ior", "-w", "-r", "-b", "256k", "-t", "64k", "-o", "data"]),
    "ior, collective": (2, [BUILD / "ior", "-a", "MPIIO", "-c", "-w", "-r", "-b", "256k", "-t", "64k", "-o", "data"]),
    "checkpoint": (6, [BUILD / "checkpoint_simulator", *FACES, "--num_writers", 1]),
    "restart": (6, [BUILD / "restart_simulator", *FACES, "--make"]),
    "alignment": (2, [BUILD / "alignment", "-s", 4]),
    "coupled": (3, [BUILD / "coupled", "-s", 3, "-c", 0.02]),
    "metadata": (2, [BUILD / "metadata", "-n", 50]),
}
PRINTS = [BUILD / "collectives", "--oversubscribed", "--operations", "Barrier", "-i", 5]
"""A bundled program that uses no files, and prints to a pipe."""
SENTENCE = re.compile(
    r"With infinitely fast storage this job would take at most (< )?([\d.]+) s less"
    r"(, mostly for rank (\d+): its (\S+)(?: of (\S+))? held up (\d+) other ranks?)?\."
)


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the names of files, which may be longer than 80 characters, on one line."""
    monkeypatch.setenv("COLUMNS", "300")


def _rows(name: str, log: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Returns the rows that `iolens table NAME LOG --json` prints."""
    capsys.readouterr()
    assert main(["table", name, str(log), "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def assert_said(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Fails unless `iolens show --all` prints the sentence about faster storage, with the numbers of the tables."""
    assert main(["show", "--all", str(log)]) == 0
    said = SENTENCE.search(" ".join(capsys.readouterr().out.split()))
    assert said
    _, most, culprit, rank, function, file, others = said.groups()
    replays = _rows("what_if", log, capsys)
    storage = next(row for row in replays if row["question"] == "storage infinitely fast")
    assert most == words.seconds(storage["most"]).removeprefix("< ")
    assert 0 <= storage["least"] <= max(storage["saved"], 0) <= storage["most"]
    assert storage["most"] <= replays[0]["run_time"]
    for row in replays:
        if row["rank"] >= 0 or row["file"] or row["question"].endswith(" as fast"):
            assert row["saved"] <= storage["most"] + 1e-9
    if culprit:
        causes = _rows("waits_by_cause", log, capsys)
        assert any(
            (row["rank"], row["kind"], row["function"], row["file"], row["held_up"])
            == (int(rank), "I/O", function, file or "", int(others))
            for row in causes
        )


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_programs(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranks, command = BUNDLED[name]
    assert_said(record(tmp_path, command, ranks, ["--why"]), capsys)


def test_a_bundled_program_without_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a busy machine a rank may lose its core while it prints, and then this call is long enough for an event."""
    said = ""
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        assert main(["show", "--all", str(record(folder, PRINTS, 2, ["--why"]))]) == 0
        said = " ".join(capsys.readouterr().out.split())
        if "Infinitely fast storage" in said:
            break
    assert "Infinitely fast storage would save this job nothing" in said


@pytest.mark.parametrize("make", [_mpi4py, _ncmpigen, _hdf5])
def test_foreign_programs(
    make: Callable[[Path], tuple[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, arguments = make(tmp_path)
    given = [one.strip(" '").format(directory=tmp_path) for one in arguments.split(",")]
    assert_said(record(tmp_path, [program, *given], 2, ["--why"]), capsys)
