"""Hand-made sweep folders for the comparison tests: run.json, result.json, experiment.yaml."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from iolens.lab.sweep.read.results import Results, load_results
from iolens.metrics.comparison.results import Comparison, compare
from iolens.pages.wording.sweep_cautions import doubts, origins

MIB = 2**20
BYTES = 100 * MIB
KEYS = {"aggregators": "cb_nodes"}
GRID = {"stripe_count": [1, 2, 4], "aggregators": [1, 2, 4], "cb_buffer_size": [MIB, 16 * MIB]}

Model = Callable[[Mapping[str, Any]], float]


def stripes_model(point: Mapping[str, Any]) -> float:
    """Returns a bandwidth in MiB/s that grows with min(stripes, aggregators), and slightly with the buffer size."""
    together = min(point.get("stripe_count", 1), point.get("aggregators", 1))
    return 150.0 * together * (1.1 if point.get("cb_buffer_size", 0) > MIB else 1.0)


def write_run(folder: Path, point: Mapping[str, Any], repetition: int, mib_per_s: float, **changes: Any) -> None:
    """Writes the folder of one run; `changes` replace keys of run.json."""
    folder.mkdir(parents=True)
    seconds = BYTES / MIB / mib_per_s
    requested = {KEYS.get(name, name): level for name, level in point.items()}
    aggregators = point.get("aggregators", 1)
    run = {
        "schema": 1,
        "id": f"{'_'.join(f'{k}{v}' for k, v in point.items())}/rep-{repetition}",
        "status": "ok",
        "reason": None,
        "command": ["mpirun", "-np", "4", "btio"],
        "started": f"2026-11-21T10:00:{repetition:02d}+00:00",
        "seconds": seconds + 0.5,
        "exit_code": 0,
        "point": {**point, "repetition": repetition},
        "requested": {"stripe_size": MIB, **requested},
        "effective": {"stripe_size": MIB, **requested},
        "observed": {
            "aggregators": aggregators,
            "aggregator_ranks": list(range(aggregators)),
            "largest_write": point.get("cb_buffer_size", 4 * MIB),
            "common_write": point.get("cb_buffer_size", 4 * MIB),
        },
        "took_effect": dict.fromkeys(requested, True),
        "storage": {"kind": "emulated", "file_system": "ost", "valid": True, "reason": None},
        "launcher": "local",
        "mpi": {"library": "Open MPI v4.1.4", "io_component": "romio321"},
        "hosts": ["node1"],
        "load_before": 0.4,
        "log": None,
        "result": "result.json",
        "key": "0" * 64,
    } | changes
    times = {"min": seconds * 0.9, "mean": seconds * 0.95, "max": seconds, "harmonic_mean": seconds * 0.94}
    result = {
        "schema": 1,
        "workload": "btio",
        "ranks": 4,
        "phases": [{"operation": "write", "bytes": BYTES, "calls_per_rank": 10, "seconds": times}],
        "verification": {"status": "successful", "detail": None},
    }
    (folder / "run.json").write_text(json.dumps(run, default=int))
    (folder / "result.json").write_text(json.dumps(result))


def write_sweep(
    directory: Path,
    matrix: Mapping[str, Sequence[Any]],
    repetitions: int = 3,
    model: Model = stripes_model,
    spread: float = 0.02,
) -> Path:
    """Writes a whole sweep with seeded lognormal noise of relative width `spread`; returns `directory`."""
    generator = random.Random(42)
    for levels in product(*matrix.values()):
        point = dict(zip(matrix, levels, strict=True))
        slug = "_".join(f"{name}{level}" for name, level in point.items()) or "only"
        for repetition in range(1, repetitions + 1):
            speed = model(point) * math.exp(generator.gauss(0.0, spread))
            write_run(directory / "points" / slug / f"rep-{repetition}", point, repetition, speed)
    (directory / "experiment.yaml").write_text(
        "name: example\ntitle: BT-IO class A grid, 10 dumps\n"
        "workload: {program: btio, arguments: [--class, A], ranks: 4}\n"
        'mpi: {io_component: romio321, hints: {romio_cb_write: enable, cb_config_list: "*:*"}}\n'
        "report: {metric: write_bandwidth}\n"
    )
    return directory


def write_fresh(
    directory: Path, points: Sequence[Mapping[str, Any]], speeds: Sequence[Sequence[float]], **changes: Any
) -> None:
    """Adds fresh runs of some points to an existing sweep, with these speeds in MiB/s."""
    for point, values in zip(points, speeds, strict=True):
        slug = "_".join(f"{name}{level}" for name, level in point.items())
        for repetition, speed in enumerate(values, 1):
            write_run(directory / "confirm" / slug / f"rep-{repetition}", point, repetition, speed, **changes)


def change(run: Path, **values: Any) -> None:
    """Replaces keys in the run.json of one run."""
    content = json.loads(run.read_text())
    run.write_text(json.dumps(content | values))


def compared(folder: Path) -> Comparison:
    results = load_results(folder)
    return compare(results.runs, results.settings)


def settings_of(comparison: Comparison, index: int | None) -> tuple[Any, ...]:
    assert index is not None
    return tuple(comparison.points.loc[index, list(comparison.settings)])


def cautions(results: Results, comparison: Comparison) -> list[str]:
    """Returns the sentences that a comparison prints before its numbers and after them."""
    return [*doubts(results, comparison), *origins(results, comparison)]
