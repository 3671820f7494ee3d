"""`iolens compare RESULTS`: the comparison PDF of a sweep, and its tables."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("results", type=Path, metavar="RESULTS", help="a sweep's folder: results/NAME")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="PDF", help="the PDF to write (default: RESULTS/comparison.pdf)"
    )
    parser.add_argument("--csv", type=Path, metavar="DIR", help="write every table as CSV into DIR")
    parser.add_argument("--json", type=Path, metavar="DIR", help="write every table as JSON into DIR")


def run(args: argparse.Namespace) -> int:
    """Write the PDF and the tables, print the verdict; 0 when done."""
    from iolens.pages.comparison import write_comparison

    output = args.output or args.results / "comparison.pdf"
    summary = write_comparison(args.results, output, csv=args.csv, json=args.json)
    print(summary.verdict)
    for caution in summary.cautions:
        print(f"note: {caution}")
    print(f"comparison: {output}")
    return 0
