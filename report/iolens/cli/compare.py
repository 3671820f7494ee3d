"""`iolens compare RESULTS`: the comparison of a sweep as PDF or HTML, and its tables."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.cli.output import add_output, output_of
from iolens.errors import UsageError

if TYPE_CHECKING:
    from iolens.pages.comparison_summary import ComparisonSummary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULTS", help="a sweep's folder: results/NAME")
    add_output(parser, "RESULTS/comparison.FORMAT")
    parser.add_argument("--csv", type=Path, metavar="DIR", help="write every table as CSV into DIR")
    parser.add_argument("--json", type=Path, metavar="DIR", help="write every table as JSON into DIR")
    parser.add_argument("--parquet", type=Path, metavar="DIR", help="write every table as Parquet into DIR")


def run(args: argparse.Namespace) -> int:
    """Write the document and the tables, print the verdict; 0 when done."""
    if len(args.results) > 1:
        raise UsageError(
            f"{len(args.results)} folders are given, and compare reads the one folder of a sweep, which holds all of "
            "its runs; to compare other things, name them as levels of a factor in one experiment.yaml"
        )
    (folder,) = args.results
    from iolens.lab.sweep.results import load_results
    from iolens.log import read_log
    from iolens.pages.comparison import write_comparison
    from iolens.pages.export import export

    output = output_of(args, folder / "comparison")
    summary = write_comparison(load_results(folder), output, read_log)
    export(summary.frames, "comparison-", {"csv": args.csv, "json": args.json, "parquet": args.parquet})
    tell(summary)
    print(f"comparison: {output}")
    return 0


def tell(summary: ComparisonSummary) -> None:
    """The points as a table, the verdict, what to beware of and what to paste, for a terminal or a log."""
    from iolens.pages.terminal import screen

    out = screen()
    if summary.points is not None:
        out.table(summary.points)
        print()
    out.say(summary.verdict, "1")
    for caution in summary.cautions:
        out.say(f"note: {caution}")
    if summary.remedy is not None:
        lines = [line for line in (summary.remedy.stripes, *summary.remedy.hints, *summary.remedy.own) if line]
        lead = "to use it" if summary.remedy.proven else "to use it, though it is not proven better than a baseline"
        print(f"{lead}: " + "; ".join(lines))
