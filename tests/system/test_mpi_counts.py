"""MPI statistics under each MPI library of this machine equal the counts that the test programs compute themselves."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import darshan
import numpy as np
import pandas as pd
import pytest
from iolens.exports.chrome import chrome
from iolens.lab.installation import find_program
from iolens.log import Job, read_log
from iolens.log.format.container import open_container
from iolens.log.format.variable import words_of
from iolens.metrics.processor.traced.calls import tracing_cost
from iolens.symbols.chains import ByRank, with_rows
from mpi_libraries import ROOT, library
from patience import PATIENCE

Counts = dict[tuple[str, int, str], tuple[int, ...]]

RANKS = 4
NONE_OF_THEM = 77  # Exit code of mpi_four.c if the MPI library lacks all of these functions.
STATUS_LINES = 35  # Number of lines that mpi_statuses.c prints.
APMPI_SYNCED = 3  # Value in APMPI's header that says that barriers were timed.
SIZES = [f"size_{i}" for i in range(7)]

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a program of tests/c (mpi_counts by default) with a library."""
    made: dict[tuple[str, str], Path] = {}

    def of(name: str, program: str = "mpi_counts") -> Path:
        if (name, program) not in made:
            target = tmp_path_factory.mktemp(name) / program
            made[name, program] = library(name).compile(ROOT / f"tests/c/{program}.c", target, "-O1", "-pthread")
        return made[name, program]

    return of


def run(
    program: Path,
    name: str,
    folder: Path,
    *words: str,
    ranks: int = RANKS,
    adapter: str | None = None,
    chain: str | None = None,
    trace: str = "mpi,io",
    **settings: str,
) -> subprocess.CompletedProcess[str]:
    """Runs a program under the profiler in `folder`, with MPI traced."""
    its, chain = library(name), chain or library(adapter or name).preload
    environment = {**os.environ, **its.environment(None)}
    environment |= settings
    inner = ["env", f"LD_PRELOAD={chain}", f"IOLENS_LOGPATH={folder}", f"IOLENS_TRACE={trace}"]
    command = [its.mpirun, "-np", str(ranks), *inner, program, *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


def expected(folder: Path) -> Counts:
    lines = [line.split() for path in folder.glob("expected.*") for line in path.read_text().splitlines()]
    return {(kind, int(rank), what): tuple(map(int, counts)) for kind, rank, what, *counts in lines}


def counted(log: Path) -> Counts:
    private = read_log(log).private
    calls, peers = private["mpi_calls"], private["mpi_peers"]
    found: Counts = {}
    for row in calls.itertuples():
        found["CALL", row.rank, row.function] = (row.calls, row.bytes_sent, row.bytes_received, row.messages)
    for row in peers.itertuples():
        found["PEER", row.rank, str(row.peer)] = (
            row.messages,
            row.bytes,
            row.received_messages,
            row.received_bytes,
        )
    return found


def the_log(folder: Path) -> Path:
    (log,) = folder.glob("*.darshan*")
    return log


@pytest.mark.parametrize(
    ("name", "adapter"),
    [("usual", "usual"), ("mpich", "mpich"), ("openmpi5", "openmpi5"), ("openmpi5", "usual"), ("mpiabi", "mpiabi")],
)
def test_every_kind_of_call(compiled: Callable[..., Path], tmp_path: Path, name: str, adapter: str) -> None:
    if library(adapter).flavour != library(name).flavour:
        pytest.skip("this machine's usual MPI is another one")
    done = run(compiled(name), name, tmp_path, adapter=adapter)
    assert done.returncode == 0, done.stderr
    assert "iolens:" not in done.stderr
    assert counted(the_log(tmp_path)) == expected(tmp_path)
    private = read_log(the_log(tmp_path)).private
    check_tables(private)
    assert darshan.DarshanReport(str(the_log(tmp_path)), read_all=True).metadata["job"]["nprocs"] == RANKS


@pytest.mark.parametrize("name", ["usual", "mpich", "openmpi5", "mpiabi"])
def test_calls_of_mpi_4(compiled: Callable[..., Path], tmp_path: Path, name: str) -> None:
    """Checks partitioned messages, persistent collective calls and the _c forms, if the library has them."""
    done = run(compiled(name, "mpi_four"), name, tmp_path)
    if done.returncode == NONE_OF_THEM:
        pytest.skip("this library has none of them")
    assert done.returncode == 0, done.stderr
    assert counted(the_log(tmp_path)) == expected(tmp_path)


@pytest.mark.parametrize("name", ["usual", "mpich", "openmpi5"])
@pytest.mark.parametrize("program", ["mpi_edges", "mpi_errors"])
def test_edges_and_errors(compiled: Callable[..., Path], tmp_path: Path, name: str, program: str) -> None:
    """Checks arguments that MPI ignores, missing neighbours, requests given up, and calls that fail."""
    version = subprocess.run([library(name).mpirun, "--version"], capture_output=True, text=True, check=True).stdout
    # Open MPI 4's component `rdma` for one-sided calls crashes in MPI_Compare_and_swap between processes of a node,
    # with and without the profiler.
    other = {"OMPI_MCA_osc": "^rdma"} if "Open MPI) 4" in version else {}
    done = run(compiled(name, program), name, tmp_path, **other)
    assert done.returncode == 0, done.stderr
    assert counted(the_log(tmp_path)) == expected(tmp_path)


@pytest.mark.parametrize("name", ["usual", "mpich", "openmpi5", "mpiabi"])
def test_statuses_are_what_the_library_makes_them(compiled: Callable[..., Path], tmp_path: Path, name: str) -> None:
    """MPI leaves some fields alone, such as MPI_ERROR of a single status; these keep the program's values."""
    program = compiled(name, "mpi_statuses")
    alone, recorded = (run(program, name, tmp_path, ranks=1, trace=trace) for trace in ("", "mpi"))
    assert (alone.returncode, recorded.returncode, recorded.stderr) == (0, 0, "")
    assert recorded.stdout.splitlines() == alone.stdout.splitlines()
    assert len(alone.stdout.splitlines()) == STATUS_LINES


def test_requests_are_found_however_many_there_are(compiled: Callable[..., Path]) -> None:
    program = [compiled("usual", "requests_units")]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.stdout, done.returncode) == ("", 0)


