"""Each bundled program accepts, refuses and writes what its declaration in report/iolens/lab/workloads states."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.workloads.foreign import FOREIGN
from iolens.lab.workloads.workload import RESULT, Workload
from iolens.lab.workloads.workloads import WORKLOADS, refusal_of, volume_of, workload_of

ROOT = Path(__file__).parents[2]
BIN = ROOT / "build" / "bin"

SMALL: dict[str, tuple[int, str]] = {
    "btio": (4, "--class S --steps 10"),
    "ior": (2, "-w -r -k -b 1m -t 256k -s 3"),
    "alignment": (2, "-s 4 -t 100000"),
    "metadata": (2, "-n 10 -w 100 -e 100"),
    "coupled": (3, "-s 2 -c 0.01 -w 100k"),
    "collectives": (2, "-m 1:8 -i 10 --operations Bcast --oversubscribed"),
    "checkpoint_simulator": (6, "--nx 1 --ny 1 --im_world 12 --lm 4 --num_arrays 2 --ntrials 1"),
    "restart_simulator": (6, "--nx 1 --ny 1 --im_world 12 --lm 4 --num_arrays 2 --ntrials 1 --make"),
}
"""Number of ranks and arguments of a short run of each program."""


def start(workload: Workload, ranks: int, words: list[str]) -> subprocess.CompletedProcess[str]:
    launcher = mpi.find_launcher(mpi.flavour_of_program(BIN / workload.program))
    settings = mpi.environment(mpi.flavour_of_program(BIN / workload.program), ranks, "romio321")
    command = ["env", *(f"{key}={value}" for key, value in settings.items()), launcher, "-np", str(ranks)]
    command += [str(BIN / workload.program), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_program_that_is_built_is_declared() -> None:
    folders = {path.parent.name for path in (ROOT / "workloads").glob("*/main.c")}
    assert set(WORKLOADS) == folders | {"checkpoint_simulator", "restart_simulator"} == set(SMALL)


@pytest.mark.parametrize("name", list(WORKLOADS))
def test_a_workload_takes_what_it_is_handed_and_writes_what_it_declares(tmp_path: Path, name: str) -> None:
    workload, (ranks, text) = WORKLOADS[name], SMALL[name]
    done = start(workload, ranks, workload.words(text.split(), tmp_path, tmp_path, {"cb_nodes": "1"}))
    if "built without" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    result = workload.result(tmp_path)
    assert json.loads((tmp_path / RESULT).read_text()) == result
    measured = {f"{phase['operation']}_bandwidth" for phase in result["phases"] if phase["bytes"]}
    measured |= {"latency"} if result["extra"].get("latency") else set()
    assert set(workload.metrics) <= measured
    moved = [phase["bytes"] for phase in result["phases"] if phase["operation"] in ("write", "create", "read")]
    assert volume_of(workload, text.split(), ranks) == max(moved, default=0)
    assert refusal_of(workload, text.split(), ranks) is None


@pytest.mark.parametrize("name", ["btio", "checkpoint_simulator", "restart_simulator", "coupled"])
def test_a_number_of_ranks_that_is_said_to_be_refused_is_refused(tmp_path: Path, name: str) -> None:
    words = SMALL[name][1].split()
    assert refusal_of(WORKLOADS[name], words, 2)
    assert start(WORKLOADS[name], 2, [*words, "--directory", str(tmp_path)]).returncode == 2


def test_a_users_own_program_of_the_same_name_is_told_nothing(tmp_path: Path) -> None:
    own = tmp_path / "ior"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    assert workload_of(str(own)) is FOREIGN
    assert workload_of(str(BIN / "ior")) is workload_of("ior") is WORKLOADS["ior"]
    words = FOREIGN.words(["-o", "{directory}/f", "-O", "{json}"], tmp_path, Path("/data"), {"cb_nodes": "1"})
    assert words == ["-o", "/data/f", "-O", str(tmp_path / RESULT)]
