"""`iolens table NAME LOG`: any table of a job, as text, CSV or JSON."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iolens.errors import IolensError, UsageError
from iolens.lazy import pd
from iolens.missing import is_nan

if TYPE_CHECKING:
    from iolens.metrics.processor.ask import Ask
    from iolens.pages.base.blocks import Table
    from iolens.pages.base.exhibit import Exhibit

ALL_THREADS = "also show samples of threads that libraries such as MPI started for themselves"

_PROCESS = {"r": "process", "R": "Process"}

_EPILOG = """--by works with the tables for which --list names levels: --by function,pe goes from the total to each
function, and from there to the ranks with the largest, the median and the smallest value; pe=all names all ranks.
--filter 'pe<10,function=write' adds up only such rows; averages are then over the ranks that
remain. In a terminal, rows with less than 0.95 % of the total are hidden unless --no-threshold is given, and long
lists show only their first rows; a line below the table says how many are hidden. --csv and --json have every row."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = _EPILOG
    parser.add_argument("name", nargs="?", metavar="NAME", help="name of the table; --list prints all names")
    parser.add_argument("log", nargs="?", type=Path, metavar="LOG", help="a log of iolens or Darshan (3.0 or later)")
    parser.add_argument(
        "--list", action="store_true", help="print the names of the tables; with LOG, of the tables that it has"
    )
    parser.add_argument(
        "--by",
        metavar="LEVEL,...",
        default="",
        help="group by these levels, outermost first, such as function,caller,pe",
    )
    parser.add_argument("--filter", metavar="CONDITION,...", default="", help="show only these rows, such as 'pe<10'")
    parser.add_argument("--no-threshold", action="store_true", help="show every row, however small")
    parser.add_argument("--all-threads", action="store_true", help=ALL_THREADS)
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--csv", action="store_true", help="print all digits, as CSV")
    shape.add_argument("--json", action="store_true", help="print all digits, as JSON: a list of rows")


def run(args: argparse.Namespace) -> int:
    """Prints a table, or the names of all."""
    if args.list:
        log = args.log or (Path(args.name) if args.name else None)
        _print_table_names(log)
        return 0
    if args.log and Path(args.name).exists() and not args.log.exists():
        args.name, args.log = str(args.log), Path(args.name)
    if not args.name or not args.log:
        raise UsageError("name a table and a log: iolens table NAME LOG; iolens table --list names the tables")
    from iolens.pages.output.export import json_text

    whole, job = _exhibit_of(args.name, args.log)
    if whole.instead is not None and whole.rows(job) is None and whole.instead.rows(job) is not None:
        whole = whole.instead
    exhibit = _asked_exhibit(whole, args)
    frame = exhibit.every(job) if args.csv or args.json else exhibit.frame(job)
    if frame is None and args.filter and whole.rows(job) is not None:
        raise IolensError(f"{args.log}: no row of the table {args.name} matches --filter '{args.filter}'")
    if frame is None:
        raise IolensError(f"{args.log}: {exhibit.lack(job)}")
    if args.csv:
        frame.to_csv(sys.stdout, index=False)
    elif args.json:
        print(json_text(frame))
    else:
        print(_of_processes(text_of(exhibit, frame, job), job))
    return 0


def _exhibits_of(log: Path | None) -> dict[str, tuple[Exhibit[Any], Any]]:
    """Returns the tables by name, each with its subject: a job, or the processes of a folder or of a log that joins
    several of them. Tables of processes take precedence there.
    """
    from iolens.forest.forest import read_forest
    from iolens.log import read_log
    from iolens.log.processes import is_joined, only_process
    from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS
    from iolens.pages.exhibits.many_processes import FOREST_EXHIBITS

    if log is not None and log.is_dir() and len(list(log.glob("*.darshan"))) > 1:
        forest = read_forest(log)
        return {exhibit.name: (exhibit, forest) for exhibit in FOREST_EXHIBITS}
    job = read_log(log) if log is not None else None
    found: dict[str, tuple[Exhibit[Any], Any]] = {
        exhibit.name: (exhibit, (only_process(job) or job) if job else None) for exhibit in JOB_EXHIBITS
    }
    if log is not None and job is not None and is_joined(job):
        forest = read_forest(log)
        found |= {exhibit.name: (exhibit, forest) for exhibit in FOREST_EXHIBITS}
    return found


def _exhibit_of(name: str, log: Path) -> tuple[Exhibit[Any], Any]:
    """Returns the exhibit of that name and its subject; raises UsageError if there is none, and LogError if a folder
    with several logs is asked for a table of one.
    """
    from difflib import get_close_matches

    from iolens.log import read_log

    known = _exhibits_of(log)
    if name not in known and name in _exhibits_of(None):
        read_log(log, ("job",))
    if name not in known:
        near = get_close_matches(name, known, 3, 0.5)
        hint = f"; do you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"there is no table {name}{hint} (iolens table --list prints all names)")
    return known[name]


