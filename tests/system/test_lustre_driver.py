"""Tests ROMIO's own Lustre driver on emulated targets: chosen by one word, in a sweep and in `iolens run`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from iolens.errors import IolensError, UsageError
from iolens.lab.run.mpi_launch import lustre_driver
from iolens.lab.run.mpi_launch.lustre_driver import build_with_driver, holds_driver
from iolens.lab.storage.emulated import make_mount, set_emulated_stripes
from iolens.lab.storage.layout import Layout
from iolens.lab.sweep.define.experiment_file import load_experiment
from iolens.lab.sweep.plan.prepare import prepare
from iolens.log import read_log
from iolens.metrics.job.interfaces.mpiio import file_ranks
from lustre_driver import build
from own_words import BUSY

ROOT = Path(__file__).resolve().parents[2]
IOLENS = [sys.executable, "-m", "iolens.cli.main"]
EXPERIMENT = """name: drivers
workload: {program: btio, arguments: [--class, S, --steps, 15, --io-only], ranks: 4}
storage: {kind: emulated, stripe_size: 64K}
matrix:
  moved_by:
    lustre: {io_component: lustre}
    generic: {io_component: romio321}
    lustre-like: {arguments: [--mpiio-driver, lustre-like]}
  stripe_count: [2]
  aggregators: [4]
repetitions: 1
confirm: 0
first: {arguments: [--class, S]}
"""


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Performs an experiment with three drivers; returns the records of its runs, and of its complete run, by the
    requested driver.
    """
    build()
    folder = tmp_path_factory.mktemp("drivers")
    (folder / "experiment.yaml").write_text(EXPERIMENT, encoding="utf-8")
    words = [*IOLENS, "sweep", str(folder / "experiment.yaml"), "--results", str(folder), "--no-report"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [json.loads(path.read_text()) for path in (folder / "drivers").rglob("run.json")]
    return {record["point"].get("moved_by", "first"): record for record in found}


@pytest.mark.mpi
def test_each_run_has_the_driver_that_it_asked_for(records: dict[str, Any]) -> None:
    drivers = {name: record["mpi"]["driver"] for name, record in records.items()}
    assert (drivers["lustre"], drivers["lustre-like"]) == ("lustre", "lustre-like")
    for name in ("generic", "first"):
        assert drivers[name] == "ufs"
    assert records["lustre"]["took_effect"]["io_component"] is True
    assert "Intel" in records["lustre"]["mpi"]["library"]
    assert all(record["status"] == "ok" or record["reason"] == BUSY for record in records.values())


@pytest.mark.mpi
def test_the_driver_takes_no_more_aggregators_than_there_are_stripes(records: dict[str, Any]) -> None:
    for driver, used in (("lustre", 2), ("lustre-like", 2)):
        assert records[driver]["effective"]["cb_nodes"] == 4
        assert records[driver]["observed"]["aggregators"] == used
        assert records[driver]["took_effect"]["cb_nodes"] is True, "how many it uses is the driver's decision"


@pytest.mark.mpi
def test_one_word_runs_a_program_with_the_driver(tmp_path: Path) -> None:
    build()
    mount = tmp_path / "mount"
    (mount / "run").mkdir(parents=True)
    make_mount(mount, ROOT / "storage" / "ost.yaml")
    set_emulated_stripes(mount / "run", Layout(2, 65536))
    program = [ROOT / "build/bin/btio", "--class", "S", "--steps", "5", "--io-only", "--directory", mount / "run"]
    options = ["--io-component", "lustre", "--storage-mount", mount, "--output", tmp_path / "out"]
    words = [*IOLENS, "run", *options, "--", "mpirun", "-np", "4", *program, "--hint", "romio_cb_write=enable"]
    done = subprocess.run([str(word) for word in words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    ranks = file_ranks(read_log(tmp_path / "out" / record["log"]))
    assert ranks is not None
    assert list(ranks.loc[ranks["writes"] > 0, "bytes_written"]) == [65536, 12**3 * 40 - 65536]


def test_a_program_of_another_mpi_is_refused_with_what_to_do() -> None:
    with pytest.raises(UsageError, match="is linked with no MPI; the Lustre driver needs an MPI that has it"):
        build_with_driver("/bin/sh", lambda flavour: "mpirun")


def test_storage_without_stripes_is_refused(tmp_path: Path) -> None:
    text = EXPERIMENT.replace("{kind: emulated, stripe_size: 64K}", f"{{kind: directory, directory: {tmp_path}}}")
    (tmp_path / "experiment.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="the Lustre driver needs stripes, but plain storage has none"):
        prepare(load_experiment(tmp_path / "experiment.yaml"), tmp_path / "results")


def test_a_library_is_known_by_what_it_holds(tmp_path: Path) -> None:
    with_driver, without = tmp_path / "libmpi.so.12", tmp_path / "libmpich.so.12"
    with_driver.write_bytes(b"\0" * 5000 + lustre_driver.OF_THE_DRIVER + b"\0" * 5000)
    without.write_bytes(b"lustre: this library was built without it")
    assert holds_driver(with_driver)
    assert not holds_driver(without)
    assert not holds_driver(tmp_path / "absent")


def test_a_programs_own_mpi_with_the_driver_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    library = tmp_path / "libmpi.so.12"
    library.write_bytes(lustre_driver.OF_THE_DRIVER)
    loaded = f"libmpi.so.12 => {library} (0x00007f0000000000)"
    monkeypatch.setattr(lustre_driver.mpi, "mpi_output", lambda *words: loaded)
    found = build_with_driver(str(program), lambda flavour: f"the site's launcher of {flavour}")
    assert (found.program, found.starter) == (program, "the site's launcher of mpich")
    assert found.settings == {"I_MPI_EXTRA_FILESYSTEM": "1"}


def test_what_cannot_be_installed_is_said_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "packaging").mkdir()
    (tmp_path / "packaging/setup.sh").touch()
    (tmp_path / "Makefile").write_text("lustre-driver:\n\t@echo setup: no index was reached >&2; exit 1\n")
    monkeypatch.setattr(lustre_driver, "CHECKOUT", tmp_path)
    lustre_driver.install.cache_clear()
    with pytest.raises(IolensError, match=r"^no index was reached$"):
        lustre_driver.install()
    os.unlink(tmp_path / "packaging/setup.sh")
    with pytest.raises(IolensError, match="install iolens with an MPI that has it, or work in a clone"):
        lustre_driver.install()
