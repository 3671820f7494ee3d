"""Measures how far `iolens tune` stays from the best of a whole matrix on simulated storage: tune_simulated.py LOG…

Each LOG is a traced run (`iolens run --dxt`). An experiment is a log, a driver, and a machine drawn at random: targets,
their speed, links, locks and requests. The storage's model replays the run at every setting of the matrix, which gives
the true values; the search sees them with 3 % of noise. None of these machines was used in the development of the
search.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
from dataclasses import replace
from pathlib import Path

from iolens.lab.io_components import LUSTRE
from iolens.lab.predict.model import StorageModel, read_model
from iolens.lab.predict.predict import replay
from iolens.lab.predict.recorded import Recorded, largest_file, read_recorded
from iolens.lab.predict.settings import ChangedSettings
from iolens.lab.sweep.define.experiment import ROMIO, Experiment
from iolens.lab.tune.budget import usual_budget
from iolens.lab.tune.search import Search, search_of
from iolens.log import read_log

NOISE = 0.03
RANGES = {
    "ost_mb_per_s": (20.0, 800.0),
    "link_mb_per_s": (100.0, 5000.0),
    "lock_us": (20.0, 2000.0),
    "ost_rpc_us": (10.0, 1000.0),
    "network_us": (10.0, 500.0),
}
"""Smallest and largest value of each parameter of a machine; values between them are drawn log-uniformly."""


def machine(seed: int) -> StorageModel:
    """Returns a simulated machine, whose parameters are drawn at random from this seed."""
    drawn, usual = random.Random(seed), read_model()
    values = {name: low * (high / low) ** drawn.random() for name, (low, high) in RANGES.items()}
    return replace(usual, values={**usual.values, **values, "targets": drawn.choice((4, 8, 12))})


def experiment_on(model: StorageModel, component: str, ranks: int) -> Experiment:
    """Returns the matrix of stripes, stripe sizes and aggregators that this machine allows."""
    counts = tuple(count for count in (1, 2, 4, 8, 12) if count <= model.values["targets"])
    matrix = {"stripe_count": counts, "aggregators": (1, 2, 4), "stripe_size": (2**18, 2**20)}
    fields = {"name": "simulated", "title": "", "program": "btio", "arguments": (), "ranks": ranks}
    return Experiment(**fields, matrix=matrix, io_component=component)  # type: ignore[arg-type]


def truth(recorded: Recorded, model: StorageModel, search: Search, driver: str) -> list[float]:
    """Returns the I/O time in seconds of every setting of a search, as the model replays it."""
    settings = [point.numbers for point in search.points]
    asked = [
        ChangedSettings(one["stripe_count"], one["stripe_size"], one["aggregators"], None, driver) for one in settings
    ]
    return [replay(recorded, model, one, None).io for one in asked]


def searched(search: Search, seconds: list[float], seed: int) -> dict[int, float]:
    """Lets a search choose settings until its budget is spent; returns the measured speeds by the number of the
    setting.
    """
    noise, measured = random.Random(seed), dict[int, float]()
    while len(measured) < (usual_budget(len(search.points)).runs or 0):
        choice = search.next(measured)
        if choice is None:
            break
        measured[choice.place] = math.exp(noise.gauss(0.0, NOISE)) / seconds[choice.place]
    return measured


def main() -> None:
    """Prints a row for each experiment, and the distances from the best of all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG")
    parser.add_argument("--experiments", type=int, default=24, metavar="N", help="machines to draw [24]")
    parser.add_argument("--seed", type=int, default=1000, metavar="N", help="number of the first machine [1000]")
    args = parser.parse_args()
    runs = [read_recorded(read_log(path)) for path in args.logs]
    away, made = list[float](), list[int]()
    print("experiment  driver   settings  runs  from the best")
    for number in range(args.experiments):
        recorded, model = runs[number % len(runs)], machine(args.seed + number)
        component, driver = ((LUSTRE, "lustre"), (ROMIO, "generic"))[number // len(runs) % 2]
        experiment = experiment_on(model, component, recorded.nprocs)
        search = search_of(experiment, largest_file(recorded))
        seconds = truth(recorded, model, search, driver)
        measured = searched(search, seconds, number)
        chosen = max(measured, key=lambda place: measured[place])
        away.append(1.0 - min(seconds) / seconds[chosen])
        made.append(len(measured))
        print(f"{number:10}  {driver:7}  {len(seconds):8}  {made[-1]:4}  {away[-1]:13.1%}", flush=True)
    print(
        f"from the best: median {statistics.median(away):.1%}, worst {max(away):.1%}; within 2 % in "
        f"{sum(one <= 0.02 for one in away)}, within 10 % in {sum(one <= 0.1 for one in away)} of {len(away)}; "
        f"runs: median {statistics.median(made):g}, most {max(made)}"
    )


if __name__ == "__main__":
    sys.exit(main())
