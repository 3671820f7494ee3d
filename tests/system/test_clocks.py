"""Tests ranks on nodes whose clocks differ: time namespaces with another start, and a clock that runs too fast."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pandas as pd
import pytest
from iolens.exports.chrome import chrome
from iolens.log import Job, read_log
from iolens.metrics.times.clocks import clocks, common_clock
from iolens.metrics.why.answers import replays, why
from iolens.metrics.why.time_lines import limits
from mpi_libraries import ROOT, library, need_several_programs
from patience import PATIENCE

AHEAD, BEHIND = 1000, -20
TOO_FAST_PPM = 10000
WRITING = 0.3  # Shortest time in seconds for which a rank of tests/c/mpi_clocks.c writes.
# Largest error in seconds: a job begins at a whole microsecond, and the frequency of the TSC is estimated.
ROUNDING = 2e-6

pytestmark = pytest.mark.mpi


def ran(
    folder: Path, *nodes: list[str], left_out: int | None = None, also: tuple[str, ...] = ()
) -> tuple[Job, pd.DataFrame]:
    """Runs one rank behind each of the commands `nodes`, with the settings `also` in addition. Returns the log, and the
    times of the recorded ranks' writes by one clock (ns).
    """
    its, shim = library("usual"), folder / "shim.so"
    need_several_programs(str(its.mpirun))
    program = its.compile(ROOT / "tests/c/mpi_clocks.c", folder / "program")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim, ROOT / "tests/c/clock_shim.c"], check=True)
    settings = [f"LD_PRELOAD={shim}:{its.preload}", f"IOLENS_LOGPATH={folder}", f"IOLENS_INCLUDE={folder}", *also]
    ranks: list[str | Path] = []
    for node in nodes:
        ranks += [":"] * bool(ranks) + ["-np", "1", *node, "env", *settings, "IOLENS_DXT=1", program]
    done = subprocess.run(
        [its.mpirun, *ranks],
        cwd=folder,
        env={**os.environ, **its.environment(None), "IOLENS_RANK_EXCLUDE": "" if left_out is None else str(left_out)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    (log,) = folder.glob("*.darshan")
    rows = [list(map(int, line.split())) for line in done.stdout.splitlines()]
    rows = [row for row in rows if row[0] != left_out]
    return read_log(log), pd.DataFrame(rows, columns=["rank", "before", "after"]).sort_values(["rank", "before"])


def on_one_axis(job: Job, written: pd.DataFrame) -> float:
    """Returns the errors in seconds of the log's write times; a common offset of the log's axis does not count."""
    traced = job.frames["DXT_POSIX"].sort_values(["rank", "start"])
    files = {record for record, name in job.names.items() if "written." in name}
    traced = traced[traced["id"].isin(files)]
    assert list(traced["rank"]) == list(written["rank"])
    begin = written["before"].min()
    earliest = (written["before"] - begin).to_numpy() * 1e-9 - traced["end"].to_numpy()
    latest = (written["after"] - begin).to_numpy() * 1e-9 - traced["start"].to_numpy()
    return float(earliest.max() - latest.min())


def can(*command: str) -> bool:
    return subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> tuple[Job, pd.DataFrame, tuple[float, float]]:
    """One rank runs on a normal node, two on nodes whose clocks have another start, and two on a node whose clock is
    too fast; the first of these last two is not recorded. Rank 0's clock is read before and after the job.
    """
    space = ["unshare", "--time", "--monotonic"]
    if not can(*space, "1") or not can("unshare", "--uts"):
        pytest.skip("time namespaces cannot be made here")
    fast = ["unshare", "--uts", "sh", "-c", 'hostname fast; exec "$@"', "sh", "env", f"CLOCK_SHIM_PPM={TOO_FAST_PPM}"]
    folder = tmp_path_factory.mktemp("clocks")
    before = time.monotonic()
    job, written = ran(folder, ["env"], [*space, str(AHEAD)], [*space, str(BEHIND)], fast, fast, left_out=3)
    return job, written, (before, time.monotonic())


def test_offsets_are_as_far_off_as_is_said(apart: tuple[Job, pd.DataFrame, tuple[float, float]]) -> None:
    job, _, (before, after) = apart
    rows = clocks(job)
    assert rows is not None
    found = rows.frame()
    assert list(found["rank"]) == [0, 1, 2, 3]
    assert found["host"][3] == "fast"
    assert (found.loc[0, ["begin_offset", "begin_uncertainty", "end_offset", "end_uncertainty"]] == 0).all()
    for rank, offset in ((1, AHEAD), (2, BEHIND)):
        for end in ("begin", "end"):
            assert abs(found[f"{end}_offset"][rank] - offset) <= found[f"{end}_uncertainty"][rank]
    assert (found["uncertainty"][1:] > 0).all()
    fast, parts = found.loc[3], TOO_FAST_PPM * 1e-6
    for end in ("begin", "end"):
        assert parts * before - fast[f"{end}_uncertainty"] <= fast[f"{end}_offset"]
        assert fast[f"{end}_offset"] <= parts * after + fast[f"{end}_uncertainty"]
    grown = fast["end_offset"] - fast["begin_offset"]
    assert grown >= parts * WRITING - fast["begin_uncertainty"] - fast["end_uncertainty"]
    assert common_clock(job).uncertainty == found["uncertainty"].max()


def test_times_are_on_one_axis(apart: tuple[Job, pd.DataFrame, tuple[float, float]]) -> None:
    """The second rank of a node takes part in no comparison of clocks, and must be correct as well."""
    job, written, _ = apart
    uncertainty = common_clock(job).uncertainty
    assert uncertainty is not None
    assert on_one_axis(job, written) <= 2 * uncertainty + ROUNDING
    clock = json.loads(chrome(job)[0])["otherData"]
    assert [row["rank"] for row in clock["clocks"]] == [0, 1, 2, 3]


def test_waits_between_skewed_clocks_say_how_sure_they_are(tmp_path: Path) -> None:
    space = ["unshare", "--time", "--monotonic"]
    if not can(*space, "1"):
        pytest.skip("time namespaces cannot be made here")
    nodes = ["env"], [*space, str(AHEAD)], [*space, str(BEHIND)]
    job, _ = ran(tmp_path, *nodes, also=("IOLENS_TRACE=mpi", "IOLENS_WHY=16"))
    found, clock, times = why(job), common_clock(job), replays(job)
    assert found is not None
    assert times is not None
    assert clock.uncertainty is not None
    assert found.joins.not_joined == 0
    assert found.program.run_time < min(PATIENCE, AHEAD - 1)
    assert found.waits.largest_violation <= 2 * clock.uncertainty + ROUNDING
    assert times["run_time"][0] == pytest.approx(found.program.run_time, abs=10 * clock.uncertainty + 1e-3)
    assert limits(job)[0] == f"{clock.said} Waits between nodes are as uncertain."


def test_ranks_of_one_node_need_no_comparison(tmp_path: Path) -> None:
    job, written = ran(tmp_path, ["env"], ["env"], ["env"])
    assert clocks(job) is None
    assert common_clock(job).uncertainty == 0
    assert on_one_axis(job, written) <= ROUNDING
