"""Tests a site's Darshan: it is found where the site's settings say, and gets its folder by the variables with which it
was configured.
"""

from __future__ import annotations

import os
import subprocess
from datetime import date
from pathlib import Path

import pytest
from iolens.errors import IolensError
from iolens.lab.run.site_darshan import darshan_settings, site_darshan, staging


def install(prefix: Path, names: str) -> Path:
    for folder in ("bin", "lib"):
        (prefix / folder).mkdir(parents=True)
    (prefix / "bin/darshan-config").write_text(f'#!/bin/sh\nDARSHAN_LOG_PATH=""\nDARSHAN_LOG_ENV="{names}"\n')
    library = prefix / "lib/libdarshan.so"
    library.touch()
    return library


def test_it_is_found_by_variable_and_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = install(tmp_path, "")
    for name in ("DARSHAN_LIB", "DARSHAN_HOME", "DARSHAN_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(IolensError, match="set DARSHAN_LIB"):
        site_darshan()
    monkeypatch.setenv("DARSHAN_HOME", str(tmp_path))
    assert site_darshan() == library


def test_every_configured_name_gets_the_folder(tmp_path: Path) -> None:
    found = darshan_settings(install(tmp_path, "SITE_LOGS,JOB_LOGS"), tmp_path / "logs", parallel=True)
    for name in ("SITE_LOGS", "JOB_LOGS", "DARSHAN_LOGPATH", "DARSHAN_LOG_DIR_PATH"):
        assert found[name] == str(tmp_path / "logs")


def test_only_a_program_without_mpi_is_recorded_by_process(tmp_path: Path) -> None:
    library = install(tmp_path, "")
    assert darshan_settings(library, tmp_path, parallel=False)["DARSHAN_ENABLE_NONMPI"] == "1"
    assert "DARSHAN_ENABLE_NONMPI" not in darshan_settings(library, tmp_path, parallel=True)


def test_logs_come_out_of_folders_by_date(tmp_path: Path) -> None:
    today = date.today()
    moved: list[Path] = []
    with staging(tmp_path / "logs", "a-run", moved) as folder:
        (folder / str(today.year) / str(today.month) / str(today.day) / "dated.darshan").touch()
        (folder / "flat.darshan").touch()
        (folder / "late.darshan_partial").touch()
    assert sorted(path.name for path in moved) == ["dated.darshan", "flat.darshan", "late.darshan_partial"]
    assert sorted(moved) == sorted((tmp_path / "logs").iterdir())


def test_a_log_of_another_run_with_the_same_name_stays(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "flat.darshan").write_text("another run's")
    moved: list[Path] = []
    with staging(tmp_path / "logs", "a-run", moved) as folder:
        (folder / "flat.darshan").write_text("this run's")
    assert [path.name for path in moved] == ["flat-2.darshan"]
    assert (tmp_path / "logs" / "flat.darshan").read_text() == "another run's"
    assert moved[0].read_text() == "this run's"


def test_a_process_that_goes_on_keeps_the_folder_of_its_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen(["sleep", "1000"], env={**os.environ, "IOLENS_RUN": f"run-{tmp_path}"}) as process:
        with staging(tmp_path / "logs", f"run-{tmp_path}", []) as folder:
            pass
        process.kill()
    assert folder.is_dir()
    assert str(folder) in capsys.readouterr().err
