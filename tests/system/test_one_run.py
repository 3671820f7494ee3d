"""Tests one run of a Fortran program with mpi_f08 under `iolens run --trace mpi,io --sample`; tables, report, all
exports and Darshan's tools read its log. The program itself prints the expected counts.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import darshan
import pandas as pd
import pytest
from iolens.cli.main import main
from iolens.cli.read.table import text_of
from iolens.exports.chrome import chrome
from iolens.exports.pprof import pprof
from iolens.exports.sampled_stacks import collapsed, hatchet, speedscope, stacks
from iolens.log import Job, read_log
from iolens.metrics.processor import time
from iolens.metrics.processor.ask import Ask, asked_levels
from iolens.metrics.processor.sampled import profile_time, samples
from iolens.metrics.processor.sampled.groups import MPI_PARTS, OUTSIDE, START
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
from iolens.pages.job.job_document import write_job
from mpi_libraries import ROOT, library
from patience import PATIENCE

RANKS, ROUNDS = 4, 40
HZ = 500

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int]]:
    """Runs the program; returns the log and the totals that each rank prints: messages, bytes, reductions, bytes
    written to the file.
    """
    mpi = library("usual")
    compiler = mpi.mpicc.parent / "mpifort"
    if not compiler.exists():
        pytest.skip("no Fortran compiler of this MPI")
    folder = tmp_path_factory.mktemp("foreign")
    sources = [ROOT / "profiler/include/iolens.f90", ROOT / "tests/c/halo_f08.f90"]
    subprocess.run([compiler, "-g", "-O2", *sources, "-o", "halo", "-ldl"], cwd=folder, check=True)
    iolens = [sys.executable, "-m", "iolens.cli.main", "run", "--trace", "mpi,io", "--sample", str(HZ)]
    command = [*iolens, "--", mpi.mpirun, "-np", str(RANKS), "./halo", folder / "data", str(ROUNDS)]
    environment = {**os.environ, **mpi.environment(None)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    (expected,) = [line for line in done.stdout.splitlines() if line.startswith("expect ")]
    (log,) = folder.glob("*.darshan")
    return log, [int(word) for word in expected.split()[1:]]


@pytest.fixture(scope="module")
def table(run: tuple[Path, list[int]]) -> Callable[..., pd.DataFrame]:
    """Returns a table as `iolens table NAME LOG --csv` prints it."""

    def of(name: str, *options: str) -> pd.DataFrame:
        return pd.read_csv(io.StringIO(printed("table", name, str(run[0]), "--csv", *options)))

    return of


@pytest.fixture(scope="module")
def job(run: tuple[Path, list[int]]) -> Job:
    """Reads the log once for all tests, so that each metric is computed once."""
    return read_log(run[0])


def printed(*words: str) -> str:
    """Returns the output of an iolens command that must succeed."""
    with redirect_stdout(io.StringIO()) as out:
        assert main(list(words)) == 0
    return out.getvalue()


def test_messages_transfers_and_phases_are_those_of_the_program(
    run: tuple[Path, list[int]], job: Job, table: Callable[..., pd.DataFrame]
) -> None:
    messages, sent, reductions, moved = run[1]
    calls = table("mpi_calls", "--no-threshold").set_index("name")
    assert calls.loc["MPI_Isend", ["calls", "bytes_sent"]].tolist() == [messages, sent]
    assert calls.loc["MPI_Waitall", ["calls", "bytes_received"]].tolist() == [messages / 4, sent]
    assert calls.loc["MPI_Allreduce", ["calls", "bytes_sent"]].tolist() == [reductions, 8 * reductions]
    peers = table("mpi_peers")
    assert (peers["messages"].sum(), peers["bytes"].sum()) == (RANKS * messages, RANKS * sent)
    regions = table("regions", "--no-threshold").set_index("name")["calls"]
    assert regions[["exchange", "smooth", "output"]].tolist() == [ROUNDS, ROUNDS, 1]
    within = table("mpi_calls", "--no-threshold", "--by", "region,function")
    sends = within[within["name"] == "MPI_Isend"]
    assert sends["calls"].tolist() == [messages]
    pattern = job.frames["MPI-IO"].sum(numeric_only=True)
    assert pattern["MPIIO_BYTES_WRITTEN"] == pattern["MPIIO_BYTES_READ"] == RANKS * moved
    assert (run[0].parent / "data").stat().st_size == RANKS * moved


def test_the_parts_of_the_time_agree_with_the_samples(job: Job) -> None:
    """Timed calls and samples must agree on where the ranks spent their time. I/O is the time of all MPI-IO calls,
    opening included. Time that the profiler adds to MPI_Init counts as MPI.
    """
    found, shares = time.time_parts(job).frame(), samples.profile(job, Ask(asked_levels("group"), 0.0)).frame()
    assert found is not None
    assert shares is not None
    parts = found.set_index("part")["seconds"]
    assert parts.sum() == pytest.approx(job.run_time, rel=0.02)
    groups = shares.set_index("name")["samples"] / HZ
    mpi_time = parts[[name for name in parts.index if name.startswith("MPI")]].sum() + parts["start and end"]
    assert mpi_time == pytest.approx(groups["MPI"], abs=0.15 * job.run_time)
    moved = parts[[name for name in parts.index if name.startswith("I/O")]].sum()
    assert moved == pytest.approx(groups.reindex(["MPI-IO", "POSIX"]).sum(), abs=0.15 * job.run_time)
    record = job.frames["MPI-IO"].iloc[0]
    within = sum(record[f"MPIIO_F_{kind}_TIME"] for kind in ("READ", "WRITE", "META"))
    assert moved * RANKS >= 0.99 * within
    begin = job.private["rank_places"]["begin_time"]
    calls = job.private["mpi_calls"].groupby("function")["time"].sum()
    assert (begin > 0).all()
    started = calls[["MPI_Init", "MPI_Finalize"]].sum()
    # Ranks begin one after the other, hence the tolerance of 0.5 s.
    assert parts["start and end"] * RANKS == pytest.approx(started, abs=0.5)
    # If the calls of a rank that begins late add up to more than the run time, the parts of its time are scaled down.
    assert parts["the profiler"] * RANKS == pytest.approx(begin.sum(), rel=0.02)


def test_the_profile_by_time_adds_up_and_has_the_sums_of_the_raw_tables(
    run: tuple[Path, list[int]], job: Job, table: Callable[..., pd.DataFrame]
) -> None:
    found = table("profile_time", "--no-threshold")
    groups = found[found["level"] == "group"].set_index("name")
    assert groups["share"].sum() == pytest.approx(100.0)
    assert groups["time"].sum() == pytest.approx(found["time"][0])
    calls = job.private["mpi_calls"]
    assert groups.loc["MPI", "time"] * RANKS == pytest.approx(calls["time"].sum())
    assert groups.loc["MPI", "calls"] * RANKS == calls["calls"].sum()
    functions = found[found["level"] == "function"].set_index("name")
    assert functions.loc["MPI_Isend", "calls"] == run[1][0]
    parts = time.time_parts(job).frame().set_index("part")["seconds"]
    moved = groups["time"].reindex(["POSIX", "STDIO", "MPI-IO"]).sum()
    assert moved == pytest.approx(parts[[name for name in parts.index if name.startswith("I/O")]].sum(), rel=0.02)
    # Start and end of the program are in both: MPI_Init and MPI_Finalize in MPI, what lies before and behind in USER.
    others = parts[[name for name in parts.index if name in (*OUTSIDE, *MPI_PARTS, START)]].sum()
    assert groups.loc[["USER", "MPI"], "time"].sum() == pytest.approx(others, abs=0.01 * job.run_time)
    assert groups.loc["IOLENS", "time"] * RANKS == pytest.approx(job.private["rank_places"]["begin_time"].sum())
    first = profile_time.profile_time(job, Ask(asked_levels("pe=all"), 0.0)).frame()
    known = first[1:].set_index("name")["time"]
    together = known.pop("ranks known together, mean") if len(known) > RANKS else 0.0
    assert known.sum() + RANKS * together == pytest.approx(RANKS * first["time"][0])
    assert first["share"][1:].sum() == pytest.approx(100.0)


def test_every_table_of_the_log_can_be_had_in_every_shape(job: Job) -> None:
    known = {exhibit.name: exhibit for exhibit in JOB_EXHIBITS if exhibit.frame(job) is not None}
    assert {"profile", "calltree", "mpi_sites", "rank_places", "counters", "file_output"} <= set(known)
    for name, exhibit in known.items():
        rows = exhibit.every(job)
        assert rows is not None
        assert len(json.loads(rows.to_json(orient="records"))) == len(rows), name
        assert list(pd.read_csv(io.StringIO(rows.to_csv(index=False)))) == list(rows), name
        text = text_of(exhibit, exhibit.frame(job), job)
        assert text.startswith(exhibit.title), name
        assert len(text.splitlines()) > 2, name


def test_every_viewer_is_given_something(job: Job) -> None:
    """Without --timeline single calls have no times; the bytes that ranks moved over time are in every log."""
    found = stacks(job)
    counted = sum(int(line.rpartition(" ")[2]) for line in collapsed(found).splitlines())
    assert counted == job.private["samples"]["count"].sum()
    profiles = json.loads(speedscope(found, "halo"))["profiles"]
    assert [one["name"] for one in profiles] == [f"rank {rank}" for rank in range(RANKS)]
    assert b"halo_f08.f90" in gzip.decompress(pprof(found, job.exe, job.start, job.run_time))
    assert json.loads(hatchet(found))
    events = json.loads(chrome(job)[0])["traceEvents"]
    width = float(job.frames["HEATMAP"]["width"].iloc[0])
    written = [event["args"]["written"] for event in events if event["name"] == "POSIX, bytes/s"]
    assert sum(written) * width == pytest.approx((job.path.parent / "data").stat().st_size, rel=1e-3)
    assert {event["pid"] for event in events} == set(range(RANKS))


def test_the_report_and_darshans_tools_read_it(job: Job, tmp_path: Path) -> None:
    write_job(job, tmp_path / "halo.pdf")
    assert (tmp_path / "halo.pdf").read_bytes().startswith(b"%PDF")
    report = darshan.DarshanReport(str(job.path), read_all=True)
    counters = report.records["MPI-IO"].to_df()["counters"]
    assert counters["MPIIO_COLL_WRITES"].sum() == RANKS