def _asked_exhibit(exhibit: Exhibit[Any], args: argparse.Namespace) -> Exhibit[Any]:
    """Returns the exhibit with the options applied; raises UsageError for unknown names."""
    from iolens.metrics.processor.ask import THRESHOLD, Ask, asked_levels, check_levels, conditions

    complete = args.no_threshold or (exhibit.asked and (args.csv or args.json))
    ask = Ask(asked_levels(args.by), 0.0 if complete else THRESHOLD, conditions(args.filter), args.all_threads)
    if ask == Ask():
        return exhibit
    if not exhibit.asked:
        raise UsageError(f"the table {exhibit.name} has no levels; leave --by, --filter and --no-threshold out")
    if ask.by and not exhibit.drilled:
        raise UsageError(f"the table {exhibit.name} has no levels; leave --by out (--filter works)")
    check_levels(ask.by, exhibit.levels)
    if ask.every_thread and "state" not in exhibit.levels:
        raise UsageError(f"the table {exhibit.name} has no samples: leave --all-threads out")
    metric: Any = exhibit.metric

    def answer(job: Any, ask: Ask = ask) -> pd.DataFrame | None:
        """Returns the table of the job for the levels, threshold and conditions in `ask`."""
        found: pd.DataFrame | None = metric(job, ask)
        return found

    return replace(exhibit, metric=answer, asked=False)


def text_of(exhibit: Exhibit[Any], frame: pd.DataFrame, job: Any) -> str:
    """Returns the table as text."""
    from iolens.pages.text.tabular import UNLIMITED, drilled, plain_table

    room = shutil.get_terminal_size((UNLIMITED, 24)).columns
    table = exhibit.table(job) or _exhibit_numbers(exhibit.title, frame)
    table = replace(table, note=" ".join(filter(None, (table.note, _how_to_see_all(exhibit, frame, job)))))
    if not exhibit.drilled:
        return plain_table(table, room)
    return drilled(table, list(frame["depth"]), depth_heads(frame) or ["Total"], room)


def _of_processes(text: str, job: Any) -> str:
    """Returns the text of a table, with the word process where the ranks of a log are processes."""
    from iolens.log import Job
    from iolens.log.processes import is_joined

    if not isinstance(job, Job) or not is_joined(job):
        return text
    return re.sub(r"\b([Rr])ank(s?)\b", lambda found: _PROCESS[found[1]] + "es" * bool(found[2]), text)


def _how_to_see_all(exhibit: Exhibit[Any], frame: pd.DataFrame, job: Any) -> str:
    """Returns the number of hidden rows and the option that shows them; "" if the table is complete."""
    from iolens.pages.base.exhibit import rows_left_out

    rows = exhibit.rows(job)
    if rows is not None and rows_left_out(rows):
        return "--no-threshold shows them."
    every = exhibit.every(job) if exhibit.whole else None
    hidden = 0 if every is None else len(every) - len(frame)
    more = f"{hidden} more row{'s are' if hidden != 1 else ' is'}"
    return f"{more} hidden; --csv and --json have every row." if hidden > 0 else ""


def _exhibit_numbers(title: str, frame: pd.DataFrame) -> Table:
    """Returns the numbers behind a figure or a text of the report: the columns by their names; a single row from top to
    bottom.
    """
    from iolens.pages.base.blocks import Table

    def said(value: Any) -> str:
        return "n/a" if value is None or is_nan(value) else f"{value:.6g}" if isinstance(value, float) else str(value)

    rows = [[said(value) for value in row] for row in frame.itertuples(index=False, name=None)]
    if len(rows) == 1:
        return Table(title, ["", "value"], [list(pair) for pair in zip(frame.columns, rows[0], strict=True)])
    return Table(title, list(frame.columns), rows)


def depth_heads(frame: pd.DataFrame) -> list[str]:
    """Returns a heading for each depth below the total: the level of its rows, or PE if it has rows of single ranks
    alone.
    """
    levels = frame[frame["depth"] > 0].groupby("depth")["level"].unique()
    return ["PE" if set(names) == {"pe"} else next(n for n in names if n != "pe").capitalize() for names in levels]


def _print_table_names(log: Path | None) -> None:
    """Prints the names of all tables or, given a log, of the tables that it has."""
    shown = [
        exhibit
        for exhibit, job in _exhibits_of(log).values()
        if job is None or any(one is not None and one.rows(job) is not None for one in (exhibit, exhibit.instead))
    ]
    for exhibit in shown:
        by = f"  (--by {','.join((*exhibit.levels, 'pe'))})" if exhibit.drilled else ""
        print(f"{exhibit.name:<18} {exhibit.title}{by}")