@pytest.mark.parametrize("name", ["usual", "mpich", "openmpi5"])
def test_a_window_is_looked_at_once(compiled: Callable[..., Path], tmp_path: Path, name: str) -> None:
    """The profiler asks MPI for the group of a window only once, although the program makes and frees communicators
    between its accesses to the window.
    """
    tool = library(name).compile(ROOT / "tests/c/tool_groups.c", tmp_path / "tool.so", "-shared", "-fPIC")
    chain = f"{library(name).preload}:{tool}"
    done = run(compiled(name, "mpi_windows"), name, tmp_path, ranks=2, chain=chain)
    assert (done.returncode, done.stdout.split("\n")) == (0, ["tool: 1 groups", "tool: 1 groups", ""]), done.stderr
    puts = read_log(the_log(tmp_path)).private["mpi_peers"]
    assert list(zip(puts["rank"], puts["peer"], puts["messages"], strict=True)) == [(0, 1, 50), (1, 0, 50)]


def check_tables(private: dict[str, pd.DataFrame]) -> None:
    """Checks that the tables agree with one another."""
    calls, sites = private["mpi_calls"], private["mpi_sites"]
    assert (calls[SIZES].sum(axis=1) == calls["messages"]).all()
    assert (calls["min_time"] <= calls["max_time"]).all()
    assert (calls["max_time"] <= calls["time"] * 1.000001).all()
    keys, sums = ["rank", "function", "region"], ["calls", "bytes_sent", "bytes_received", "messages", *SIZES]
    pd.testing.assert_frame_equal(sites.groupby(keys)[sums].sum(), calls.groupby(keys)[sums].sum())
    placed = with_rows(sites, private["call_nodes"], "node")
    paths = with_rows(placed, private["objects"], "object")["path"]
    assert set(paths.str.rsplit("/").str[-1]) == {"mpi_counts"}
    first = calls[(calls["rank"] == 0) & (calls["function"] == "MPI_Send")].iloc[0]
    assert [first[size] for size in SIZES] == [2, 1, 0, 1, 0, 0, 0]
    assert private["mpi_peers"]["on_node"].all()
    places = private["rank_places"]
    assert list(places["rank"]) == list(range(RANKS))
    assert set(places["thread_level"]) <= {0, 3}  # The program asks for MPI_THREAD_SINGLE; some libraries provide more.
    assert (places["cpu_count"] >= 1).all()
    assert places["host"].nunique() == 1
    world = private["mpi_communicators"]
    assert {(4, 0), (2, 0), (2, 2)} <= set(zip(world["size"], world["remote_size"], strict=True))


