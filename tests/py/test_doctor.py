"""`iolens doctor` reports the same about this machine as other programs."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import shutil
import tempfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from iolens.cli.main import main
from iolens.extras import installation_command
from iolens.lab.doctor import parts, program_libraries, surroundings, system, trials, tried
from iolens.lab.doctor.features import features
from iolens.lab.doctor.finding import CheckResult
from iolens.lab.doctor.parts import packages
from iolens.lab.storage.mounts import file_system
from job_example import job_of


def test_what_is_there_is_found_and_tried(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [*found] == ["Trials", "Features", "Parts", "System", "Others"]
    rows = {row["name"]: row for section in found.values() for row in section}
    assert rows["a program"] == {
        "name": "a program",
        "found": "a log of 1 process, 65,536 bytes written",
        "works": True,
        "remedy": "",
    }
    assert rows["a parallel program"]["works"] is True
    assert platform.release() in rows["system"]["found"]
    assert rows["mpicc"]["found"].startswith(str(shutil.which("mpicc")))


def test_what_is_missing_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(trials, "find_library", lambda name: None)
    monkeypatch.setattr(parts, "find_library", lambda name: None)
    monkeypatch.setattr("iolens.lab.run.preload.find_library", lambda name: None)
    monkeypatch.chdir(tmp_path)
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    lines = [line.strip() for line in said.splitlines()]
    assert any(line.startswith("a program            NO  0 logs instead of one") for line in lines), said
    assert "libiolens.so         NO  not there; without it nothing is recorded" in lines
    assert max(map(len, said.splitlines())) <= 80


def test_what_builds_the_workloads_is_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    rows = {row.name: row for row in system.tools()}
    assert rows["make"] == CheckResult("make", str(make), True)
    assert rows["cc"] == CheckResult("cc", "not there", None, "for `iolens workloads build`")
    assert rows["mpicc"] == CheckResult("mpicc", "not there", None, "for `iolens workloads build`")


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("mpirun (Open MPI) 4.1.4\n\nReport bugs to", "mpirun (Open MPI) 4.1.4"),
        (
            "HYDRA build details:\n    Version:                                 4.2.0\n    Release Date:",
            "HYDRA of MPICH 4.2.0",
        ),
        ("", "which says no version"),
    ],
)
def test_a_launcher_is_named_with_its_version(said: str, named: str) -> None:
    assert surroundings.version_said(said) == named


def test_launchers_and_what_is_preloaded_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mpirun").write_text(f"#!/bin/sh\necho MPI {name}\n")
        (tmp_path / name / "mpirun").chmod(0o755)
    (tmp_path / "same").symlink_to("one")
    monkeypatch.setenv("PATH", f"{tmp_path}/one:{tmp_path}/two:{tmp_path}/same:/nowhere")
    (found,) = surroundings.launchers()
    assert found.found == f"{tmp_path}/one/mpirun, MPI one"
    assert found.remedy.startswith(f"hides {tmp_path}/two/mpirun;")
    monkeypatch.setenv("PATH", "")
    (found,) = surroundings.launchers()
    assert found.found == "not there"
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    assert list(surroundings.preloaded()) == []
    monkeypatch.setenv("LD_PRELOAD", "/nowhere/libx.so:liby.so")
    (found,) = surroundings.preloaded()
    assert (found.works, found.found) == (False, "/nowhere/libx.so is not there")
    monkeypatch.setenv("LD_PRELOAD", "liby.so")
    (found,) = surroundings.preloaded()
    assert (found.works, found.found) == (None, "liby.so")


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no folder in memory")
def test_trials_are_recorded_in_a_folder_whose_files_usually_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/dev/shm")
    trial = trials.recording()
    assert trial.result.works is True
    rows = {row.name: row for row in features(trial)}
    assert rows["mapped files"].found == "bytes from storage are n/a: kept in memory"


def test_each_kind_of_call_is_tried(capsys: pytest.CaptureFixture[str]) -> None:
    ring = ctypes.CDLL(None, use_errno=True).syscall(425, 4, ctypes.create_string_buffer(120))
    if ring >= 0:
        os.close(ring)
    assert main(["doctor", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["Features"]}
    assert (rows["io_uring"]["works"] is True) == (ring >= 0)
    always = {"file locks", "failed calls", "start-up", "TCP_INFO", "families of files", "training jobs"}
    for name in (*always, "periods of I/O", "iolens check", "iolens live"):
        assert rows[name]["works"] is True, rows[name]
    assert {*rows} >= {"mapped files", "HDF5", "libcurl", "cuFile", "hipFile", "iolens serve"}
    is_in_memory = file_system(Path(tempfile.gettempdir()))[0] in {"tmpfs", "ramfs"}
    assert (rows["mapped files"]["works"] is None) == is_in_memory


def test_calls_that_cannot_be_recorded_are_named_with_the_reason() -> None:
    rows = {row.name: row for row in tried.kinds_of_calls(job_of(), f"{errno.EPERM}\n")}
    assert {row.works for row in rows.values()} == {None}
    assert rows["io_uring"].found == "the kernel refuses it: Operation not permitted"
    assert "io_uring_disabled" in rows["io_uring"].remedy
    assert rows["file locks"].found == "the trial's calls are not in its log"


def test_features_of_a_failed_trial_are_not_claimed() -> None:
    rows = {row.name: row for row in features(trials.FeatureTrial(CheckResult("a program", "failed", False), None))}
    assert rows["kinds of calls"].works is None
    assert "periods of I/O" not in rows


def test_a_log_without_the_data_of_a_feature_is_said() -> None:
    rows = {row.name: row for row in features(trials.FeatureTrial(CheckResult("a program", "ran", True), job_of()))}
    for name in ("families of files", "training jobs", "periods of I/O"):
        assert (rows[name].works, rows[name].found) == (None, "the trial's log lacks the data")


def test_a_missing_package_is_installed_where_iolens_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("iolens.lab.doctor.parts.version", version)
    rows = {row.name: row.remedy for row in packages()}
    assert rows["pyarrow"] == f"for Parquet files: {installation_command('parquet')}"
    assert rows.keys() == {"pyarrow", "darshan"}


@pytest.mark.parametrize(("installed", "works"), [("", None), ("1.9.4", None), ("2.3.0", True)])
def test_the_package_behind_serve_is_found_by_version(
    installed: str, works: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        if not installed:
            raise PackageNotFoundError(name)
        return installed

    monkeypatch.setattr("iolens.lab.doctor.features.version", version)
    rows = {row.name: row for row in features(trials.FeatureTrial(CheckResult("a program", "failed", False), None))}
    assert rows["iolens serve"].works is works
    assert works or rows["iolens serve"].remedy == installation_command("serve")
    assert installed in rows["iolens serve"].found


def test_libraries_of_programs_are_those_of_the_loader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(program_libraries, "_LDCONFIG", "/nowhere/ldconfig")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere:{tmp_path}")
    for name in ("libhdf5.so.10", "libcufile.so.0", "libcufile_rdma.so.1", "libcurl.so"):
        (tmp_path / name).touch()
    rows = {row.name: row for row in program_libraries.program_libraries()}
    assert rows["cuFile"].found == f"{tmp_path}/libcufile.so.0"
    assert {name: row.works for name, row in rows.items()} == {
        "HDF5": None,
        "libcurl": None,
        "cuFile": True,
        "hipFile": None,
    }
    (tmp_path / "libhdf5_openmpi.so.103.2.0").touch()
    rows = {row.name: row for row in program_libraries.program_libraries()}
    assert rows["HDF5"].found == f"{tmp_path}/libhdf5_openmpi.so.103.2.0"
