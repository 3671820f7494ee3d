"""Tests the nodes of a job, read from simulated environments, and the arguments that a launcher gets on these nodes."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from iolens.lab.run.hosts import hosts_of
from iolens.lab.run.mpi_launch import mpi, single_copy
from iolens.lab.run.mpi_launch.allocation import Allocation, Node, allocation, expand_hosts, own_cores, repeated
from mpi_libraries import library

CROWDED = {"OMPI_MCA_mpi_yield_when_idle", "OMPI_MCA_hwloc_base_binding_policy"}
BEYOND = "OMPI_MCA_rmaps_base_oversubscribe"
SINGLE_COPY = "OMPI_MCA_btl_vader_single_copy_mechanism"

TWO_NODES = {
    "SLURM_JOB_NODELIST": "node[07-08]",
    "SLURM_JOB_CPUS_PER_NODE": "36(x2)",
    "SLURM_TASKS_PER_NODE": "18(x2)",
}


@pytest.mark.parametrize(
    ("short", "names"),
    [
        ("laptop", ["laptop"]),
        ("n[01-03,7],gpu1", ["n01", "n02", "n03", "n7", "gpu1"]),
        ("r[1-2]c[08-10]", ["r1c08", "r1c09", "r1c10", "r2c08", "r2c09", "r2c10"]),
        ("a-b-3,c[9-11]-ib", ["a-b-3", "c9-ib", "c10-ib", "c11-ib"]),
        ("", []),
        ("n[a-b]", []),
    ],
)
def test_slurms_short_list_of_nodes(short: str, names: list[str]) -> None:
    assert expand_hosts(short) == names


def test_slurms_short_list_of_counts() -> None:
    assert repeated("36(x2),18") == [36, 36, 18]
    assert repeated("4") == [4]
    assert repeated("") == []


def test_the_nodes_of_a_slurm_job() -> None:
    assert allocation(TWO_NODES).nodes == (Node("node07", 18, 36), Node("node08", 18, 36))
    without_tasks = {key: value for key, value in TWO_NODES.items() if "TASKS" not in key}
    assert allocation(without_tasks).slots == 72


def test_lists_that_do_not_match_are_not_guessed_at() -> None:
    own = allocation({**TWO_NODES, "SLURM_JOB_CPUS_PER_NODE": "36"})
    assert [node.name for node in own.nodes] == [platform.node()]


@pytest.mark.parametrize("variable", ["PBS_NODEFILE", "OMPI_MCA_orte_default_hostfile"])
@pytest.mark.parametrize("text", ["a\na\nb\nb\n", "# two nodes\na slots=2\nb slots = 2 max_slots=4\n"])
def test_the_nodes_of_a_hostfile(tmp_path: Path, variable: str, text: str) -> None:
    path = tmp_path / "hosts"
    path.write_text(text)
    assert allocation({variable: str(path)}).nodes == (Node("a", 2, 2), Node("b", 2, 2))


def test_without_a_batch_system_it_is_this_machine() -> None:
    assert allocation({}).nodes == (Node(platform.node(), own_cores(), own_cores()),)


def test_ranks_fill_slots_node_by_node_and_then_go_round() -> None:
    nodes = Allocation((Node("a", 2, 4), Node("b", 2, 2)))
    assert [nodes.ranks(count) for count in (1, 3, 4, 5, 7)] == [[1, 0], [2, 1], [2, 2], [3, 2], [4, 3]]
    assert nodes.hosts(2) == ["a"]
    assert nodes.hosts(3) == ["a", "b"]
    assert [nodes.is_crowded(count) for count in (4, 5, 6, 7)] == [False, False, True, True]


@pytest.mark.parametrize(
    ("ranks", "surroundings", "beyond", "crowded"),
    [
        (36, TWO_NODES, False, False),
        (72, TWO_NODES, True, False),
        (73, TWO_NODES, True, True),
        (
            1024,
            {
                **TWO_NODES,
                "SLURM_JOB_NODELIST": "n[1-32]",
                "SLURM_JOB_CPUS_PER_NODE": "32(x32)",
                "SLURM_TASKS_PER_NODE": "32(x32)",
            },
            False,
            False,
        ),
        (own_cores(), {}, False, False),
        (own_cores() + 1, {}, True, True),
    ],
)
def test_a_job_is_crowded_by_its_own_nodes_and_not_by_this_one(
    monkeypatch: pytest.MonkeyPatch, ranks: int, surroundings: Mapping[str, str], beyond: bool, crowded: bool
) -> None:
    monkeypatch.setattr(mpi, "single_copy_works", lambda: True)
    monkeypatch.setattr(mpi, "has_romio_of_5", lambda launcher: False)
    told = mpi.environment("openmpi", ranks, "romio321", given=surroundings)
    assert (BEYOND in told) is beyond
    assert set(told) >= CROWDED if crowded else not CROWDED & set(told)
    assert told["OMPI_MCA_io"] == "romio321"
    assert SINGLE_COPY not in told


def test_what_the_person_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi, "single_copy_works", lambda: False)
    monkeypatch.setattr(mpi, "has_romio_of_5", lambda launcher: False)
    mine = {SINGLE_COPY: "emulated", "OMPI_MCA_mpi_yield_when_idle": "0", "OMPI_MCA_io": "ompio"}
    told = mpi.environment("openmpi", 10_000, "romio321", given=mine)
    assert not {SINGLE_COPY, "OMPI_MCA_mpi_yield_when_idle"} & set(told)
    assert told["OMPI_MCA_io"] == "romio321"


def test_single_copy_is_switched_off_where_it_fails_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    for works in (True, False):
        monkeypatch.setattr(mpi, "single_copy_works", lambda works=works: works)
        told.append(mpi.environment("openmpi", 1, None, given={}).get(SINGLE_COPY))
    assert told == [None, "none"]


def test_single_copy_is_tried_and_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single copy works if one Python process can read the memory of another one; if the system refuses the call, it
    does not work.
    """
    works = single_copy.single_copy_works.__wrapped__()
    assert works is _python_reads_from_python()

    class Refusing:
        def __getattr__(self, name: str) -> object:
            return lambda *_: -1

    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: Refusing())
    assert single_copy.single_copy_works.__wrapped__() is False


