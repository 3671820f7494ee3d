"""Tests the MPI adapter with programs that print the values that the log must have; libdarshan-util reads the log."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import darshan
import numpy as np
import pytest
from iolens.log import read_log
from iolens.pages.exhibits.operations import COLLECTIVES
from mpi_libraries import ROOT, library, need_hints_of_programs, need_several_programs
from own_words import own_words
from patience import PATIENCE

BLOCK = 4096

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="session", params=["usual", "mpich"])
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the test programs in a folder with the name of their MPI library."""
    folder = tmp_path_factory.mktemp("mpi") / request.param
    folder.mkdir()
    for source in sorted((ROOT / "tests" / "c").glob("mpi_*.c")):
        library(request.param).compile(source, folder / source.stem)
    return folder


def start(
    folder: Path, ranks: int, *words: object, preload: str | None = None, component: str = "romio321", **settings: str
) -> subprocess.CompletedProcess[str]:
    """Runs a program under the profiler; its logs and files go to `folder`."""
    its = library(Path(str(words[0])).parent.name)
    if its.flavour != "openmpi" and component == "ompio":
        pytest.skip("MPICH has ROMIO alone")
    environment = {**os.environ, **its.environment(component), **settings}
    chain = its.preload if preload is None else preload
    inner = ["env", f"LD_PRELOAD={chain}", f"IOLENS_LOGPATH={folder}", f"IOLENS_INCLUDE={folder}"]
    command = [its.mpirun, "-np", str(ranks), *inner, *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)


def the_log(folder: Path) -> Path:
    logs = list(folder.glob("*.darshan*"))
    assert len(logs) == 1, logs
    assert logs[0].suffix == ".darshan"
    return logs[0]


def record_of(log: Path, module: str, name: str) -> tuple[int, dict[str, int]]:
    """Returns rank and integer counters of the record whose file name has this end, as libdarshan-util reads it."""
    report = darshan.DarshanReport(str(log), read_all=True)
    for record in report.records[module]:
        if report.name_records[record["id"]].endswith(name):
            names = report.counters[module]["counters"]
            return record["rank"], dict(zip(names, map(int, record["counters"]), strict=True))
    raise AssertionError(f"no {module} record of {name}")


@pytest.mark.parametrize("ranks", [1, 4])
def test_every_kind_of_transfer_is_counted_once(programs: Path, tmp_path: Path, ranks: int) -> None:
    done = start(tmp_path, ranks, programs / "mpi_calls", tmp_path)
    assert done.returncode == 0, done.stderr
    rank, counters = record_of(the_log(tmp_path), "MPI-IO", "/shared")
    expected = [line.split() for line in done.stdout.splitlines() if line.startswith("MPI-IO ")]
    assert rank == -1
    assert len(expected) >= 19
    assert {name: counters[name] for _, name, _ in expected} == {name: int(value) for _, name, value in expected}


@pytest.mark.parametrize(("runs", "adapter"), [("openmpi5", "openmpi5"), ("openmpi5", "usual"), ("mpiabi", "mpiabi")])
def test_newer_libraries_are_recorded(tmp_path: Path, runs: str, adapter: str) -> None:
    """Open MPI 4 and 5 have the same ABI, so one adapter serves both."""
    if library(adapter).flavour != library(runs).flavour:
        pytest.skip("this machine's usual MPI is another one")
    (tmp_path / runs).mkdir()
    program = library(runs).compile(ROOT / "tests/c/mpi_calls.c", tmp_path / runs / "mpi_calls")
    done = start(tmp_path, 2, program, tmp_path, preload=library(adapter).preload, IOLENS_HINTS="*/shared:cb_nodes=2")
    assert (done.returncode, own_words(done.stderr, library(runs))) == (0, "")
    rank, counters = record_of(the_log(tmp_path), "MPI-IO", "/shared")
    expected = [line.split() for line in done.stdout.splitlines() if line.startswith("MPI-IO ")]
    assert rank == -1
    assert {name: counters[name] for _, name, _ in expected} == {name: int(value) for _, name, value in expected}
    hints = read_log(the_log(tmp_path)).private["mpiio_hints"].set_index("key")
    assert (hints.loc["cb_nodes", "requested"], hints.loc["cb_nodes", "given"]) == ("1", "2")


