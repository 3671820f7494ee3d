"""Measures how well `iolens tune` finds a grid's best setting, and in how many runs, on recorded full grids.

tune.py record DIR [GRID …]   run grids of tests/data/tune/grids.yaml on emulated targets, with results below DIR
tune.py collect DIR           write what was recorded there to tests/data/tune/runs.csv
tune.py replay [GRID …]       compare the search with random search and Optuna's, all on the recorded runs
"""

from __future__ import annotations

import argparse
import csv
import random
import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "py"))

from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.folders import POINTS
from iolens.lab.sweep.define.matrix import matrix_points, schedule
from iolens.lab.sweep.define.metrics import METRICS
from iolens.lab.sweep.perform.progress import Lines
from iolens.lab.sweep.plan.prepare import prepare
from iolens.lab.sweep.read.results import read_run
from iolens.lab.sweep.sweep import run_sweep
from iolens.lab.tune.search import search_of
from tune_grids import RUNS, Record, SearchResult, all_grids, experiment_of, recorded, replay, share_of_best

SEEDS = 20
"""Number of random searches of each kind that are made on each grid."""

NEAR = 0.95


def record(folder: Path, names: list[str], repetitions: int) -> None:
    """Performs the runs that are missing in the results of these grids."""
    for name in names or list(all_grids()):
        sweep = prepare(experiment_of(name, folder, repetitions), folder / "results" / name)
        print(f"== {name}: {len(sweep.todo)} of {sweep.total} runs", flush=True)
        for bad in run_sweep(sweep, Lines()):
            print(f"{bad.id}: {bad.reason}")


def collect(folder: Path, repetitions: int) -> None:
    """Writes the bandwidths of all grids in which every point has a valid run."""
    with RUNS.open("w", encoding="utf-8", newline="") as lines:
        out = csv.writer(lines, lineterminator="\n")
        out.writerow(("grid", "point", "repetition", "bandwidth"))
        for name in all_grids():
            experiment = experiment_of(name, folder, repetitions)
            rows = []
            for run in schedule(experiment):
                path = folder / "results" / name / POINTS / run.id / "run.json"
                row = read_run(path, METRICS[experiment.metric].operation) if path.exists() else {"usable": False}
                if row["usable"] and row["bandwidth"]:
                    rows.append((name, run.point.id, run.repetition, f"{row['bandwidth']:.4f}"))
            missing = {point.id for point in matrix_points(experiment)} - {row[1] for row in rows}
            print(f"{name}: {len(rows)} runs" + (f", left out: no run of {sorted(missing)}" if missing else ""))
            out.writerows(sorted(rows) if not missing else [])


def lots(found: Record, runs: int, seed: int) -> str:
    """Returns the best of `runs` points that are drawn at random."""
    drawn = random.Random(seed).sample(sorted(found), runs)
    return max(drawn, key=lambda point: found[point][0])


def tpe(experiment: Experiment, found: Record, runs: int, seed: int) -> str:
    """Returns the best of this many points chosen by Optuna's tree-structured Parzen estimator, which starts from the
    default and the rule of thumb. A point that is requested twice is counted once.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=max(2, runs // 2)),
    )
    by_settings = {tuple(point.settings.values()): point.id for point in matrix_points(experiment)}
    search = search_of(experiment)
    for place, _ in search.begin:
        study.enqueue_trial(dict(search.points[place].settings))
    seen: dict[str, float] = {}
    for _ in range(10 * runs):
        trial = study.ask()
        asked = [trial.suggest_categorical(name, list(levels)) for name, levels in experiment.matrix.items()]
        point = by_settings[tuple(asked)]
        if point not in seen and len(seen) == runs:
            break
        seen.setdefault(point, found[point][0])
        study.tell(trial, seen[point])
    return max(seen, key=lambda name: seen[name])


def typical(found: Record, search: Callable[[int], str]) -> float:
    """Returns the median over the seeds of the bandwidth reached, as a share of the best."""
    return statistics.median(share_of_best(found, search(seed)) for seed in range(SEEDS))


def replay_all(names: list[str], against: bool, take: int) -> None:
    """Prints a line for each grid, then a summary of the grids used in development and of those held out."""
    done: dict[bool, list[SearchResult]] = {False: [], True: []}
    rivals: dict[str, list[float]] = {"random": [], "Optuna": []}
    print(f"{'grid':34} runs  of  {'chosen / best':35}" + ("  random  Optuna, as many runs" if against else ""))
    with tempfile.TemporaryDirectory() as folder:
        for name in names or list(recorded()):
            experiment, found = experiment_of(name, Path(folder)), recorded()[name]
            one = replay(experiment, found, take - 1)
            done[bool(all_grids()[name].get("held_out"))].append(one)
            others = ""
            if against:
                luck = typical(found, lambda seed, found=found, one=one: lots(found, one.runs, seed))
                parzen = typical(found, lambda seed, e=experiment, f=found, one=one: tpe(e, f, one.runs, seed))
                others = f"  {luck:.3f}   {parzen:.3f}"
                rivals["random"].append(luck)
                rivals["Optuna"].append(parzen)
            print(f"{name:34} {one.runs:4} {one.settings:3}  {one.share:.3f} {one.chosen:29}{others}", flush=True)
    for rival, shares in rivals.items():
        if shares:
            print(f"{rival}: within 5 % in {sum(one >= NEAR for one in shares)} of {len(shares)} at the median search")
    for held_out, some in done.items():
        if some:
            near, runs = sum(one.share >= NEAR for one in some), sorted(one.runs for one in some)
            print(
                f"{'held out' if held_out else 'developed on'}: within 5 % of the best in {near} of {len(some)}; "
                f"runs: median {statistics.median(runs):g}, most {runs[-1]}; "
                f"of the grid at most {max(one.runs / one.settings for one in some):.0%}; "
                f"lowest share {min(one.share for one in some):.3f}"
            )


def main() -> None:
    """Runs the subcommand of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("record", "collect", "replay"))
    parser.add_argument("words", nargs="*", metavar="DIR | GRID")
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--against", action="store_true", help="with replay: random search and Optuna, too")
    parser.add_argument(
        "--take", type=int, default=1, help="with replay: which of a setting's runs the search gets [1]"
    )
    args = parser.parse_args()
    if args.action == "replay":
        replay_all(args.words, args.against, args.take)
    elif args.action == "record":
        record(Path(args.words[0]), args.words[1:], args.repetitions)
    else:
        collect(Path(args.words[0]), args.repetitions)


if __name__ == "__main__":
    main()
