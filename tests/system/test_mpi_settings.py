"""Compares the settings of MPI in a log with ompi_info and the test's environment; also tests communicators that were
used while recording was paused.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from iolens.log import Job, read_log
from iolens.metrics.processor.mpi.rank_places import eager_limits, mpi_settings
from mpi_libraries import ROOT, MpiLibrary, library, need_several_programs
from patience import PATIENCE

pytestmark = pytest.mark.mpi

LIMITS = {"usual": "btl_vader_eager_limit", "openmpi5": "btl_sm_eager_limit"}


def start(its: MpiLibrary, folder: Path, *parts: tuple[int, dict[str, str]], **settings: str) -> Job:
    """Runs a job with this many ranks in each part, each part with its own environment; returns the log."""
    if len(parts) > 1:
        need_several_programs(str(its.mpirun))
    program = its.compile(ROOT / "tests/c/mpi_paused.c", folder / "mpi_paused", "-O1")
    environment = {**os.environ, **its.environment(None)}
    fixed = {"LD_PRELOAD": its.preload, "IOLENS_LOGPATH": str(folder), "IOLENS_TRACE": "mpi", **settings}
    command: list[str | Path] = [its.mpirun]
    for number, (ranks, own) in enumerate(parts):
        words = [f"{name}={value}" for name, value in {**fixed, **own}.items()]
        command += [*([":"] if number else []), "-np", str(ranks), "env", *words, program]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = folder.glob("*.darshan")
    return read_log(log)


def ompi_info(its: MpiLibrary, component: str, **environment: str) -> dict[str, tuple[str, str]]:
    """Returns value and source of the parameters of a btl component, as Open MPI's own program prints them."""
    command = [its.mpirun.parent / "ompi_info", "--param", "btl", component, "--level", "9", "--parsable"]
    printed = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    lines = [line.split(":") for line in printed.stdout.splitlines()]
    said = {(words[4], words[5]): words[6] for words in lines if len(words) > 6 and words[3] == "param"}
    names = {name for name, _ in said}
    return {name: (said[name, "value"], said[name, "source"]) for name in names if (name, "source") in said}


@pytest.mark.parametrize("name", list(LIMITS))
def test_open_mpi_says_what_ompi_info_does(tmp_path: Path, name: str) -> None:
    """The last rank has another limit and lacks a variable; the environment chooses btl."""
    its, limit = library(name), LIMITS[name]
    if its.flavour != "openmpi":
        pytest.skip("this machine's usual MPI is another one")
    given = {f"OMPI_MCA_{limit}": "8192", "OMPI_MCA_btl": f"self,{limit.split('_')[1]}", "UCX_TLS": "self"}
    other = {**given, f"OMPI_MCA_{limit}": "16384", "OMPI_MCA_not_there": "7"}
    other.pop("UCX_TLS")
    job = start(its, tmp_path, (2, given), (1, other))
    found = mpi_settings(job).frame()
    assert found is not None
    rows = {(row.kind, row.name, row.value): (row.source, row.ranks, row.first) for row in found.itertuples()}
    assert rows["eager limit", limit, "8192"] == ("environment", 2, 0)
    assert rows["eager limit", limit, "16384"] == ("environment", 1, 2)
    assert rows["environment", "UCX_TLS", "self"] == ("environment", 2, 0)
    assert rows["environment", "UCX_TLS", ""] == ("not set", 1, 2)
    assert rows["environment", "not_there", "7"] == ("environment", 1, 2)
    assert rows["parameter", "btl", given["OMPI_MCA_btl"]] == ("environment", 3, 0)
    assert rows["component", "pml", "ob1"] == ("", 3, 0)
    assert rows["library", "threads", "single"] == ("program", 3, 0)
    components = found[found["kind"] == "component"].set_index("name")["value"]
    assert sorted(components["btl"].split(",")) == sorted(given["OMPI_MCA_btl"].split(","))
    version = found[found["name"] == "version"]["value"].iloc[0]
    assert version.startswith("Open MPI v")
    said = {name: told for part in components["btl"].split(",") for name, told in ompi_info(its, part, **given).items()}
    limits = found[(found["kind"] == "eager limit") & (found["first"] == 0)]
    assert len(limits) == 2
    for row in limits.itertuples():
        assert said[str(row.name)] == (row.value, row.source)
    assert eager_limits(job) == {limit: 8192, "btl_self_eager_limit": int(said["btl_self_eager_limit"][0])}
    check_communicators(job)


@pytest.mark.parametrize("name", ["mpich", "mpiabi"])
def test_mpich_says_what_the_environment_sets(tmp_path: Path, name: str) -> None:
    """Sets a parameter by each name that MPICH accepts, and by one that it does not know."""
    given = {"MPIR_CVAR_BCAST_SHORT_MSG_SIZE": "4096", "MPICH_ALLREDUCE_SHORT_MSG_SIZE": "77", "MPICH_NOT_THERE": "x y"}
    job = start(library(name), tmp_path, (3, given))
    found = mpi_settings(job).frame()
    assert found is not None
    rows = {(row.kind, row.name): (row.value, row.source, row.ranks) for row in found.itertuples()}
    assert rows["parameter", "MPIR_CVAR_BCAST_SHORT_MSG_SIZE"] == ("4096", "environment", 3)
    assert rows["parameter", "MPICH_ALLREDUCE_SHORT_MSG_SIZE"] == ("77", "environment", 3)
    assert rows["environment", "MPICH_NOT_THERE"] == ("x y", "environment", 3)
    assert rows["component", "device"][0].startswith("ch")
    check_communicators(job)


def check_communicators(job: Job) -> None:
    """Checks that each rank used one communicator of its own and one of all ranks; a third one was used while recording
    was off.
    """
    sizes = job.private["mpi_communicators"]
    wanted = [(rank, size, 0, 1) for rank in range(3) for size in (1, 3)]
    assert sorted(sizes[["rank", "size", "remote_size", "communicators"]].itertuples(index=False, name=None)) == wanted
