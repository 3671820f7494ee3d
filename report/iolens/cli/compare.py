"""`iolens compare RESULTS`: the comparison PDF of a sweep, and its tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.cli.output import pdf_name

if TYPE_CHECKING:
    import pandas as pd

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
    from iolens.pages.comparison import write_comparison

    output = args.output or args.results / "comparison.pdf"
    summary = write_comparison(args.results, output)
    for folder, kind in ((args.csv, "csv"), (args.json, "json")):
        if folder is not None:
            export(summary.frames, folder, kind)
    tell(summary)
    print(f"comparison: {output}")
    return 0


def tell(summary: ComparisonSummary) -> None:
    """The points as a table, the verdict, what to beware of and what to paste, for a terminal or a log."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False, width=None if sys.stdout.isatty() else PLAIN_WIDTH)
    table = Table(title=summary.points.title, box=box.SIMPLE_HEAD, pad_edge=False)
    for column in summary.points.columns:
        table.add_column(escape(column))
    for row in summary.points.rows:
        table.add_row(*(escape(cell.replace(" ", NO_BREAK)) for cell in row))
    console.print(table)
    console.print(escape(summary.verdict), style="bold")
    for caution in summary.cautions:
        console.print(escape(f"note: {caution}"))
    if summary.remedy is not None:
        lines = [line for line in (summary.remedy.stripes, *summary.remedy.hints, *summary.remedy.own) if line]
        console.print("to use it: " + escape("; ".join(lines)))


def export(frames: Mapping[str, pd.DataFrame], folder: Path, kind: str) -> None:
    """Each frame as `folder`/comparison-NAME.csv or .json (a list of rows), numbers unrounded."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in frames.items():
        path = folder / f"comparison-{name}.{kind}"
        if kind == "csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_json(path, orient="records", indent=1)