def check_events(job: Job, wanted: Counts) -> None:
    """Checks that the single calls in the log are those that the program made, in the order of its first thread."""
    events, calls = job.private["mpi_events"], job.private["mpi_calls"]
    made = {(rank, what): counts[0] for (kind, rank, what), counts in wanted.items() if kind == "CALL"}
    assert events.groupby(["rank", "function"]).size().to_dict() == made
    assert (events["start"] <= events["end"]).all()
    assert events["start"].min() >= 0
    assert events["end"].max() <= job.run_time * 1.01
    keys = ["rank", "function"]
    time = events.assign(time=events["end"] - events["start"]).groupby(keys)["time"].sum()
    pd.testing.assert_series_equal(time, calls.groupby(keys)["time"].sum(), rtol=1e-6, atol=1e-9)
    sends = events[events["function"] == "MPI_Send"]
    assert sends["bytes"].sum() == sum(counts[1] for (_, _, what), counts in wanted.items() if what == "MPI_Send")
    assert set(events[events["function"] == "MPI_Barrier"]["peer"]) == {-1}
    assert set(sends[sends["bytes"] > 0]["peer"]) <= set(range(RANKS))  # One message goes to MPI_PROC_NULL.
    for _, own in events[events["thread"] == 0].groupby("rank"):
        ordered = own.sort_values("start")
        assert (ordered["end"].to_numpy()[:-1] <= ordered["start"].to_numpy()[1:] + 1e-9).all()
    shown = [event for event in json.loads(chrome(job)[0])["traceEvents"] if event.get("cat") == "MPI"]
    assert len(shown) == len(events)
    assert {event["name"] for event in shown} == {what for _, what in made}


@pytest.mark.parametrize("name", ["usual", "mpich"])
def test_threads(compiled: Callable[..., Path], tmp_path: Path, name: str) -> None:
    """All threads of all ranks call at once: no call is lost."""
    assert run(compiled(name), name, tmp_path, "threads").returncode == 0
    assert counted(the_log(tmp_path)) == expected(tmp_path)


@pytest.mark.parametrize("name", ["usual", "mpich"])
def test_random_accesses_and_threads(compiled: Callable[..., Path], tmp_path: Path, name: str) -> None:
    """Makes one-sided accesses in every kind of epoch, and messages of four threads with every kind of call."""
    # The components of Open MPI 4.1 for one-sided calls other than `sm` crash at these accesses, with and without the
    # profiler.
    done = run(compiled(name, "mpi_random"), name, tmp_path, "1", "2", "3", OMPI_MCA_osc="sm")
    assert done.returncode == 0, done.stderr
    assert counted(the_log(tmp_path)) == expected(tmp_path)


def test_a_killed_job_has_counted(compiled: Callable[..., Path], tmp_path: Path) -> None:
    done = run(compiled("usual"), "usual", tmp_path, "killed", IOLENS_SPOOL=str(tmp_path))
    assert done.returncode != 0
    spools = sorted(tmp_path.glob("iolens-*/*.spool"))
    subprocess.run([find_program("iolens-recover"), "merge", *spools], check=True, stdout=subprocess.DEVNULL)
    wanted = {key: counts for key, counts in expected(tmp_path).items() if key[2] != "MPI_Finalize"}
    ended = {rank for _, rank, _ in wanted}
    assert {key: counts for key, counts in counted(the_log(tmp_path)).items() if key[1] in ended} == wanted
    settings = read_log(the_log(tmp_path)).private["mpi_settings"]  # The settings are reported when MPI begins.
    assert settings.iloc[0][["rank", "kind", "name"]].to_list() == [0, "library", "version"]