def test_ranks_are_merged_with_their_extremes_and_variance(programs: Path, tmp_path: Path) -> None:
    assert start(tmp_path, 4, programs / "mpi_calls", tmp_path).returncode == 0
    log = the_log(tmp_path)
    _, counters = record_of(log, "MPI-IO", "/shared")
    per_rank = [(12 + rank) * BLOCK for rank in range(4)]
    for which in ("FASTEST", "SLOWEST"):
        assert counters[f"MPIIO_{which}_RANK_BYTES"] == per_rank[counters[f"MPIIO_{which}_RANK"]]
    report = darshan.DarshanReport(str(log), read_all=True)
    record = next(r for r in report.records["MPI-IO"] if report.name_records[r["id"]].endswith("/shared"))
    floats = dict(zip(report.counters["MPI-IO"]["fcounters"], record["fcounters"], strict=True))
    assert floats["MPIIO_F_VARIANCE_RANK_BYTES"] == pytest.approx(np.var(per_rank))


def test_all_ranks_have_heat_maps_of_the_same_bins(programs: Path, tmp_path: Path) -> None:
    assert start(tmp_path, 4, programs / "mpi_calls", tmp_path).returncode == 0
    report = darshan.DarshanReport(str(the_log(tmp_path)), read_all=True)
    for heat, module, prefix in (("MPIIO", "MPI-IO", "MPIIO"), ("POSIX", "POSIX", "POSIX")):
        counters = report.records[module].to_df()["counters"]
        for operation, name in (("read", "BYTES_READ"), ("write", "BYTES_WRITTEN")):
            mapped = report.heatmaps[heat].to_df(ops=[operation])  # Raises an error if ranks differ in their bins.
            assert sorted(mapped.index) == [0, 1, 2, 3]
            assert int(mapped.to_numpy().sum()) == int(counters[f"{prefix}_{name}"].sum())


@pytest.mark.parametrize("component", ["romio321", "ompio"])
def test_traces_know_where_in_the_file_a_transfer_begins(programs: Path, tmp_path: Path, component: str) -> None:
    done = start(tmp_path, 2, programs / "mpi_offsets", tmp_path, component=component, IOLENS_DXT="1")
    assert done.returncode == 0, done.stderr
    report = darshan.DarshanReport(str(the_log(tmp_path)), read_all=True)
    report.mod_read_all_dxt_records("DXT_MPIIO", dtype="numpy")
    records = report.records["DXT_MPIIO"]
    assert sorted(record["rank"] for record in records) == [0, 1]
    for record in records:
        expected = [line.split() for line in (tmp_path / f"expected.{record['rank']}").read_text().splitlines()]
        assert len(expected) == 12
        for kind in ("write", "read"):
            found = [(int(s["offset"]), int(s["length"])) for s in record[f"{kind}_segments"]]
            assert found == [(int(offset), int(size)) for which, offset, size in expected if which == kind]


def test_only_chosen_ranks_are_traced(programs: Path, tmp_path: Path) -> None:
    assert start(tmp_path, 2, programs / "mpi_offsets", tmp_path, IOLENS_DXT="1", IOLENS_DXT_RANKS="1").returncode == 0
    frames = read_log(the_log(tmp_path)).frames
    assert set(frames["DXT_MPIIO"]["rank"]) == set(frames["DXT_POSIX"]["rank"]) == {1}


def test_private_regions_name_ranks_hints_and_library(programs: Path, tmp_path: Path) -> None:
    assert start(tmp_path, 4, programs / "mpi_calls", tmp_path).returncode == 0
    job = read_log(the_log(tmp_path))
    about = job.private["job"]
    assert about["rank_host"] == [0, 0, 0, 0]
    assert not {"programs", "rank_program"} & set(about)
    assert about["mpi"].startswith("Open MPI" if library(programs.name).flavour == "openmpi" else "MPICH")
    hints = job.private["mpiio_hints"].set_index("key")
    assert hints.loc["cb_nodes", "requested"] == "1"
    ranks = job.private["file_ranks"]
    shared = ranks[ranks["file"].map(job.names).str.endswith("/shared")]
    assert sorted(shared["rank"]) == [0, 1, 2, 3]
    _, counters = record_of(the_log(tmp_path), "POSIX", "/shared")
    assert int(shared["bytes_written"].sum()) == counters["POSIX_BYTES_WRITTEN"]


