"""`iolens sweep --dry-run` prints the complete plan and creates nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from iolens.cli.lab import sweep
from iolens.cli.main import main
from iolens.errors import UsageError
from iolens.lab.launchers.launcher import RunSpec
from iolens.lab.launchers.placement import options_for
from iolens.lab.launchers.slurm_batches import AHEAD, batches
from iolens.lab.launchers.task_file import read_task, write_task
from iolens.lab.run.preload import Setup
from iolens.lab.sweep.define.experiment_file import load_experiment
from iolens.lab.sweep.define.spec import PointSpec
from iolens.lab.sweep.plan.preview import plan

TEXT = """name: small
workload: {{program: btio, arguments: [--class, S], ranks: 4}}
storage: {{kind: directory, directory: {data}}}
first: {{arguments: [--class, W]}}
slurm: {{nodes: 2, runs_per_job: 3, time: '00:05:00', partition: cpu, modules: [openmpi], options: [--mem=0]}}
matrix: {{aggregators: [1, 2]}}
repetitions: 2
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "experiment.yaml"
    path.write_text(TEXT.format(data=tmp_path / "data"))
    return path


def test_every_command_is_there_and_the_room_of_the_largest_run(file: Path) -> None:
    found = plan(load_experiment(file), file.parent / "results")
    assert len(found.runs) == len(found.texts) == 5
    assert found.runs[0] == "first"
    assert found.texts[0].startswith("mpirun -n 4 btio --class W ")
    assert all(
        f"--hint cb_nodes={run[2]} " in f"{text} " for run, text in zip(found.runs[1:], found.texts[1:], strict=True)
    )
    # Class W of NPB has 24 x 24 x 24 points of 5 doubles and 40 dumps.
    assert found.volume == 24**3 * 5 * 8 * 40
    assert found.seconds is None
    assert [path.name for path in file.parent.iterdir()] == ["experiment.yaml"]


def test_of_a_batch_system_the_scripts_are_there(file: Path) -> None:
    found = plan(load_experiment(file, ["launcher=slurm"]), file.parent / "results")
    assert len(found.texts) == 2
    first = found.texts[0].splitlines()
    wanted = ["--nodes=2", "--ntasks=4", "--ntasks-per-node=2", "--time=16", "--partition=cpu", "--mem=0"]
    assert {f"#SBATCH {option}" for option in wanted} <= set(first)
    assert "module load openmpi" in first
    assert sum(line.startswith("perform /") for line in first) == 3
    assert subprocess.run(["bash", "-n"], input=found.texts[0], text=True, check=False).returncode == 0


def test_the_command_prints_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(file), "--dry-run", "--results", str(file.parent / "results")]) == 0
    printed = capsys.readouterr().out
    assert printed.count("mpirun -n 4 btio") == 5
    assert "5 runs, and up to 4 that confirm the best setting; one run writes at most 22.1 MB below" in printed
    assert "their duration is unknown until one run is done" in printed
    assert [path.name for path in file.parent.iterdir()] == ["experiment.yaml"]


@pytest.mark.parametrize(("by_make", "option"), [(True, "RETRY=1"), (False, "--retry")])
def test_failed_runs_are_repeated_in_the_way_in_which_the_sweep_was_started(
    monkeypatch: pytest.MonkeyPatch, by_make: bool, option: str
) -> None:
    monkeypatch.delenv("MAKELEVEL", raising=False)
    if by_make:
        monkeypatch.setenv("MAKELEVEL", "1")
    assert f"`{option}`" in sweep.hint_of_retry(2)