def test_nothing_is_counted_unless_it_is_asked_for(compiled: Callable[..., Path], tmp_path: Path) -> None:
    assert run(compiled("usual"), "usual", tmp_path, trace="io").returncode == 0
    for log in tmp_path.glob("*.darshan"):
        assert not {"mpi_calls", "mpi_sites", "mpi_peers"} & {
            name for name, table in read_log(log).private.items() if len(table)
        }


def test_tables_are_bounded(compiled: Callable[..., Path], tmp_path: Path) -> None:
    """If there is room for few rows, the calls with the least time are summed in one row per function; none is lost."""
    bounds = {"IOLENS_FILE_RANKS": "20", "IOLENS_MPI_PEERS": "1", "IOLENS_TIMELINE": "5"}
    assert run(compiled("usual"), "usual", tmp_path, **bounds).returncode == 0
    job = read_log(the_log(tmp_path))
    private = job.private
    assert private["mpi_events"].groupby("rank").size().to_list() == [5] * RANKS
    assert any("time line of MPI calls ends before" in reason for reason in job.partial)
    assert "APMPI" not in job.frames
    assert any("APMPI" in reason and "IOLENS_FILE_RANKS" in reason for reason in job.partial)
    wanted = expected(tmp_path)
    for table in (private["mpi_calls"], private["mpi_sites"]):
        assert (table["rank"] >= 0).sum() == 20
        for kind, column in ((0, "calls"), (1, "bytes_sent"), (2, "bytes_received"), (3, "messages")):
            by_function = table.groupby("function")[column].sum()
            for function in by_function.index:
                sums = [counts[kind] for key, counts in wanted.items() if key[0] == "CALL" and key[2] == function]
                assert by_function[function] == sum(sums), (function, column)
    assert private["mpi_peers"]["bytes"].sum() == sum(counts[1] for key, counts in wanted.items() if key[0] == "PEER")
    assert set(private["mpi_sites"]["node"]) >= {-2}
    assert set(private["mpi_settings"]["rank"]) == {0}  # Ranks whose settings equal those of rank 0 have no rows.


def test_waiting_for_one_another_and_late_receives(compiled: Callable[..., Path], tmp_path: Path) -> None:
    done = run(compiled("usual"), "usual", tmp_path, IOLENS_MPI_SYNC="1", IOLENS_LATE_RECEIVES="1")
    assert done.returncode == 0
    assert counted(the_log(tmp_path)) == expected(tmp_path)
    calls = read_log(the_log(tmp_path)).private["mpi_calls"].groupby("function")[["sync_time", "late_receives"]].sum()
    assert calls.loc["MPI_Allreduce", "sync_time"] > 0
    assert calls.loc["MPI_Send", "sync_time"] == 0
    assert calls["late_receives"].sum() >= 1  # A message that was probed for had already arrived.


def test_chains_of_callers(compiled: Callable[..., Path], tmp_path: Path) -> None:
    """With three callers each call site leads outwards to main; the sums and the single calls stay the same."""
    done = run(compiled("usual"), "usual", tmp_path, IOLENS_CALLERS="3", IOLENS_TIMELINE="100000")
    assert done.returncode == 0, done.stderr
    assert counted(the_log(tmp_path)) == expected(tmp_path)
    job = read_log(the_log(tmp_path))
    check_events(job, expected(tmp_path))
    private = job.private
    parents = ByRank(private["call_nodes"].set_index(["rank", "node"])["parent"].to_dict())
    sites = private["mpi_sites"]
    sends = sites[sites["function"] == "MPI_Sendrecv"]
    for rank, node in zip(sends["rank"], sends["node"], strict=True):
        chain = [node]
        while parents[rank, chain[-1]] >= 0:
            chain.append(parents[rank, chain[-1]])
        assert len(chain) == 3


