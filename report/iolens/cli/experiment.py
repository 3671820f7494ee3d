"""The experiment that a command runs: a file, a log's mini-app, or both."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from iolens.errors import UsageError
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.experiment_file import load_experiment
from iolens.lab.sweep.plan.mini_app import experiment_of_log, with_mini_app


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """Declares the options that name an experiment."""
    parser.add_argument(
        "experiment",
        type=Path,
        nargs="?",
        metavar="experiment.yaml",
        help="the settings to run; see report/EXPERIMENT.md",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a key of the file, such as repetitions=5"
    )
    parser.add_argument(
        "--log",
        type=Path,
        metavar="LOG",
        help="run the mini-app of this traced log (see iolens mimic) instead of the file's program; without a file, "
        "try other stripes and, for collective I/O, other aggregators",
    )


def given_experiment(args: argparse.Namespace) -> Experiment:
    """Returns the experiment that the options of `add_experiment` name, its mini-app built if it has one."""
    if args.experiment is None:
        if args.log is None:
            raise UsageError("give an experiment.yaml, or the log of a run with --log")
        if args.set:
            raise UsageError("--set changes a key of an experiment.yaml; name an experiment.yaml, too")
        return experiment_of_log(args.log, args.results)
    log = [f"workload.log={json.dumps(str(args.log))}"] if args.log else []
    return with_mini_app(load_experiment(args.experiment, [*args.set, *log]), args.results)
