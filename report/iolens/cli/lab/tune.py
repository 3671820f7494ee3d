"""`iolens tune experiment.yaml`: find a good setting of a matrix in a few runs, and confirm it against the default."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.cli.experiment import FACTORS, add_experiment, given_experiment
from iolens.cli.numbers import explained
from iolens.cli.output import add_results
from iolens.errors import UsageError
from iolens.foreign import print_line, printable_text
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.tune.budget import Budget, parse_budget, usual_budget

if TYPE_CHECKING:
    from iolens.lab.tune.search import Search
    from iolens.lab.tune.tune import Tuning
    from iolens.pages.comparison.audit_page import ComparisonSummary

_HINTS, _STRIPES = "hints.txt", "stripes.sh"
"""Files with the recommended settings, in the folder of the results."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    add_experiment(parser)
    for option, settings, about in FACTORS:
        parser.add_argument(option, help=f"{about} to search, for a command behind --", **settings)
    parser.add_argument(
        "--budget",
        type=explained(parse_budget),
        metavar="N|TIME",
        help="number of runs of the search, or time of all runs, those that confirm the result included (90s, 5min, "
        "2h); default: 8 runs, or a third of the settings if the matrix is small",
    )
    add_results(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="print the first runs that the search would make, and make none"
    )
    parser.add_argument("--no-report", action="store_true", help="do not write the PDF")


def run(args: argparse.Namespace) -> int:
    """Searches for a good setting, confirms it and reports it; returns 0 if a setting was found, 1 if no run can be
    compared.
    """
    experiment = given_experiment(args)
    if experiment.metric == "latency":
        raise UsageError(
            "report.metric: a search needs one value per run, and latency has one per message size; use `iolens sweep`"
        )
    from iolens.lab.tune.search import search_of

    search = search_of(experiment)
    allowed = args.budget or usual_budget(len(search.points))
    folder = args.results / experiment.name
    if args.dry_run:
        _print_first_runs(experiment, search, allowed, folder)
        return 0
    from iolens.lab.sweep.plan.prepare import prepare
    from iolens.lab.tune.trail import read_trail
    from iolens.lab.tune.tune import begin, run_tuning
    from iolens.pages.comparison.sweep_live import shown

    before = read_trail(folder)
    tuning = begin(prepare(experiment, folder, retry=True), search, allowed, before)
    _announce_search(tuning)
    with shown(folder, allowed.runs or 0, len(tuning.trail.steps)) as progress:
        tuning = run_tuning(tuning, progress)
    print(f"{len(tuning.trail.steps)} of {len(search.points)} settings were run: {tuning.trail.stopped}")
    if not tuning.measured:
        from iolens.lab.sweep.sweep import hopeless

        why = (
            hopeless(tuning.sweep)
            or f"the reasons are printed above, and stand in the run.json of each run in {folder}"
        )
        print_line(f"no run can be compared: {why}")
        return 1
    if not args.no_report:
        _finish_search(folder)
    return 0


def _confirmations(experiment: Experiment) -> str:
    """Returns in words how the result will be confirmed."""
    count = experiment.confirming_pairs
    if not count:
        return "no new runs to confirm the best setting (confirm: 0)"
    return f"{count} fresh {'run' if count == 1 else 'runs'} each of the best setting and of the default"


def _announce_search(tuning: Tuning) -> None:
    """Prints which runs are about to start."""
    experiment, trail = tuning.sweep.experiment, tuning.trail
    known = f" ({len(tuning.measured)} known from earlier runs)" if tuning.measured else ""
    print_line(
        f"{experiment.title}: a search in a matrix of {trail.settings}{known}, at most {tuning.budget}; then "
        f"{_confirmations(experiment)}; into {tuning.sweep.folder}"
    )


def _print_first_runs(experiment: Experiment, search: Search, allowed: Budget, folder: Path) -> None:
    """Prints the first runs with their commands, and how the search chooses the later ones."""
    from iolens.lab.sweep.define.matrix import Run
    from iolens.lab.sweep.plan.preview import plan

    first = dict(reversed(search.begin))
    planned = plan(experiment, folder, some=[Run(search.points[place], 1) for place in reversed(first)])
    for name, why in zip(planned.runs, reversed(first.values()), strict=True):
        print_line(f"{name}: {why}")
    for text in planned.texts:
        print(printable_text(f"\n{text.rstrip()}", keep="\n"))
    print(
        f"\nFrom the results of these runs, the model chooses further ones among {len(search.points)} settings: "
        f"{allowed} in all. Then "
        f"{_confirmations(experiment)}.\n"
        f"{planned.need} below {planned.data}, where {planned.free / 1e9:.2f} GB are free"
    )


def _finish_search(folder: Path) -> None:
    """Writes the PDF, the hints file and the stripe command; prints the verdict and the names of these files."""
    from iolens.cli.read.compare import tell
    from iolens.lab.sweep.read.results import load_results
    from iolens.log import read_log
    from iolens.pages.comparison.sweep_document import write_comparison

    summary = write_comparison(load_results(folder), folder / "comparison.pdf", read_log)
    tell(summary)
    for path in _take_home(folder, summary):
        print_line(f"result: {path}")
    print_line(f"comparison: {summary.path}")


def _take_home(folder: Path, summary: ComparisonSummary) -> list[Path]:
    """Writes a hints file for ROMIO and a file with the command that sets the stripes; returns the files that were
    written.
    """
    from iolens.lab.files import write_aside

    found = summary.remedy
    contents = {_HINTS: "\n".join(found.hints) if found else "", _STRIPES: (found.stripes or "") if found else ""}
    for name, text in contents.items():
        (folder / name).unlink(missing_ok=True)
        if text:
            write_aside(folder / name, text + "\n")
    return [folder / name for name, text in contents.items() if text]