@pytest.mark.parametrize("how", [["--dry-run"], []])
@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--set", "matrix.stripe_count=[1, 2]"], "which has no stripes to vary"),
        (["--set", "mpi.io_component=lustre"], "the Lustre driver needs stripes, but plain storage has none"),
        (["--set", "storage.configuration=ost.yaml"], "plain storage has no configuration file"),
    ],
)
def test_the_dry_run_refuses_what_the_sweep_refuses(
    file: Path, how: list[str], options: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", str(file), "--results", str(file.parent / "results"), *how, *options]) == 2
    assert why in capsys.readouterr().err
    assert [path.name for path in file.parent.iterdir()] == ["experiment.yaml"]


def test_without_a_complete_run_nothing_is_left_beside_the_matrix(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("".join(line for line in file.read_text().splitlines(True) if not line.startswith("first:")))
    assert main(["sweep", str(file), "--results", str(file.parent / "results"), "--no-sweep"]) == 2
    assert "first.arguments: this experiment has no complete run" in capsys.readouterr().err


def test_data_that_stays_needs_room_for_all_of_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", str(file), "--dry-run", "--results", str(file.parent / "results")]
    assert main([*words, "--set", "keep.data=always"]) == 0
    printed = capsys.readouterr().out
    # Class S has 12 x 12 x 12 points of 5 doubles and 12 dumps in each of 4 runs.
    assert f"{(4 * 12**4 * 5 * 8 + 24**3 * 5 * 8 * 40) / 1e6:.1f} MB remain after all runs, below" in printed
    assert printed.count(" --keep") == 5, "the program is told to leave its files"
    assert main([*words, "--set", "keep.data=failed"]) == 0
    assert "remain after all runs" not in capsys.readouterr().out


def test_ranks_and_nodes_are_settings_like_others(file: Path) -> None:
    changes = ["launcher=slurm", "slurm.runs_per_job=1", "matrix.ranks=[1, 4]", "matrix.nodes=[1, 2]", "repetitions=1"]
    found = plan(load_experiment(file, [*changes, "together=[[ranks, nodes]]", "matrix.aggregators=[1]"]), file.parent)
    assert set(found.runs) == {"first", "ag1_np1_nn1/rep-1", "ag1_np4_nn2/rep-1"}
    scripts = {run: text.splitlines() for run, text in zip(found.runs, found.texts, strict=True)}
    assert {"#SBATCH --nodes=1", "#SBATCH --ntasks=1"} <= set(scripts["ag1_np1_nn1/rep-1"])
    assert {"#SBATCH --nodes=2", "#SBATCH --ntasks=4"} <= set(scripts["ag1_np4_nn2/rep-1"])


def test_a_launcher_without_nodes_cannot_vary_them(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = ["--set", "matrix.nodes=[1, 2]"]
    assert main(["sweep", str(file), "--results", str(file.parent / "results"), *changes]) == 2
    assert "matrix.nodes: the launcher local cannot choose nodes" in capsys.readouterr().err


def tasks(*shapes: str, runs_per_job: int) -> list[RunSpec]:
    """Returns one task for each shape, named by its position in `shapes`; `2x4` means 2 nodes and 4 ranks in all."""
    made = ((Path(str(place)), *map(int, shape.split("x"))) for place, shape in enumerate(shapes))
    return [
        RunSpec(folder, ("mpirun",), ranks, ("a",), Setup(), options={"nodes": nodes, "runs_per_job": runs_per_job})
        for folder, nodes, ranks in made
    ]


@pytest.mark.parametrize(
    ("shapes", "size", "jobs"),
    [
        ("1x4 1x4 1x4 1x4 1x4", 2, ["01", "23", "4"]),
        ("1x4 2x4 1x4 2x8 2x4 1x4", 2, ["02", "14", "3", "5"]),
        ("1x4 2x4 1x4 2x4", 1, ["0", "1", "2", "3"]),
        ("", 3, []),
    ],
)
def test_a_job_has_runs_of_one_shape_in_their_order(shapes: str, size: int, jobs: list[str]) -> None:
    found = batches(iter(tasks(*shapes.split(), runs_per_job=size)))
    assert ["".join(str(task.folder) for task in batch) for batch in found] == jobs


def test_only_so_many_runs_are_taken_ahead() -> None:
    left = iter(tasks(*["1x4", "2x4"] * 20, runs_per_job=2))
    assert len(next(batches(left))) == 2
    assert len(list(left)) == 40 - AHEAD * 2


def placed(file: Path, *changes: str) -> list[str]:
    """Returns the first words of every run's command."""
    found = plan(load_experiment(file, [*changes, "matrix.aggregators=[1]", "repetitions=1"]), file.parent / "results")
    return [text.partition(" -n ")[0] for text in found.texts]


@pytest.mark.parametrize(
    ("version", "mapping", "options"),
    [
        ("mpirun (Open MPI) 4.1.4", "slot", "--map-by slot"),
        ("mpirun (Open MPI) 5.0.1", "socket", "--map-by socket"),
        ("HYDRA build details:", "core", "-bind-to core -map-by core"),
        ("HYDRA build details:", "node", "-ppn 1"),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.16", "node", "-ppn 1"),
        ("slurm 22.05.8", "socket", "--distribution=block:cyclic"),
    ],
)
def test_each_starter_of_ranks_has_its_own_options_for_a_mapping(
    tmp_path: Path, version: str, mapping: str, options: str
) -> None:
    starter = tmp_path / "start"
    starter.write_text(f"#!/bin/sh\necho '{version}'\n")
    starter.chmod(0o755)
    assert " ".join(options_for(str(starter), mapping, None)) == options


def test_a_mapping_that_the_starter_cannot_do_is_said_before_anything_runs(tmp_path: Path) -> None:
    starter = tmp_path / "start"
    starter.write_text("#!/bin/sh\necho HYDRA build details\n")
    starter.chmod(0o755)
    with pytest.raises(UsageError, match="cannot map ranks by slot; it can map by core, socket, node"):
        options_for(str(starter), "slot", None)
    with pytest.raises(UsageError, match="cannot map by node with mpi"):
        options_for(str(starter), "node", 4)
    assert options_for(str(starter), "core", 4)[-2:] == ("-ppn", "4")
    with pytest.raises(UsageError, match="iolens does not know how to place ranks with true"):
        options_for("true", "core", None)


def test_the_plan_shows_where_ranks_go(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starter = file.parent / "mpirun"
    starter.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 4.1.4'\n")
    starter.chmod(0o755)
    monkeypatch.setenv("PATH", str(file.parent), prepend=os.pathsep)
    assert set(placed(file, "mpi.mapping=core")) == {"mpirun --map-by core"}
    assert set(placed(file, "mpi.mapping=core", "mpi.ranks_per_node=4")) == {"mpirun --map-by core"}
    nodes = file.parent / "nodes"
    nodes.write_text("n1\nn1\nn2\nn2\n")
    monkeypatch.setenv("PBS_NODEFILE", str(nodes))
    assert set(placed(file, "mpi.ranks_per_node=2")) == {"mpirun --map-by ppr:2:node"}


def test_ranks_that_the_nodes_do_not_hold_are_refused(file: Path) -> None:
    with pytest.raises(UsageError, match="2 on one node are fewer than the 4 ranks of run first; the launcher local"):
        plan(load_experiment(file, ["mpi.ranks_per_node=2"]), file.parent / "results")
    scripts = plan(load_experiment(file, ["mpi.ranks_per_node=3", "launcher=slurm"]), file.parent / "results").texts
    assert "#SBATCH --ntasks-per-node=3" in scripts[0].splitlines()
    changes = ["mpi.ranks_per_node=3", "launcher=slurm", "slurm.ranks_per_node=1"]
    with pytest.raises(UsageError, match="1 on each of 2 nodes"):
        plan(load_experiment(file, changes), file.parent / "results")


def test_a_batch_job_is_given_what_a_launcher_needs_of_a_specification(tmp_path: Path) -> None:
    write_task(PointSpec(id="sc1/rep-1", folder=tmp_path, starter=("mpirun",), ranks=2, words=("a",), key="k"))
    assert read_task(tmp_path) == RunSpec(tmp_path, ("mpirun",), 2, ("a",))
