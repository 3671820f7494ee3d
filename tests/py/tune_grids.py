"""The grids of tests/data/tune: their experiments, their recorded results, and a search that replays the records."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from iolens.lab.installation import storage_config
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.experiment_file import load_experiment
from iolens.lab.tune.budget import usual_budget
from iolens.lab.tune.search import search_of

DATA = Path(__file__).resolve().parents[1] / "data" / "tune"
RUNS = DATA / "runs.csv"

Record = Mapping[str, list[float]]
"""Measured bandwidths of a grid in MiB/s: those of each point by its name, in the order of the repetitions."""


@dataclass(frozen=True)
class SearchResult:
    """Result of a search on a recorded grid: number of runs, number of settings, and the bandwidth of the chosen
    setting as a share of the grid's best (geometric means of all recorded runs).
    """

    runs: int
    settings: int
    chosen: str
    share: float


@cache
def all_grids() -> Mapping[str, Mapping[str, Any]]:
    """Reads the grids by name; `ost` has the parameters of their storage."""
    content = yaml.safe_load((DATA / "grids.yaml").read_text(encoding="utf-8"))
    return {name: {**grid, "ost": content["storages"][grid["storage"]]} for name, grid in content["grids"].items()}


def experiment_of(name: str, folder: Path, repetitions: int = 2) -> Experiment:
    """Writes the experiment that records a grid, and its storage's parameters in a file of `folder`."""
    grid = all_grids()[name]
    folder.mkdir(parents=True, exist_ok=True)
    ost = yaml.safe_load(storage_config().read_text(encoding="utf-8")) | {"memory_mb_per_s": 160} | grid["ost"]
    (folder / f"{name}.ost.yaml").write_text(yaml.safe_dump(ost), encoding="utf-8")
    content = {
        "name": name,
        "storage": {"kind": "emulated", "configuration": str(folder / f"{name}.ost.yaml"), "stripe_size": "256k"},
        "repetitions": repetitions,
        "confirm": 0,
        **{key: grid[key] for key in ("workload", "mpi", "matrix")},
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return load_experiment(path)


@cache
def recorded() -> Mapping[str, Record]:
    """Returns the recorded run times of each grid, by setting."""
    found: dict[str, dict[str, list[float]]] = {}
    with RUNS.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            found.setdefault(row["grid"], {}).setdefault(row["point"], []).append(float(row["bandwidth"]))
    return found


def mean(values: list[float]) -> float:
    """Returns the geometric mean of a point's bandwidths."""
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def share_of_best(record: Record, point: str) -> float:
    """Returns a point's bandwidth as a share of the grid's best."""
    return mean(record[point]) / max(map(mean, record.values()))


def replay(experiment: Experiment, record: Record, repetition: int = 0) -> SearchResult:
    """Runs the search on a record: each run returns the recorded value of this repetition of its point."""
    search = search_of(experiment)
    measured: dict[int, float] = {}
    while len(measured) < (usual_budget(len(search.points)).runs or 0):
        choice = search.next(measured)
        if choice is None:
            break
        values = record[search.points[choice.place].id]
        measured[choice.place] = values[repetition % len(values)]
    chosen = search.points[max(measured, key=lambda i: measured[i])].id
    return SearchResult(len(measured), len(search.points), chosen, share_of_best(record, chosen))
