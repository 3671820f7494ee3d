"""Makes the reference pages of the manual from declarations: commands, experiment files, counters, tables of the
report.

`pages()` returns the text of each page by the name of its file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from inspect import getdoc, isfunction, unwrap
from typing import Any

from counters import meaning
from iolens.cli.described import DescribedCommand, Option, commands
from iolens.lab.sweep.define.schema import schema
from iolens.log.format.layouts import MODULES
from iolens.pages.base.exhibit import Column, Exhibit, definition
from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS

KINDS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("run", "Record", ("run", "live", "recover", "apa", "anonymize")),
    ("read", "Read a log", ("report", "show", "table", "advise", "diff", "check", "export", "listing", "rank-order")),
    ("ask", "Let programs ask", ("serve", "verify-answer")),
    (
        "settings",
        "Find settings",
        ("sweep", "tune", "compare", "predict", "mimic", "calibrate", "perform", "activity", "io500"),
    ),
    ("site", "Many jobs", ("ingest", "fleet")),
    ("setup", "The machine", ("doctor", "workloads", "stripe", "selfbench", "completion")),
)
"""Commands by purpose. Commands that are in no row are listed last."""

UNITS = {
    "size": "B",
    "exact_size": "B",
    "guarded_size": "B",
    "seconds": "s",
    "guarded_seconds": "s",
    "duration": "s",
    "count": "count",
    "amount": "count",
    "speed": "MiB/s",
    "share": "part of 1, shown in %",
    "points": "%",
    "ratio": "ratio",
    "guarded": "ratio",
}
"""Units of columns, by the name of the function that formats a column's values."""


COUNTERS = """\
What a record of a file (or dataset, or variable) holds, in the order of the log.

Of a file that all ranks shared there is one record, of rank -1: its counts and times are sums over the ranks, its
first moments the earliest, its last ones the latest. -1 is a value that was not recorded. `log.frames["POSIX"]` has the
counters as columns. iolens writes POSIX, MPI-IO, STDIO, H5F, H5D, PNETCDF_FILE and PNETCDF_VAR, and reads all. What it
counts otherwise than Darshan stands in [a table](../profiler/manual/darshan.md#what-differs-from-darshan-on-purpose).
[The process tables](../profiler/TABLES.md) hold the numbers for which Darshan has no counter."""

EXHIBITS = """\
Each is shown by `iolens report` and `iolens show`, printed by `iolens table NAME LOG`, written in full by
`iolens report --csv DIR`, and in Python `iolens.tables(log)[NAME]`. Columns without a unit are names or words. The
function named behind *computed by* has the formula and its source."""


def pages() -> dict[str, str]:
    """Returns the text of every page of the reference by the name of its file."""
    known = commands()
    made = {f"reference/commands/{command.name}.md": command_page(command) for command in known}
    return made | {
        "reference/commands/index.md": command_index(known),
        "reference/experiment.md": experiment_page(),
        "reference/counters.md": counter_page(),
        "reference/tables.md": exhibit_page(JOB_EXHIBITS),
    }


def cell(text: object) -> str:
    """Escapes text for a cell of a table."""
    return str(text).replace("|", r"\|").replace("<", r"\<").replace("*", r"\*").replace("\n", " ")


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Returns a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *([cell(value) for value in row] for row in rows)]
    return ["", *("| " + " | ".join(line) + " |" for line in lines), ""]


def command_index(known: Sequence[DescribedCommand]) -> str:
    """Returns the commands by purpose."""
    about = {command.name: command.about for command in known}
    sorted_in = {name for _, _, names in KINDS for name in names}
    lines = ["# Commands", "", "`iolens COMMAND --help` says the same in a terminal, `man iolens-COMMAND` too."]
    for kind, title, names in KINDS:
        rest = [name for name in about if name not in sorted_in] if kind == KINDS[-1][0] else []
        chosen = [name for name in (*names, *rest) if name in about]
        lines += ["", f"## {title}", ""]
        lines += table(["command", "does"], [(f"[`iolens {name}`]({name}.md)", about[name]) for name in chosen])
        lines += ["```{toctree}", ":hidden:", "", *chosen, "```"]
    status = "0 when a command did what was asked, 1 when it failed, 2 for wrong usage, 130 when interrupted."
    return "\n".join([*lines, "", "## Exit status", "", status, ""])


def command_page(command: DescribedCommand) -> str:
    """Returns the page of a command: its usage, options and notes."""
    lines = [f"# iolens {command.name}", "", f"{command.about[0].upper()}{command.about[1:]}."]
    lines += ["", "```text", command.usage, "```", *options(command.options)]
    for action in command.actions:
        lines += ["", f"## iolens {action.name}", "", f"{action.about[0].upper()}{action.about[1:]}."]
        lines += ["", "```text", action.usage, "```", *options(action.options)]
    if command.notes:
        lines += ["", "## Notes", "", "```text", command.notes, "```"]
    return "\n".join([*lines, ""])