def test_one_call_of_three_gib_is_three_gib(programs: Path, tmp_path: Path) -> None:
    if shutil.disk_usage(tmp_path).free < 8 * 2**30:
        pytest.skip("less than 8 GiB free for a file of 3 GiB")
    done = start(tmp_path, 1, programs / "mpi_huge", tmp_path)
    expected = int(done.stdout.split()[-1])
    if expected == 0:
        pytest.skip("this MPI cannot write 3 GiB in one call")
    assert record_of(the_log(tmp_path), "MPI-IO", "/huge")[1]["MPIIO_BYTES_WRITTEN"] == expected


@pytest.mark.parametrize("way", ["abort", "exit"])
def test_an_end_without_finalize_keeps_its_exit_code(programs: Path, tmp_path: Path, way: str) -> None:
    plain = start(tmp_path, 2, programs / "mpi_leaves", tmp_path, way, preload="")
    done = start(tmp_path, 2, programs / "mpi_leaves", tmp_path, way)
    assert done.returncode == plain.returncode != 0
    assert not list(tmp_path.glob("*.darshan*"))


@pytest.mark.parametrize(("runs", "adapter"), [("usual", "mpich"), ("mpich", "usual"), ("mpiabi", "mpich")])
def test_the_adapter_of_another_mpi_changes_nothing(tmp_path: Path, runs: str, adapter: str) -> None:
    """An adapter may be preloaded by hand. MPI's handles are ints in one library and pointers in the other; an adapter
    must not cut a pointer to the size of an int.
    """
    (tmp_path / runs).mkdir()
    program = library(runs).compile(ROOT / "tests/c/mpi_calls.c", tmp_path / runs / "mpi_calls")
    plain = start(tmp_path, 2, program, tmp_path, preload="")
    by_hand = f"{library(adapter).adapter}:{library(adapter).preload}"
    done = start(tmp_path, 2, program, tmp_path, preload=by_hand)
    assert (done.returncode, done.stdout) == (0, plain.stdout)
    (said,) = done.stderr.splitlines()
    assert said.startswith("iolens: this adapter was built for ")
    assert "so MPI is not recorded; preload libiolens.so alone" in said
    assert len(list(tmp_path.glob("*.darshan"))) == 2  # Each process has its own log, as without an adapter.


def test_what_the_library_does_to_get_ready_is_not_the_programs(programs: Path, tmp_path: Path) -> None:
    assert start(tmp_path, 2, programs / "mpi_nothing", tmp_path).returncode == 0
    frames = read_log(the_log(tmp_path)).frames
    assert not {"POSIX", "STDIO", "MPI-IO"} & set(frames)


def test_a_program_without_mpi_is_not_disturbed(tmp_path: Path) -> None:
    environment = {**os.environ, "LD_PRELOAD": library("usual").preload, "IOLENS_LOGPATH": str(tmp_path)}
    plain = subprocess.run(["ls", "/"], capture_output=True, check=True)
    under = subprocess.run(["ls", "/"], env=environment, capture_output=True, check=True)
    assert (under.stdout, under.stderr) == (plain.stdout, b"")


