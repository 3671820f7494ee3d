"""`iolens COMMAND …`: find the command and run it."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from iolens import __version__
from iolens.cli.ending import exit_code_of, secure_streams
from iolens.errors import UsageError
from iolens.foreign import printable_text
from iolens.lab.run.inherited import take_over

_GROUPS: dict[tuple[str, str], dict[str, str]] = {
    ("record", "record a program"): {
        "run": "run a program under the profiler; it leaves a log",
    },
    ("read", "understand a log"): {
        "report": "write the report of a log, or of a folder of logs as one job, as PDF or HTML",
        "show": "print the summary of one log in the terminal",
        "advise": "say which change would make a run's I/O faster, and by how much at most",
        "table": "print any table of a log, as text, CSV or JSON",
    },
    ("read", "compare"): {
        "diff": "print the differences between logs, outputs or folders of repetitions",
        "compare": "show sweeps, logs, runs or outputs side by side, as PDF or HTML",
    },
    ("lab", "find the best settings"): {
        "sweep": "run a program with every combination of the settings in an experiment file",
    },
    ("read", "look deeper into one program"): {
        "apa": "propose, from the samples of one run, the functions to trace in the next run",
        "listing": "show the hottest source lines, with the compiler's notes on them",
        "rank-order": "find the order of ranks that keeps most bytes on a node",
        "export": "write samples and traces for other viewers",
        "serve": "answer programs that ask about logs, by the Model Context Protocol",
        "verify-answer": "check the numbers of a text against a log",
    },
    ("record", "jobs that still run, or were killed"): {
        "live": "watch running jobs, and take snapshots of them",
        "recover": "make logs of jobs that ended without writing one",
    },
    ("site", "many logs, and logs for others"): {
        "ingest": "collect many logs in one data set",
        "fleet": "report on a data set of many jobs",
        "anonymize": "replace the names in a log by pseudonyms",
        "check": "compare a run with an earlier one, and fail if a number grew too much",
    },
    ("lab", "find settings in fewer runs, and manage storage"): {
        "tune": "find a good setting of an experiment in a few runs",
        "predict": "predict the run time of a traced run with other settings",
        "mimic": "make a small program that repeats the I/O calls of a traced run",
        "calibrate": "fit the model of storage to a file system",
        "stripe": "set or show the stripes of a directory or file",
        "perform": "do one run of a sweep inside a batch job",
    },
    ("machine", "bundled programs, and this machine"): {
        "workloads": "list the bundled programs, or build them with your MPI",
        "activity": "do an exercise of the course, and check its results",
        "io500": "run the phases of IO500 at a small scale and score them",
        "selfbench": "measure the cost of the profiler on this machine",
        "doctor": "check this machine: what works, what does not, and why",
        "completion": "print the script that lets a shell complete commands and options",
    },
}
"""Commands by folder of `iolens.cli` and task, each with its one line of help; the eight most needed come first."""

_COMMON = 4
"""Number of groups that `iolens --help` shows at the top."""

COMMANDS = {name: about for group in _GROUPS.values() for name, about in group.items()}
"""Command name to one-line help."""

_MODULES = {
    name: f"iolens.cli.{folder}.{name.replace('-', '_')}" for (folder, _), group in _GROUPS.items() for name in group
}
"""Command name to its module, which has `add_arguments(parser)` and `run(args) -> int`."""

_DRAWING = {"activity", "compare", "fleet", "predict", "report", "sweep", "tune"}
"""Commands that may draw figures."""

_OBJECTS = 50_000
"""Number of new objects between two garbage collections. With Python's default of 700, a tenth of a command's time went
into them, mostly during imports.
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose messages quote the command line with only printable characters."""

    def error(self, message: str) -> NoReturn:
        """Prints the usage and the message, and exits with 2."""
        super().error(printable_text(message))


def _front_parser() -> argparse.ArgumentParser:
    """Returns the parser of `iolens` itself, which lists the commands by task and loads no module of a command."""
    parser = _Parser(
        prog="iolens",
        usage="iolens [-h] [--version] COMMAND ...",
        description="Find out where a parallel program's I/O time goes, and which change would make it faster.",
        epilog=_commands_by_task(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"iolens {__version__}")
    commands = parser.add_subparsers(dest="subcommand", metavar="COMMAND", required=True, help=argparse.SUPPRESS)
    for name in COMMANDS:
        commands.add_parser(name)
    return parser


def _commands_by_task() -> str:
    """Returns the list of commands for `iolens --help`: the common ones first, then all others by task."""
    lines = []
    for position, ((_, task), group) in enumerate(_GROUPS.items()):
        if position == _COMMON:
            lines += ["Other commands", ""]
        lines += [f"{task}:", *(f"  {name:<14} {about}" for name, about in group.items()), ""]
    return "\n".join([*lines, "`iolens COMMAND --help` explains a command and its options."])


def command_parser(name: str) -> argparse.ArgumentParser:
    """Returns the parser of one command."""
    parser = _Parser(prog=f"iolens {name}", description=COMMANDS[name])
    module = import_module(_MODULES[name])
    module.add_arguments(parser)
    parser.set_defaults(run=module.run, subcommand=name)
    return parser


def parse_arguments(words: Sequence[str]) -> argparse.Namespace:
    """Parses the words after `iolens`, with the options and other words of a command in any order."""
    if words and words[0] == "help":
        words = [*words[1:2], "--help"]
    if not words or words[0] not in COMMANDS:
        _refuse_unknown(words)
        return _front_parser().parse_args(words)
    name, *rest = words
    parser = command_parser(name)
    if parser.get_default("own_command") is not None and "--" in rest:
        place = rest.index("--")
        parser.set_defaults(own_command=tuple(rest[place + 1 :]))
        rest = rest[:place]
    # argparse cannot mix options with other words if another command follows them (REMAINDER, PARSER), and until Python
    # 3.13 loses the words after "--".
    ordered = "--" in rest or any(action.nargs in (argparse.REMAINDER, argparse.PARSER) for action in parser._actions)
    return parser.parse_args(rest) if ordered else parser.parse_intermixed_args(rest)


def _refuse_unknown(words: Sequence[str]) -> None:
    """Raises UsageError, with the nearest name, if the first word is meant as a command but is none."""
    if not words or words[0].startswith("-"):
        return
    from difflib import get_close_matches

    near = get_close_matches(words[0], COMMANDS, 1, 0.6)
    hint = f"; did you mean {near[0]}?" if near else ";"
    raise UsageError(f"there is no command {words[0]}{hint} `iolens --help` lists the commands")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code (0 done, 1 failed, 2 wrong usage, 128 + n ended by signal n)."""
    gc.set_threshold(_OBJECTS)
    if argv is None:
        secure_streams()
        take_over()
    words = list(sys.argv[1:] if argv is None else argv)
    name = " ".join(["iolens", *(word for word in words[:1] if word in COMMANDS)])
    return exit_code_of(name, lambda: _run_command(words))


def _run_command(words: Sequence[str]) -> int:
    """Runs one command and returns its exit code."""
    args = parse_arguments(words)
    if args.subcommand in _DRAWING:
        _silence_matplotlib()
        _spare_reportlab_the_home()
    return int(args.run(args))


def _silence_matplotlib() -> None:
    """Keeps matplotlib's advice about its folder of fonts from the terminal if the home folder is not writable.
    matplotlib then makes a temporary folder for each process, which does not change the pages.
    """
    import logging

    logging.getLogger("matplotlib").setLevel(logging.ERROR)


def _spare_reportlab_the_home() -> None:
    """Prevents reportlab from searching for its settings in the home folder if that is a file, because reportlab would
    end with an error.
    """
    home = os.path.expanduser("~")
    if os.path.exists(home) and not os.path.isdir(home):
        sys.modules.setdefault("reportlab_mods", ModuleType("reportlab_mods"))


if __name__ == "__main__":
    sys.exit(main())