@pytest.mark.parametrize("way", ["F08", "MODULE", "MPIF"])
def test_fortran(tmp_path: Path, way: str) -> None:
    """Fortran programs with mpi_f08, mpi and mpif.h have the same counts, including MPI_IN_PLACE and
    MPI_STATUSES_IGNORE.
    """
    compiler = library("usual").mpicc.parent / "mpifort"
    if not compiler.exists():
        pytest.skip("no Fortran compiler of this MPI")
    program = tmp_path / "fortran"
    source = ROOT / "tests/c/mpi_counts_fortran.F90"
    subprocess.run([compiler, "-cpp", f"-D{way}", source, "-o", program], check=True)
    done = run(program, "usual", tmp_path, ranks=2)
    assert done.returncode == 0, done.stderr
    found = counted(the_log(tmp_path))
    names = ["Init", "Irecv", "Isend", "Waitall", "Allreduce", "Comm_dup", "Bcast", "Barrier", "Comm_free", "Finalize"]
    assert {what for kind, rank, what in found if (kind, rank) == ("CALL", 0)} == {
        f"MPI_{one}" for one in [*names, "Send"]
    }
    assert found["CALL", 0, "MPI_Send"] == (1, 800, 0, 1)
    assert found["CALL", 1, "MPI_Recv"] == (1, 0, 800, 0)
    for rank in range(2):
        assert found["CALL", rank, "MPI_Waitall"] == (1, 0, 400, 0)
        assert found["CALL", rank, "MPI_Allreduce"] == (1, 80, 80, 1)
        assert found["CALL", rank, "MPI_Bcast"] == ((1, 24, 0, 1) if rank else (1, 0, 24, 0))
    assert found["PEER", 0, "1"] == (2, 1200, 1, 400)
    private = read_log(the_log(tmp_path)).private
    sites = with_rows(private["mpi_sites"], private["call_nodes"], "node")
    callers = with_rows(sites, private["objects"], "object")["path"].str.rsplit("/").str[-1]
    assert (len(callers), set(callers)) == (len(private["mpi_sites"]), {"fortran"})


def test_ranks_that_are_left_out_are_not_waited_for(compiled: Callable[..., Path], tmp_path: Path) -> None:
    done = run(compiled("usual"), "usual", tmp_path, IOLENS_RANK_EXCLUDE="0,2", IOLENS_MPI_SYNC="1")
    assert done.returncode == 0, done.stderr
    assert counted(the_log(tmp_path)) == {key: value for key, value in expected(tmp_path).items() if key[1] in (1, 3)}
    log = open_container(the_log(tmp_path))
    (region,) = (region for region in log.modules if region.name == "APMPI")
    assert words_of(log, region)[1][APMPI_SYNCED] == 0
    job = read_log(the_log(tmp_path))
    assert list(job.frames["APMPI"]["rank"]) == [1, 3]
    assert set(job.private["mpi_settings"]["rank"]) == {1, 3}


@pytest.mark.parametrize(("callers", "known"), [("0", True), ("1", True), ("8", False)])
def test_what_tracing_mpi_cost_is_within_the_time_of_the_calls(
    compiled: Callable[..., Path], tmp_path: Path, callers: str, known: bool
) -> None:
    """The program times each call by its own clock, which includes the recording of the call."""
    calls = 100_000
    words = ("Iprobe", str(calls), "1")
    done = run(compiled("usual", "mpi_cost"), "usual", tmp_path, *words, ranks=1, trace="mpi", IOLENS_CALLERS=callers)
    found = tracing_cost(read_log(the_log(tmp_path)))
    assert found is not None
    (cost,) = found.frame().to_dict("records")
    assert (cost["group"], cost["calls"] > calls) == ("mpi", True)
    assert not known or 0 < cost["seconds"] < 1e-9 * calls * float(done.stdout)
    assert known or np.isnan(cost["seconds"])
