"""Every command with its options as plain data, read from the parsers: the source of manual pages and shell
completions.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from iolens.cli.examples import EXAMPLES
from iolens.cli.main import COMMANDS, command_parser


@dataclass(frozen=True)
class Option:
    """An option, or an argument without a name (`flags` is empty). `value` is the name of its value in help texts,
    empty if it takes none.
    """

    flags: tuple[str, ...]
    value: str
    choices: tuple[str, ...]
    about: str


@dataclass(frozen=True)
class DescribedCommand:
    """A command: its first line of help, usage, arguments, the beginning and end of its help, actions, and examples."""

    name: str
    about: str
    usage: str
    options: tuple[Option, ...]
    notes: str = ""
    actions: tuple[DescribedCommand, ...] = ()
    description: str = ""
    examples: tuple[str, ...] = ()


def commands() -> list[DescribedCommand]:
    """Returns all commands in the order of `iolens --help`."""
    return [_described_command(name) for name in COMMANDS]


def _described_command(name: str) -> DescribedCommand:
    """Returns the description of one command."""
    return _of_parser(name, COMMANDS[name], command_parser(name))


def _of_parser(name: str, about: str, parser: argparse.ArgumentParser) -> DescribedCommand:
    """Returns the description of a command, or of one of its actions, from its parser."""
    actions = [
        _of_parser(f"{name} {choice.dest}", choice.help or "", action.choices[choice.dest])
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for choice in action._choices_actions
    ]
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    return DescribedCommand(
        name,
        about,
        usage,
        tuple(_parser_options(parser)),
        (parser.epilog or "").strip(),
        tuple(actions),
        parser.description or about,
        EXAMPLES.get(name, ()),
    )


def _parser_options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    """Yields the options of a parser, without --help and hidden ones."""
    for action in parser._actions:
        if action.help == argparse.SUPPRESS or isinstance(action, argparse._HelpAction):
            continue
        metavar = action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar or ())
        takes = action.nargs != 0
        about = (action.help or "") % {"default": action.default, "prog": parser.prog}
        yield Option(
            tuple(action.option_strings),
            (metavar or action.dest.upper()) if takes else "",
            tuple(map(str, action.choices or ())),
            " ".join(about.split()),
        )
