"""The experiment that a command runs: a file, a log's mini-app, or both."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from iolens.cli.numbers import explained
from iolens.errors import UsageError
from iolens.lab.sizes import parse_size
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.experiment_file import load_experiment
from iolens.lab.sweep.plan.mini_app import experiment_of_log, with_mini_app


def number_list(convert: Callable[[str], int]) -> Callable[[str], tuple[int, ...]]:
    """Returns a function that converts one word, such as `4,8,16`, into a tuple of different numbers of at least 1."""

    def parse(text: str) -> tuple[int, ...]:
        values = tuple(convert(word) for word in text.replace(",", " ").split())
        if not values or min(values) < 1 or len(set(values)) != len(values):
            raise ValueError(f"{text!r} must be different numbers of at least 1")
        return values

    return explained(parse)


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
    parser.set_defaults(own_command=())
    parser.usage = f"{parser.prog} [options] [experiment.yaml]\n       {parser.prog} [options] -- COMMAND ..."
    parser.epilog = (
        f"With a command behind --, no file is needed: {parser.prog} --stripes '1 4' -- mpirun -np 4 ./app in.nml"
    )


FACTORS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("--stripes", {"type": number_list(int), "metavar": "LIST"}, "stripe counts"),
    ("--aggregators", {"type": number_list(int), "metavar": "LIST"}, "aggregators, cb_nodes"),
    ("--cb-buffer", {"type": number_list(parse_size), "metavar": "LIST"}, "cb_buffer_size"),
)
"""Options for the levels of a factor, each with what argparse needs and its help."""

_LEVELS = {"stripes": "stripe_count", "aggregators": "aggregators", "cb_buffer": "cb_buffer_size"}
"""Factors of the options in FACTORS."""


def experiment_of_command(args: argparse.Namespace) -> Experiment:
    """Returns the experiment of the command behind `--`, which runs once before, in its own folder."""
    from iolens.lab.sweep.plan.survey import Wanted, surveyed

    if args.experiment is not None or args.log is not None:
        raise UsageError("give either an experiment.yaml or --log, or a command behind --")
    levels = {factor: value for name, factor in _LEVELS.items() if (value := getattr(args, name))}
    numbers = {name: value for name in ("repetitions", "confirm") if (value := getattr(args, name, None)) is not None}
    wanted = Wanted(levels, numbers, getattr(args, "directory", None), tuple(args.set))
    return surveyed(args.own_command, wanted, args.results)


def given_experiment(args: argparse.Namespace) -> Experiment:
    """Returns the experiment that the options of `add_experiment` name, its mini-app built if it has one."""
    if args.own_command:
        return experiment_of_command(args)
    if args.experiment is None:
        if args.log is None:
            raise UsageError("give an experiment.yaml, the log of a run with --log, or a command behind --")
        if args.set:
            raise UsageError("--set changes a key of an experiment.yaml; name an experiment.yaml, too")
        return experiment_of_log(args.log, args.results)
    log = [f"workload.log={json.dumps(str(args.log))}"] if args.log else []
    return with_mini_app(load_experiment(args.experiment, [*args.set, *log]), args.results)
