"""`iolens compare RESULTS`: the comparison PDF of a sweep, and its tables."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.cli.output import pdf_name

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from iolens.pages.blocks import Table
    from iolens.pages.comparison_summary import ComparisonSummary


NO_BREAK = "\u00a0"
PLAIN_WIDTH = 110
"""Columns of a log or a pipe."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("results", type=Path, metavar="RESULTS", help="a sweep's folder: results/NAME")
    parser.add_argument(
        "-o", "--output", type=pdf_name, metavar="PDF", help="the PDF to write (default: RESULTS/comparison.pdf)"
    )
    parser.add_argument("--csv", type=Path, metavar="DIR", help="write every table as CSV into DIR")
    parser.add_argument("--json", type=Path, metavar="DIR", help="write every table as JSON into DIR")


def run(args: argparse.Namespace) -> int:
    """Write the PDF and the tables, print the verdict; 0 when done."""
    from iolens.lab.sweep.results import load_results
    from iolens.log import read_log
    from iolens.pages.comparison import write_comparison
    from iolens.pages.export import export

    output = args.output or args.results / "comparison.pdf"
    summary = write_comparison(load_results(args.results), output, read_log)
    export(summary.frames, "comparison-", args.csv, args.json)
    tell(summary)
    print(f"comparison: {output}")
    return 0


def tell(summary: ComparisonSummary) -> None:
    """The points as a table, the verdict, what to beware of and what to paste, for a terminal or a log."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False, width=None if sys.stdout.isatty() else PLAIN_WIDTH)
    if summary.points is not None:
        console.print(grid(summary.points))
    console.print(escape(summary.verdict), style="bold")
    for caution in summary.cautions:
        console.print(escape(f"note: {caution}"))
    if summary.remedy is not None:
        lines = [line for line in (summary.remedy.stripes, *summary.remedy.hints, *summary.remedy.own) if line]
        lead = "to use it" if summary.remedy.proven else "to use it, though it is not proven better than a baseline"
        console.print(f"{lead}: " + escape("; ".join(lines)))


def grid(points: Table) -> Grid:
    """The table for rich; no cell is broken at its spaces."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table as Grid

    made = Grid(title=points.title, box=box.SIMPLE_HEAD, pad_edge=False)
    for column in points.columns:
        made.add_column(escape(column))
    for row in points.rows:
        made.add_row(*(escape(cell.replace(" ", NO_BREAK)) for cell in row))
    return made
