"""Tests MPI, samples, call chains, regions, time and efficiencies of a made-up job of four ranks, by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import recorded_runs
from iolens.advise import judge
from iolens.advise.limits import DEFAULTS
from iolens.cli.main import main
from iolens.log import Job, read_log
from iolens.log.records import as_records
from iolens.log.samples import held_samples
from iolens.metrics.processor import regions, steps, time
from iolens.metrics.processor.ask import Ask, asked_levels, conditions
from iolens.metrics.processor.io.sites import io_callers
from iolens.metrics.processor.mpi import calls as mpi
from iolens.metrics.processor.mpi import rank_order
from iolens.metrics.processor.mpi.calls import mpi_distance, mpi_nodes, mpi_peers, peer_matrix
from iolens.metrics.processor.regions import SEVERAL
from iolens.metrics.processor.sampled import call_chains, groups, samples
from iolens.metrics.processor.sampled.groups import called_name, group_of, mpi_name
from iolens.metrics.processor.traced import functions
from iolens.metrics.subjects.subject import Trial
from iolens.metrics.subjects.values import EFFICIENT, WENT, values_of
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
from iolens.pages.exhibits.processor_time import time_note
from iolens.pages.job.job_document import write_job
from processor_example import every_rank, job, resolved, tables, use

FULL = Path(__file__).parents[1] / "advice" / "logs" / "x-btio-full.darshan"
"""A log of four ranks with one file; each rank's part in all collective writes to it is known."""


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes symbols unavailable, because the made-up program and its libraries have no files."""
    monkeypatch.setattr(call_chains, "resolve", resolved)


@pytest.fixture
def made() -> Job:
    return job(**tables())


def rows_of(frame: pd.DataFrame | None, *columns: str) -> list[tuple[Any, ...]]:
    """Returns the values of some columns, row by row."""
    assert frame is not None
    return list(frame[list(columns)].itertuples(index=False, name=None))


@pytest.mark.parametrize(
    ("function", "path", "group"),
    [
        ("mpi_send_", "/lib/libmpi_mpifh.so.40", "MPI"),
        ("MPI_WAITALL", "/lib/libmpi_mpifh.so.40", "MPI"),
        ("mpi_allreduce_f08_", "/home/me/app", "MPI"),
        ("mpi_exchange_", "/home/me/app", "USER"),
        ("PMPI_File_write_all", "/lib/libmpi.so.40", "MPI-IO"),
        ("mpi_helper", "/home/me/app", "USER"),
        ("opal_progress", "/lib/libopen-pal.so.40", "MPI"),
        ("mca_io_ompio_file_write", "/lib/openmpi/mca_io_ompio.so", "MPI-IO"),
        ("__libc_pwrite64", "/lib/libc.so.6", "POSIX"),
        ("__read_nocancel", "/lib/libc.so.6", "POSIX"),
        ("read", "/home/me/app", "USER"),  # The program has a function of its own with the name of a system call.
        ("_IO_file_xsgetn", "/lib/libc.so.6", "STDIO"),
        ("__fopen_internal", "/lib/libc.so.6", "STDIO"),
        ("__memcpy_avx_unaligned_erms", "/lib/libc.so.6", "STRING"),
        ("sin", "/lib/libm.so.6", "MATH"),
        ("dgemm_", "/home/me/app", "BLAS"),
        ("inner_thread", "/venv/numpy.libs/libscipy_openblas64_-4b78795a.so", "BLAS"),
        ("GOMP_parallel", "/lib/libgomp.so.1", "OMP"),
        ("H5Dwrite", "/lib/libhdf5.so.103", "ETC"),
        ("epoll_wait", "", "ETC"),  # A library call that a wrapper of the profiler replaces has no object file.
        ("pwrite64", "", "POSIX"),
        ("x_solve_", "/home/me/bt.A.x", "USER"),
    ],
)
def test_groups(function: str, path: str, group: str) -> None:
    assert group_of(function, path) == group


def test_functions_of_the_c_library_have_the_names_that_programs_call() -> None:
    assert called_name("__fopen_internal", "/lib/libc.so.6") == "fopen"
    assert called_name("__step_internal", "/home/me/app") == "__step_internal"


def test_names_of_mpi_functions() -> None:
    said = ["mpi_file_write_all_", "mpi_send__", "mpi_bcast_f08_", "PMPI_Wait", "MPI_Init", "step"]
    assert [mpi_name(name) for name in said] == [
        *("MPI_File_write_all", "MPI_Send", "MPI_Bcast", "MPI_Wait", "MPI_Init", ""),
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("MPI_WAITALL", "MPI_Waitall_f", "MPI_Waitall_f08", "PMPI_WAITALL", "PMPI_Waitall_f08", "mpi_waitall"),
        *("mpi_waitall_", "mpi_waitall__", "ompi_waitall_f", "pmpi_waitall", "pmpi_waitall_f08_"),
    ],
)
def test_all_names_of_a_function_of_mpi_are_one(name: str) -> None:
    """Names that Open MPI's Fortran libraries give to one address; the linker's table may list any of them."""
    assert mpi_name(name, "/lib/libmpi_mpifh.so.40") == "MPI_Waitall"


def test_profile(made: Job) -> None:
    found = samples.profile(made).frame()
    assert rows_of(found, "depth", "name", "samples") == [
        (0, "Total", 900.0),
        *((1, "USER", 550.0), (2, "solve", 550.0)),
        *((1, "MPI", 150.0), (2, "MPI_Allreduce", 150.0)),
        *((1, "MPI-IO", 150.0), (2, "MPI_File_write_all", 100.0), (2, "MPI_File_write_at", 50.0)),
        *((1, "MATH", 50.0), (2, "sin", 50.0)),
    ]
    assert found is not None
    assert found.loc[2, ["imbalance", "most", "most_rank"]].tolist() == [150.0, 700.0, 3.0]
    states = samples.profile(made, Ask(asked_levels("state,function"), where=conditions("region=(outside)"))).frame()
    assert rows_of(states, "name", "samples")[:3] == [
        *(("Total", 200.0), ("waiting", 150.0), ("MPI_File_write_all", 100.0)),
    ]


def test_lines_callers_and_call_tree(made: Job) -> None:
    lines = rows_of(samples.sampled_lines(made).frame(), "level", "name", "samples")
    assert lines[3:6] == [("source", "solve.c", 550.0), ("line", "line 31", 450.0), ("line", "line 32", 100.0)]
    assert rows_of(samples.hot_lines(made), "source", "line", "samples", "most", "most_rank") == [
        *(("solve.c", "line 31", 450.0, 600, 3), ("solve.c", "line 32", 100.0, 100, 0)),
    ]
    callers = rows_of(samples.callers(made).frame(), "depth", "name", "samples")
    assert callers[1:4] == [(1, "solve", 550.0), (2, "step", 550.0), (3, "main", 550.0)]
    assert callers[9:12] == [(1, "MPI_File_write_at", 50.0), (2, "H5Dwrite", 50.0), (3, "main", 50.0)]
    tree = rows_of(samples.calltree(made).frame(), "depth", "name", "samples")
    assert tree[1:5] == [(1, "main", 900.0), (2, "step", 750.0), (3, "solve", 550.0), (3, "MPI_Allreduce", 150.0)]


def resolved_otherwise(**changed: Any) -> Callable[..., pd.DataFrame]:
    """Changes columns of `resolved` for the program's own functions."""

    def found(nodes: pd.DataFrame, objects: pd.DataFrame, **_: Any) -> pd.DataFrame:
        rows = resolved(nodes, objects)
        rows.loc[rows["object"] == "/home/me/app", list(changed)] = list(changed.values())
        return rows

    return found


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"source": "", "line": 0}, "no debug information here"),
        ({"source": "", "line": 0, "symbol": ""}, "missing, was rebuilt after the run, or is stripped"),
        ({"source": "/src/app.py", "line": 0}, "(Python)"),
    ],
)
def test_why_no_line_is_known(changed: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert samples.why_no_lines(job(**tables())) == ""
    monkeypatch.setattr(call_chains, "resolve", resolved_otherwise(**changed))
    samples.place_of.cache_clear()  # Chains are compared without the names of the linker.
    monkeypatch.setattr(samples.shutil, "which", lambda tool: f"/usr/bin/{tool}")
    made = job(**tables())
    assert said in samples.why_no_lines(made)
    assert said in dict(rows_of(steps.next_steps(made).frame(), "step", "evidence"))["4. compute faster"]
    monkeypatch.setattr(samples.shutil, "which", lambda tool: None)
    assert ("addr2line" in samples.why_no_lines(made)) == ("no debug" in said)


def test_a_run_without_samples_of_its_own_lacks_no_debug_information() -> None:
    found = tables()
    found["samples"] = found["samples"][found["samples"]["node"] > 4]
    made = job(**found)
    assert samples.why_no_lines(made) == "no sample was in the program's own functions"
    hot = next(exhibit for exhibit in JOB_EXHIBITS if exhibit.name == "hot_lines")
    assert hot.absent(made) == "Source lines: n/a; no sample was in the program's own functions."
    assert samples.why_no_lines(job()) == hot.absent(job()) == ""


def test_samples_without_names_or_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tables()
    monkeypatch.undo()
    named = samples.profile(job(**found)).frame()
    assert named is not None
    assert "0x300 (app)" in set(named["name"])
    del found["call_nodes"]
    lost = samples.profile(job(**found)).frame()
    assert rows_of(lost, "name") == [("Total",), ("ETC",), ("(chain not kept)",)]


def test_running_samples_beyond_the_processor_time_wait() -> None:
    """Thread 0 has ten seconds of running samples at two places, and two seconds of processor time. The excess of
    thread 1 is less than the error of a count.
    """
    columns = ["rank", "thread", "region", "node", "count", "kind", "on_core"]
    rows = [(0, 0, 0, 1, 600, 0, 1.5), (0, 0, 0, 2, 400, 0, 0.5), (0, 0, 0, 2, 50, 1, 0.0), (0, 1, 0, 1, 100, 0, 0.95)]
    seen = pd.DataFrame(rows, columns=columns)
    timer = pd.DataFrame([{"rank": 0, "timer": "wall", "asked_hz": 100.0}])
    held = held_samples(job(1, samples=seen, sampling=timer))
    assert held is not None
    counts = held.groupby(["thread", "waits", "node"])["count"].sum()
    assert list(counts.items()) == [
        *(((0, False, 1), 120), ((0, False, 2), 80), ((0, True, 1), 480), ((0, True, 2), 320 + 50)),
        ((1, False, 1), 100),
    ]
    left = held_samples(job(1, samples=seen, sampling=timer.assign(timer="cpu")))
    assert left is not None
    assert left["count"].tolist() == seen["count"].tolist()


def test_threads_of_libraries_are_left_out() -> None:
    found = tables()
    helper = pd.DataFrame([(0, 1, 0, 5, 1000, 1), (0, 2, 0, 2, 8, 0), (0, 2, 0, 5, 4, 0)])
    helper.columns = found["samples"].columns
    # Makes opal_progress the outermost function of a thread.
    found["call_nodes"].loc[found["call_nodes"]["node"] == 4, "parent"] = -1
    found["samples"] = pd.concat([found["samples"], helper], ignore_index=True)
    counted = samples.profile(job(**found)).frame()
    assert counted is not None
    assert counted.loc[0, "samples"] == 900.0 + 12 / 4
    everything = samples.profile(job(**found), Ask(every_thread=True)).frame()
    assert everything.loc[0, "samples"] == 900.0 + 1012 / 4


@pytest.mark.parametrize("options", [[], ["--all-threads"]])
def test_exports_and_the_profile_have_the_same_threads(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checks the formats as viewers read them: sums of collapsed stacks, and names of rows on the timeline."""
    found = tables()
    helper = pd.DataFrame([(0, 1, 0, 5, 1000, 1)], columns=found["samples"].columns)
    found["call_nodes"].loc[found["call_nodes"]["node"] == 4, "parent"] = -1
    found["samples"] = pd.concat([found["samples"], helper], ignore_index=True)
    times = [(rank, thread, 5, 0.1 * step, 1, 1) for rank, thread in ((0, 0), (0, 1)) for step in range(1, 4)]
    found["sample_times"] = pd.DataFrame(times, columns=["rank", "thread", "node", "time", "periods", "kind"])
    found["sampling"] = pd.DataFrame([{"rank": 0, "asked_hz": 100}])
    monkeypatch.setattr("iolens.log.read_log", lambda path: job(**found))
    assert main(["table", "profile", "job.darshan", "--by", "group", "--json", *options]) == 0
    total = json.loads(capsys.readouterr().out)[0]["samples"]
    assert main(["export", "job.darshan", "--format", "collapsed", "-o", str(tmp_path / "a"), *options]) == 0
    lines = (tmp_path / "a").read_text().splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == 4 * total
    assert main(["export", "job.darshan", "--format", "chrome", "-o", str(tmp_path / "b"), *options]) == 0
    rows = {one["args"]["name"] for one in json.loads((tmp_path / "b").read_text())["traceEvents"] if one["ph"] == "M"}
    assert ("thread 1, samples" in rows) == bool(options)
    assert main(["table", "memory", "job.darshan", "--all-threads"]) == 2


def test_mpi_calls_and_messages(made: Job) -> None:
    calls = mpi.mpi_calls(made).frame()
    assert calls is not None
    first = calls.iloc[1]
    assert (first["name"], first["time"], first["imbalance"], first["calls"]) == ("MPI_Allreduce", 1.5, 1.5, 10.0)
    assert first["imbalance_percent"] == pytest.approx(100 * 1.5 / 3 * 4 / 3)
    assert calls.loc[0, ["min_time", "max_time"]].tolist() == [0.001, 1.0]
    inside = mpi.mpi_calls(made, Ask(asked_levels("region,function"), 0.0, conditions("region=solve"))).frame()
    assert rows_of(inside, "name") == [("Total",), ("solve",), ("MPI_Recv",), ("MPI_Send",)]
    sent = mpi.mpi_messages(made, Ask(threshold=0.0)).frame()
    assert rows_of(sent, "name", "messages", "size_0", "size_3")[:3] == [
        *(("Total", 110.0, 10.0, 100.0), ("MPI_Send", 100.0, 0.0, 100.0), ("MPI_Allreduce", 10.0, 10.0, 0.0)),
    ]


def test_call_sites_down_to_single_ranks(made: Job) -> None:
    found = rows_of(mpi.mpi_callers(made).frame(), "depth", "name", "bytes_sent")
    each = 8192.0 * 100
    assert found[1:] == [
        *((1, "MPI_Send", 2.5 * each), (2, "exchange", 2.5 * each), (3, "main", 2.5 * each)),
        *((4, "pe.3 (max)", 4 * each), (4, "pe.1 (median)", 2 * each), (4, "pe.0 (min)", each)),
    ]
    sites = mpi.mpi_sites(made, Ask(asked_levels("function,caller"))).frame()
    assert rows_of(sites, "name")[1:4] == [("MPI_Allreduce",), ("step",), ("main",)]


def test_a_program_that_only_fetches_has_messages_and_pairs() -> None:
    """Rank 1 fetches twice from rank 0, which makes no call itself."""
    zero = dict.fromkeys([f"size_{n}" for n in range(7)], 0)
    call = {"function": "MPI_Get", "region": 0, "calls": 2, "time": 0.1, "bytes_sent": 0, "bytes_received": 48}
    calls = pd.DataFrame([{"rank": 1, **call, "messages": 2, **zero, "size_1": 2}])
    pair = {"rank": 1, "peer": 0, "messages": 0, "bytes": 0, "received_messages": 2, "received_bytes": 48, "on_node": 1}
    made = job(2, mpi_calls=calls, mpi_peers=pd.DataFrame([{**pair, "got_messages": 2, "got_bytes": 48}]))
    assert rows_of(mpi_peers(made).frame(), "rank", "peer", "messages", "bytes") == [(0, 1, 2, 48)]
    assert rows_of(mpi.mpi_messages(made).frame(), "name", "bytes_sent", "messages", "size_1") == [
        *(("Total", 24.0, 1.0, 1.0), ("MPI_Get", 24.0, 1.0, 1.0)),
    ]
    traffic = rank_order.traffic_of(made)
    assert traffic is not None
    assert traffic.weight == {0: {1: 48.0}, 1: {0: 48.0}}


def test_pairs_distance_and_nodes(made: Job) -> None:
    each = 8192 * 100
    assert rows_of(mpi_peers(made).frame(), "rank", "peer", "bytes", "on_node")[0] == (0, 1, each, 1)
    assert rows_of(mpi_distance(made).frame(), "distance", "bytes") == [(1, 3 * each), (3, each)]
    assert rows_of(mpi_nodes(made).frame(), "where", "bytes") == [
        ("between nodes", 2 * each),
        ("within a node", 2 * each),
    ]
    matrix, group = peer_matrix(made)
    assert (group, matrix.shape, matrix.sum(), matrix[3, 0]) == (1, (4, 4), 4 * each, each)
    wide, group = peer_matrix(job(1000, mpi_peers=tables()["mpi_peers"]))
    assert (group, wide.shape, wide[0, 0]) == (8, (125, 125), 4 * each)


def test_how_well_it_was_sampled() -> None:
    columns = "thread timer asked_hz samples stacks lost cut duration handler_time"
    found = tables() | {"sampling": every_rank([(0, "wall", 100.0, 900, 450, 100, 45, 9.0, 0.009)], columns)}
    assert rows_of(samples.sampling(job(**found)).frame(), "threads", "asked_hz", "hz", "lost", "cut", "cost") == [
        (4, 100.0, 50.0, 10.0, 10.0, pytest.approx(0.1)),
    ]


def test_io_call_sites() -> None:
    columns = "module function file region node calls time bytes"
    found = tables() | {"io_sites": every_rank([("POSIX", "pwrite", 9, 0, 6, 4, 2.0, 4096)], columns)}
    sites = rows_of(io_callers(job(**found)).frame(), "depth", "name", "time", "bytes")
    assert sites[1:4] == [(1, "pwrite", 2.0, 4096.0), (2, "MPI_File_write_all", 2.0, 4096.0), (3, "main", 2.0, 4096.0)]


def test_regions_by_path(made: Job) -> None:
    found = regions.regions(made).frame()
    assert rows_of(found, "name", "exclusive_time", "calls") == [
        *(("Total", 5.5, 30.0), ("solve", 4.5, 10.0), ("solve/#7", 1.0, 20.0)),
    ]
    assert found["time"].tolist()[1:] == [5.5, 1.0]
    # The call of `solve` contains region #7, so that a sum of both would count the time of #7 twice.
    assert pd.isna(found["time"][0])
    each = regions.regions(made, Ask(asked_levels("pe=all"))).frame()
    assert each["time"].isna().all()
    one = regions.regions(made, Ask(asked_levels("pe=all"), where=conditions("region=solve"))).frame()
    assert one["time"].tolist()[:2] == [5.5, 7.0]


def test_a_region_that_holds_others_is_shown_by_the_time_with_them() -> None:
    columns = "thread region calls unended time exclusive_time min_time max_time"
    names = every_rank([(1, 0, 1, "step"), (2, 1, 2, "solve"), (3, 1, 3, "log")], "region parent id label")[:3]
    rows = [(0, 1, 1, 0, 5.0, 0.001, 5.0, 5.0), (0, 2, 9, 0, 4.998, 4.998, 0.1, 1.0), (0, 3, 9, 0, 1e-3, 1e-3, 0, 0)]
    made = job(regions=every_rank(rows, columns), region_names=names)
    assert regions.regions(made).frame()["name"].tolist() == ["Total", "step/solve", "step"]


def test_kinds_of_mpi_calls() -> None:
    kinds = {
        groups.POINT: "Waitall Request_get_status Request_get_status_some Parrived Buffer_flush Comm_detach_buffer "
        "Test Recv Isend Sendrecv_replace Improbe Mrecv Ssend_init Startall Buffer_iflush",
        groups.COLLECTIVE: "Allreduce Ibcast Reduce_scatter_block Ialltoallw Neighbor_allgatherv Exscan Comm_split "
        "Win_free",
        groups.SYNC: "Barrier Ibarrier Barrier_init Win_fence Win_lock_all Win_flush_local Win_wait",
        groups.OTHER: "Put Get_accumulate Rput Fetch_and_op Type_commit",
        groups.START: "Init_thread Finalize",
    }
    for part, names in kinds.items():
        assert {groups.part_of(f"MPI_{name}") for name in names.split()} == {part}


def test_where_the_time_went(made: Job) -> None:
    each = time.rank_time(made).frame().set_index("rank")
    assert each[groups.COMPUTE].tolist() == pytest.approx([5.5, 6.5, 7.5, 8.5])
    assert each[groups.SYNC].tolist() == [0.25] * 4
    assert each[groups.POINT].tolist() == [1.0] * 4
    assert each[groups.COLLECTIVE].tolist() == [3.0, 2.0, 1.0, 0.0]
    assert each[groups.START].tolist() == [0.25] * 4
    assert each.sum(axis=1).tolist() == pytest.approx([10.0] * 4)
    synced = tables()
    synced["mpi_calls"].loc[synced["mpi_calls"]["function"] == "MPI_Allreduce", "sync_time"] = 1.0
    apart = time.rank_time(job(**synced)).frame().set_index("rank")
    assert apart[groups.SYNC].tolist() == [1.25] * 4
    assert "timed barriers before collectives" in time_note(job(**synced))
    assert "timed barriers" not in time_note(made)
    found = tables()
    del found["mpi_calls"]
    sampled = time.rank_time(job(**found)).frame().set_index("rank")
    moved = sampled[list(groups.IO_PARTS)].sum(axis=1)
    assert moved.tolist() == pytest.approx([10 * 150 / 900] * 4)
    assert sampled[groups.COMPUTE].tolist() == pytest.approx([10 * (450 + 100 * rank) / 900 for rank in range(4)])


def test_calls_of_threads_at_once_are_no_more_than_the_run() -> None:
    found = tables()
    found["mpi_calls"]["time"] *= 4.0
    each = time.rank_time(job(**found)).frame().set_index("rank")
    assert each.sum(axis=1).tolist() == pytest.approx([10.0] * 4)
    some = each.loc[0, [groups.COMPUTE, groups.SYNC, groups.POINT, groups.COLLECTIVE]].tolist()
    assert some == pytest.approx([0, 10 / 18, 40 / 18, 120 / 18])


COLUMNS_OF_USE = (
    "ranks max_rss minor_faults major_faults voluntary_switches involuntary_switches storage_read storage_written "
    "user_time system_time"
)
"""Columns that the table `process` has in logs without a table `threads`."""


def test_samples_by_the_processors_clock_leave_the_parts_to_the_kernels_counts() -> None:
    """The run takes 10 s, and the processors work for 2 s."""
    found = tables()
    del found["mpi_calls"]
    used = every_rank([(1, 10**6, 0, 0, 0, 0, 0, 0, 1.5, 0.5)], COLUMNS_OF_USE)
    sampling = every_rank([("cpu", 100.0)], "timer asked_hz")
    made = job(**{**found, "process": used}, sampling=sampling)
    each = time.rank_time(made).frame().set_index("rank")
    assert each[groups.UNTRACED].tolist() == pytest.approx([2.0] * 4)
    assert each[groups.OFF_CORE].tolist() == pytest.approx([8.0] * 4)
    assert time.efficiencies(made) is None
    assert "busiest thread, outside I/O. Processor time" in time_note(made)


def test_ranks_that_the_job_does_not_have_are_left_out() -> None:
    found = tables()
    found["mpi_calls"].loc[0, "rank"] = 2**31  # The log gets a rank number that no job can have, as in a damaged log.
    found["mpi_peers"].loc[0, "peer"] = 2**31
    damaged = job(**found)
    each = time.rank_time(damaged).frame().set_index("rank")
    assert each is not None
    assert len(each) == 4
    assert len(rows_of(mpi_peers(damaged).frame(), "peer")) == 3


def test_the_rounding_of_sums_is_no_time_of_other_ranks() -> None:
    found = functions.load_balance(read_log(FULL), Ask(threshold=0.0))
    assert found is not None
    names = list(found["name"])
    exchange = names.index("exchange")
    assert found["most_rank"][exchange] == 3.0
    assert names[exchange + 4] == "meta"


def test_functions_that_hold_others_are_in_no_sum() -> None:
    columns = "group function region node calls time bytes throttled"
    rows = [("blas", "dgemm_", 0, -1, 3, 2.0, 0, 0), ("functions", "", 0, 2, 1, 9.0, 0, 0)]
    found = functions.load_balance(job(traced=every_rank(rows, columns))).frame()
    assert rows_of(found, "name", "time")[:3] == [("Total", 2.0), ("BLAS", 2.0), ("dgemm_", 2.0)]


def test_efficiencies_multiply(made: Job) -> None:
    found = time.efficiencies(made).frame()
    assert found is not None
    value = dict(zip(found["name"], found["value"], strict=True))
    assert value["load balance"] == pytest.approx(7.0 / 8.5)
    assert value["core efficiency"] == pytest.approx(1.0)
    # The 0.25 s of MPI_Init do not count, so 9.75 of the 10 s remain.
    assert value["communication efficiency"] == pytest.approx(8.5 / 9.75)
    factors = ("load balance", "core efficiency", "I/O efficiency", "communication efficiency")
    assert value["parallel efficiency"] == pytest.approx(math.prod(value[name] for name in factors))
    assert found.set_index("name").loc["computational scaling", "unknown"].startswith("unknown")
    assert time.efficiencies(job(1, **tables())) is None


def test_the_start_of_mpi_is_no_loss_of_efficiency() -> None:
    """POP's region of interest begins after MPI_Init: a run that starts MPI for 8 of 10 s communicates no worse."""
    calls = tables()["mpi_calls"]
    calls = calls[calls["function"].isin(["MPI_Init", "MPI_Barrier"])].copy()
    calls.loc[calls["function"] == "MPI_Init", "time"] = 8.0
    found = dict(time.efficiencies(job(mpi_calls=calls, process=use(10.0, init=8.0))).rows("name", "value"))
    assert found["communication efficiency"] == pytest.approx(1.75 / 2.0)
    assert found["parallel efficiency"] == pytest.approx(1.75 / 2.0)
    calls.loc[calls["function"] == "MPI_Init", "time"] = 10.0
    assert (
        time.efficiencies(job(mpi_calls=calls[calls["function"] == "MPI_Init"], process=use(10.0, init=10.0))) is None
    )


def test_an_efficiency_is_not_known_where_computing_is_less_than_what_is_not_told_apart() -> None:
    """Ranks that waited for storage all the time had a parallel efficiency of 0.000, as if they did not compute."""
    log = recorded_runs.logs("thresholds") / "aggregators-0-1.darshan"
    found = {row[0]: row[1:] for row in time.efficiencies(read_log(log)).rows("name", "value", "unknown")}
    for name in ("parallel efficiency", "load balance", "core efficiency"):
        assert math.isnan(found[name][0])
        assert "cannot separate computing from waiting" in found[name][1]
    assert 0 < found["communication efficiency"][0] <= 1


def test_a_comparison_has_the_parts_of_the_time_and_the_efficiencies(made: Job) -> None:
    found = {(one.group, one.name): one.value for one in values_of(Trial(Path("made"), made))}
    times = time.rank_time(made)
    assert times is not None
    assert {part: value for (group, part), value in found.items() if group == WENT} == {
        part: pytest.approx(times[part].mean()) for part in groups.PARTS
    }
    assert found[EFFICIENT, "load balance"] == pytest.approx(7.0 / 8.5)
    # A single run cannot show how computing scales with ranks.
    assert (EFFICIENT, "computational scaling") not in found
    assert WENT not in {one.group for one in values_of(Trial(Path("files"), job()))}


def test_what_bounds_a_run_by_computing_names_the_hottest_function(made: Job) -> None:
    found = judge.beside_io(made, DEFAULTS, None)
    assert found is not None
    assert found.sentence == (
        "Bound by computing: 70 % of an average rank's time on a core, most in solve (73 % of the samples that ran)."
    )


def test_the_recipe(made: Job) -> None:
    said = dict(rows_of(steps.next_steps(made).frame(), "step", "evidence"))
    assert said["1. balance the load"].startswith("rank 3 computes 8.5 s, an average rank 7.0 s")
    assert said["2. find the hot spots"].startswith("solve 61.1 %, MPI_Allreduce 16.7 %")
    assert "among calls, MPI_Allreduce is the most uneven: imbalance" in said["1. balance the load"]
    assert "50 % of the bytes between nodes" in said["3. communicate less, and start it earlier"]
    assert "solve.c, line 31: 50.0 %" in said["4. compute faster"]
    only = steps.next_steps(job(mpi_calls=tables()["mpi_calls"], process=tables()["process"])).frame()
    assert "n/a: not sampled" in dict(rows_of(only, "step", "evidence"))["2. find the hot spots"]


def test_the_recipe_names_a_rank_that_does_all_the_io(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {
        groups.COMPUTE: [1.0, 1.0],
        groups.SYNC: [0.0, 8.0],
        groups.START: [1.0] * 2,
        groups.IO["POSIX"]: [8.0, 0.0],
    }
    each = pd.DataFrame({"rank": [0, 1], **{part: known.get(part, [0.0, 0.0]) for part in groups.PARTS}})
    monkeypatch.setattr(time, "rank_time", lambda job: as_records(each))
    first = steps.imbalance_step(job(2))
    assert first.evidence == "rank 0 is in I/O for 8.0 s, an average rank 4.0 s"
    assert first.share == pytest.approx(40.0)


def test_the_recipe_of_one_process_and_of_untraced_mpi_claims_nothing_of_messages() -> None:
    found = tables()
    del found["mpi_calls"]
    alone = job(1, **{name: table[table["rank"] == 0] for name, table in found.items()})
    assert steps.communication_step(alone).evidence == "n/a: one process, and MPI was not traced"
    untraced = job(process=use(6.0))
    assert steps.communication_step(untraced).evidence == "n/a: MPI was not traced (iolens run --trace mpi)"


def test_the_recipe_of_ranks_that_sleep_asks_for_less_waiting() -> None:
    found = steps.computation_step(job(process=use(1.0)))
    assert found.step == "4. wait less outside I/O"
    assert found.evidence == "asleep or blocked"
    assert found.share == pytest.approx(90.0)


def test_the_recipe_has_what_the_processor_counted() -> None:
    counts = [
        (SEVERAL, "PAPI_TOT_CYC", 1000, 1.0, 1.0, ""),
        (SEVERAL, "PAPI_TOT_INS", 500, 1.0, 1.0, ""),
        (SEVERAL, "PAPI_L1_DCA", 200, 1.0, 1.0, ""),
        (SEVERAL, "PAPI_L1_DCM", 30, 1.0, 1.0, ""),
    ]
    counted = every_rank(counts, "region event value time_enabled time_running unavailable")
    said = steps.computation_step(job(**tables(), counters=counted)).evidence
    assert said.endswith("; D1 cache hit ratio 85.0%; Instructions per cycle 0.50")


def test_what_starts_mpi_is_no_communication_to_reduce() -> None:
    calls = tables()["mpi_calls"]
    calls.loc[calls["function"] == "MPI_Init", "time"] = 5.0
    said = dict(rows_of(steps.next_steps(job(mpi_calls=calls)).frame(), "step", "evidence"))
    assert "most in MPI_Allreduce (10 calls a rank)" in said["3. communicate less, and start it earlier"]


def test_what_was_not_measured_is_on_no_page(tmp_path: Path) -> None:
    nothing = job()
    sourced = [exhibit for exhibit in JOB_EXHIBITS if exhibit.source]
    assert len(sourced) > 15
    assert [exhibit.name for exhibit in sourced if exhibit.frame(nothing) is not None] == []
    write_job(job(**tables()), tmp_path / "all.pdf")
    assert (tmp_path / "all.pdf").stat().st_size > 10_000
