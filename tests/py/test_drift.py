"""A machine that slows down during a sweep is distinguished from effects of settings and from scatter."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pandas as pd
import pytest
from comparison_example import cautions, write_sweep
from iolens.lab.sweep.read.results import load_results
from iolens.metrics.comparison.effects import drift
from iolens.metrics.comparison.results import compare
from iolens.metrics.comparison.settings import Measure

BANDWIDTH = Measure("write bandwidth")
SECONDS = Measure("run time", "s", "seconds", less_is_better=True)


def sweep(blocks: int, trend: float, scatter: float = 0.01) -> pd.DataFrame:
    """Makes runs of four settings whose rates are a factor of two apart, in shuffled blocks; all rates change by
    `trend` from the first run to the last.
    """
    chance = random.Random(7)
    order = [point for _ in range(blocks) for point in chance.sample(range(4), 4)]
    rows = []
    for place, point in enumerate(order):
        rate = 2.0**point * trend ** (place / (len(order) - 1)) * math.exp(chance.gauss(0, scatter))
        started = f"2026-01-01T00:{place // 60:02}:{place % 60:02}+00:00"
        rows.append((point, place, started, True, rate, 1 / rate))
    return pd.DataFrame(rows, columns=["point", "repetition", "started", "usable", "bandwidth", "seconds"])


@pytest.mark.parametrize("measure", [BANDWIDTH, SECONDS])
def test_a_trend_is_found_whatever_the_settings_give(measure: Measure) -> None:
    found = drift(sweep(5, trend=0.8), measure)
    assert found is not None
    assert found.is_clear
    assert found.value == pytest.approx(0.8, abs=0.02)


def test_scatter_is_no_trend() -> None:
    found = drift(sweep(5, trend=1.0, scatter=0.1), BANDWIDTH)
    assert found is not None
    assert not found.is_clear


def test_runs_that_are_too_few_or_not_usable_say_nothing() -> None:
    assert drift(sweep(1, trend=0.5), BANDWIDTH) is None
    lost = sweep(3, trend=0.5)
    assert drift(lost.assign(usable=False), BANDWIDTH) is None
    assert drift(lost.assign(bandwidth=None), BANDWIDTH) is None


def test_a_sweep_by_run_time_names_its_storage_and_its_drift(tmp_path: Path) -> None:
    """These runs leave no result file, so that their run time is compared."""
    folder = write_sweep(tmp_path / "sweep", {"stripe_count": [1, 4]}, repetitions=5)
    saved = folder / "experiment.yaml"
    saved.write_text(saved.read_text().replace("write_bandwidth", "run_time"))
    for path in folder.rglob("run.json"):
        run = json.loads(path.read_text())
        place = run["point"]["repetition"]
        run |= {"started": f"2026-01-01T00:00:0{place}+00:00", "seconds": 8 / run["point"]["stripe_count"] * 1.2**place}
        path.write_text(json.dumps(run))
        (path.parent / "result.json").unlink()
    results = load_results(folder)
    found = compare(results.runs, results.settings, results.measure)
    assert found.points["name"][found.best] == "4 stripes"
    said = " ".join(cautions(results, found))
    assert "The machine drifted: whatever the setting, the last runs were slower than the first, 0.4" in said
    assert "emulated" in said
    assert "Compute time" not in said
