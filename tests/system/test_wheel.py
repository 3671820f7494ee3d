"""Tests the wheel: its parts are found and work without any other file of the project."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds a wheel with the parts that were compiled for this machine."""
    words = [
        sys.executable,
        ROOT / "packaging/wheel.py",
        "linux_x86_64",
        ROOT / "build",
        tmp_path_factory.mktemp("dist"),
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Installs the wheel without its dependencies, which the tests already have, and returns the folder."""
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--no-index"]
    renamed = target.parent / wheel.name.replace("linux_x86_64", f"linux_{os.uname().machine}")
    shutil.copy(wheel, renamed)
    subprocess.run([*pip, "--target", target, renamed], check=True)
    return target


def iolens(site: Path, *words: str, **surroundings: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("IOLENS")}
    environment |= {"PYTHONPATH": str(site), **surroundings}
    command = [sys.executable, "-m", "iolens.cli.main", *words]
    return subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True, check=False)


def test_every_file_is_listed_with_its_hash_and_programs_can_be_run(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        record = next(name for name in entries if name.endswith("/RECORD"))
        listed = dict(line.split(",")[:2] for line in archive.read(record).decode().splitlines())
        assert listed.keys() == entries.keys()
        for name, known in listed.items():
            found = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode()
            assert known == ("" if name == record else f"sha256={found}")
        tag = archive.read(record.replace("RECORD", "WHEEL")).decode()
    assert "Tag: py3-none-linux_x86_64" in tag
    assert "Root-Is-Purelib: false" in tag
    assert {entry.date_time for entry in entries.values()} == {(1980, 1, 1, 0, 0, 0)}
    assert entries["iolens/parts/bin/iolens-recover"].external_attr >> 16 == 0o100755
    assert {name.split("/")[0].partition("-")[0] for name in entries} == {"iolens"}
    shared = record.partition(".dist-info")[0] + ".data/data/share"
    assert {f"{shared}/man/man1/iolens-run.1", f"{shared}/zsh/site-functions/_iolens"} <= entries.keys()


def test_its_command_notes_signals_and_becomes_python(site: Path) -> None:
    command = site / "bin" / "iolens"
    assert command.read_bytes()[:4] == b"\x7fELF"
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run([command, "--version"], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("iolens ")


def test_it_records_and_reports_with_nothing_but_what_it_carries(site: Path, tmp_path: Path) -> None:
    found = json.loads(iolens(site, "doctor", "--json", XDG_DATA_HOME=str(tmp_path / "empty")).stdout)
    rows = {row["name"]: row for section in found.values() for row in section}
    assert rows["iolens"]["found"].endswith(f"a wheel, {site}/iolens")
    for part in ("libiolens.so", "libost.so", "iolens-recover", "ost-simulate"):
        assert rows[part]["found"].startswith(f"{site}/iolens/parts/"), rows[part]
    assert rows["a program"]["works"] is True, rows["a program"]
    assert rows["workloads"]["found"] == "0 of 8"

    launcher = shutil.which("mpirun")
    words = [
        launcher,
        "-n",
        "2",
        str(ROOT / "build/bin/ior"),
        "-w",
        "-b",
        "64k",
        "-t",
        "64k",
        "-o",
        str(tmp_path / "data"),
    ]
    done = iolens(site, "run", "--output", str(tmp_path), "--", *filter(None, words))
    assert done.returncode == 0, done.stderr
    (log,) = tmp_path.glob("*.darshan")
    assert iolens(site, "report", str(log), "-o", str(tmp_path / "job.pdf")).returncode == 0
    assert (tmp_path / "job.pdf").read_bytes().startswith(b"%PDF")


def test_workloads_are_built_from_the_source_that_it_carries(site: Path, tmp_path: Path) -> None:
    source = site / "iolens/parts/source/workloads"
    for folder in source.iterdir():
        if folder.is_dir() and folder.name not in ("common", "metadata", "checkpoint"):
            shutil.rmtree(folder)  # Building two workloads is enough to prove that the wheel's sources can be built.
    made = iolens(site, "workloads", "build", "--mpicc", "no-such-mpicc", XDG_DATA_HOME=str(tmp_path))
    assert (made.returncode, made.stderr) == (
        1,
        "iolens workloads: no-such-mpicc was not found; load your MPI's module, or name it with --mpicc\n",
    )
    made = iolens(site, "workloads", "build", XDG_DATA_HOME=str(tmp_path))
    assert made.returncode == 0, made.stderr
    assert "metadata" in made.stdout
    listed = iolens(site, "workloads", XDG_DATA_HOME=str(tmp_path)).stdout.splitlines()
    program = next(line.split()[1] for line in listed if line.startswith("metadata"))
    assert program.startswith(str(tmp_path))
    assert [line for line in listed if line.startswith("btio")] == [
        "btio                  not built; `iolens workloads build` builds it"
    ]
    assert sorted(path.name for path in (tmp_path / "iolens").iterdir()) == [Path(program).parents[1].name]
