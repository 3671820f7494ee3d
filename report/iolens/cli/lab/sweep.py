"""`iolens sweep experiment.yaml`: run a matrix of settings, then compare them."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from iolens.cli.experiment import add_experiment, given_experiment, number_list
from iolens.cli.numbers import positive, whole_number
from iolens.cli.output import add_results
from iolens.cli.read.compare import tell
from iolens.errors import UsageError
from iolens.foreign import print_line, printable_text
from iolens.lab.run.record import RunRecord
from iolens.lab.say import say
from iolens.lab.sizes import parse_size
from iolens.lab.sweep.define.classes import DRIVERS, Choices, class_experiment, default_experiment, driver_to_be_had
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.schema import schema
from iolens.lab.sweep.plan.prepare import Sweep, prepare
from iolens.lab.sweep.plan.preview import SweepPlan, plan
from iolens.pages.comparison.sweep_live import shown

_CHOICES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("--np", {"type": positive, "dest": "ranks", "metavar": "N"}, "ranks, a square number (default 4)"),
    ("--stripes", {"type": number_list(int), "metavar": "LIST"}, "stripe counts (default '1 4 12')"),
    (
        "--aggregators",
        {"type": number_list(int), "metavar": "LIST"},
        "aggregators, cb_nodes (default '1 2 4', with --default '1 4')",
    ),
    ("--cb-buffer", {"type": number_list(parse_size), "metavar": "LIST"}, "cb_buffer_size (default '1M 16M')"),
    (
        "--repeat",
        {"type": positive, "dest": "repetitions", "metavar": "N"},
        "repetitions of every point (default 5)",
    ),
    (
        "--confirm",
        {"type": whole_number(0), "metavar": "N"},
        "number of new runs each of the best setting and of the baseline (default: as many as repetitions; 0: none)",
    ),
    (
        "--driver",
        {"choices": DRIVERS},
        "code that moves the data: ROMIO's Lustre driver (default if your MPI has it, or Intel MPI, which is "
        "installed at first use), the generic driver of your MPI, or transfers by iolens itself",
    ),
    ("--method", {"choices": ("full", "simple", "epio", "fortran")}, "BT-IO's method (default full)"),
    ("--steps", {"type": positive, "metavar": "N"}, "time steps (default: as many as the class has)"),
    ("--full", {"action": "store_true", "default": None}, "run the solver in every run"),
    ("--dir", {"type": Path, "dest": "directory", "metavar": "DIR"}, "folder for the data files"),
)
"""Options that shape a sweep of an NPB class, one row each; the names are the fields of `Choices`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `iolens sweep`."""
    add_experiment(parser)
    parser.add_argument("--class", dest="npb_class", metavar="LETTER", help="sweep BT-IO at an NPB class instead")
    parser.add_argument("--default", action="store_true", help="run the quick sweep of `make run`")
    for option, settings, text in _CHOICES:
        parser.add_argument(option, help=text, **settings)
    parser.add_argument(
        "--retry",
        action="store_true",
        help="do failed runs again; the files of the failed runs are kept under another name",
    )
    parser.add_argument("--no-sweep", action="store_true", help="do only the complete run that comes before the sweep")
    add_results(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="print every command or script and the disk space needed, and stop"
    )
    parser.add_argument("--no-report", action="store_true", help="do not write the PDF")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of experiment.yaml, and stop")


def _named_experiment(args: argparse.Namespace) -> Experiment:
    """Returns the experiment that the options name."""
    if args.own_command:
        return given_experiment(args)
    names = [option[1].get("dest", option[0].lstrip("-").replace("-", "_")) for option in _CHOICES]
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    if sum((args.experiment is not None or args.log is not None, args.npb_class is not None, args.default)) != 1:
        raise UsageError("give one of: an experiment.yaml, --log LOG, --class LETTER, --default")
    if args.experiment or args.log:
        if given:
            raise UsageError(
                f"an experiment.yaml sets {', '.join(sorted(given))} itself; leave the option out, or use --set"
            )
        return given_experiment(args)
    if args.set:
        raise UsageError(
            "--set changes a key of an experiment.yaml; for a class use the options that `iolens sweep --help` lists"
        )
    make = default_experiment if args.default else partial(class_experiment, args.npb_class)
    experiment = make(Choices(**given))  # Refuses impossible choices before a driver is installed for them.
    if "driver" in given or args.dry_run or args.no_sweep:
        return experiment
    return make(Choices(**given, driver=driver_to_be_had()))


def run(args: argparse.Namespace) -> int:
    """Runs the sweep, writes the report and prints the outcome; returns 0 if every run is good, 1 otherwise."""
    if args.schema:
        print(json.dumps(schema(), indent=1))
        return 0
    experiment = _named_experiment(args)
    if args.dry_run:
        _print_plan(plan(experiment, args.results / experiment.name, with_matrix=not args.no_sweep))
        return 0
    folder = args.results / experiment.name
    return carry_out(prepare(experiment, folder, with_matrix=not args.no_sweep, retry=args.retry), not args.no_report)


def carry_out(sweep: Sweep, report: bool) -> int:
    """Announces the sweep, performs its missing runs, prints the outcome, makes the PDFs if wanted; returns 0 if every
    run is good, else 1, also if no run measured the metric.
    """
    from iolens.lab.sweep.sweep import hopeless, run_sweep

    _announce_sweep(sweep)
    try:
        with shown(sweep.folder, sweep.total, sweep.total - len(sweep.todo)) as progress:
            bad = run_sweep(sweep, progress)
    except KeyboardInterrupt:
        say("finished runs are kept; the same command goes on where this one stopped")
        raise
    ended = hopeless(sweep)
    if not ended:
        for line in (*_lines_of_reasons(bad), *_lines_of_reasons(sweep.failed, _EARLIER)):
            print_line(line)
    failed = len(sweep.failed) + sum(record.status == "failed" for record in bad)
    if failed:
        print(hint_of_retry(failed))
    if ended:
        print_line(f"no setting can be compared: {ended}")
        return 1
    if report:
        _finish_sweep(sweep)
    return 1 if failed else 0


_EARLIER = "failed in an earlier sweep and is not repeated"


def _lines_of_reasons(bad: Sequence[RunRecord], said: str = "") -> list[str]:
    """Returns a line for each reason why runs cannot be used, with the first of these runs and the number of others.
    `said` tells how the runs ended; by default it is their status.
    """
    alike: dict[tuple[str, str], list[RunRecord]] = {}
    for record in bad:
        alike.setdefault((record.status, str(record.reason).partition(" (full output: ")[0]), []).append(record)
    lines = []
    for (status, _), records in alike.items():
        more = f"; {len(records) - 1} more {status} for the same reason" if len(records) > 1 else ""
        lines.append(f"{records[0].id}{f' {said}' if said else f': {status}'}: {records[0].reason}{more}")
    return lines


def hint_of_retry(failed: int) -> str:
    """Returns a sentence that tells how to repeat failed runs: by an option of make if make started the sweep, else by
    --retry.
    """
    option = "RETRY=1" if "MAKELEVEL" in os.environ else "--retry"
    return f"{failed} failed; `{option}` does {'it' if failed == 1 else 'them'} again and keeps the others"


def _print_plan(planned: SweepPlan) -> None:
    """Prints the runs, the command that each would start, and the space and time that all runs need."""
    for name in planned.runs:
        print_line(name)
    for text in (*planned.builds, *planned.texts):
        print(printable_text(f"\n{text.rstrip()}", keep="\n"))
    need = planned.need
    if planned.kept is None or planned.kept:
        amount = "an unknown amount" if planned.kept is None else f"{planned.kept / 1e6:,.1f} MB"
        need += f", {amount} remain after all runs,"
    took = "; their duration is unknown until one run is done"
    if planned.seconds is not None:
        took = f"; together they take about {planned.seconds / 60:.1f} min, judged by runs already done"
    runs = f"{len(planned.runs)} runs"
    if planned.confirming:
        runs += f", and up to {planned.confirming} that confirm the best setting"
    print(f"\n{runs}; {need} below {planned.data}, where {planned.free / 1e9:.2f} GB are free{took}")


def _announce_sweep(sweep: Sweep) -> None:
    """Prints which runs are about to start."""
    experiment = sweep.experiment
    storage = " and ".join(map(str, sweep.mounts))
    if sweep.storage.make:
        storage = f"{sweep.storage.name} storage (data in {storage})"
    work = [f"{len(sweep.todo)} of {sweep.total} runs to do"] if sweep.total else []
    work += ["the complete run"] if sweep.first else []
    print_line(f"{experiment.title}: {' and '.join(work) or 'nothing to do'}, on {storage}, into {sweep.folder}")


def _finish_sweep(sweep: Sweep) -> None:
    """Writes the PDFs, and prints where they are and the best setting, which the comparison found."""
    from iolens.log import read_log

    first = sorted((sweep.folder / "first").glob("*.darshan"))
    if first:
        from iolens.pages.job.job_document import write_job

        pdf = sweep.folder / "first.pdf"
        write_job(read_log(first[-1]), pdf)
        print_line(f"complete run: {pdf}")
    if sweep.total:
        from iolens.lab.sweep.read.results import load_results
        from iolens.pages.comparison.sweep_document import write_comparison

        summary = write_comparison(load_results(sweep.folder), sweep.folder / "comparison.pdf", read_log)
        tell(summary)
        print_line(f"comparison: {summary.path}")