def test_single_copy_is_tried_without_a_new_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting another Python to try single copy would take longer than all other work before a launcher starts."""
    started: list[object] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **_: started.append(words))
    before = set(os.listdir("/proc/self/fd"))
    single_copy.single_copy_works.__wrapped__()
    assert not started
    assert set(os.listdir("/proc/self/fd")) == before


def _python_reads_from_python() -> bool:
    """Returns True if one of two programs that this one starts can read the other's memory."""
    owned = (
        "import ctypes, sys; text = ctypes.create_string_buffer(b'single copy');"
        "ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0);"
        "print(ctypes.addressof(text), flush=True); sys.stdin.read()"
    )
    reading = (
        "import ctypes, sys; pid, there = map(int, sys.argv[1:]); copy = ctypes.create_string_buffer(11);"
        "part = ctypes.c_size_t * 2; here = part(ctypes.addressof(copy), 11);"
        "sys.exit(ctypes.CDLL(None).process_vm_readv(pid, here, 1, part(there, 11), 1, 0) != 11)"
    )
    with subprocess.Popen([sys.executable, "-c", owned], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        words = [sys.executable, "-c", reading, str(owner.pid), owner.stdout.readline().decode().strip()]
        return subprocess.run(words, check=False).returncode == 0


def test_the_hosts_are_those_of_the_job_when_no_log_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in TWO_NODES.items():
        monkeypatch.setenv(key, value)
    assert hosts_of([], 19) == ["node07", "node08"]
    assert hosts_of([], 18) == ["node07"]


def test_the_hosts_are_those_that_the_logs_name() -> None:
    logs = sorted(Path(__file__).parents[1].glob("data/iolens/*.darshan"))
    named = hosts_of(logs, 4)
    assert named
    assert platform.node() not in named
    assert len(set(named)) == len(named)


NEW_NAMES = {
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_smsc": "^cma",
    "OMPI_MCA_reachable": "weighted",
}


@pytest.mark.parametrize(
    ("said", "version"),
    [("mpirun (Open MPI) 4.1.4", 4), ("mpirun (Open MPI) 5.0.7", 5), ("HYDRA build details", None)],
)
def test_the_variables_are_those_of_the_launchers_version(
    monkeypatch: pytest.MonkeyPatch, said: str, version: int | None
) -> None:
    monkeypatch.setattr(mpi, "single_copy_works", lambda: False)
    monkeypatch.setattr(mpi, "mpi_output", lambda *_: said)
    mpi.version_of_launcher.cache_clear()
    told = mpi.environment("openmpi", own_cores() + 1, None, given={}, launcher="mpirun")
    mpi.version_of_launcher.cache_clear()
    assert (NEW_NAMES.items() <= told.items()) is (version != 4)
    assert ({BEYOND, SINGLE_COPY} <= set(told)) is (version != 5)


@pytest.mark.parametrize(
    ("launcher", "versions", "component"),
    [
        ("mpirun", {"mpirun": "mpirun (Open MPI) 4.1.4"}, "romio321"),
        ("mpirun", {"mpirun": "mpirun (Open MPI) 5.0.7"}, "romio341"),
        ("srun", {"srun": "slurm 24.11", "mpirun": "mpirun (Open MPI) 5.0.7"}, "romio341"),
        (None, {"mpirun": "mpirun (Open MPI) 5.0.7"}, "romio341"),
        ("srun", {}, "romio321"),
    ],
)
def test_romio_has_the_name_that_this_open_mpi_gives_it(
    monkeypatch: pytest.MonkeyPatch, launcher: str | None, versions: Mapping[str, str], component: str
) -> None:
    monkeypatch.setattr(mpi, "mpi_output", lambda *words: versions.get(words[0], ""))
    mpi.version_of_launcher.cache_clear()
    told = mpi.environment("openmpi", 1, "romio321", given={}, launcher=launcher)
    mpi.version_of_launcher.cache_clear()
    assert told["OMPI_MCA_io"] == component


@pytest.mark.parametrize("name", ["usual", "openmpi5"])
def test_a_launcher_starts_more_ranks_than_cores_with_these_variables_alone(name: str) -> None:
    """The launchers themselves are the witness: with these variables alone they must start more ranks than cores, and
    as root if the test runs as root.
    """
    its = library(name)
    surroundings = {key: value for key, value in os.environ.items() if not key.startswith(("OMPI_", "PRTE_"))}
    ranks = own_cores() + 2
    told = mpi.environment(its.flavour, ranks, None, given=surroundings, launcher=str(its.mpirun))
    done = subprocess.run(
        [its.mpirun, "-np", str(ranks), "grep", "Cpus_allowed_list", "/proc/self/status"],
        env={**surroundings, **told},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    mine = next(line for line in Path("/proc/self/status").read_text().splitlines() if "Cpus_allowed_list" in line)
    assert done.stdout.splitlines() == [mine] * ranks  # Each rank must be allowed to run on all processors.