@pytest.mark.parametrize(("how", "name"), [("one", ()), ("multiple", ("spawned",))])
def test_programs_that_mpi_starts_are_jobs_of_their_own(
    programs: Path, tmp_path: Path, how: str, name: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The spawned programs inherit the preload chain, although their launcher does not know of it. One case gives a
    bare file name, which MPI looks up in the current folder.
    """
    if how == "multiple":
        need_several_programs(str(library(programs.name).mpirun))
    monkeypatch.chdir(tmp_path)
    shutil.copy(programs / "mpi_spawn", "spawned")
    done = start(tmp_path, 1, programs / "mpi_spawn", tmp_path, how, *name, IOLENS_TRACE="mpi", IOLENS_WHY="16")
    assert (done.returncode, own_words(done.stderr, library(programs.name))) == (0, "")
    jobs = {job.nprocs: job for job in map(read_log, tmp_path.glob("*.darshan"))}
    wrote = {
        ranks: {Path(job.names[row.id]).name: row.MPIIO_BYTES_WRITTEN for row in job.frames["MPI-IO"].itertuples()}
        for ranks, job in jobs.items()
    }
    assert wrote == {1: {"before": 100, "after": 300}, 2: {"child": 400}}
    spawn = "MPI_Comm_spawn" if how == "one" else "MPI_Comm_spawn_multiple"
    calls = jobs[1].private["mpi_calls"].set_index("function")["calls"]
    assert calls[calls.index.str.startswith("MPI_Comm")].to_dict() == {spawn: 1, "MPI_Comm_disconnect": 1}
    events = jobs[1].private["why_events"].set_index("function")
    assert events.loc[spawn, ["kind", "size"]].tolist() == ["all", 1]


def test_a_program_that_mpi_cannot_start_ends_the_job_as_without_the_profiler(programs: Path, tmp_path: Path) -> None:
    if library(programs.name).flavour != "openmpi":
        pytest.skip("MPICH waits for ever for a program that is not there")
    command = (programs / "mpi_spawn", tmp_path, "one", tmp_path / "missing")
    bare = start(tmp_path, 1, *command, preload="")
    done = start(tmp_path, 1, *command)
    assert done.returncode == bare.returncode != 0
    assert "env:" not in done.stderr


@pytest.mark.parametrize("component", ["romio321", "ompio"])
def test_hints_from_outside_replace_the_programs(programs: Path, tmp_path: Path, component: str) -> None:
    given = "*/sha*:cb_nodes=3:cb_config_list=*:*,cb_buffer_size=65536,other*:cb_nodes=7"
    done = start(tmp_path, 4, programs / "mpi_calls", tmp_path, component=component, IOLENS_HINTS=given)
    assert done.returncode == 0, done.stderr
    job = read_log(the_log(tmp_path))
    hints = job.private["mpiio_hints"].set_index("key")
    assert (hints.loc["cb_nodes", "requested"], hints.loc["cb_nodes", "given"]) == ("1", "3")
    assert hints.loc["cb_config_list", "given"] == "*:*"
    assert hints.loc["cb_buffer_size", "requested"] == ""
    if library(programs.name).flavour == "openmpi":
        need_hints_of_programs(str(library(programs.name).mpirun))
    assert hints.loc[["cb_nodes", "cb_buffer_size"], "effective"].tolist() == ["3", "65536"]


def test_hints_for_other_files_change_nothing(programs: Path, tmp_path: Path) -> None:
    done = start(tmp_path, 2, programs / "mpi_calls", tmp_path, IOLENS_HINTS="nothing*:cb_nodes=2")
    assert done.returncode == 0, done.stderr
    hints = read_log(the_log(tmp_path)).private["mpiio_hints"].set_index("key")
    assert (hints.loc["cb_nodes", "requested"], hints.loc["cb_nodes", "given"]) == ("1", "")


@pytest.mark.skipif(not os.environ.get("DARSHAN_LIB"), reason="DARSHAN_LIB names no Darshan runtime")
def test_the_mpi_io_record_is_the_one_that_darshan_writes(programs: Path, tmp_path: Path) -> None:
    if programs.name != "usual":
        pytest.skip("a Darshan is built for one MPI")
    counters = {}
    for name, preload in (("theirs", os.environ["DARSHAN_LIB"]), ("ours", None)):
        folder = tmp_path / name
        folder.mkdir()
        log = {"DARSHAN_LOGFILE": str(folder / "job.darshan"), "IOLENS_LOGFILE": str(folder / "job.darshan")}
        done = start(folder, 4, programs / "mpi_calls", folder, preload=preload, **log)
        assert done.returncode == 0, done.stderr
        rank, counters[name] = record_of(folder / "job.darshan", "MPI-IO", "/shared")
        assert rank == -1
    timed = {"MPIIO_MAX_READ_TIME_SIZE", "MPIIO_MAX_WRITE_TIME_SIZE"}
    timed |= {f"MPIIO_{which}_RANK{what}" for which in ("FASTEST", "SLOWEST") for what in ("", "_BYTES")}
    assert {key: value for key, value in counters["ours"].items() if key not in timed} == {
        key: value for key, value in counters["theirs"].items() if key not in timed
    }


def test_ranks_are_chosen_and_shared_files_left_apart(programs: Path, tmp_path: Path) -> None:
    done = start(tmp_path, 4, programs / "mpi_calls", tmp_path, DARSHAN_RANK_EXCLUDE="2:3")
    assert (done.returncode, own_words(done.stderr, library(programs.name))) == (0, "")
    job = read_log(the_log(tmp_path))
    ranks = set(job.frames["MPI-IO"]["rank"])
    assert (job.nprocs, ranks) == (4, {0, 1})


def test_shared_records_can_stay_apart(programs: Path, tmp_path: Path) -> None:
    done = start(tmp_path, 2, programs / "mpi_calls", tmp_path, IOLENS_DISABLE_SHARED_REDUCTION="1")
    assert done.returncode == 0, done.stderr
    assert set(read_log(the_log(tmp_path)).frames["MPI-IO"]["rank"]) == {0, 1}


def test_collective_time_is_parted_into_waiting_access_and_exchange(programs: Path, tmp_path: Path) -> None:
    done = start(tmp_path, 3, programs / "mpi_late", tmp_path, "say")
    assert done.returncode == 0, done.stderr
    job = read_log(the_log(tmp_path))
    table = job.private["mpiio_collectives"].set_index("rank").sort_index()
    assert table["calls"].tolist() == [5, 5, 5]
    # Rank 1 comes 50 ms late to each call, and a busy machine delays other ranks, too; the program prints how long each
    # rank came before the last one.
    early = [float(line) for line in done.stdout.splitlines()]
    assert sum(early) > 0
    assert table["waiting"].to_list() == pytest.approx(early, abs=0.02)
    parts = table[["waiting", "access", "exchange"]].sum(axis=1)
    assert parts.to_numpy() == pytest.approx(table["seconds"].to_numpy(), rel=0.05)
    writers = set(job.private["file_ranks"].query("writes > 0")["rank"])
    assert set(table.index[table["access"] > 0]) == writers


def test_the_report_parts_aggregators_from_the_others(programs: Path, tmp_path: Path) -> None:
    assert start(tmp_path, 3, programs / "mpi_late", tmp_path).returncode == 0
    shown = COLLECTIVES.table(read_log(the_log(tmp_path)))
    assert [row[1] for row in shown.rows] in (["aggregators", "other ranks"], ["aggregators"])


def test_pcontrol_switches_recording_off_and_on(programs: Path, tmp_path: Path) -> None:
    """Each rank writes 10 bytes, 5 more while recording is off, and 3 more; rank 1 leaves a region open."""
    done = start(tmp_path, 2, programs / "mpi_pcontrol", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    log = the_log(tmp_path)
    for rank in (0, 1):
        _, counters = record_of(log, "POSIX", f"/rank{rank}.txt")
        assert (counters["POSIX_WRITES"], counters["POSIX_BYTES_WRITTEN"]) == (2, 13)
        assert counters["POSIX_MAX_BYTE_WRITTEN"] == 17, "the position moved on while nothing was counted"
    job = read_log(log)
    names = job.private["region_names"].drop_duplicates("region").set_index("region")["label"]
    rows = job.private["regions"]
    found = zip(rows["rank"], rows["region"].map(names), rows["calls"], strict=True)
    assert sorted(found) == [(0, "all", 1), (1, "all", 1), (1, "only on rank 1", 1)]
    assert job.remarks == (
        "The program began regions and did not end them, 1 time(s); the column unended of the table regions says "
        "which.",
    )


def test_the_phases_of_btio_are_regions(tmp_path: Path) -> None:
    """Class S of BT-IO has 60 steps, and one before them to warm up. Each step has every phase of the solver once; 12
    dumps are written.
    """
    btio = shutil.copy(ROOT / "build/bin/btio", tmp_path)
    environment = {**os.environ, "LD_PRELOAD": library("usual").preload, "IOLENS_LOGPATH": str(tmp_path)}
    subprocess.run([btio, "--class", "S"], cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)
    # Without mpirun, Open MPI starts a daemon for the program, and the daemon leaves a log, too.
    (log,) = tmp_path.glob("*_btio_*.darshan")
    job = read_log(log)
    names = job.private["region_names"].set_index("region")["label"]
    rows = job.private["regions"]
    calls = dict(zip(rows["region"].map(names), rows["calls"], strict=True))
    solver = ["exchange", "rhs", "x solve", "y solve", "z solve", "add"]
    assert calls == {**dict.fromkeys(solver, 61), "write": 13, "read": 12, "verify": 12}
