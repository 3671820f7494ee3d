"""Tests the program collectives: it checks its results, its columns are those of the OSU micro-benchmarks, and its
selection and limits are correct.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from btio_program import ROOT, BtioResult, launch, result
from iolens.lab.run.mpi_launch import openmpi

pytestmark = pytest.mark.mpi
PROGRAM = ROOT / "build" / "bin" / "collectives"
ROW = re.compile(r"^(\d+) +(\d+\.\d\d) +(\d+\.\d\d) +(\d+\.\d\d) +(\d+) +(\d+\.\d\d) +(\d+\.\d\d)$", re.MULTILINE)
PROCESSORS = len(os.sched_getaffinity(0))
ALL = ["Allreduce", "Bcast", "Reduce", "Allgather", "Allgatherv", "Alltoall", "Gatherv", "Scatterv", "Barrier"]
NO_ROOM = "the machine has one processor, and collectives refuses to share it"
OPEN_MPI = "Open MPI" in subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout

two_processors = pytest.mark.skipif(PROCESSORS < 2, reason=NO_ROOM)
only_open_mpi = pytest.mark.skipif(not OPEN_MPI, reason="other MPI libraries have no such variables")


def collectives(where: Path, *arguments: str, ranks: int = 2) -> BtioResult:
    return launch(where, [str(PROGRAM), *arguments], ranks)


def measured(where: Path, *arguments: str, ranks: int = 2) -> tuple[BtioResult, dict[str, Any]]:
    """Runs the program, which must succeed; returns its result JSON."""
    outcome = collectives(where, *arguments, "--json", "result.json", ranks=ranks)
    assert outcome.status == 0, outcome.text + outcome.errors
    return outcome, result(where / "result.json")


def compiled(where: Path, source: str, *arguments: str) -> Path:
    output = where / Path(source).stem
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", str(ROOT / "tests" / "c" / source), *arguments]
    subprocess.run(["mpicc", *flags, "-o", str(output)], check=True)
    return output


def test_parts(tmp_path: Path) -> None:
    built = ROOT / "build" / "obj" / "workloads"
    objects = [str(o) for part in ("collectives", "common") for o in (built / part).glob("*.o") if o.name != "main.o"]
    folders = [f"-I{ROOT / 'workloads' / part}" for part in ("collectives", "common")]
    program = compiled(tmp_path, "collectives_units.c", *folders, *objects, "-lm")
    done = launch(tmp_path, [str(program)], ranks=3)
    assert done.status == 0, done.errors


@pytest.mark.parametrize(("ranks", "datatype", "first"), [(1, "char", 1), (3, "char", 1), (5, "double", 8)])
def test_every_operation_is_right(tmp_path: Path, ranks: int, datatype: str, first: int) -> None:
    options = ["-T", datatype, "--message-size", "64k", "-i", "3", "--oversubscribed"]
    outcome, report = measured(tmp_path, *options, ranks=ranks)
    rows = report["extra"]["latency"]
    sizes = [first * 2**k for k in range(20) if first * 2**k <= 65536]
    assert [row["operation"] for row in rows if row["bytes"] in (0, 1024)] == ALL
    assert [row["bytes"] for row in rows if row["operation"] == "Gatherv"] == sizes
    assert report["verification"] == {"status": "successful", "detail": None}
    assert f"all {8 * len(sizes) + 1} checked and right" in outcome.text


def test_a_wrong_sum_is_found(tmp_path: Path) -> None:
    library = compiled(tmp_path, "collectives_wrong.c", "-shared", "-fPIC")
    options = ["--operations", "Allreduce,Reduce", "-T", "double", "-m", "8:32", "-i", "2", "--oversubscribed"]
    command = ["env", f"LD_PRELOAD={library}", str(PROGRAM), *options, "--json", "r.json"]
    outcome = launch(tmp_path, command, ranks=2)
    assert outcome.status == 1
    assert re.findall(r"WRONG RESULT: (.*)", outcome.text) == [
        "2 elements of Allreduce at 16 bytes",
        "2 elements of Allreduce at 32 bytes",
    ]
    assert result(tmp_path / "r.json")["verification"]["status"] == "unsuccessful"


OSU = """\
# OSU MPI Broadcast Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
8                       1.24              0.94              1.55        1000
"""
"""Line of the output of osu_bcast -f, which shows where its columns end."""


def test_columns_end_where_those_of_the_osu_benchmarks_end(tmp_path: Path) -> None:
    outcome, _ = measured(tmp_path, "--operations", "Bcast", "-m", "8:8", "-i", "1000", "--oversubscribed")
    ends = [[match.end() for match in re.finditer(r"\S+(?: Latency\(us\))?", line)] for line in OSU.splitlines()[2:]]
    head, row = outcome.text.split("MPI_UNSIGNED_CHAR.\n")[1].splitlines()[:2]
    assert head.startswith(OSU.splitlines()[2])
    assert [match.end() for match in re.finditer(r"\S+", row)][:5] == ends[1]


@two_processors
def test_columns(tmp_path: Path) -> None:
    outcome, report = measured(tmp_path, "--operations", "bcast,barrier", "-m", "4k:16k")
    rows = ROW.findall(outcome.text)
    assert [(int(row[0]), int(row[4])) for row in rows] == [(4096, 1000), (8192, 1000), (16384, 100)]
    for printed, row in zip(rows, report["extra"]["latency"], strict=False):
        average, low, high, p50, p99 = (1e6 * row[key] for key in ("t_avg", "t_min", "t_max", "p50", "p99"))
        assert [float(printed[i]) for i in (1, 2, 3, 5, 6)] == pytest.approx([average, low, high, p50, p99], abs=0.006)
        assert 0 < low <= average <= high
        assert 0 < p50 <= p99
    assert report["extra"]["oversubscribed"] is False
    assert re.search(r"^# +Avg Latency\(us\).*\n +\d+\.\d\d +\d+\.\d\d +\d+\.\d\d +1000 ", outcome.text, re.MULTILINE)


def test_more_ranks_than_processors(tmp_path: Path) -> None:
    options = ["--operations", "Barrier", "-i", "2"]
    refused = collectives(tmp_path, *options, ranks=PROCESSORS + 1)
    assert refused.status == 2
    assert f"collectives: {PROCESSORS + 1} ranks share {PROCESSORS} processors" in refused.errors
    outcome, report = measured(tmp_path, *options, "--oversubscribed", ranks=PROCESSORS + 1)
    assert f"# OVERSUBSCRIBED: {PROCESSORS + 1} ranks share {PROCESSORS} processors" in outcome.text
    assert report["extra"]["oversubscribed"] is True


@only_open_mpi
@pytest.mark.parametrize(
    ("settings", "selected", "absent"),
    [
        ({}, ("tuned",), "sm"),
        ({"coll_sm_priority": "90"}, ("sm",), "han"),
        # For this setting Open MPI 5 chooses the component `basic`.
        ({"coll": "^tuned"}, ("libnbc", "basic"), "tuned"),
    ],
)
def test_selection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], selected: tuple[str, ...], absent: str
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"OMPI_MCA_{name}", value)
    options = ["--operations", "Bcast", "-m", "8:8", "-i", "2", "--oversubscribed"]
    outcome, report = measured(tmp_path, *options)
    assert report["extra"]["selected"] in selected
    assert absent not in [component["name"] for component in report["extra"]["components"]]
    assert "coll:base" not in outcome.errors


@only_open_mpi
def test_forced_algorithm_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1")
    monkeypatch.setenv("OMPI_MCA_coll_tuned_bcast_algorithm", "6")
    options = ["--operations", "Bcast", "-m", "8:8", "-i", "2", "--oversubscribed"]
    variables = measured(tmp_path, *options)[1]["extra"]["variables"]
    assert (variables["coll_tuned_use_dynamic_rules"], variables["coll_tuned_bcast_algorithm"]) == ("1", "6")


@only_open_mpi
def test_eager_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The observed limit is the variable minus the library's own header, for any value of the variable."""
    headers: set[int] = set()
    monkeypatch.setenv("OMPI_MCA_pml", "ob1")
    monkeypatch.setenv("OMPI_MCA_btl", "self,vader")
    for limit in (2048, 8192):
        monkeypatch.setenv("OMPI_MCA_btl_vader_eager_limit", str(limit))
        options = ["--pingpong", "-m", "512:16k", "-i", "3", "--limits", "3000", "--oversubscribed"]
        extra = measured(tmp_path, *options)[1]["extra"]
        assert extra["variables"]["btl_vader_eager_limit"] == str(limit)
        headers.add(limit - extra["eager_observed"])
        sizes = [row["bytes"] for row in extra["latency"] if row["operation"] == "Ping-pong, receive late"]
        assert sizes == [row["bytes"] for row in extra["latency"] if row["operation"].endswith("posted")]
        around = [middle + step for middle in (limit, 3000, extra["eager_observed"]) for step in (-1, 0, 1)]
        assert set(around) | {512, 1024, 2048, 4096, 8192, 16384} <= set(sizes)
        assert sizes == sorted(set(sizes))
    assert len(headers) == 1
    assert 0 < headers.pop() < 128


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--operations", "Allsum"], "--operations Allsum: unknown; the operations are Allreduce,Bcast"),
        (["-m", "8k:4k"], "--message-size 8k:4k: sizes such as 1:4M are needed"),
        (["-T", "float"], "--datatype float: unknown; the types are char and double"),
        (["--pingpong"], "--pingpong is between two ranks, not 1: use mpirun -np 2"),
        (["--limits", "4k"], "--limits works only with --pingpong"),
        (["--json", "missing/r.json"], "--json: cannot write into missing: No such file or directory"),
    ],
)
def test_bad_usage(tmp_path: Path, arguments: list[str], message: str) -> None:
    as_root = openmpi.openmpi_variables(["as root"], None)
    command, surroundings = [str(PROGRAM), *arguments], os.environ | as_root
    done = subprocess.run(command, cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"collectives: {message}" in done.stderr
    assert "# iolens" not in done.stdout


def test_messages_too_large_are_left_out(tmp_path: Path) -> None:
    options = ["--operations", "Alltoall", "-m", "1k:4k", "--mem-limit", "4k", "-i", "2", "--oversubscribed"]
    outcome, report = measured(tmp_path, *options)
    assert [row["bytes"] for row in report["extra"]["latency"]] == [1024]
    assert (
        "Alltoall: messages from 2048 bytes on are not timed, since they need more than --mem-limit" in outcome.errors
    )
