"""`iolens activity N`: run an exercise of the course, and say whether it agrees with the course."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.cli.lab.sweep import carry_out
from iolens.cli.output import add_results
from iolens.errors import UsageError
from iolens.lab.installation import course_folder
from iolens.lab.io_components import LUSTRE
from iolens.lab.sweep.define.classes import driver_to_be_had
from iolens.lab.sweep.define.experiment import ROMIO, Experiment
from iolens.lab.sweep.define.experiment_file import load_experiment
from iolens.lab.sweep.plan.mini_app import with_mini_app
from iolens.lab.sweep.plan.prepare import prepare

if TYPE_CHECKING:
    from iolens.course.activity import Claim


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "activity", metavar="N", help="the number of an activity in course/, or a folder with one of your own"
    )
    parser.add_argument(
        "--language", choices=("en", "pt"), help="language of the answers (default: the language of LANG, or en)"
    )
    parser.add_argument(
        "--full", action="store_true", help="also run the program's solver, which exercises leave out to be quick"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a key of the experiment, such as repetitions=10",
    )
    add_results(parser)
    parser.add_argument("--no-report", action="store_true", help="do not write the comparison PDF")


def run(args: argparse.Namespace) -> int:
    """Runs the sweep, compares, and answers; returns 0 if every run is good, whatever the answer, else 1."""
    from iolens.course.activity import load_claims
    from iolens.course.words import language_of_user

    folder = _folder_of(args.activity)
    experiment = with_mini_app(load_experiment(folder / "experiment.yaml", args.set), args.results)
    claims = load_claims(folder / "activity.yaml", load_experiment(folder / "experiment.yaml"))
    if args.full:
        experiment = _with_solver(experiment)
    sweep = prepare(_with_driver(experiment), args.results / experiment.name, retry=True)
    code = carry_out(sweep, not args.no_report)
    _print_answers(claims, sweep.folder, args.language or language_of_user())
    return code


def _folder_of(activity: str) -> Path:
    """Returns the folder of an activity, by its number or its own path."""
    if not activity.isdecimal():
        return Path(activity)
    folders = {path.name.removeprefix("activity-"): path for path in course_folder().glob("activity-*")}
    if activity not in folders:
        known = ", ".join(sorted(folders, key=int))
        raise UsageError(f"the course has no activity {activity}; its activities are {known}")
    return folders[activity]


def _with_solver(experiment: Experiment) -> Experiment:
    """Returns the experiment without --io-only, so that its program also computes; raises UsageError without that
    argument.
    """
    if "--io-only" not in experiment.arguments:
        raise UsageError(
            f"--full: {experiment.program} of {experiment.name} has no solver that --full could switch on; "
            "run it without --full"
        )
    arguments = tuple(word for word in experiment.arguments if word != "--io-only")
    return replace(experiment, arguments=arguments, repeated=())


def _with_driver(experiment: Experiment) -> Experiment:
    """Returns the experiment, with ROMIO's generic driver in place of the Lustre driver if no MPI here has the
    latter.
    """
    if experiment.io_component != LUSTRE or driver_to_be_had(experiment.program) == LUSTRE:
        return experiment
    return replace(experiment, io_component=ROMIO)


def _print_answers(claims: Sequence[Claim], folder: Path, language: str) -> None:
    """Prints the answer to every claim."""
    from iolens.course.judge import Found, judge_claims
    from iolens.course.words import SAID, paragraphs
    from iolens.lab.sweep.read.results import load_results
    from iolens.pages.job.job_screen import screen

    out = screen()
    found: Found = {"finds": _advised, "holds_up": _most_waited_file, "processes": _process_count}
    print()
    out.say(SAID[language]["head"], "1")
    for number, outcome in enumerate(judge_claims(claims, load_results(folder), found), 1):
        first, *others = paragraphs(outcome, language)
        print()
        out.say(f"{number}. {first}", "1")
        for text in others:
            out.say(text)
    print()
    out.say(SAID[language]["together"])


def _advised(log: Path) -> list[str]:
    """Returns the names of the rules of the advice that have a finding in a log."""
    from iolens.advise import findings
    from iolens.log import read_log

    return [finding.id for finding in findings(read_log(log))]


def _process_count(log: Path) -> list[int]:
    """Returns the number of processes in a log."""
    from iolens.log import read_log

    return [read_log(log, ("job",)).nprocs]


def _most_waited_file(log: Path) -> list[str]:
    """Returns the name of the file whose I/O other ranks waited for most; none if the log does not tell."""
    from iolens.log import read_log
    from iolens.metrics.why.answers import waits_by_cause

    rows = waits_by_cause(read_log(log))
    files = rows["file"][rows["kind"] == "I/O"].tolist() if rows is not None else []
    return [Path(file).name for file in files[:1]]
