"""Write the manual pages of all commands into a folder: man.py FOLDER [DATE].

The texts come from the same table as those of `--help`. DATE is printed in the footer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from iolens import __version__
from iolens.cli.described import DescribedCommand, Option, commands

ENVIRONMENT = "profiler/manual/environment.md lists the variables that the profiler reads."
STATUS = "0 if the command did what was asked, 1 if it failed, 2 for wrong usage, 128 + n if signal n ended it."
STATUS_OF_RUN = "The exit code of the program, 128 + n if signal n ended the program, 2 for wrong usage of iolens run."


def main(arguments: Sequence[str]) -> int:
    """Writes a page for each command, and one page for `iolens` itself."""
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    folder, date = Path(arguments[0]), "".join(arguments[1:])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages(date).items():
        (folder / name).write_text(text, encoding="ascii")
    return 0


def pages(date: str) -> dict[str, str]:
    """Returns every page by the name of its file."""
    known = commands()
    return {"iolens.1": overview(known, date)} | {f"iolens-{each.name}.1": page(each, date) for each in known}


def overview(known: Sequence[DescribedCommand], date: str) -> str:
    """Returns the page of `iolens`."""
    lines = [*head("iolens", "see where a parallel program's I/O time goes, and what would fix it", date)]
    lines += [".SH SYNOPSIS", ".B iolens", r".I COMMAND \&...", ".SH COMMANDS"]
    for command in known:
        lines += [".TP", rf".BR iolens\-{escaped(command.name)} (1)", escaped(command.about)]
    return "\n".join([*lines, *foot(STATUS), ""])


def page(command: DescribedCommand, date: str) -> str:
    """Returns the page of a command."""
    lines = [*head(f"iolens-{command.name}", command.about, date), ".SH SYNOPSIS", escaped(command.usage)]
    lines += [".SH DESCRIPTION", escaped(sentence(command.description))]
    lines += [".SH OPTIONS", *(line for option in command.options for line in entry(option))]
    for action in command.actions:
        lines += [f".SS {escaped(action.name)}", escaped(action.about), ".PP", escaped(action.usage)]
        lines += [line for option in action.options for line in entry(option)]
    if command.notes:
        lines += [".SH NOTES", escaped(" ".join(command.notes.split()))]
    lines += [".SH EXAMPLES", ".EX", *map(escaped, command.examples), ".EE"]
    status = STATUS_OF_RUN if command.name == "run" else STATUS
    return "\n".join([*lines, *foot(status), ".SH SEE ALSO", ".BR iolens (1)", ""])


def entry(option: Option) -> list[str]:
    """Returns the entry of an option: its flags, its value and its description."""
    value = rf" \fI{escaped(option.value)}\fR" if option.value else ""
    flags = ", ".join(rf"\fB{escaped(flag)}\fR{value}" for flag in option.flags)
    choices = f" One of {', '.join(option.choices)}." if option.choices else ""
    return [".TP", flags or value.strip(), escaped(f"{option.about}{choices}".strip())]


def head(name: str, about: str, date: str) -> list[str]:
    """Returns the title and the section NAME of a page."""
    title = f'.TH "{escaped(name.upper())}" 1 "{date}" "iolens {__version__}" "User Commands"'
    return [title, ".SH NAME", rf"{escaped(name)} \- {escaped(about)}"]


def sentence(text: str) -> str:
    """Returns the text as a sentence, which begins with a capital letter and ends with a full stop."""
    text = " ".join(text.split())
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def foot(status: str) -> list[str]:
    """Returns the last sections of a page: exit status and environment."""
    return [".SH EXIT STATUS", escaped(status), ".SH ENVIRONMENT", escaped(ENVIRONMENT)]


def escaped(text: str) -> str:
    """Returns text in roff's syntax."""
    plain = text.replace("\\", r"\e").replace("-", r"\-")
    plain = "".join(letter if letter.isascii() else rf"\[u{ord(letter):04X}]" for letter in plain)
    return rf"\&{plain}" if plain.startswith((".", "'")) else plain


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