def options(given: Sequence[Option]) -> list[str]:
    """Returns options as a table."""
    rows = [(f"`{flags(each)}`", about(each)) for each in given]
    return table(["option", "meaning"], rows) if rows else []


def flags(option: Option) -> str:
    """Returns an option with its value: `--json`, `-o FILE`."""
    value = f" {option.value}" if option.flags and option.value else option.value
    return f"{', '.join(option.flags)}{value}"


def about(option: Option) -> str:
    """Returns the meaning of an option, with its choices."""
    choices = f" One of: {', '.join(option.choices)}." if option.choices else ""
    return f"{option.about}{'.' if option.about and choices else ''}{choices}".strip()


def experiment_page() -> str:
    """Returns the page of an experiment.yaml's keys, from its schema."""
    lines = ["# Keys of experiment.yaml", ""]
    lines += ["From the schema that `iolens sweep --schema` prints for editors.", ""]
    lines += ["[experiment.yaml](../report/EXPERIMENT.md) shows an example, and how the keys work together.", ""]
    lines += table(["key", "value", "meaning"], keys("", schema()))
    return "\n".join(lines)


def keys(prefix: str, part: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yields key, kind of value and meaning of every key of a schema that holds a value."""
    for name, inner in part.get("properties", {}).items():
        needed = " (required)" if name in part.get("required", ()) else ""
        if "properties" in inner:
            yield f"**`{prefix}{name}`**".replace("*", ""), f"keys below{needed}", inner.get("description", "")
            yield from keys(f"{prefix}{name}.", inner)
        else:
            yield f"`{prefix}{name}`", f"{kind(inner)}{needed}", inner.get("description", "")


def kind(part: Mapping[str, Any]) -> str:
    """Returns the kind of a value in words."""
    if "anyOf" in part:
        return " or ".join(dict.fromkeys(kind(each) for each in part["anyOf"]))
    if "enum" in part:
        return ", ".join(map(str, part["enum"]))
    named = part.get("type", "any")
    if isinstance(named, list):
        return "text" if "string" in named else " or ".join(named)
    if named == "array":
        return f"list of {kind(part.get('items', {}))}"
    words = {"object": "keys and values", "integer": "whole number", "string": "text", "boolean": "true or false"}
    return words.get(named, named)


def counter_page() -> str:
    """Returns the page of every counter of every module with records of a fixed size."""
    lines = ["# Counters of Darshan's modules", "", COUNTERS]
    for name, module in MODULES.items():
        lines += ["", f"## {name}", ""]
        rows = [(f"`{counter}`", *meaning(module.prefix, counter)) for counter in module.names]
        lines += table(["counter", "unit", "meaning"], rows)
    return "\n".join(lines)


def exhibit_page(exhibits: Iterable[Exhibit[Any]]) -> str:
    """Returns the page of every table and figure of a job's report: definition, source, columns with their units."""
    lines = ["# Tables and metrics of a report", "", EXHIBITS]
    for exhibit in exhibits:
        lines += ["", f"## {exhibit.name}", "", f"**{exhibit.title}.** {sentence(definition(exhibit))}", ""]
        metric = exhibit.metric
        lines.append(f"Computed by `{metric.__module__}.{getattr(metric, '__name__', exhibit.name)}`.")
        lines += [f"\n`{name}`: {sentence(words)}\n" for name, words in named_in(metric)]
        if exhibit.source:
            lines.append(f"Recorded by: `{exhibit.source}`.")
        if exhibit.levels:
            lines.append(f"Levels of `--by`: {', '.join(f'`{level}`' for level in exhibit.levels)}.")
        if isinstance(exhibit.note, str) and exhibit.note:
            lines += ["", sentence(exhibit.note)]
        if not callable(exhibit.columns) and exhibit.columns:
            lines += table(["on the page", "column", "unit"], map(column_row, exhibit.columns))
    return "\n".join([*lines, ""])


def named_in(metric: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    """Yields the name and the definition of each function that the metric's definition names and that is in the
    metric's module.
    """
    module = import_module(metric.__module__)
    for name in dict.fromkeys(re.findall(r"`(\w+)`", getdoc(metric) or "")):
        function = getattr(module, name, None)
        if isfunction(function) and function is not unwrap(metric) and getdoc(function):
            yield name, " ".join((getdoc(function) or "").split())


def column_row(column: Column) -> tuple[str, str, str]:
    """Returns a row about a column of a table: its heading, the columns of the metric that it shows, its unit."""
    unit = UNITS.get(getattr(column.say, "__name__", ""), "")
    return column.head, ", ".join(f"`{source}`" for source in column.sources), unit


def sentence(text: str) -> str:
    """Returns a docstring as Markdown. Words in backticks stay code, and all other text is escaped."""
    parts = text.split("`")
    quoted = [part if place % 2 else cell(part).replace("_", r"\_") for place, part in enumerate(parts)]
    return "`".join(quoted)
