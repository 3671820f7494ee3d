"""Tests the end of an MPI job: the number of collective calls, and which ranks' data a large job keeps."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.preload import Setup, instrumented
from iolens.log import Job, read_log
from iolens.log.processes import processes_of
from iolens.metrics.job.interfaces.mpiio import aggregators
from mpi_libraries import library, need_several_programs
from mpi_library import FLAVOUR, PRELOAD
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
RANKS = 4

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the program and the library that counts collective calls, in one folder."""
    folder = tmp_path_factory.mktemp("finalisation")
    command = ["mpicc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall"]
    source = ROOT / "tests/c"
    subprocess.run([*command, "-o", folder / "program", source / "mpi_shared_files.c"], check=True)
    include = f"-I{ROOT / 'profiler/include'}"
    subprocess.run([*command, include, "-o", folder / "marked", source / "marked_ranks.c"], check=True)
    subprocess.run([*command, include, "-o", folder / "crowded", source / "crowded_ranks.c"], check=True)
    subprocess.run([*command, "-o", folder / "limited", source / "mpi_limited.c"], check=True)
    subprocess.run([*command, "-w", "-rdynamic", "-o", folder / "scarce", source / "mpi_scarce.c", "-ldl"], check=True)
    counter = ["-shared", "-fPIC", "-o", folder / "counter.so", source / "collective_counter.c", "-ldl"]
    subprocess.run([*command, *counter], check=True)
    subprocess.run([*command, "-shared", "-fPIC", "-o", folder / "hurried.so", source / "hurried_clock.c"], check=True)
    return folder


def run(built: Path, folder: Path, posix: int, mpiio: int, **settings: str) -> tuple[int, Job]:
    """Returns the number of collective calls and the log of a job whose ranks share `files` files."""
    return launch(built, folder, "program", str(folder), str(posix), str(mpiio), **settings)


