"""`iolens COMMAND …`: find the command and run it."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from importlib import import_module

from iolens import __version__
from iolens.cli.ending import exit_code_of, secure_streams

COMMANDS: dict[str, str] = {
    "run": "run a program under the profiler",
    "report": "make the summary of a log, or of a folder of logs as one job, as PDF or HTML",
    "show": "print the summary of one log in the terminal",
    "apa": "propose from samples what the next run should trace",
    "table": "print any table of a log, as text, CSV or JSON",
    "advise": "say what would make a run's I/O faster, and by how much at most",
    "rank-order": "find the order of ranks that keeps most bytes on a node",
    "export": "write samples and traces for other viewers",
    "listing": "show the hot source lines with what the compiler did to them",
    "live": "see what running jobs do, and take snapshots of them",
    "recover": "make logs of jobs that ended without writing theirs",
    "ingest": "take many logs into one data set",
    "fleet": "report on a data set of many jobs",
    "anonymize": "replace the names in a log by pseudonyms",
    "sweep": "run an experiment's matrix of settings",
    "tune": "find a good setting of an experiment's matrix in a few runs",
    "perform": "do one run of a sweep, inside a batch job",
    "compare": "hold sweeps, logs, runs or outputs side by side as PDF or HTML",
    "diff": "say what differs between logs, outputs or folders of repetitions",
    "check": "hold a run against an earlier one and fail if a number grew too much",
    "activity": "do an exercise of the course, and say what came out",
    "workloads": "list the bundled programs, or build them with your MPI",
    "completion": "print the script that lets a shell complete commands and options",
    "doctor": "say what was found on this machine, what works here, and what does not and why",
    "calibrate": "fit the model of storage to a file system",
    "predict": "say what a traced run would take at other settings",
    "stripe": "set or get the stripes of a directory or file",
    "io500": "run the phases of IO500 at a small scale and score them",
    "selfbench": "measure what the profiler costs on this machine",
}
"""Command name to one-line help; the module `iolens.cli.<name>` has `add_arguments(parser)` and `run(args) -> int`."""

_DRAWING = {"activity", "compare", "fleet", "predict", "report", "sweep", "tune"}
"""Commands that may draw."""

_OBJECTS = 50_000
"""New objects between two searches for garbage: Python's 700 cost a tenth of a command, most of it during imports."""


def _front_parser() -> argparse.ArgumentParser:
    """Returns the parser of `iolens` itself, which names the commands and loads the modules of none."""
    parser = argparse.ArgumentParser(
        prog="iolens", description="See where a parallel program's I/O time goes, and what would fix it."
    )
    parser.add_argument("--version", action="version", version=f"iolens {__version__}")
    commands = parser.add_subparsers(dest="subcommand", metavar="COMMAND", required=True)
    for name, about in COMMANDS.items():
        commands.add_parser(name, help=about)
    return parser


def command_parser(name: str) -> argparse.ArgumentParser:
    """Returns the parser of one command."""
    parser = argparse.ArgumentParser(prog=f"iolens {name}", description=COMMANDS[name])
    module = import_module(f"iolens.cli.{name.replace('-', '_')}")
    module.add_arguments(parser)
    parser.set_defaults(run=module.run, subcommand=name)
    return parser


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parses the words behind `iolens`, with the options and other words of a command in any order."""
    if not words or words[0] not in COMMANDS:
        return _front_parser().parse_args(words)
    name, *rest = words
    parser = command_parser(name)
    # argparse cannot mix them before another command or action, and until Python 3.13 loses what stands behind "--".
    ordered = "--" in rest or any(action.nargs in (argparse.REMAINDER, argparse.PARSER) for action in parser._actions)
    return parser.parse_args(rest) if ordered else parser.parse_intermixed_args(rest)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code (0 done, 1 failed, 2 wrong usage, 128 + n ended by signal n)."""
    gc.set_threshold(_OBJECTS)
    if argv is None:
        secure_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    name = " ".join(["iolens", *(word for word in words[:1] if word in COMMANDS)])
    return exit_code_of(name, lambda: _run_command(words))


def _run_command(words: Sequence[str]) -> int:
    """Runs one command and returns its exit code."""
    args = parse(words)
    if args.subcommand in _DRAWING:
        _silence_matplotlib()
    return int(args.run(args))


def _silence_matplotlib() -> None:
    """Keeps matplotlib's advice about its folder of fonts from the terminal where the home folder cannot be written to.
    It then makes a folder for each process, which does no harm to a page.
    """
    import logging

    logging.getLogger("matplotlib").setLevel(logging.ERROR)


if __name__ == "__main__":
    sys.exit(main())
