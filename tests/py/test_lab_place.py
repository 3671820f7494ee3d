"""Tests where the data of a sweep goes, and which MPI-IO driver its runs use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from iolens.errors import IolensError, UsageError
from iolens.lab.storage.emulated import EMULATED
from iolens.lab.storage.plain import PLAIN
from iolens.lab.sweep.define import classes
from iolens.lab.sweep.define.classes import Choices, class_experiment, default_experiment, driver_to_be_had
from iolens.lab.sweep.plan import specify
from iolens.lab.sweep.plan.alone import alone
from iolens.lab.sweep.plan.specify import data_folder


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a folder that plays a file system in memory with 1000 free bytes."""
    (tmp_path / "memory").mkdir()
    monkeypatch.setattr(specify, "MEMORY", tmp_path / "memory")
    monkeypatch.setattr(specify, "room_in_memory", lambda: 1000)
    return tmp_path / "memory"


def test_data_of_modelled_storage_lies_in_memory_where_there_is_room(memory: Path, tmp_path: Path) -> None:
    experiment = default_experiment(Choices())
    first, second = (data_folder(experiment, tmp_path / name, EMULATED, 1000) for name in ("one", "two"))
    assert memory in first.parents
    assert first.name.startswith("class-A-quick-")
    assert first != second, "two sweeps never share data"
    assert data_folder(experiment, tmp_path / "one", EMULATED, 1001) == tmp_path / "one" / "data"
    assert data_folder(experiment, tmp_path / "one", PLAIN, 10) == tmp_path / "one" / "data", "a real disk is measured"
    batch = replace(experiment, launcher="slurm")
    assert data_folder(batch, tmp_path / "one", EMULATED, 10) == tmp_path / "one" / "data", "a node has its own memory"
    kept = replace(experiment, keep_data="failed")
    assert data_folder(kept, tmp_path / "one", EMULATED, 10) == tmp_path / "one" / "data", "memory keeps nothing"
    chosen = replace(experiment, directory=tmp_path / "chosen")
    assert data_folder(chosen, tmp_path / "one", EMULATED, 10) == tmp_path / "chosen" / "class-A-quick"


def test_no_more_than_half_of_the_free_memory_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(specify, "MEMORY", tmp_path / "absent")
    assert specify.room_in_memory() == 0
    monkeypatch.setattr(specify, "MEMORY", tmp_path)
    available = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable"))
    assert 0 < specify.room_in_memory() < 0.75 * 1024 * int(available.split()[1])


def test_without_the_lustre_driver_the_sweep_says_why_and_takes_the_generic_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise IolensError("ROMIO's Lustre driver cannot be had: no index in reach")

    monkeypatch.setattr(classes, "build_with_driver", refuse)
    assert driver_to_be_had() == "generic"
    said = capsys.readouterr().err
    assert "no index in reach; the sweep therefore runs ROMIO's generic driver" in said
    monkeypatch.setattr(classes, "build_with_driver", lambda *_: None)
    assert driver_to_be_had() == "lustre"


def test_a_driver_is_a_component_or_an_argument_of_the_matrix_alone() -> None:
    lustre, generic, like = (
        class_experiment("C", Choices(driver=name)) for name in ("lustre", "generic", "lustre-like")
    )
    assert [one.io_component for one in (lustre, generic, like)] == ["lustre", "romio321", "romio321"]
    assert like.arguments[-2:] == ("--mpiio-driver", "lustre-like")
    assert lustre.first == like.first == ("--class", "C", "--method", "full")
    with pytest.raises(
        UsageError,
        match="the driver lustre-like has only collective transfers; choose the method full instead of simple",
    ):
        class_experiment("C", Choices(driver="lustre-like", method="simple"))


def test_data_is_read_back_in_one_repetition_unless_the_solver_runs() -> None:
    assert class_experiment("C", Choices()).repeated == ("--write-only",)
    assert class_experiment("C", Choices(full=True)).repeated == ()


def test_a_folder_is_one_sweeps_at_a_time(tmp_path: Path) -> None:
    other = alone(tmp_path)
    with alone(tmp_path, tmp_path / "."), pytest.raises(IolensError, match="in use by another sweep"):
        other.__enter__()
    with alone(tmp_path, tmp_path / "new"):
        assert (tmp_path / "new").is_dir()
