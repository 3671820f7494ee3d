"""Tests sweeps on a real Slurm: a throw-away cluster of four nodes on this machine, without accounting."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from iolens.lab.run.hosts import hosts_of
from iolens.lab.run.mpi_launch import openmpi
from iolens.log import read_log
from mpi_libraries import library
from patience import PATIENCE
from recovery_program import check_log, program, wait_until

pytestmark = pytest.mark.mpi

ROOT = Path(__file__).resolve().parents[2]
IOLENS = Path(sys.executable).parent / "iolens"

EXPERIMENT = """name: try
workload: {{program: btio, arguments: [--class, S, --steps, 5, --io-only], ranks: 4}}
storage: {{kind: directory, directory: {data}}}
mpi: {{hints: {{romio_cb_write: enable}}}}
launcher: slurm
slurm: {{nodes: 2, runs_per_job: 2, time: '00:15:00'}}
matrix: {{aggregators: [1, 2]}}
repetitions: 2
confirm: 0
"""


UCX_ON_ONE_MACHINE = {"UCX_TLS": "self,posix"}
"""Settings of MPICH's communication library UCX that leave only connections within this machine. With one network
interface a rank's address is short; Slurm's PMI would cut longer addresses.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with the experiment."""
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT.format(data=tmp_path / "data"))
    return tmp_path


def words(folder: Path, *changes: str) -> list[str]:
    sets = [word for change in changes for word in ("--set", change)]
    return [
        *map(str, (IOLENS, "sweep", folder / "experiment.yaml", "--results", folder / "results")),
        "--no-report",
        *sets,
    ]


def sweep(
    folder: Path, cluster: dict[str, str], *changes: str, retry: bool = False
) -> subprocess.CompletedProcess[str]:
    line = [*words(folder, *changes), *(["--retry"] if retry else [])]
    return subprocess.run(line, env=cluster, capture_output=True, text=True, check=False, timeout=PATIENCE)


def records(folder: Path) -> dict[str, Any]:
    found = (json.loads(path.read_text()) for path in sorted(folder.glob("results/try/points/*/*/run.json")))
    return {record["id"]: record for record in found}


def jobs_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("results/try/points/*/*/job.json"))


def ask(cluster: dict[str, str], *question: str) -> str:
    return subprocess.run(question, env=cluster, capture_output=True, text=True, check=True).stdout


def test_a_sweep_runs_in_jobs_and_each_host_has_its_aggregator(folder: Path, cluster: dict[str, str]) -> None:
    done = sweep(folder, cluster)
    assert done.returncode == 0, done.stdout + done.stderr
    found = records(folder)
    assert len(found) == 4
    for record in found.values():
        assert (record["status"], record["launcher"]) == ("ok", "slurm"), record["reason"]
        assert len(record["hosts"]) == 2
        assert record["took_effect"] == {"cb_nodes": True}
        # There are two ranks on each node; without the hint cb_config_list, ROMIO takes one aggregator from each.
        assert record["observed"]["aggregator_ranks"] == [0, 2][: record["point"]["aggregators"]]
        assert record["batch"]["system"] == "slurm"
    assert len({record["batch"]["job"] for record in found.values()}) == 2
    assert not jobs_of(folder)
    again = sweep(folder, cluster)
    assert "nothing to do" in again.stdout or "0 of 4 runs to do" in again.stdout
    assert records(folder) == found


def test_only_the_launcher_differs_from_a_sweep_on_this_machine(folder: Path, cluster: dict[str, str]) -> None:
    changes = ("storage.kind=emulated", "slurm.nodes=1", "matrix.stripe_count=[2]", "repetitions=1")
    for launcher in ("local", "slurm"):
        shutil.rmtree(folder / "results", ignore_errors=True)
        done = sweep(folder, cluster, *changes, f"launcher={launcher}")
        assert done.returncode == 0, done.stdout + done.stderr
        found = records(folder)
        assert len(found) == 2
        for record in found.values():
            assert (record["storage"]["kind"], record["launcher"]) == ("emulated", launcher)
            assert record["took_effect"]["stripe_count"] is True
    refused = sweep(folder, cluster, "storage.kind=emulated")
    assert refused.returncode == 2
    assert "emulated storage belongs to one node, but slurm would use 2 nodes" in refused.stderr


def test_a_job_has_runs_of_one_shape_which_srun_starts_on_its_nodes(folder: Path, cluster: dict[str, str]) -> None:
    plugins = subprocess.run(["srun", "--mpi=list"], env=cluster, capture_output=True, text=True, check=False)
    if "pmix" not in plugins.stdout + plugins.stderr:
        pytest.skip("Slurm has no plugin for PMIx on this machine, as on Ubuntu 22.04")
    done = sweep(
        folder,
        cluster,
        "matrix.nodes=[1, 2]",
        "matrix.aggregators=[1]",
        "slurm.start=srun --mpi=pmix",
        "mpi.mapping=node",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = records(folder)
    assert len(found) == 4
    for record in found.values():
        assert record["status"] == "ok", record["reason"]
        assert record["command"][:3] == ["srun", "--mpi=pmix", "--distribution=cyclic"]
        assert len(record["hosts"]) == record["point"]["nodes"], record["id"]
        assert record["log"], "srun's ranks on all nodes left one log"
    assert len({record["batch"]["job"] for record in found.values()}) == 2, "runs of a shape share jobs"


def test_a_search_hands_over_one_run_after_the_other(folder: Path, cluster: dict[str, str]) -> None:
    file = folder / "experiment.yaml"
    # Emulated storage may keep its data in this machine's memory, but under Slurm in a folder that all nodes can read.
    file.write_text(file.read_text().replace(f"{{kind: directory, directory: {folder / 'data'}}}", "{kind: emulated}"))
    changes = ["slurm.nodes=1", "matrix.stripe_count=[1, 2]", "matrix.aggregators=[1]", "repetitions=1"]
    sets = [word for change in changes for word in ("--set", change)]
    line = [IOLENS, "tune", file, "--results", folder / "results", "--budget", "2", "--no-report", *sets]
    done = subprocess.run(line, env=cluster, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    found = records(folder)
    assert {record["status"] for record in found.values()} == {"ok"}
    assert len({record["batch"]["job"] for record in found.values()}) == len(found) == 2
    assert not jobs_of(folder)


def test_what_goes_on_when_the_sweep_has_gone_is_taken_over(folder: Path, cluster: dict[str, str]) -> None:
    held = words(folder, "slurm.runs_per_job=1", "slurm.options=['--hold']")
    running = subprocess.Popen(held, env=cluster, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(jobs_of(folder)) == 4)
    jobs = {json.loads(path.read_text())["job"] for path in jobs_of(folder)}
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert "continue in Slurm" in errors
    ask(cluster, "scontrol", "release", ",".join(map(str, sorted(jobs))))
    done = sweep(folder, cluster, "slurm.runs_per_job=1")
    assert done.returncode == 0, done.stdout + done.stderr
    found = records(folder)
    assert {record["batch"]["job"] for record in found.values()} == jobs, "none was begun twice"


def test_a_cancelled_job_and_a_vanished_one_are_failed_runs_that_can_be_repeated(
    folder: Path, cluster: dict[str, str]
) -> None:
    changes = ("slurm.runs_per_job=1", "repetitions=1", "slurm.options=['--hold']")
    running = subprocess.Popen(words(folder, *changes), env=cluster, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: len(jobs_of(folder)) == 2)
    first, second = jobs_of(folder)
    cancelled = json.loads(first.read_text())["job"]
    ask(cluster, "scancel", str(cancelled))
    wait_until((first.parent / "run.json").exists)
    running.send_signal(signal.SIGINT)
    running.wait(timeout=PATIENCE)
    known = json.loads(second.read_text())
    ask(cluster, "scancel", str(known["job"]))
    second.write_text(json.dumps({**known, "job": 999_999}))
    held = records(folder)
    assert [record["status"] for record in held.values()] == ["failed"]
    assert (
        f"Slurm job {cancelled} ended (CANCELLED) before this run ended"
        in held[first.parent.parent.name + "/rep-1"]["reason"]
    )
    done = sweep(folder, cluster, "slurm.runs_per_job=1", "repetitions=1")
    assert "Slurm job 999999 ended (GONE) before this run ended" in done.stdout
    assert done.returncode == 1
    again = sweep(folder, cluster, "slurm.runs_per_job=1", "repetitions=1", retry=True)
    assert again.returncode == 0, again.stdout + again.stderr
    assert {record["status"] for record in records(folder).values()} == {"ok"}


def test_the_time_limit_leaves_a_log_of_all_nodes(folder: Path, cluster: dict[str, str]) -> None:
    endless = (f"workload.program={program()}", "workload.arguments=[wait]", "repetitions=1", "matrix.aggregators=[1]")
    running = subprocess.Popen(
        words(folder, *endless, "slurm.start=mpirun --wdir " + str(folder)),
        env=cluster | {"IOLENS_INCLUDE": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until((folder / "ready").exists)
    job = json.loads(jobs_of(folder)[0].read_text())["job"]
    # The batch script asks Slurm for this signal before its time limit; here the test sends it.
    ask(cluster, "scancel", "--signal=TERM", "--batch", str(job))
    output, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 1, output + errors
    (record,) = records(folder).values()
    assert record["reason"] == "the batch job was ended during the run, by its time limit or by somebody"
    (log,) = (folder / "results").rglob("*.darshan")
    assert "4 of 4 ranks kept" in check_log(log, 4)


def test_a_run_that_takes_too_long_takes_no_time_from_the_next_one_of_its_job(
    folder: Path, cluster: dict[str, str]
) -> None:
    endless = (f"workload.program={program()}", "workload.arguments=[wait]", "matrix.aggregators=[1]")
    started = "slurm.start=mpirun --wdir " + str(folder)
    done = sweep(folder, cluster, *endless, "slurm.time=2", started)
    assert done.returncode == 1, done.stdout + done.stderr
    found = records(folder)
    assert [record["reason"] for record in found.values()] == ["it ran longer than 2 s and was ended"] * 2
    assert len({record["batch"]["job"] for record in found.values()}) == 1


def test_mpich_starts_through_pmi2(cluster: dict[str, str], tmp_path: Path) -> None:
    its = library("mpich")
    files = its.compile(ROOT / "tests/c/mpi_shared_files.c", tmp_path / "files")
    settings = {"IOLENS_LOGPATH": str(tmp_path), "IOLENS_INCLUDE": str(tmp_path), **UCX_ON_ONE_MACHINE}
    # MPICH's ranks occupy a processor while they wait, so each node gets only one rank.
    start = ["srun", "--mpi=pmi2", "--nodes=2", "--ntasks-per-node=1", "env", f"LD_PRELOAD={its.preload}"]
    line = [*start, str(files), str(tmp_path), "1", "1"]
    done = subprocess.run(line, env=cluster | settings, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = tmp_path.rglob("*.darshan")
    assert read_log(log).nprocs == 2
    assert hosts_of((log,), 2) == ["n1", "n2"]


def test_srun_needs_no_understanding_of_its_words(cluster: dict[str, str], tmp_path: Path) -> None:
    """Ranks of a file of programs are recorded, beside an option with a value."""
    its = library("mpich")
    words = [str(its.compile(ROOT / "tests/c/mpi_shared_files.c", tmp_path / "files")), str(tmp_path), "1", "1"]
    (tmp_path / "programs").write_text(f"0-1 {' '.join(words)}\n", encoding="utf-8")
    start = ["srun", "--mpi=pmi2", "--nodes=2", "--ntasks-per-node=1", "--gpu-bind", "none", "--multi-prog"]
    settings = {"IOLENS_LIB": str(its.adapter.parent), "IOLENS_INCLUDE": str(tmp_path), **UCX_ON_ONE_MACHINE}
    command = [IOLENS, "run", "--output", tmp_path / "out", "--", *start, str(tmp_path / "programs")]
    done = subprocess.run(
        command, env=cluster | settings, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = (tmp_path / "out").glob("*.darshan")
    assert read_log(log).nprocs == 2
    assert hosts_of((log,), 2) == ["n1", "n2"]


def test_without_slurm_it_is_said_beforehand(folder: Path) -> None:
    done = sweep(folder, {**os.environ, "PATH": str(folder)})
    assert done.returncode == 1
    assert "squeue does not answer" in done.stderr


@pytest.fixture
def site(cluster: dict[str, str], tmp_path: Path) -> Iterator[Path]:
    """Configures the cluster with the scripts that packaging/site offers as Slurm's TaskProlog and Epilog; returns the
    folder of the logs.
    """
    logs, prefix = tmp_path / "logs", tmp_path / "prefix"
    for folder in (logs / "recovered", prefix / "bin", prefix / "lib/iolens"):
        folder.mkdir(parents=True)
    logs.chmod(0o1777)
    (prefix / "lib/iolens/lib").symlink_to(ROOT / "build/lib")
    (prefix / "bin/iolens").symlink_to(IOLENS)
    (prefix / "etc").symlink_to(ROOT / "packaging/site")
    for script in ("task-prolog.sh", "epilog.sh"):
        text = (ROOT / "packaging/site" / script).read_text(encoding="utf-8")
        edited = text.replace("prefix=/opt/iolens", f"prefix={prefix}").replace("=/scratch/iolens-logs", f"={logs}")
        (tmp_path / script).write_text(edited, encoding="utf-8")
        (tmp_path / script).chmod(0o755)
    configuration = Path(cluster["SLURM_CONF"])
    before = configuration.read_text(encoding="utf-8")
    hooks = f"TaskProlog={tmp_path}/task-prolog.sh\nEpilog={tmp_path}/epilog.sh\n"
    try:
        configuration.write_text(before + hooks, encoding="utf-8")
        ask(cluster, "scontrol", "reconfigure")
        yield logs
    finally:
        configuration.write_text(before, encoding="utf-8")
        ask(cluster, "scontrol", "reconfigure")


def test_a_site_records_every_job_unasked_and_those_that_are_killed(
    folder: Path, cluster: dict[str, str], site: Path
) -> None:
    """One job ends regularly. The other, on two nodes, is cancelled, and the epilog on each node recovers the records
    of its ranks.
    """
    (folder / "whole").mkdir()
    surroundings = cluster | openmpi.openmpi_variables(["as root"], None)
    for name, nodes, ranks in (("whole", 1, 2), ("wait", 2, 4)):
        place = folder / "whole" if name == "whole" else folder
        script = f"#!/bin/sh\nmpirun -np {ranks} --map-by node --wdir {place} {program()} {name}\n"
        (folder / f"{name}.sh").write_text(script, encoding="utf-8")
        subprocess.run(
            ["sbatch", f"--nodes={nodes}", f"--ntasks={ranks}", "-o", f"{folder}/{name}.txt", f"{folder}/{name}.sh"],
            env=surroundings,
            check=True,
        )
    wait_until((folder / "ready").exists)
    ask(cluster, "scancel", "--name=wait.sh")
    wait_until(lambda: not ask(cluster, "squeue", "--noheader"))
    (whole,) = set(site.rglob("*.darshan")) - set(site.rglob("recovered/**/*"))
    assert re.fullmatch(r"\d{4}/\d+/\d+", str(whole.parent.relative_to(site)))
    assert (check_log(whole, 2), (folder / "whole.txt").read_text(encoding="utf-8")) == ("", "")
    (cut,) = site.rglob("recovered/**/*.darshan")
    assert "4 of 4 ranks kept" in check_log(cut, 4)
    assert not list(site.rglob("*.spool"))
