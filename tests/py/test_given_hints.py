"""Tests `iolens run --hints` and `--hdf5`: texts that are accepted and texts that are refused."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from iolens.cli.main import main
from iolens.lab.given_hints import hdf5_of_files, hints_of_files


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("*.nc:cb_nodes=4", "*.nc:cb_nodes=4"),
        ("*:cb_buffer_size=16M,cb_nodes=2", "*:cb_buffer_size=16777216,cb_nodes=2"),
        (
            "a*:cb_nodes=2:cb_config_list=*:*,b*:striping_unit=1k",
            "a*:cb_nodes=2:cb_config_list=*:*,b*:striping_unit=1024",
        ),
    ],
)
def test_sizes_become_bytes_and_colons_stay_in_values(text: str, value: str) -> None:
    assert hints_of_files(text) == value


@pytest.mark.parametrize("text", ["", "cb_nodes=4", "*.nc", "*:cb_nodes", "*:cb_nodes=4,b*:", "*:=4"])
def test_what_is_no_hint_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        hints_of_files(text)


def test_sizes_of_hdf5_settings_become_bytes() -> None:
    given = "*.h5:alignment=1M,coll_metadata=1,meta_block=4M,b*:chunk_cache=64M:libver=latest"
    expected = "*.h5:alignment=1048576,coll_metadata=1,meta_block=4194304,b*:chunk_cache=67108864:libver=latest"
    assert hdf5_of_files(given) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "alignment=1M", "*:align=1M", "*:alignment=0", "*:alignment=big", "*:coll_metadata=2", "*:libver=v19"),
        *("*:alignment=1M:", "*:alignment=1M:x", "*:libver=", "*:sieve=-1", "*:sieve=10000000T"),
    ],
)
def test_what_is_no_hdf5_setting_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as refused:
        hdf5_of_files(text)
    assert "cb_nodes" not in str(refused.value)


@pytest.mark.parametrize(("version", "lost"), [("4.1.4", False), ("5.0.7", True)])
def test_hints_that_open_mpi_5_would_lose_are_said_to_have_no_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], version: str, lost: bool
) -> None:
    launcher = tmp_path / "mpirun"
    launcher.write_text(f'#!/bin/sh\n[ "$1" != --version ] || echo "mpirun (Open MPI) {version}"\n')
    launcher.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--hints", "*:cb_nodes=2", "--", str(launcher), "-np", "1", "true"]) == 0
    assert ("no effect" in capsys.readouterr().err) is lost
