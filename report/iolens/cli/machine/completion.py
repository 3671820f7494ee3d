"""`iolens completion SHELL`: the script that lets bash, zsh or fish complete commands, options and their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from iolens.cli.described import DescribedCommand, Option, commands


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the argument: the shell."""
    parser.add_argument("shell", choices=tuple(SHELLS), help="print the script for this shell")
    parser.epilog = (
        'bash: eval "$(iolens completion bash)" in ~/.bashrc; zsh: iolens completion zsh > a folder of $fpath/_iolens; '
        "fish: iolens completion fish > ~/.config/fish/completions/iolens.fish"
    )


def run(args: argparse.Namespace) -> int:
    """Prints the script that completes commands in the given shell."""
    print(SHELLS[args.shell]([_with_names(command) for command in commands()]), end="")
    return 0


def _with_names(command: DescribedCommand) -> DescribedCommand:
    """Returns the command, with the possible values of each word whose parser does not list them: names of tables
    and rules.
    """
    options = [
        replace(option, choices=tuple(_NAMES[command.name, option.value]()))
        if (command.name, option.value) in _NAMES
        else option
        for option in command.options
    ]
    return replace(command, options=tuple(options))


def _table_names() -> list[str]:
    """Returns the names of all tables."""
    from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS

    return [exhibit.name for exhibit in JOB_EXHIBITS]


def _rule_names() -> list[str]:
    """Returns the names of all rules of the advice."""
    from iolens.advise.table import RULES

    return [rule.id for rule in RULES]


def bash(known: Sequence[DescribedCommand]) -> str:
    """Returns the script for bash; words that are not options are completed as files."""
    names = "|".join(command.name for command in known)
    values = [
        f'    {command.name}:{flag}) candidates="{" ".join(option.choices)}" ;;'
        for command in known
        for option in command.options
        for flag in option.flags
        if option.choices
    ]
    flags = [f'        {command.name}) candidates="{" ".join(_flags_of(command))}" ;;' for command in known]
    words = [
        f'        {command.name}) candidates="{" ".join(option.choices)}" ;;'
        for command in known
        for option in command.options
        if option.choices and not option.flags
    ]
    return "\n".join(
        [
            "_iolens() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= candidates= i",
            "    for ((i = 1; i < COMP_CWORD; i++)); do",
            f"        case ${{COMP_WORDS[i]}} in {names}) command=${{COMP_WORDS[i]}} && break ;; esac",
            "    done",
            "    case $command:$before in",
            *values,
            f'    :*) candidates="{" ".join([*(command.name for command in known), "--help", "--version"])}" ;;',
            "    *) if [[ $word == -* ]]; then",
            "        case $command in",
            *flags,
            "        esac",
            "    else",
            "        case $command in",
            *words,
            "        esac",
            "    fi ;;",
            "    esac",
            '    mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$word")',
            "}",
            "complete -o default -F _iolens iolens",
            "",
        ]
    )


def _zsh(known: Sequence[DescribedCommand]) -> str:
    """Returns the script for zsh, with a description of each option."""
    lines = ["#compdef iolens", "_iolens() {", "    local -a names", "    names=("]
    lines += [f"        {_shell_word(f'{command.name}:{command.about}')}" for command in known]
    lines += ["    )", "    if ((CURRENT == 2)); then", "        _describe command names", "        return", "    fi"]
    lines += ["    case $words[2] in"]
    for command in known:
        lines += [f"    {command.name}) shift words; ((CURRENT--)); _arguments \\"]
        lines += [f"        {_shell_word(spec)} \\" for option in command.options for spec in _zsh_specs(option)]
        lines += ["        '*:file:_files' ;;"]
    return "\n".join([*lines, "    esac", "}", '_iolens "$@"', ""])


def _zsh_specs(option: Option) -> list[str]:
    """Returns the words of _arguments for an option, whose value is a file if it has no choices. A positional argument
    without choices has none: the last rule completes it as a file.
    """
    action = f"({' '.join(option.choices)})" if option.choices else "_files"
    if not option.flags:
        return [f":{option.value.lower()}:{action}"] if option.choices else []
    about = option.about.translate(str.maketrans("[]:", "(),"))
    value = f":{option.value.lower().replace(':', '')}:{action}" if option.value else ""
    return [f"*{flag}[{about}]{value}" for flag in option.flags]


def fish(known: Sequence[DescribedCommand]) -> str:
    """Returns the script for fish, with a description of each option."""
    lines = [f"complete -c iolens -n __fish_use_subcommand -a {c.name} -d {_shell_word(c.about)} -f" for c in known]
    for command in known:
        begin = f"complete -c iolens -n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            names = [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags]
            values = (
                ["-x -a", _shell_word(" ".join(option.choices))] if option.choices else ["-r"] if option.value else []
            )
            if option.flags or option.choices:
                lines.append(" ".join([begin, *names, *values, "-d", _shell_word(option.about)]))
    return "\n".join([*lines, ""])


def _flags_of(command: DescribedCommand) -> list[str]:
    """Returns all names of a command's options."""
    return [*(flag for option in command.options for flag in option.flags), "--help"]


def _shell_word(text: str) -> str:
    """Quotes a word in a way that all three shells understand."""
    return "'" + text.replace("\\", "").replace("'", "’") + "'"


_NAMES: Mapping[tuple[str, str], Callable[[], Sequence[str]]] = {
    ("table", "NAME"): _table_names,
    ("advise", "RULE"): _rule_names,
}
"""Maps a command and the kind of its next word to the names that this word may have."""

SHELLS: Mapping[str, Callable[[Sequence[DescribedCommand]], str]] = {"bash": bash, "zsh": _zsh, "fish": fish}
"""Functions that write the script, by shell."""
