"""Ranks that sleep, and ranks with fewer cores than they need, are named correctly, with and without MPI traced."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.advise import diagnosis
from iolens.log import read_log
from iolens.metrics.processor import steps, time
from iolens.metrics.processor.sampled import groups
from iolens.metrics.processor.sampled.largest import largest_part
from mpi_libraries import ROOT, library
from named_run import assert_outputs_name, largest_of_bar
from patience import PATIENCE

HEADLINES = {
    "blocked": "Bound by waiting: asleep or blocked outside I/O for",
    "cores": "Bound by a lack of cores: ready to run, and waiting for a core, for",
    "compute": "Bound by computing:",
}
BARS = {"blocked": groups.ASLEEP, "cores": groups.RUNNABLE, "compute": groups.COMPUTE}

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("options", [(), ("--trace", "mpi")], ids=["plain", "traced"])
@pytest.mark.parametrize(
    ("mode", "ranks", "kinds"),
    [("sleeps", 4, ("blocked",)), ("works", 4, ("cores",)), ("works", 2, ("cores", "compute"))],
    ids=["asleep", "four on a core", "two on a core"],
)
def test_ranks_are_named_for_what_they_do(
    mode: str,
    ranks: int,
    kinds: tuple[str, ...],
    options: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two ranks on one core compute for as long as they wait for the core, so the report may name computing or the lack
    of cores; the advice must name the core.
    """
    mpi = library("usual")
    subprocess.run([mpi.mpicc, "-w", ROOT / "tests/c/time_ranks.c", "-o", "ranks"], cwd=tmp_path, check=True)
    iolens = [sys.executable, "-m", "iolens.cli.main", "run", *options, "--output", "out", "--"]
    cores = {min(os.sched_getaffinity(0))} if mode == "works" else os.sched_getaffinity(0)
    launcher = [mpi.mpirun, "--bind-to", "none", "-np", str(ranks), "./ranks", mode, "1.0"]
    environment = {**os.environ, **mpi.environment(None), "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    environment |= {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
    done = subprocess.run(
        [*iolens, *launcher],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    assert done.returncode == 0, done.stderr
    (log,) = (tmp_path / "out").glob("*.darshan")
    job = read_log(log)
    assert time.whole_time(time.rank_time(job)).tolist() == pytest.approx([job.run_time] * ranks)
    kind = largest_part(job).kind
    assert kind in kinds
    assert "I/O of job" not in assert_outputs_name(log, (HEADLINES[kind],), tmp_path, capsys)
    found = {one.id for one in diagnosis(job).worth}
    assert ("crowded-processors" in found) == (mode == "works" and bool(options))
    each = time.rank_time(job).frame().set_index("rank")
    outside = each[[name for name in groups.OUTSIDE if name not in (groups.UNKNOWN, groups.OFF_CORE)]]
    if len(kinds) == 1:  # Two ranks on one core may also wait in MPI for longer than they compute or wait for the core.
        assert outside.mean().idxmax() == BARS[kind]
        assert largest_of_bar(job) == BARS[kind]
    if options:
        factors = dict(time.efficiencies(job).rows("name", "value"))
        assert not factors["parallel efficiency"] > (0.3 if mode == "sleeps" else 0.7)
        assert not factors["core efficiency"] > (0.8 if ranks == 2 else 0.6), (
            "ranks that want a core, or sleep, do not compute"
        )
    if options and len(kinds) == 1:
        evidence = dict(steps.next_steps(job).rows("step", "evidence"))
        assert BARS["blocked" if mode == "sleeps" else "cores"] in evidence["4. wait less outside I/O and MPI"]
    if mode == "works":
        lines = (tmp_path / "out/stdout.txt").read_text().splitlines()
        waited = {int(words[1]): float(words[3]) for words in map(str.split, lines) if words[:1] == ["rank"]}
        counted = dict(zip(job.private["process"]["rank"], job.private["process"]["first_runnable"], strict=True))
        assert all(counted[rank] >= 0.5 * waited[rank] for rank in waited)