def launch(built: Path, folder: Path, *program: str, ranks: int = RANKS, **settings: str) -> tuple[int, Job]:
    """Returns the number of collective calls of a job, and its log."""
    preload = f"{PRELOAD}:{built}/counter.so"
    settings |= {"IOLENS_LOGPATH": str(folder), "IOLENS_INCLUDE": str(folder)}
    done = start(ranks, preload, [str(built / program[0]), *program[1:]], "romio321", **settings)
    (calls,) = [int(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("collective calls")]
    (log,) = folder.glob("*.darshan")
    return calls, read_log(log)


def start(
    ranks: int, preload: str, command: list[str], component: str | None, cwd: Path | None = None, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Runs a job, which must succeed, with these libraries preloaded in its ranks only."""
    inner = ["env", f"LD_PRELOAD={preload}", *command]
    done = subprocess.run(
        [mpi.find_launcher(FLAVOUR), "-np", str(ranks), *inner],
        cwd=cwd,
        env={**os.environ, **mpi.environment(FLAVOUR, 64, component), **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done


def rows(job: Job, name: str) -> dict[int, tuple[int, int, int]]:
    """Returns for each rank's row of a file: number of ranks it stands for, bytes written, largest write."""
    found = job.private["file_ranks"]
    found = found[found["file"].map(job.names).str.endswith(f"/{name}")]
    columns = found[["rank", "ranks", "bytes_written", "largest_write"]]
    return {rank: (ranks, written, largest) for rank, ranks, written, largest in columns.itertuples(index=False)}


def test_the_number_of_calls_does_not_grow_with_files(built: Path, tmp_path: Path) -> None:
    """A job makes six calls when it begins and 31 at its end, the number that MEASUREMENTS.md states."""
    found = {}
    for posix, mpiio in ((2, 1), (30, 5)):
        folder = tmp_path / f"{posix}"
        folder.mkdir()
        found[posix, mpiio], job = run(built, folder, posix, mpiio)
        assert rows(job, "posix1") == {rank: (1, rank + 1, rank + 1) for rank in range(RANKS)}
        assert rows(job, "some0") == {rank: (1, rank + 1, rank + 1) for rank in range(2)}
        assert rows(job, "own0") == {}
        table = job.private["mpiio_collectives"]
        assert sorted(table["rank"]) == sorted([*range(RANKS)] * mpiio)
        assert table["waiting"].notna().all()
    assert set(found.values()) == {6 + 15 + 16}


def test_events_of_waits_are_written_by_as_many_calls_on_any_number_of_ranks(built: Path, tmp_path: Path) -> None:
    """Each collective call takes O(log P) steps, so the end of the job does as well."""
    found = {}
    for ranks in (2, 4, 8):
        for megabytes in ("0", "16"):
            folder = tmp_path / f"{ranks}-{megabytes}"
            folder.mkdir()
            found[ranks, megabytes], job = launch(
                built, folder, "program", str(folder), "2", "1", ranks=ranks, IOLENS_WHY=megabytes, IOLENS_TRACE="mpi"
            )
            assert (len(job.tables["why_events"]) > 0) == (megabytes != "0")
    assert len({found[ranks, "16"] for ranks in (2, 4, 8)}) == 1
    assert found[4, "16"] == found[4, "0"]


def test_beyond_its_room_the_table_keeps_the_busiest_ranks(built: Path, tmp_path: Path) -> None:
    """There is room for two ranks of each file: rank 3, which moved most, and rank 1. Ranks 1 and 2 count as equal,
    because their amounts lie between the same powers of two, and the lower rank stays.
    """
    calls, job = run(built, tmp_path, 5, 0, IOLENS_FILE_RANKS="12")
    assert calls == 6 + 19 + 20
    for number in range(5):
        assert rows(job, f"posix{number}") == {3: (1, 4, 4), 1: (1, 2, 2), -1: (2, 1 + 3, 3)}
    wrote = aggregators(job).frame()
    assert wrote is not None
    shared = wrote[wrote["path"].str.contains("posix")]
    assert list(map(tuple, shared["writers"])) == [(1, 3)] * 5
    assert set(shared["others"]) == {2}
    assert set(shared["bytes"]) == {1 + 2 + 3 + 4}


def test_the_log_says_when_files_of_some_ranks_are_left_out(built: Path, tmp_path: Path) -> None:
    _, job = run(built, tmp_path, 2, 0, IOLENS_FILE_RANKS="1")
    assert rows(job, "some0") == {}
    assert rows(job, "posix0") == {-1: (RANKS, 1 + 2 + 3 + 4, 4)}
    assert any("IOLENS_FILE_RANKS" in reason for reason in job.private["job"]["partial"])
    process = job.private["process"]
    assert sorted(process["ranks"]) == [1, len(job.private["job"]["rank_host"]) - 1]
    assert (process["rank"] == -1).sum() == 1
    assert process.loc[process["rank"] >= 0, "max_rss"].item() > 1 << 20


def test_tables_learn_of_all_ranks_in_one_call(built: Path, tmp_path: Path) -> None:
    """Regions, single samples and counters add no call to those of every job; call chains add five."""
    calls, job = launch(built, tmp_path, "marked", IOLENS_SAMPLE="200", IOLENS_TIMELINE="5")
    assert calls == 6 + 9 + 10 + 5, "one more for the example of a mistake, five for what ranks call alike"
    last = RANKS - 1
    assert job.remarks == (
        f"A thread ended a region without having begun it, 2 time(s), such as region {90 + last - 1} on rank "
        f"{last - 1}.",
    )
    (reason,) = job.partial
    assert "IOLENS_TIMELINE" in reason
    assert set(job.private["region_names"]["rank"]) == {0, last}, "the others have the regions of rank 0"
    assert job.private["regions"]["calls"].sum() == 2 * sum(range(1, RANKS + 1)) + 1
    assert set(job.private["objects"]["rank"]) == set(job.private["call_nodes"]["rank"]) == {-1}


def test_beyond_their_room_tables_keep_the_largest_rows_and_the_sum_of_the_others(built: Path, tmp_path: Path) -> None:
    _, job = launch(built, tmp_path, "marked", IOLENS_SAMPLE="200", IOLENS_FILE_RANKS="4")
    regions, counters = job.private["regions"], job.private["counters"]
    assert len(regions) == 4 + 1
    assert (regions["rank"] == -1).sum() == 1
    assert regions["calls"].sum() == 2 * sum(range(1, RANKS + 1)) + 1
    whole = counters[(counters["event"] == "task-clock") & (counters["region"] == 0xFFFFFFFF)]
    assert whole["value"].sum() > RANKS * 0.2e9
    assert len(whole) < RANKS + 1
    assert (counters["rank"] >= 0).sum() == 4
    moved = counters[(counters["event"] == "cpu-migrations") & (counters["region"] == 0xFFFFFFFF)]
    counted, missing = moved[moved["unavailable"] == ""], moved[moved["unavailable"] != ""]
    assert list(missing["rank"]) == [-1], "that of rank 0 is no part of the others' sum"
    assert (missing["value"] < 0).all()
    assert (counted["value"] >= 0).all()
    assert any("call chains" in reason for reason in job.partial)
    assert len(job.private["call_nodes"]) <= 4
    assert len(job.private["objects"]) <= 4


@pytest.mark.parametrize(("rank", "request_number"), [(0, -1), (1, -1), (1, 20), (2, 30)])
def test_no_rank_waits_for_one_without_memory(rank: int, request_number: int, built: Path, tmp_path: Path) -> None:
    """Refuses memory on this rank: only this request, which the log does not need, or all requests from this number on
    if it is negative.
    """
    settings = {"IOLENS_TRACE": "mpi,io", "IOLENS_DXT": "1", "IOLENS_LOGPATH": str(tmp_path), "IOLENS_SPOOL": "none"}
    done = start(3, PRELOAD, [str(built / "scarce"), str(rank), str(request_number)], None, cwd=tmp_path, **settings)
    assert done.stderr.count("iolens:") == done.stderr.count("Cannot allocate memory")
    logs = [path.name for path in tmp_path.glob("*darshan*")]
    assert len(logs) + done.stderr.count("cannot write the log") == 1
    assert all(name.endswith(".darshan") for name in logs)
    assert request_number > 0 or not logs


@pytest.mark.parametrize("poor", [0, 1])
def test_a_rank_without_memory_is_left_out_of_the_log(poor: int, built: Path, tmp_path: Path) -> None:
    """The log has the data of the other ranks and says that one rank is missing. If there are few files, it has the
    data of all ranks.
    """
    for files in (6000, 3):
        folder = tmp_path / str(files)
        folder.mkdir()
        program = [str(built / "limited"), str(poor), str(files)]
        done = start(3, PRELOAD, program, None, folder, IOLENS_LOGPATH=str(folder), IOLENS_INCLUDE=str(folder))
        assert "iolens:" not in done.stderr
        (log,) = folder.glob("*.darshan")
        job = read_log(log)
        posix = job.frames["POSIX"]
        written = posix.groupby("rank")["POSIX_BYTES_WRITTEN"].sum().to_dict()
        if files == 3:
            assert written == {-1: 30, 0: 30, 1: 30, 2: 30}
            assert not job.partial
            continue
        assert written == {rank: 60010 for rank in range(3) if rank != poor}
        assert "1 rank(s) had too little memory to write their records, and are missing from all tables." in job.partial
        assert {module.name for module in job.modules if module.partial} >= {"POSIX"}
        assert set(posix["id"].map(job.names).str.split("/").str[-1].str[:4]) == {f"own{r}" for r in written} | {"shar"}


def check_chains(job: Job) -> None:
    """Checks that the log has the calls once, under one number, because all ranks made them from the same places."""
    nodes, objects, sites = (job.private[name] for name in ("call_nodes", "objects", "mpi_sites"))
    assert set(nodes["rank"]) == set(objects["rank"]) == {-1}
    assert not nodes.duplicated(["parent", "object", "offset", "leaf"]).any()
    assert not objects.duplicated(["build_id", "path"]).any()
    (node,) = set(sites.loc[sites["function"] == "MPI_Sendrecv", "node"])
    (number,) = nodes.loc[nodes["node"] == node, "object"]
    assert objects.set_index("object")["path"][number].endswith("/crowded")


def test_a_job_of_many_ranks_is_one_log_with_all_of_them(built: Path, tmp_path: Path) -> None:
    """Uses 64 ranks, far more than there are cores: each is in every table, and sums include all."""
    ranks, size = 64, 1000
    settings = {"IOLENS_TRACE": "mpi,io", "IOLENS_CALLERS": "1", "IOLENS_IO_CALLERS": "1", "IOLENS_SAMPLE": "10"}
    _, job = launch(built, tmp_path, "crowded", str(tmp_path), ranks=ranks, **settings)
    tables = "file_ranks process sampling io_sites regions mpi_calls mpi_sites mpi_peers".split()
    for name in (*tables, "mpi_communicators", "rank_places", "counters"):
        assert set(job.private[name]["rank"]) == set(range(ranks)), name
    check_chains(job)
    posix = job.frames["POSIX"].set_index("rank")
    assert sorted(posix.index) == [-1, *range(ranks)]
    assert posix.loc[-1, ["POSIX_OPENS", "POSIX_WRITES"]].tolist() == [ranks, ranks]
    assert posix["POSIX_BYTES_WRITTEN"].sum() == 2 * ranks * size
    assert posix.loc[-1, "POSIX_MAX_BYTE_WRITTEN"] == ranks * size - 1
    assert job.private["file_ranks"]["bytes_written"].tolist() == [size] * ranks
    assert job.private["regions"]["calls"].tolist() == [1] * ranks
    calls = job.private["mpi_calls"].groupby("function")[["calls", "bytes_sent"]].sum()
    assert calls.loc["MPI_Sendrecv"].tolist() == [ranks, ranks * size]
    assert calls.loc["MPI_Allreduce", "calls"] == ranks
    peers = job.private["mpi_peers"]
    sent = peers[peers["messages"] > 0]
    assert set(zip(sent["rank"], sent["peer"], strict=True)) == {(rank, (rank + 1) % ranks) for rank in range(ranks)}
    assert (peers["bytes"].sum(), peers["received_bytes"].sum()) == (ranks * size, ranks * size)


@pytest.mark.parametrize(
    ("setting", "logs", "said"),
    [
        ("IOLENS_DISABLE=1", 1, "some ranks of the job run without the profiler"),
        ("IOLENS_APP_EXCLUDE=crowded", 1, "some ranks of the job run without the profiler"),
        ("IOLENS_FILE_RANKS=1", 0, "the ranks of the job run with different settings"),
    ],
)
def test_ranks_may_be_told_different_things(setting: str, logs: int, said: str, built: Path, tmp_path: Path) -> None:
    """The job runs to its end and prints one message about what became of its log."""
    inner = ["env", f"LD_PRELOAD={PRELOAD}", f"IOLENS_LOGPATH={tmp_path}", "IOLENS_SPOOL=none"]
    program = [str(built / "crowded"), str(tmp_path)]
    launcher = mpi.find_launcher(FLAVOUR)
    need_several_programs(launcher)
    command = [launcher, "-np", "1", *inner, *program, ":", "-np", "1", *inner, setting, *program]
    done = subprocess.run(
        command,
        env={**os.environ, **mpi.environment(FLAVOUR, 64, None)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert (done.stderr.count("iolens:"), done.stderr.count(said)) == (1, 1), done.stderr
    assert len(list(tmp_path.glob("*.darshan"))) == logs


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        *((ranks, "run without the profiler") for ranks in ("here here gone", "gone here here", "gone here")),
        *((ranks, "run without the profiler") for ranks in ("here here behind", "behind here", "shell shell behind")),
        *((ranks, "did not answer within a minute") for ranks in ("here here hidden", "hidden here")),
    ],
)
def test_ranks_without_the_libraries_are_not_waited_for_for_ever(
    ranks: str, said: str, built: Path, tmp_path: Path
) -> None:
    """The program's own calls still work, and each of the other ranks writes its own log. The profiler finds a rank
    below one shell that runs without it, but not a rank below seven shells; it waits for that one, here for less than
    the usual minute.
    """
    program = [str(built / "crowded"), str(tmp_path)]
    preload = f"LD_PRELOAD={PRELOAD}:{built}/hurried.so"
    here = ["env", preload, f"IOLENS_LOGPATH={tmp_path}", f"IOLENS_INCLUDE={tmp_path}", "IOLENS_SPOOL=none", *program]
    command = [mpi.find_launcher(FLAVOUR)]
    shell = ["sh", "-c", '"$@"; exit $?', "sh"]
    ways = {"here": here, "shell": [*shell, *here], "gone": program}
    ways |= {"behind": [*shell, *program], "hidden": [*shell * 7, *program]}
    settings = {**os.environ, **mpi.environment(FLAVOUR, 64, None)}
    two = [*command, "-np", "1", "true", ":", "-np", "1", "true"]
    if subprocess.run(two, env=settings, check=False).returncode < 0:
        pytest.skip("this mpirun crashes when it starts two programs as one job")
    for rank in ranks.split():
        command += ["-np", "1", *ways[rank], ":"]
    done = subprocess.run(
        command[:-1],
        env=settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(said) == 1
    written = [read_log(log).frames["POSIX"]["POSIX_BYTES_WRITTEN"].sum() for log in tmp_path.glob("*.darshan")]
    assert written == [2000] * (ranks.count("here") + ranks.count("shell"))


@pytest.mark.parametrize("name", ["usual", "mpich"])
def test_a_program_without_the_libraries_keeps_its_collective_calls(name: str, tmp_path: Path) -> None:
    """A program without the library makes non-blocking collective calls on MPI_COMM_WORLD. They must not be matched
    with the non-blocking calls by which the recorded ranks of another program find out that it is not recorded.
    """
    its = library(name)
    need_several_programs(str(its.mpirun))
    program = str(its.compile(ROOT / "tests/c/mpi_sums.c", tmp_path / "sums"))
    here = ["env", f"LD_PRELOAD={its.preload}", f"IOLENS_LOGPATH={tmp_path}", program]
    done = subprocess.run(
        [its.mpirun, "-np", "2", *here, ":", "-np", "2", program],
        env={**os.environ, **its.environment(None)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("iolens: some ranks of the job run without the profiler") == 1


def test_ranks_that_some_are_missing_from_write_logs_of_their_own(built: Path, tmp_path: Path) -> None:
    """`iolens run` detects from the command line which ranks cannot be recorded, or the user names them; no rank waits
    for these.
    """
    program = [str(built / "crowded"), str(tmp_path)]
    launcher = mpi.find_launcher(FLAVOUR)
    need_several_programs(launcher)
    job = [launcher, "-np", "2", *program, ":", "-np", "1", "env", "-u", "LD_PRELOAD", *program]
    options = ["--trace", "mpi,io", "--output", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-m", "iolens.cli.main", "run", *options, "--", *job],
        env={
            **os.environ,
            **mpi.environment(FLAVOUR, 64, None),
            "IOLENS_SPOOL": "none",
            "IOLENS_INCLUDE": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("each rank writes its own log without MPI") == 1
    assert "crowded is started by env without LD_PRELOAD" in done.stderr
    (log,) = (tmp_path / "out").glob("*_crowded_*.darshan")
    written = [int(each.frames["POSIX"]["POSIX_BYTES_WRITTEN"].sum()) for each in processes_of(read_log(log))]
    assert len(written) == 2
    assert min(written) > 0
    for apart in (False, True):
        _, variables = instrumented(job[:4], Setup(apart=apart))
        assert ("IOLENS_MPI" in variables) == apart
